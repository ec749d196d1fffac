import { appendFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createJournal, type Intent } from "../../src/jobs/journal.ts";
import { createRedact } from "../../src/redact.ts";
import { CANARY, tracesOf } from "../fixtures/canary.ts";
import { INTENT, NOW, open, reopened } from "./opened-journal.ts";

const HOUR_MS = 3_600_000;

describe("a journal on disk", () => {
  test("holds an intent before `begin` returns, and its outcome on a line of its own", () => {
    const { journal, folder, lines } = open();

    const id = journal.begin(INTENT);
    const intent = { event: "intent", id, atMs: NOW, ...INTENT };
    expect(lines().map((line) => JSON.parse(line))).toEqual([intent]);

    journal.settle(id, "done", "job-1");
    const outcome = { event: "outcome", id, atMs: NOW, outcome: "done", jobId: "job-1" };
    expect(lines().map((line) => JSON.parse(line))).toEqual([intent, outcome]);
    expect(readdirSync(folder)).toEqual(["journal.jsonl"]);
  });

  test("keeps what requests are told apart by, even where it looks like a key", () => {
    const opened = open({ redact: createRedact("fl_the_key_of_the_account_0123") });
    const guard = { fingerprint: "fl_ZU1ODeAhRxa8Tz0bhWp", account: "fl_0123456789abcdefghi" };

    opened.journal.begin({ ...INTENT, ...guard });

    expect(reopened(opened).entries()).toMatchObject([guard]);
  });

  test("tells another process what became of each request, `open` where nobody has said", () => {
    const opened = open();
    const { journal } = opened;
    const intents = ["1", "2", "3", "4", "5"].map((fingerprint, index): Intent => ({
      ...INTENT,
      fingerprint,
      operation: index % 2 === 0 ? "generate" : "publish",
    }));
    const ids = intents.map((intent) => journal.begin(intent));
    journal.settle(ids[0] ?? "", "done", "job-1");
    journal.settle(ids[1] ?? "", "unknown");
    journal.settle(ids[2] ?? "", "rejected");
    journal.settle(ids[3] ?? "", "not_sent");

    const entry = (index: number, outcome: string) => ({
      id: ids[index],
      atMs: NOW,
      ...intents[index],
      outcome,
    });
    expect(reopened(opened).entries()).toEqual([
      { ...entry(0, "done"), jobId: "job-1" },
      entry(1, "unknown"),
      entry(2, "rejected"),
      entry(3, "not_sent"),
      entry(4, "open"),
    ]);
    expect(journal.entries()).toEqual(reopened(opened).entries());
  });

  test("is for its owner alone: the folder 0700, the file 0600", () => {
    const { journal, folder } = open();
    journal.begin(INTENT);

    const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
    expect([mode(folder), mode(join(folder, "journal.jsonl"))]).toEqual(["700", "600"]);
  });

  test("whose last line is torn keeps the next one whole", () => {
    const opened = open();
    opened.journal.begin({ ...INTENT, fingerprint: "before" });
    appendFileSync(join(opened.folder, "journal.jsonl"), '{"event":"intent","id":"torn","atMs":17');

    opened.journal.begin({ ...INTENT, fingerprint: "after" });

    expect(
      reopened(opened)
        .entries()
        .map(({ fingerprint }) => fingerprint),
    ).toEqual(["before", "after"]);
  });

  test("ignores lines that it does not know", () => {
    const opened = open();
    const id = opened.journal.begin(INTENT);
    const strange = [
      "",
      "null",
      "[]",
      "{}",
      '{"event":"intent"}',
      '{"event":"refund","id":"x","atMs":1}',
      `{"event":"outcome","id":"${id}","atMs":1,"outcome":"perhaps"}`,
      '{"event":"outcome","id":"nobody","atMs":1,"outcome":"done"}',
      "\u0000\u0000",
      "�",
    ];
    appendFileSync(join(opened.folder, "journal.jsonl"), `${strange.join("\n")}\n`);
    opened.journal.settle(id, "unknown");

    expect(reopened(opened).entries()).toEqual([{ id, atMs: NOW, ...INTENT, outcome: "unknown" }]);
  });

  test("forgets what is older than seven days, and not what a clock that was set back wrote", () => {
    const opened = open();
    opened.journal.begin(INTENT);
    const at = (ms: number) => reopened(opened, () => ms).entries().length;

    expect([at(NOW + 7 * 24 * HOUR_MS), at(NOW + 7 * 24 * HOUR_MS + 1), at(NOW - HOUR_MS)]).toEqual([
      1, 0, 1,
    ]);
  });

  test("never holds the key, in whatever form it came, and no piece of it where a label is cut", () => {
    const redact = createRedact(CANARY);
    const { journal, lines } = open({ redact });
    const labels = [
      CANARY,
      JSON.stringify(CANARY),
      encodeURIComponent(CANARY),
      Buffer.from(CANARY).toString("base64"),
      Buffer.from(`x${CANARY}`).toString("base64url"),
      Buffer.from(`xy${CANARY}`).toString("base64url"),
      ...Array.from({ length: 40 }, (_, more) => "x".repeat(165 + more) + CANARY),
    ];
    for (const label of labels) journal.settle(journal.begin({ ...INTENT, label }), "done", CANARY);

    expect(lines()).toHaveLength(2 * labels.length);
    expect(tracesOf(CANARY, lines().join("\n"))).toEqual([]);
    expect(journal.entries()).toHaveLength(labels.length);
  });

  test("keeps 200 characters of a label, and splits none", () => {
    const { journal } = open();
    journal.begin({ ...INTENT, label: "😀".repeat(300) });

    expect(journal.entries().map(({ label }) => label)).toEqual(["😀".repeat(200)]);
  });
});

describe("a journal without a folder", () => {
  const inMemory = () => {
    const complaints: string[] = [];
    const onUnwritable = (reason: string) => void complaints.push(reason);
    const journal = createJournal({
      folder: undefined,
      now: () => NOW,
      redact: (line) => line,
      onUnwritable,
    });
    return { journal, complaints };
  };

  test("is this process's memory, and touches no disk", () => {
    const { journal, complaints } = inMemory();

    const id = journal.begin(INTENT);

    expect(journal.entries()).toEqual([{ id, atMs: NOW, ...INTENT, outcome: "open" }]);
    expect(complaints).toEqual([]);
  });

  test("does not grow for ever: it holds the last thousand records", () => {
    const { journal } = inMemory();
    const names = Array.from({ length: 1_001 }, (_, index) => String(index));

    for (const fingerprint of names) journal.begin({ ...INTENT, fingerprint });

    expect(journal.entries().map(({ fingerprint }) => fingerprint)).toEqual(names.slice(1));
  });
});
