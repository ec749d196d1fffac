import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { BridgeError } from "../../src/errors.ts";
import { createJournal, type Intent, type JournalOptions } from "../../src/once/journal.ts";
import { temporaryFolder } from "../fixtures/folder.ts";

const NOON = Date.UTC(2026, 10, 21, 12);
const DAY_MS = 24 * 3_600_000;
const TODAY = "journal-2026-11-21.jsonl";
const VIDEO: Intent = { operation: "generate", account: "account", label: "Tides", fingerprint: "tides" };
const POST: Intent = {
  operation: "publish",
  account: "account",
  label: "",
  jobId: "job-1",
  platforms: ["tiktok"],
};

function openJournal(folder: string | undefined, more: Partial<JournalOptions> = {}) {
  const clock = { ms: NOON };
  const warnings: string[] = [];
  const journal = createJournal({
    folder,
    now: () => clock.ms,
    redact: (line) => line.replaceAll("fl_example", "[redacted]"),
    onUnwritable: (reason) => void warnings.push(reason),
    pid: 4711,
    ...more,
  });
  return { journal, clock, warnings };
}

const video = (more: object = {}) => ({
  ...VIDEO,
  id: expect.any(String),
  pid: 4711,
  intentAtMs: NOON,
  lastKnownAtMs: NOON,
  outcome: "open",
  file: TODAY,
  ...more,
});

describe("an entry", () => {
  test("is on disk before its request is sent, and another process can read it", async () => {
    const folder = temporaryFolder();
    await openJournal(folder).journal.begin(VIDEO);

    expect(readdirSync(folder)).toEqual([TODAY]);
    expect(readFileSync(join(folder, TODAY), "utf8")).toContain('"event":"intent"');
    expect(await openJournal(folder).journal.entries()).toEqual([video()]);
  });

  test("gets its outcome and the time at which that became known", async () => {
    const folder = temporaryFolder();
    const { journal, clock } = openJournal(folder);
    const videoId = await journal.begin(VIDEO);
    const postId = await journal.begin(POST);
    clock.ms += 60_000;
    await journal.settle(videoId, { outcome: "done", jobId: "job-1" });
    await journal.settle(postId, {
      outcome: "done",
      results: [{ platform: "tiktok", ok: true, url: "https://t.example/1" }],
    });

    expect(await openJournal(folder).journal.entries()).toEqual([
      video({ outcome: "done", jobId: "job-1", lastKnownAtMs: NOON + 60_000 }),
      {
        ...video({ ...POST, outcome: "done", lastKnownAtMs: NOON + 60_000 }),
        fingerprint: undefined,
        results: [{ platform: "tiktok", ok: true, url: "https://t.example/1" }],
      },
    ]);
  });

  test("keeps its outcome if the clock is set back over midnight before that", async () => {
    const { journal, clock } = openJournal(temporaryFolder());
    const id = await journal.begin(VIDEO);
    clock.ms -= DAY_MS;
    await journal.settle(id, { outcome: "rejected" });

    expect(await journal.entries()).toEqual([video({ outcome: "rejected" })]);
  });

  test("contains no key, not even part of one, and has a short label", async () => {
    const folder = temporaryFolder();
    const { journal } = openJournal(folder);
    await journal.begin({ ...VIDEO, label: `${"x".repeat(195)}fl_example${"y".repeat(300)}` });

    expect((await journal.entries()).map(({ label }) => label)).toEqual([`${"x".repeat(195)}[reda`]);
    expect(readFileSync(join(folder, TODAY), "utf8")).not.toMatch(/fl_|y{9}/);
  });

  test("keeps how a video was ordered, its texts redacted and bounded", async () => {
    const { journal } = openJournal(temporaryFolder());
    const topic = `${"x".repeat(1_995)}fl_example${"y".repeat(300)}`;
    await journal.begin({ ...VIDEO, settings: { topic, duration: 20, style: "ugc" } });
    await journal.begin(VIDEO);

    expect((await journal.entries()).map(({ settings }) => settings)).toEqual([
      { topic: `${"x".repeat(1_995)}[reda`, duration: 20, style: "ugc" },
      undefined,
    ]);
  });

  test("keeps the service's result for a platform unless it is long", async () => {
    const { journal } = openJournal(temporaryFolder());
    const id = await journal.begin(POST);
    await journal.settle(id, {
      outcome: "done",
      results: [
        { platform: "tiktok", ok: true, note: "x".repeat(3_000) },
        { platform: "youtube", ok: false, reason: "not_connected" },
      ],
    });

    expect((await journal.entries())[0]?.results).toEqual([
      { platform: "tiktok", ok: true },
      { platform: "youtube", ok: false, reason: "not_connected" },
    ]);
  });

  test("is readable only by its user", async () => {
    const folder = join(temporaryFolder(), "state");
    await openJournal(folder).journal.begin(VIDEO);

    expect([statSync(folder).mode & 0o777, statSync(join(folder, TODAY)).mode & 0o777]).toEqual([
      0o700, 0o600,
    ]);
  });
});

