import { appendFileSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { INTENT, open, reopened, temporaryFolder } from "./opened-journal.ts";

describe("a journal that is full", () => {
  const FULL = `${"x".repeat(1023)}\n`.repeat(513);

  test("goes on in a new file, keeps the full one and drops the one before", () => {
    const opened = open();
    const { journal, folder } = opened;
    journal.begin({ ...INTENT, fingerprint: "kept" });
    const current = join(folder, "journal.jsonl");
    writeFileSync(join(folder, "journal.1.jsonl"), "the one before\n");
    appendFileSync(current, FULL);

    journal.begin({ ...INTENT, fingerprint: "new" });

    expect(readdirSync(folder).sort()).toEqual(["journal.1.jsonl", "journal.jsonl"]);
    expect(opened.lines()).toHaveLength(1);
    expect(readFileSync(join(folder, "journal.1.jsonl"), "utf8")).not.toContain("the one before");
    expect(
      reopened(opened)
        .entries()
        .map(({ fingerprint }) => fingerprint),
    ).toEqual(["kept", "new"]);
  });

  test("leaves the turning over to a process that is at it", () => {
    const { journal, folder, lines } = open({ now: Date.now });
    journal.begin(INTENT);
    appendFileSync(join(folder, "journal.jsonl"), FULL);
    writeFileSync(join(folder, "journal.lock"), "");

    journal.begin(INTENT);

    expect(readdirSync(folder).sort()).toEqual(["journal.jsonl", "journal.lock"]);
    expect(lines()).toHaveLength(515);
  });

  test("does not wait for a process that died at it", () => {
    const { journal, folder, lines } = open({ now: Date.now });
    journal.begin(INTENT);
    appendFileSync(join(folder, "journal.jsonl"), FULL);
    const lock = join(folder, "journal.lock");
    writeFileSync(lock, "");
    const longAgo = Date.now() / 1000 - 11;
    utimesSync(lock, longAgo, longAgo);

    journal.begin(INTENT);

    expect(readdirSync(folder).sort()).toEqual(["journal.1.jsonl", "journal.jsonl"]);
    expect(lines()).toHaveLength(1);
  });

  test("is written to all the same when it can't be turned over", () => {
    const { journal, folder, lines, complaints } = open();
    journal.begin(INTENT);
    appendFileSync(join(folder, "journal.jsonl"), FULL);
    // A folder in its place: nothing can be renamed to it.
    const taken = open({ folder: join(folder, "journal.1.jsonl", "x") });
    taken.journal.begin(INTENT);

    journal.begin(INTENT);

    expect(lines()).toHaveLength(515);
    expect(complaints).toEqual([]);
  });
});

describe("a journal that can't be written", () => {
  test("says so once, and this process still knows what it did", () => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");
    const { journal, complaints } = open({ folder: join(file, "state") });

    const id = journal.begin(INTENT);
    journal.settle(id, "unknown");
    journal.begin({ ...INTENT, fingerprint: "second" });

    expect(complaints).toEqual(["ENOTDIR"]);
    expect(journal.entries().map(({ fingerprint, outcome }) => [fingerprint, outcome])).toEqual([
      ["f", "unknown"],
      ["second", "open"],
    ]);
  });

  test("still tells what is on disk, and goes on when the disk does", () => {
    const opened = open();
    opened.journal.begin({ ...INTENT, fingerprint: "earlier" });
    const { folder } = opened;
    const current = join(folder, "journal.jsonl");
    const written = readFileSync(current, "utf8");
    const later = open({ folder });
    rmSync(current);
    // A folder in the file's place.
    const inTheWay = open({ folder: join(current, "x") });
    inTheWay.journal.begin(INTENT);

    later.journal.begin({ ...INTENT, fingerprint: "unwritten" });
    rmSync(current, { recursive: true });
    writeFileSync(current, written);
    later.journal.begin({ ...INTENT, fingerprint: "written" });

    expect(later.complaints).toEqual(["EISDIR"]);
    expect(
      reopened(opened)
        .entries()
        .map(({ fingerprint }) => fingerprint),
    ).toEqual(["earlier", "written"]);
    const known = later.journal.entries().map(({ fingerprint }) => fingerprint);
    expect(known.sort()).toEqual(["earlier", "unwritten", "written"]);
  });
});
