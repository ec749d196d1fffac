// What the journal keeps of each request, in files that several processes share.

import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { openPrivateFolder } from "../../src/private-folder.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import {
  DAY_MS,
  failing,
  KEY,
  NOON,
  newJournal,
  openJournal,
  TODAY,
  topics,
  VIDEO,
  withTopic,
} from "./open-journal.ts";

test("An entry is on disk before its request is sent, where another process reads it", async () => {
  const folder = temporaryFolder();
  const { own } = await openJournal(openPrivateFolder(folder)).journal.begin(VIDEO);

  expect(await openJournal(openPrivateFolder(folder)).journal.entries()).toEqual([
    { id: own.id, ...VIDEO, atMs: NOON, source: join(folder, TODAY) },
  ]);
});

test("An argument of every JSON type is recorded, and what no process could read is not written", async () => {
  const { folder, journal } = newJournal();
  const everyType = {
    topic: "Tides",
    duration: 20.5,
    captions: true,
    tags: ["a", 1, { b: null }],
    voice: null,
  };
  await journal.begin({ ...VIDEO, arguments: everyType });
  const unreadable = journal.begin({ ...VIDEO, arguments: JSON.parse('"Tides"') });

  await expect(unreadable).rejects.toThrow("arguments");
  expect(await openJournal(openPrivateFolder(folder)).journal.entries()).toMatchObject([
    { arguments: everyType },
  ]);
});

test.each([
  ["an older line of the entry", {}],
  ["a line with another outcome", { outcome: "rejected" }],
])("A known outcome stays known when %s is read later", async (_, change) => {
  const { folder, journal } = newJournal();
  const { own } = await journal.begin(VIDEO);
  await journal.end(own, { outcome: "done", jobId: "job-1" });
  await journal.entries();
  writeFileSync(join(folder, TODAY), JSON.stringify({ ...own, ...change }));

  expect(await journal.entries()).toMatchObject([{ id: own.id, jobId: "job-1", outcome: "done" }]);
});

test("An entry holds no key", async () => {
  const { folder, journal } = newJournal();
  await journal.begin(withTopic(`My key is ${KEY}`));

  expect(readFileSync(join(folder, TODAY), "utf8")).toContain("My key is [redacted]");
});