describe("the files", () => {
  test("are one per UTC day and read in order", async () => {
    const folder = temporaryFolder();
    const { journal, clock } = openJournal(folder);
    await journal.begin({ ...VIDEO, label: "first" });
    clock.ms += DAY_MS;
    await journal.begin({ ...VIDEO, label: "second" });

    expect(readdirSync(folder).sort()).toEqual([TODAY, "journal-2026-11-22.jsonl"]);
    expect((await journal.entries()).map(({ label, file }) => [label, file])).toEqual([
      ["first", TODAY],
      ["second", "journal-2026-11-22.jsonl"],
    ]);
  });

  test("of earlier versions are also read, the older one first", async () => {
    const folder = temporaryFolder();
    const line = (id: string, label: string) =>
      `${JSON.stringify({ event: "intent", id, atMs: NOON - 1_000, ...VIDEO, label })}\n`;
    writeFileSync(join(folder, "journal.1.jsonl"), line("a", "older"));
    writeFileSync(
      join(folder, "journal.jsonl"),
      `${line("b", "newer")}${JSON.stringify({ event: "outcome", id: "a", atMs: NOON, outcome: "unknown" })}\n`,
    );
    const { journal } = openJournal(folder);
    await journal.begin({ ...VIDEO, label: "new" });

    expect((await journal.entries()).map(({ label, outcome }) => [label, outcome])).toEqual([
      ["older", "unknown"],
      ["newer", "open"],
      ["new", "open"],
    ]);
  });

  test("older than 90 days are removed, including those of earlier versions", async () => {
    const folder = temporaryFolder();
    const { journal, clock } = openJournal(folder);
    await journal.begin({ ...VIDEO, label: "day 0" });
    clock.ms += DAY_MS;
    await journal.begin({ ...VIDEO, label: "day 1" });
    for (const name of ["journal.jsonl", "journal.1.jsonl"]) {
      writeFileSync(join(folder, name), "");
      utimesSync(join(folder, name), NOON / 1000, NOON / 1000);
    }
    for (const name of ["notes.txt", "my-journal.jsonl", "journal.jsonl.bak"])
      writeFileSync(join(folder, name), "not ours");

    clock.ms = NOON + 90 * DAY_MS;
    expect((await journal.entries()).map(({ label }) => label)).toEqual(["day 0", "day 1"]);
    clock.ms += DAY_MS;
    await journal.begin({ ...VIDEO, label: "day 91" });
    expect((await journal.entries()).map(({ label }) => label)).toEqual(["day 1", "day 91"]);
    expect(readdirSync(folder).sort()).toEqual([
      "journal-2026-11-22.jsonl",
      "journal-2027-02-20.jsonl",
      "journal.jsonl.bak",
      "my-journal.jsonl",
      "notes.txt",
    ]);
  });

  test("are kept by a call whose clock is a year ahead", async () => {
    const folder = temporaryFolder();
    const { journal, clock } = openJournal(folder);
    await journal.begin(VIDEO);
    clock.ms = NOON + 365 * DAY_MS;
    expect(await journal.entries()).toEqual([]);
    clock.ms = NOON + DAY_MS;

    expect(await journal.entries()).toMatchObject([{ label: VIDEO.label }]);
    expect(readdirSync(folder)).toEqual([TODAY]);
  });

  test.each([
    ["a line that a crash has torn", '{"event":"intent","id":"t'],
    ["lines of another kind", '{"event":"comment"}\n[]\nnull\n"text"\n'],
    ["a line that is far too long", `"${"x".repeat(400_000)}"\n`],
    ["bytes that are no text", "\u0000\u0001\uFFFD"],
  ])("with %s are still read after it", async (_, damage) => {
    const folder = temporaryFolder();
    const { journal } = openJournal(folder);
    await journal.begin({ ...VIDEO, label: "before" });
    appendFileSync(join(folder, TODAY), damage);
    await journal.begin({ ...VIDEO, label: "after" });

    expect((await journal.entries()).map(({ label }) => label)).toEqual(["before", "after"]);
    expect((await openJournal(folder).journal.entries()).map(({ label }) => label)).toEqual([
      "before",
      "after",
    ]);
  });

  test("that were replaced are read again", async () => {
    const folder = temporaryFolder();
    const { journal } = openJournal(folder);
    await journal.begin({ ...VIDEO, label: "before" });
    await journal.entries();
    const text = readFileSync(join(folder, TODAY), "utf8").replace("before", "beyond");
    writeFileSync(join(folder, TODAY), text);
    utimesSync(join(folder, TODAY), 1, 1);

    expect((await journal.entries()).map(({ label }) => label)).toEqual(["beyond"]);
  });

  test("of which one is replaced by a longer one leave nothing of it, and the others as they are", async () => {
    const folder = temporaryFolder();
    const { journal, clock } = openJournal(folder);
    await journal.begin({ ...VIDEO, label: "today" });
    clock.ms += DAY_MS;
    await journal.begin({ ...VIDEO, label: "tomorrow" });
    await journal.entries();
    const other = temporaryFolder();
    const another = openJournal(other).journal;
    for (const label of ["one", "two", "three"]) await another.begin({ ...VIDEO, label });
    renameSync(join(other, TODAY), join(folder, TODAY));

    expect((await journal.entries()).map(({ label }) => label).sort()).toEqual([
      "one",
      "three",
      "tomorrow",
      "two",
    ]);
  });

  test("of which the last line is half written give the line when it is whole", async () => {
    const folder = temporaryFolder();
    const { journal } = openJournal(folder);
    await journal.begin({ ...VIDEO, label: "whole" });
    const line = JSON.stringify({ event: "intent", id: "x", atMs: NOON, ...VIDEO, label: "late" });
    appendFileSync(join(folder, TODAY), line.slice(0, 30));
    expect((await journal.entries()).map(({ label }) => label)).toEqual(["whole"]);
    appendFileSync(join(folder, TODAY), `${line.slice(30)}\n`);

    expect((await journal.entries()).map(({ label }) => label)).toEqual(["whole", "late"]);
  });

  test("of 100,000 lines are parsed once in small pieces; later only new lines are", async () => {
    const folder = temporaryFolder();
    const lines = Array.from({ length: 50_000 }, (_, index) => {
      const id = `id-${index}`;
      const intent = JSON.stringify({ event: "intent", id, atMs: NOON, ...VIDEO });
      return `${intent}\n${JSON.stringify({ event: "outcome", id, atMs: NOON, outcome: "done", jobId: id })}\n`;
    });
    writeFileSync(join(folder, TODAY), lines.join(""));
    const { journal } = openJournal(folder);
    let turns = 0;
    let counting = true;
    const count = () => {
      turns += 1;
      if (counting) setImmediate(count);
    };
    count();

    expect(await journal.entries()).toHaveLength(50_000);
    counting = false;
    // At least one turn of the event loop per 64 kB, so that other work waits for at most one piece.
    expect(turns).toBeGreaterThan(lines.join("").length / (64 * 1024));

    const parse = vi.spyOn(JSON, "parse");
    onTestFinished(() => parse.mockRestore());
    expect(await journal.entries()).toHaveLength(50_000);
    expect(parse).not.toHaveBeenCalled();
    await journal.begin(VIDEO);
    expect(await journal.entries()).toHaveLength(50_001);
    expect(parse).toHaveBeenCalledTimes(1);
  });
});

