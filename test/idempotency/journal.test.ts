// What the journal keeps of each request, in files that several processes share.

import {
  appendFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDisk } from "../../src/idempotency/journal-files.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { DAY_MS, failing, KEY, NOON, openJournal, TODAY, topics, VIDEO, withTopic } from "./open-journal.ts";

test("An entry is on disk before its request is sent, where another process reads it as under way", async () => {
  const folder = temporaryFolder();
  const { id, isOnDisk } = await openJournal(openDisk(folder)).journal.begin(VIDEO);

  expect(isOnDisk).toBe(true);
  expect(await openJournal(openDisk(folder)).journal.entries()).toEqual([
    { id, ...VIDEO, atMs: NOON, machineMs: 9_000_000, state: "under way", file: TODAY },
  ]);
});

test("An entry is over with its outcome, and keeps that whatever older line of it is read later", async () => {
  const folder = temporaryFolder();
  const { journal } = openJournal(openDisk(folder));
  const { id } = await journal.begin(VIDEO);
  const older = readFileSync(join(folder, TODAY));
  await journal.recordOutcome(id, { outcome: "done", jobId: "job-1" });
  writeFileSync(join(folder, TODAY), older);

  expect(await journal.entries()).toMatchObject([{ id, jobId: "job-1", endedAtMs: NOON, state: "over" }]);
});

test.each([
  ["unknown", { outcome: "unknown" }, "unknown"],
  ["over", { outcome: "rejected" }, "over"],
] as const)("An entry is %s with the outcome %j", async (_, outcome, state) => {
  const { journal } = openJournal(undefined);
  const { id } = await journal.begin(VIDEO);
  await journal.recordOutcome(id, outcome);

  expect(await journal.entries()).toMatchObject([{ state }]);
});

test.each(["done", "rejected", "not_sent", "unknown"] as const)(
  "An entry that ended %s is read as that by another process, with the time",
  async (outcome) => {
    const disk = openDisk(temporaryFolder());
    const { journal, clock } = openJournal(disk);
    const { id } = await journal.begin(VIDEO);
    clock.epochMs += 1_000;
    await journal.recordOutcome(id, { outcome });

    expect(await openJournal(disk).journal.entries()).toMatchObject([
      { ...VIDEO, outcome, atMs: NOON, endedAtMs: NOON + 1_000 },
    ]);
  },
);

test("An outcome of a request that was never begun is a fault", async () => {
  const { journal } = openJournal(undefined);

  await expect(journal.recordOutcome("nobody", { outcome: "done" })).rejects.toThrow("never begun");
});

test("An entry becomes known when the answer comes after its outcome was called unknown", async () => {
  const folder = temporaryFolder();
  const { journal } = openJournal(openDisk(folder));
  const { id } = await journal.begin(VIDEO);
  await journal.recordOutcome(id, { outcome: "unknown" });
  await journal.recordOutcome(id, { outcome: "done", jobId: "job-1" });

  expect(await openJournal(openDisk(folder)).journal.entries()).toMatchObject([{ outcome: "done" }]);
});

test.each([
  ["under way", 59_999, 59_999],
  ["under way", -DAY_MS, 59_999],
  ["under way", 59_999, -5_000_000],
  ["unknown", 60_000, 60_000],
  ["unknown", -DAY_MS, 60_000],
])(
  "An entry of another process is %s after %i ms by the wall clock and %i by the machine's",
  async (state, wallMs, machineMs) => {
    const folder = temporaryFolder();
    await openJournal(openDisk(folder)).journal.begin(VIDEO);
    const later = { epochMs: NOON + wallMs, machineMs: 9_000_000 + machineMs };

    expect(await openJournal(openDisk(folder), later).journal.entries()).toMatchObject([{ state }]);
  },
);

test("An entry of this process is under way for as long as it has no outcome", async () => {
  const { journal, clock } = openJournal(openDisk(temporaryFolder()));
  await journal.begin(VIDEO);
  clock.epochMs += DAY_MS;
  clock.machineMs += DAY_MS;

  expect(await journal.entries()).toMatchObject([{ state: "under way" }]);
});