test.runIf(process.platform !== "win32")("The journal is readable for its user alone", async () => {
  const folder = join(temporaryFolder(), "state");
  await openJournal(openPrivateFolder(folder)).journal.begin(VIDEO);

  expect([folder, join(folder, TODAY)].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
});

test("The files are one per UTC day and read in order, and a clock set back begins no earlier one", async () => {
  const { folder, journal, clock } = newJournal();
  await journal.begin(withTopic("first"));
  clock.epochMs += DAY_MS;
  await journal.begin(withTopic("second"));
  clock.epochMs += DAY_MS;
  await journal.begin(withTopic("third"));
  await journal.entries();
  clock.epochMs -= 30 * DAY_MS;
  await journal.begin(withTopic("fourth"));
  const disk = openPrivateFolder(folder);
  const reversed = {
    ...disk,
    list: async (pattern: RegExp) => new Map([...(await disk.list(pattern))].reverse()),
  };

  expect(readdirSync(folder)).toEqual([TODAY, "journal-2026-11-22.jsonl", "journal-2026-11-23.jsonl"]);
  expect(await topics(openJournal(reversed).journal)).toEqual(["first", "second", "third", "fourth"]);
});

test("Only the 90 newest days are read, whatever the clock says, and older files are removed", async () => {
  const { folder, disk } = newJournal();
  await openJournal(disk).journal.begin(VIDEO);
  const days = Array.from({ length: 90 }, (_, day) => new Date(NOON + (day + 1) * DAY_MS).toISOString());
  const newest = days.map((day) => `journal-${day.slice(0, 10)}.jsonl`);
  for (const name of [...newest, "notes.txt"]) writeFileSync(join(folder, name), "");
  expect(await openJournal({ ...disk, remove: failing("EPERM") }).journal.entries()).toEqual([]);
  await openJournal(disk, { epochMs: NOON + 365 * DAY_MS }).journal.entries();

  expect(readdirSync(folder).sort()).toEqual([...newest, "notes.txt"]);
});

test("A file that has not changed is not read again, and one of another name never", async () => {
  const { folder, disk } = newJournal();
  const names: string[] = [];
  const { journal } = openJournal({
    ...disk,
    read: (name, start) => (names.push(name), disk.read(name, start)),
  });
  await journal.begin(VIDEO);
  for (const name of [`my-${TODAY}`, `${TODAY}.bak`]) writeFileSync(join(folder, name), "{}");
  await journal.entries();
  await journal.entries();

  expect(names).toEqual([TODAY]);
});

const PLANTED: Readonly<Record<string, (path: string, target: string) => void>> = {
  "a symbolic link": (path, target) => symlinkSync(target, path),
  "a pipe": (path) => void execFileSync("mkfifo", [path]),
  "a folder": (path) => mkdirSync(path),
  "another user's file": (path, target) => {
    copyFileSync(target, path);
    const { uid } = statSync(path);
    const getuid = vi.spyOn(process, "getuid").mockReturnValue(uid + 1);
    onTestFinished(() => getuid.mockRestore());
  },
};

test.runIf(process.getuid).each(Object.entries(PLANTED))(
  "With %s among the journal's files, of whatever day, nothing is sent, and nothing is written through it",
  async (_, plant) => {
    const target = join(temporaryFolder(), "target");
    writeFileSync(target, JSON.stringify({ id: "planted", atMs: NOON, ...VIDEO }));
    for (const name of [TODAY, "journal-2026-11-19.jsonl"]) {
      const folder = temporaryFolder();
      plant(join(folder, name), target);
      const { journal } = openJournal(openPrivateFolder(folder));

      await expect(journal.entries()).rejects.toMatchObject({
        fix: "make it a regular file of the user who runs this server",
        facts: { code: "journal_unreadable", message: expect.stringContaining(name) },
      });
      await expect(journal.begin(VIDEO)).rejects.toMatchObject({ facts: { outcome: "not_sent" } });
      // It may have come after the list.
      await expect(openPrivateFolder(folder).read(name, 0)).rejects.toThrow(/link|ELOOP/);
    }
    expect(readFileSync(target, "utf8")).not.toContain("not_sent");
  },
);

test("Nothing is written to a file of the journal that has a second name", async () => {
  const folder = temporaryFolder();
  const target = join(temporaryFolder(), "target");
  writeFileSync(target, "");
  linkSync(target, join(folder, TODAY));

  await expect(openJournal(openPrivateFolder(folder)).journal.begin(VIDEO)).rejects.toMatchObject({
    facts: { code: "journal_unwritable", message: expect.stringContaining("there is a link") },
  });
  expect(readFileSync(target, "utf8")).toBe("");
});

test("A folder that the user has set and that is missing is named, and is not made", async () => {
  const folder = join(temporaryFolder(), "not mounted");
  const { journal } = openJournal(openPrivateFolder(folder, { mayMake: false }));

  await expect(journal.begin(VIDEO)).rejects.toMatchObject({
    facts: {
      message: expect.stringContaining(folder),
      nextStep: expect.stringContaining("create that folder, or mount the disk that holds it"),
    },
  });
  expect(existsSync(folder)).toBe(false);
});

test.each([
  "journal-2026-11-21.sync-conflict-20261121-120000-ABC.jsonl",
  "journal-copy-of-journal-2026-11-22.jsonl",
])("A copy that a program for synchronising made counts like the file itself: %s", async (name) => {
  const folder = temporaryFolder();
  await openJournal(openPrivateFolder(folder)).journal.begin(VIDEO);
  renameSync(join(folder, TODAY), join(folder, name));
  const { journal } = openJournal(openPrivateFolder(folder), { epochMs: NOON - DAY_MS });
  expect(await topics(journal)).toEqual(["Tides"]);
  await journal.begin(VIDEO);

  const day = name.includes("copy") ? "2026-11-20" : "2026-11-21";
  expect(readdirSync(folder).sort()).toEqual([`journal-${day}.jsonl`, name].sort());
});

test("A look reads only what was added since the last one, and nothing that was read is forgotten", async () => {
  const { folder, disk, journal } = newJournal();
  const bytes: number[] = [];
  const read: typeof disk.read = async (...args) => {
    const text = await disk.read(...args);
    bytes.push(text.length);
    return text;
  };
  const other = openJournal({ ...disk, read }).journal;
  await journal.begin(withTopic("first".repeat(1_000)));
  expect(await topics(other)).toHaveLength(1);
  await journal.begin(withTopic("second"));
  expect(await topics(other)).toEqual(["first".repeat(1_000), "second"]);
  expect(bytes.map((length) => length > 1_000)).toEqual([true, false]);
  rmSync(folder, { recursive: true });

  expect(await topics(other)).toHaveLength(2);
});

test("A file that was replaced by a longer one is read from its first line", async () => {
  const { folder, journal } = newJournal();
  await journal.begin(withTopic("first"));
  await journal.entries();
  const { folder: elsewhere, journal: other } = newJournal();
  for (const topic of ["second", "third", "fourth"]) await other.begin(withTopic(topic));
  // Written into the same file, as a restored backup may be.
  writeFileSync(join(folder, TODAY), readFileSync(join(elsewhere, TODAY)));

  expect(await topics(journal)).toEqual(["first", "second", "third", "fourth"]);
});

test("A file that is away at the moment in which it is read is read once it is back", async () => {
  const { folder, disk } = newJournal();
  await openJournal(disk).journal.begin(VIDEO);
  const [here, away] = [join(folder, TODAY), join(folder, "away")];
  const read: typeof disk.read = async (...args) => {
    renameSync(here, away);
    return disk.read(...args).finally(() => renameSync(away, here));
  };
  const changing = { ...disk, read };
  const { journal } = openJournal(changing);
  expect(await journal.entries()).toEqual([]);
  changing.read = disk.read;

  expect(await topics(journal)).toEqual(["Tides"]);
});

test("A torn line hides no other line", async () => {
  const { folder, journal } = newJournal();
  await journal.begin(withTopic("first"));
  appendFileSync(join(folder, TODAY), `{"id":"torn","oper`);
  await journal.begin(withTopic("second"));
  appendFileSync(join(folder, TODAY), "x".repeat(2_000_000));
  await journal.begin(withTopic("third"));

  expect(await topics(openJournal(openPrivateFolder(folder)).journal)).toEqual(["first", "second", "third"]);
});

const POST = { id: "post", atMs: NOON, operation: "publish", jobId: "job-1", platforms: ["x"] };

test.each([
  ["a new outcome", { ...POST, outcome: "partly" }],
  ["platforms of another form", { ...POST, platforms: [{ id: "x" }] }],
  ["results of another form", { ...POST, outcome: "done", results: [{ platform: 7, ok: "yes" }] }],
  ["a new operation", { ...POST, operation: "delete" }],
  ["no object", null],
])("A line with %s makes the journal unreadable, and the error asks for an update", async (_, line) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, TODAY), JSON.stringify(line));

  await expect(openJournal(openPrivateFolder(folder)).journal.entries()).rejects.toMatchObject({
    facts: {
      code: "journal_unreadable",
      message: expect.stringContaining(join(folder, TODAY)),
      nextStep: expect.stringContaining("update this server"),
    },
  });
});

test("A line of a newer version with more fields is read", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, TODAY), JSON.stringify({ ...POST, machineMs: 1, caption: "new" }));

  expect(await openJournal(openPrivateFolder(folder)).journal.entries()).toMatchObject([POST]);
});

test("Processes that write at once lose and damage no line", async () => {
  const disk = openPrivateFolder(temporaryFolder());
  const written = ["a", "b", "c"].map((name) => Array.from({ length: 50 }, (_, index) => `${name}-${index}`));
  const write = async (names: readonly string[]) => {
    const { journal } = openJournal(disk);
    for (const name of names) {
      const { own } = await journal.begin(withTopic(name));
      await journal.end(own, { outcome: "done", jobId: `job-${name}` });
    }
  };
  await Promise.all(written.map(write));
  const { journal } = openJournal(disk);

  expect(new Set(await topics(journal))).toEqual(new Set(written.flat()));
  for (const entry of await journal.entries()) expect(entry.jobId).toMatch(/^job-/);
});
