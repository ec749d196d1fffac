import {
  appendFileSync,
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { INTENT, NOW, open, reopened, temporaryFolder } from "./opened-journal.ts";

// Real, but seen: no test can fill a disk, or tell a line that is on it from one that is on its way there.
vi.mock("node:fs", { spy: true });
beforeEach(() => void vi.clearAllMocks());

describe("a journal that is full", () => {
  const KILOBYTE = `${"x".repeat(1023)}\n`;
  const FULL = KILOBYTE.repeat(513);

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

  test("is one of more than 512 kB: before that nothing is turned over, and no lock touched", () => {
    const { journal, folder, lines } = open();
    journal.begin(INTENT);
    const current = join(folder, "journal.jsonl");
    writeFileSync(current, KILOBYTE.repeat(512));
    const lock = join(folder, "journal.lock");
    writeFileSync(lock, "");
    utimesSync(lock, new Date(0), new Date(0));

    journal.begin(INTENT);
    expect([lines().length, readdirSync(folder).sort()]).toEqual([513, ["journal.jsonl", "journal.lock"]]);

    journal.begin(INTENT);
    expect([lines().length, readdirSync(folder).sort()]).toEqual([1, ["journal.1.jsonl", "journal.jsonl"]]);
  });

  test.each([
    ["leaves the turning over to a process that is at it", 10, 515, ["journal.jsonl", "journal.lock"]],
    ["does not wait for a process that died at it", 11, 1, ["journal.1.jsonl", "journal.jsonl"]],
  ])("%s", (_, lockedForSeconds, lineCount, files) => {
    const { journal, folder, lines } = open();
    journal.begin(INTENT);
    appendFileSync(join(folder, "journal.jsonl"), FULL);
    const lock = join(folder, "journal.lock");
    writeFileSync(lock, "");
    const since = new Date(NOW - lockedForSeconds * 1000);
    utimesSync(lock, since, since);

    journal.begin(INTENT);

    expect([lines().length, readdirSync(folder).sort()]).toEqual([lineCount, files]);
  });

  test("is turned over once when two processes find it full", () => {
    const theOtherDoes: (() => void)[] = [];
    const { journal, folder, lines } = open({
      now: () => {
        theOtherDoes.shift()?.();
        return NOW;
      },
    });
    journal.begin(INTENT);
    const current = join(folder, "journal.jsonl");
    const previous = join(folder, "journal.1.jsonl");
    appendFileSync(current, FULL);
    const nothing = () => {};
    const turnOver = () => {
      renameSync(current, previous);
      writeFileSync(current, KILOBYTE.repeat(512));
    };

    // The time is asked for the record, and again when the file was found full.
    theOtherDoes.push(nothing, turnOver);
    journal.begin(INTENT);

    expect(lines()).toHaveLength(513);
    expect(readFileSync(previous, "utf8").split("\n").slice(0, -1)).toHaveLength(514);
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

test("A line is on the disk itself, and its file closed, when `begin` returns", () => {
  const { journal } = open();

  journal.begin(INTENT);

  const order = [openSync, writeSync, fsyncSync, closeSync].map(
    (call) => vi.mocked(call).mock.invocationCallOrder,
  );
  expect(order.map(({ length }) => length)).toEqual([1, 1, 1, 1]);
  expect(order.flat()).toEqual(order.flat().sort((a, b) => a - b));
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

  test("says so when the disk was so full that it took a part of a line, and keeps the next one whole", () => {
    const opened = open();
    const { journal, complaints, lines } = opened;
    vi.mocked(writeSync).mockImplementationOnce((file, line) => writeSync(file, line.slice(0, 10)));

    journal.begin({ ...INTENT, fingerprint: "cut off" });
    journal.begin({ ...INTENT, fingerprint: "whole" });

    const names = (entries: typeof journal) => entries.entries().map(({ fingerprint }) => fingerprint);
    expect(complaints).toEqual(["ENOSPC"]);
    expect(lines()).toEqual(['{"event":"', expect.stringContaining('"whole"')]);
    expect(names(reopened(opened))).toEqual(["whole"]);
    expect(names(journal).sort()).toEqual(["cut off", "whole"]);
    expect(vi.mocked(closeSync)).toHaveBeenCalledTimes(2);
  });

  test("writes no line that the key could not be taken out of, and says so", () => {
    const redact = (text: string) => {
      if (text.startsWith("{")) throw new RangeError("Maximum call stack size exceeded");
      return text;
    };
    const { journal, complaints, folder } = open({ redact });

    const id = journal.begin(INTENT);

    expect(complaints).toEqual(["unknown reason"]);
    expect(readdirSync(folder)).toEqual([]);
    expect(journal.entries()).toEqual([{ id, atMs: NOW, ...INTENT, outcome: "open" }]);
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

    const unwritten = later.journal.begin({ ...INTENT, fingerprint: "unwritten" });
    rmSync(current, { recursive: true });
    writeFileSync(current, written);
    later.journal.begin({ ...INTENT, fingerprint: "written" });
    later.journal.settle(unwritten, "done", "job-1");

    expect(later.complaints).toEqual(["EISDIR"]);
    expect(
      reopened(opened)
        .entries()
        .map(({ fingerprint }) => fingerprint),
    ).toEqual(["earlier", "written"]);
    const known = later.journal.entries().map(({ fingerprint, outcome }) => `${fingerprint}: ${outcome}`);
    expect(known.sort()).toEqual(["earlier: open", "unwritten: done", "written: open"]);
  });
});