test("An entry holds no key, not even a part of one that is cut off", async () => {
  const folder = temporaryFolder();
  await openJournal(openDisk(folder)).journal.begin(withTopic(`${"x".repeat(19_990)}${KEY}`));
  const text = readFileSync(join(folder, TODAY), "utf8");

  expect(text).toContain("[redacted]".slice(0, 10));
  expect(text).not.toContain("fl_");
});

test("An entry keeps what the service said of a platform", async () => {
  const { journal } = openJournal(undefined);
  const { id } = await journal.begin({ operation: "publish", jobId: "job-1", platforms: ["x", "tiktok"] });
  const short = { platform: "x", ok: true, url: "https://x.example/1" };
  const long = { platform: "tiktok", ok: true, note: "n".repeat(3_000) };
  await journal.recordOutcome(id, { outcome: "done", results: [short, long] });

  expect(await journal.entries()).toMatchObject([{ results: [short, { platform: "tiktok", ok: true }] }]);
});

test.runIf(process.platform !== "win32")("The journal is readable for its user alone", async () => {
  const folder = join(temporaryFolder(), "state");
  await openJournal(openDisk(folder)).journal.begin(VIDEO);

  expect([folder, join(folder, TODAY)].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
});

test("The files are one per UTC day and read in order, and a clock set back begins no earlier one", async () => {
  const folder = temporaryFolder();
  const { journal, clock } = openJournal(openDisk(folder));
  await journal.begin(withTopic("first"));
  clock.epochMs += DAY_MS;
  await journal.begin(withTopic("second"));
  clock.epochMs += DAY_MS;
  await journal.begin(withTopic("third"));
  await journal.entries();
  clock.epochMs -= 30 * DAY_MS;
  await journal.begin(withTopic("fourth"));
  const disk = openDisk(folder);
  const reversed = { ...disk, list: async () => (await disk.list()).toReversed() };

  expect(readdirSync(folder)).toEqual([TODAY, "journal-2026-11-22.jsonl", "journal-2026-11-23.jsonl"]);
  expect(await topics(openJournal(reversed).journal)).toEqual(["first", "second", "third", "fourth"]);
});

test("The files of the 90 newest days are kept, whatever the clock says, and older ones are removed", async () => {
  const folder = temporaryFolder();
  const days = Array.from({ length: 92 }, (_, index) => new Date(NOON - index * 2 * DAY_MS).toISOString());
  for (const day of days) writeFileSync(join(folder, `journal-${day.slice(0, 10)}.jsonl`), "");
  writeFileSync(join(folder, "notes.txt"), "");
  await openJournal(openDisk(folder), { epochMs: NOON + 365 * DAY_MS, machineMs: 0 }).journal.entries();

  const kept = readdirSync(folder).filter((name) => name !== "notes.txt");
  expect([kept.length, kept.at(-1), kept.includes(`journal-${days[90]?.slice(0, 10)}.jsonl`)]).toEqual([
    90,
    TODAY,
    false,
  ]);
});

test("A file older than the 90 newest is not read, even if it can't be removed", async () => {
  const folder = temporaryFolder();
  const disk = openDisk(folder);
  await openJournal(disk).journal.begin(VIDEO);
  for (let day = 1; day <= 90; day++)
    writeFileSync(
      join(folder, `journal-${new Date(NOON + day * DAY_MS).toISOString().slice(0, 10)}.jsonl`),
      "",
    );
  const stuck = { ...disk, remove: failing("EPERM") };

  expect(await openJournal(stuck).journal.entries()).toEqual([]);
});

test("A file that has not changed is not read again, and a foreign one is never read", async () => {
  const folder = temporaryFolder();
  const disk = openDisk(folder);
  const names: string[] = [];
  const { journal } = openJournal({ ...disk, read: (name) => (names.push(name), disk.read(name)) });
  await journal.begin(VIDEO);
  for (const name of [`my-${TODAY}`, `${TODAY}.bak`]) writeFileSync(join(folder, name), "{}");
  await journal.entries();
  await journal.entries();

  expect(names).toEqual([TODAY]);
});

test.runIf(process.platform !== "win32")(
  "A file that is gone when it is looked at hides no other file",
  async () => {
    const folder = temporaryFolder();
    symlinkSync(join(folder, "nowhere"), join(folder, "journal-2026-11-20.jsonl"));
    await openJournal(openDisk(folder)).journal.begin(withTopic("first"));

    expect(await topics(openJournal(openDisk(folder)).journal)).toEqual(["first"]);
  },
);

test("A look reads what was added since the last one, and nothing that was read is forgotten", async () => {
  const folder = temporaryFolder();
  const { journal } = openJournal(openDisk(folder));
  const other = openJournal(openDisk(folder)).journal;
  await journal.begin(withTopic("first"));
  expect(await topics(other)).toEqual(["first"]);
  await journal.begin(withTopic("second"));
  expect(await topics(other)).toEqual(["first", "second"]);
  rmSync(folder, { recursive: true });

  expect(await topics(other)).toEqual(["first", "second"]);
});

test("A file that was replaced by a longer one is read from its first line", async () => {
  const folder = temporaryFolder();
  const elsewhere = temporaryFolder();
  const { journal } = openJournal(openDisk(folder));
  await journal.begin(withTopic("first"));
  await journal.entries();
  const other = openJournal(openDisk(elsewhere)).journal;
  for (const topic of ["second", "third", "fourth"]) await other.begin(withTopic(topic));
  // Written into the same file, as a restored backup may be.
  writeFileSync(join(folder, TODAY), readFileSync(join(elsewhere, TODAY)));

  expect(await topics(journal)).toEqual(["first", "second", "third", "fourth"]);
});

test("A file that is put back after the process began a new one adds to what it knows", async () => {
  const folder = temporaryFolder();
  const { journal } = openJournal(openDisk(folder));
  await journal.begin(withTopic("first"));
  renameSync(join(folder, TODAY), join(folder, "away"));
  await journal.begin(withTopic("second"));
  await journal.entries();
  renameSync(join(folder, "away"), join(folder, TODAY));

  expect(await topics(openJournal(openDisk(folder)).journal)).toEqual(["first"]);
  expect(new Set(await topics(journal))).toEqual(new Set(["first", "second"]));
});

test("A torn, foreign or overlong line hides no other line", async () => {
  const folder = temporaryFolder();
  const { journal } = openJournal(openDisk(folder));
  await journal.begin(withTopic("first"));
  appendFileSync(join(folder, TODAY), `{"id":"torn","oper`);
  await journal.begin(withTopic("second"));
  appendFileSync(join(folder, TODAY), `${"x".repeat(2_000_000)}\nnull\n{"id":7}\n`);
  await journal.begin(withTopic("third"));

  expect(await topics(openJournal(openDisk(folder)).journal)).toEqual(["first", "second", "third"]);
});

test("Processes that write at once lose and damage no line", async () => {
  const folder = temporaryFolder();
  const names = ["a", "b", "c"];
  const write = async (name: string) => {
    const { journal } = openJournal(openDisk(folder));
    for (let index = 0; index < 50; index++) {
      const { id } = await journal.begin({ ...VIDEO, account: name, fingerprint: `${name}-${index}` });
      await journal.recordOutcome(id, { outcome: "done", jobId: `job-${name}-${index}` });
    }
  };
  await Promise.all(names.map(write));
  const entries = await openJournal(openDisk(folder)).journal.entries();

  const written = names.flatMap((name) =>
    Array.from({ length: 50 }, (_, index) => `${name} ${name}-${index} job-${name}-${index}`),
  );
  const read = entries.map(
    (entry) => entry.operation === "generate" && `${entry.account} ${entry.fingerprint} ${entry.jobId}`,
  );
  expect(new Set(read)).toEqual(new Set(written));
  expect(read).toHaveLength(written.length);
});