describe("a journal", () => {
  test("that can't be read fails with the file and how to fix it", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, TODAY));
    const reading = openJournal(folder).journal.entries();

    await expect(reading).rejects.toBeInstanceOf(BridgeError);
    await expect(reading).rejects.toMatchObject({
      facts: {
        code: "journal_unreadable",
        message: `The journal that guards against paying or posting twice can't be read (EISDIR: ${join(folder, TODAY)}), so nothing was sent.`,
        nextStep:
          "Tell the user: give this server the right to read that file, or set FACELESS_STATE_DIR to another folder and restart the server.",
        outcome: "not_sent",
        retryable: true,
      },
    });
  });

  test.each(["a folder that does not exist", "a file in the place of its folder"])(
    "is empty where there is %s",
    async (what) => {
      const path = join(temporaryFolder(), "state");
      if (what.startsWith("a file")) writeFileSync(path, "");

      expect(await openJournal(path).journal.entries()).toEqual([]);
    },
  );

  test("that can't be written warns once and keeps its entries in memory", async () => {
    const path = join(temporaryFolder(), "state");
    writeFileSync(path, "");
    const { journal, warnings } = openJournal(path);
    const id = await journal.begin(VIDEO);
    await journal.settle(id, { outcome: "unknown" });

    expect(await journal.entries()).toEqual([video({ outcome: "unknown", file: "" })]);
    expect(warnings).toEqual(["EEXIST"]);
  });

  test("without a folder keeps its entries in memory and writes nothing", async () => {
    const { journal, warnings } = openJournal(undefined);
    const id = await journal.begin(VIDEO);
    await journal.settle(id, { outcome: "done", jobId: "job-1" });

    expect(await journal.entries()).toEqual([video({ outcome: "done", jobId: "job-1", file: "" })]);
    expect(warnings).toEqual([]);
    expect(existsSync(TODAY)).toBe(false);
  });
});

test("Processes that write simultaneously lose and damage no line", async () => {
  const folder = temporaryFolder();
  const names = ["a", "b", "c", "d"];
  const count = 40;
  const writer = fileURLToPath(new URL("journal-writer.ts", import.meta.url));
  const children = await Promise.all(
    names.map(async (name) => {
      const child = spawn(process.execPath, ["--import", "tsx", writer, folder, name, String(count)], {
        stdio: ["pipe", "pipe", "inherit"],
      });
      onTestFinished(() => void child.kill());
      await once(child.stdout, "data");
      return child;
    }),
  );
  const ends = children.map((child) => once(child, "close"));
  for (const child of children) child.stdin.write("go\n");
  expect(await Promise.all(ends)).toEqual(names.map(() => [0, null]));

  const entries = await openJournal(folder, { now: Date.now }).journal.entries();
  for (const name of names) {
    expect(
      entries.filter(({ account }) => account === name).map(({ fingerprint, jobId }) => [fingerprint, jobId]),
    ).toEqual(Array.from({ length: count }, (_, index) => [`${name}-${index}`, `job-${name}-${index}`]));
  }
});
