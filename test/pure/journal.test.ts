// The journal of requests, in files that several processes share.

import {
  appendFileSync,
  existsSync,
  linkSync,
  promises as fs,
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
import { systemClock } from "../../src/clock.ts";
import { JournalFiles } from "../../src/idempotency/journal-files.ts";
import { type PrivateFolder, openPrivateFolder } from "../../src/disk.ts";
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
} from "../fixtures/open-journal.ts";

const open = (folder: string) => openJournal(openPrivateFolder(folder)).journal;

/** Changes what every opened file does, until the test is over. */
async function fakeFiles(fake: (file: fs.FileHandle) => void): Promise<void> {
  const file = await fs.open(import.meta.filename);
  fake(Object.getPrototypeOf(file));
  onTestFinished(() => void vi.restoreAllMocks());
  await file.close();
}

test("an entry is on disk before its request is sent, and another process reads it there", async () => {
  const folder = temporaryFolder();
  const { own } = await open(folder).begin(VIDEO);

  expect(await open(folder).entries()).toEqual([
    { id: own.id, ...VIDEO, atMs: NOON, source: join(folder, TODAY) },
  ]);
});

test("a line is ASCII, holds no key, and is read as it was written", async () => {
  const { folder, journal } = newJournal();
  const topic = "The “sea’s” tides 🌊 — \u0000\u007F\u2028 潮";
  await journal.begin(withTopic(`${topic} ${KEY}`));

  expect(readFileSync(join(folder, TODAY), "utf8")).toMatch(/^\n[ -~]+\n$/);
  expect(await topics(open(folder))).toEqual([`${topic} [redacted]`]);
});

test.each([
  ["an older line of the entry", {}],
  ["a line with another outcome", { outcome: "rejected" }],
])("a known outcome stays known if %s is read later", async (_, change) => {
  const { folder, journal } = newJournal();
  const { own } = await journal.begin(VIDEO);
  await journal.end(own, { outcome: "done", jobId: "job-1" });
  await journal.entries();
  writeFileSync(join(folder, TODAY), JSON.stringify({ ...own, ...change }));

  expect(await journal.entries()).toMatchObject([{ id: own.id, jobId: "job-1", outcome: "done" }]);
});

test.runIf(process.platform !== "win32")("only the journal's user may read it", async () => {
  const folder = join(temporaryFolder(), "state");
  await open(folder).begin(VIDEO);

  expect([folder, join(folder, TODAY)].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
});

test("there is one file per UTC day, and all are read in order", async () => {
  const { folder, journal, clock } = newJournal();
  for (const topic of ["first", "second", "third"]) {
    await journal.begin(withTopic(topic));
    clock.epochMs += DAY_MS;
  }

  expect(readdirSync(folder)).toEqual([TODAY, "journal-2026-11-22.jsonl", "journal-2026-11-23.jsonl"]);
  expect(await topics(open(folder))).toEqual(["first", "second", "third"]);
});

test("files of the 90 newest days are read, whatever the clock says, and the next write removes older ones", async () => {
  const { folder, journal, clock } = newJournal();
  await journal.begin(VIDEO);
  const days = Array.from({ length: 90 }, (_, day) => new Date(NOON + (day + 1) * DAY_MS).toISOString());
  const newest = days.map((day) => `journal-${day.slice(0, 10)}.jsonl`);
  for (const name of [...newest, "notes.txt"]) writeFileSync(join(folder, name), "");
  const reader = open(folder);
  expect(await reader.entries()).toEqual([]);
  expect(readdirSync(folder)).toContain(TODAY);
  clock.epochMs += 90 * DAY_MS;
  await journal.entries();
  await journal.begin(VIDEO);

  expect(readdirSync(folder).sort()).toEqual([...newest, "notes.txt"]);
});

test("only the server's own files are removed once their day is too old, and no file before all could be read", async () => {
  const { folder, journal, clock } = newJournal();
  await journal.begin(VIDEO);
  const days = Array.from({ length: 90 }, (_, day) => new Date(NOON + (day + 1) * DAY_MS).toISOString());
  const newest = days.map((day) => `journal-${day.slice(0, 10)}.jsonl`);
  const diary = "journal-2026-11-22 at the sea.md";
  const old = ["journal-2026-11-21.jsonl.1", "JOURNAL-2026-11-21.JSONL", "journal-2026-11-21 diary.md"];
  for (const name of [...newest, ...old]) writeFileSync(join(folder, name), "");
  writeFileSync(join(folder, diary), "A day at the sea.");
  clock.epochMs += 90 * DAY_MS;
  await expect(journal.entries()).rejects.toThrow(diary);
  await expect(journal.begin(VIDEO)).rejects.toThrow(diary);
  expect(readdirSync(folder).sort()).toEqual([TODAY, ...newest, ...old, diary].sort());

  rmSync(join(folder, diary));
  await journal.entries();
  await journal.begin(withTopic("Moons"));
  expect(readdirSync(folder).sort()).toEqual([...newest, ...old].sort());
});

test("files are read in the order of their names, however the disk lists them", async () => {
  const { folder, journal, clock, disk } = newJournal();
  await journal.begin(withTopic("first"));
  clock.epochMs += DAY_MS;
  await journal.begin(withTopic("second"));
  const list: typeof disk.list = async (pattern) =>
    new Map([...(await disk.list(pattern))].sort(([a], [b]) => b.localeCompare(a)));

  expect(await topics(openJournal({ ...disk, list }).journal)).toEqual(["first", "second"]);
  expect(readdirSync(folder)).toHaveLength(2);
});

test("reading a long file doesn't block other work", async () => {
  const { disk } = newJournal();
  const bytes = Buffer.from("\n".repeat(100_000));
  // Without a disk to wait for, other work runs only if the journal lets it.
  const list = async () => new Map([[TODAY, "version"]]);
  const { journal } = openJournal({ ...disk, list, read: async () => bytes });
  let [turns, isRead] = [0, false];
  const takeTurn = () => {
    turns += 1;
    if (!isRead) setImmediate(takeTurn);
  };
  takeTurn();
  await journal.entries();
  isRead = true;

  expect(turns).toBeGreaterThanOrEqual(100);
});

test.each([
  ["a link", symlinkSync],
  ["a second name", linkSync],
])("a journal file with %s is used like any other", async (_, link) => {
  const { folder, journal } = newJournal();
  await journal.begin(withTopic("first"));
  const elsewhere = temporaryFolder();
  link(join(folder, TODAY), join(elsewhere, TODAY));
  await open(elsewhere).begin(withTopic("second"));

  expect(await topics(open(folder))).toEqual(["first", "second"]);
});

test("if the folder that the user has set is missing, that is an error and it is not made", async () => {
  const folder = join(temporaryFolder(), "not mounted");
  const { journal } = openJournal(openPrivateFolder(folder, { mayMake: false }));

  for (const use of [() => journal.begin(VIDEO), () => journal.entries()])
    await expect(use()).rejects.toMatchObject({
      problem: expect.stringContaining(folder),
      fix: "create that folder, or mount the disk that holds it",
    });
  expect(existsSync(folder)).toBe(false);
});

test("a default folder that is missing holds nothing", async () => {
  expect(await open(join(temporaryFolder(), "state")).entries()).toEqual([]);
});

const DAY = "journal-2026-11-21";

test.each([
  // Backups, editors and log rotations.
  ...["~", ".bak", ".old", ".orig", ".save", ".1", ".2", "-1", ".20261122", ".rotated", ".~1~", ".tmp"].map(
    (end) => `${DAY}.jsonl${end}`,
  ),
  // What is still being copied or downloaded.
  ...[".part", ".partial", ".filepart", ".crdownload", ".!sync"].map((end) => `${DAY}.jsonl${end}`),
  // Conflicts and copies of Dropbox, Syncthing, Nextcloud, Seafile, Resilio, Box, MEGA, OneDrive, iCloud, rclone, Unison.
  `${DAY} (Ana's conflicted copy 2026-11-21).jsonl`,
  `${DAY} (Case Conflict).jsonl`,
  `${DAY}.jsonl (conflicted copy 2026-11-21)`,
  `${DAY}.sync-conflict-20261121-120000-ABCDEFG.jsonl`,
  `${DAY}.jsonl.sync-conflict-20261121-120000-ABCDEFG`,
  `${DAY} (conflicted copy 2026-11-21 120000).jsonl`,
  `${DAY}_conflict-20261121-120000.jsonl`,
  `${DAY} (SFConflict ana@example.com 2026-11-21-12-00-00).jsonl`,
  `${DAY}.Conflict.jsonl`,
  `${DAY} [conflicted].jsonl`,
  `${DAY} (in Konflikt stehende Kopie von Ana).jsonl`,
  `${DAY}-LAPTOP.jsonl`,
  `${DAY}-LAPTOP-2.jsonl`,
  `${DAY} 2.jsonl`,
  `${DAY} (1).jsonl`,
  `${DAY}(1).jsonl`,
  `${DAY} - Copy.jsonl`,
  `${DAY} copy.jsonl`,
  `${DAY} – Kopie (2).jsonl`,
  `${DAY}.jsonl.conflict1`,
  `${DAY}.jsonl..path2`,
  `${DAY}.jsonl (copy: conflict #1 on 2026-11-21)`,
  // Names that a disk, a mail or a download has changed.
  "JOURNAL-2026-11-21.JSONL",
  "Journal-2026-11-21.jsonl",
  `${DAY}.JSONL`,
  `${DAY}.json`,
  `${DAY}.jsonl.txt`,
  `${DAY}.jso`,
  DAY,
])("a journal's file under another name counts like the file itself: %s", async (name) => {
  const { folder, journal } = newJournal();
  await journal.begin(VIDEO);
  renameSync(join(folder, TODAY), join(folder, name));
  const other = open(folder);

  expect(await topics(other)).toEqual(["Tides"]);
  await other.begin(withTopic("Moons"));
  expect(new Set(await topics(open(folder)))).toEqual(new Set(["Tides", "Moons"]));
});

test.each(["notes.txt", `._${TODAY}`, `.${TODAY}.swp`, `.#${TODAY}`, `.~lock.${TODAY}#`, "journal-index.db"])(
  "another program's file beside the journal is left alone: %s",
  async (name) => {
    const { folder, journal } = newJournal();
    await journal.begin(VIDEO);
    writeFileSync(join(folder, name), "\0not a journal");

    expect(await topics(open(folder))).toEqual(["Tides"]);
  },
);

test("nothing that was read is forgotten, even if the folder is removed", async () => {
  const { folder, journal } = newJournal();
  for (const topic of ["first", "second"]) {
    await journal.begin(withTopic(topic));
    await journal.entries();
  }
  rmSync(folder, { recursive: true });

  expect(await topics(journal)).toEqual(["first", "second"]);
});

test("a file that was replaced by a longer one is read from its first line", async () => {
  const { folder, journal } = newJournal();
  await journal.begin(withTopic("first"));
  await journal.entries();
  const { folder: elsewhere, journal: other } = newJournal();
  for (const topic of ["second", "third", "fourth"]) await other.begin(withTopic(topic));
  // Written into the same file, as a restored backup may be.
  writeFileSync(join(folder, TODAY), readFileSync(join(elsewhere, TODAY)));

  expect(await topics(journal)).toEqual(["first", "second", "third", "fourth"]);
});

test("a file that disappears while it is being read is read once it is back", async () => {
  const { folder, disk, journal: writer } = newJournal();
  await writer.begin(VIDEO);
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

test("a torn line hides no other line", async () => {
  const { folder, journal } = newJournal();
  await journal.begin(withTopic("first"));
  appendFileSync(join(folder, TODAY), `{"id":"torn","oper`);
  await journal.begin(withTopic("second"));
  appendFileSync(join(folder, TODAY), `{"id":"${"x".repeat(2_000_000)}`);
  await journal.begin(withTopic("third"));

  expect(await topics(open(folder))).toEqual(["first", "second", "third"]);
});

const POST = { id: "post", atMs: NOON, operation: "publish", jobId: "job-1", platforms: ["x"] };

test.each([
  ["a new outcome", { ...POST, outcome: "partly" }],
  ["platforms of another form", { ...POST, platforms: [{ id: "x" }] }],
  ["results of another form", { ...POST, outcome: "done", results: [{ platform: 7, ok: "yes" }] }],
  ["a new operation", { ...POST, operation: "delete" }],
])("a line with %s makes the journal unreadable, and the error asks for an update", async (_, line) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, TODAY), JSON.stringify(line));

  await expect(open(folder).entries()).rejects.toMatchObject({
    problem: `can't be understood (a line has another form: ${join(folder, TODAY)})`,
    fix: "update this server, as a newer version has written it",
  });
});

test("a line of a newer version with more fields is read", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, TODAY), JSON.stringify({ ...POST, machineMs: 1, caption: "new" }));

  expect(await open(folder).entries()).toMatchObject([POST]);
});

test("processes that write at once lose and damage no line", async () => {
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

test("a disk that gives a few bytes at a time is read to the end", async () => {
  const { folder, journal } = newJournal();
  for (const topic of ["first", "second"]) await journal.begin(withTopic(topic));
  await fakeFiles((file) => {
    const { read } = file;
    vi.spyOn(file, "read").mockImplementation(function (this: typeof file, options) {
      const left = (options?.buffer?.byteLength ?? 0) - (options?.offset ?? 0);
      return read.call(this, { ...options, length: Math.min(7, left) });
    });
  });

  expect(await topics(open(folder))).toEqual(["first", "second"]);
});

test("a disk that gives fewer bytes than the file has makes the journal unreadable", async () => {
  const { folder, journal } = newJournal();
  await journal.begin(VIDEO);
  await fakeFiles((file) => {
    const { read } = file;
    vi.spyOn(file, "read").mockImplementation(function (this: typeof file, options) {
      return read.call(this, { ...options, length: options?.offset === 0 ? 7 : 0 });
    });
  });

  await expect(open(folder).entries()).rejects.toMatchObject({
    problem: `can't be read (its disk gives fewer bytes than the file has: ${join(folder, TODAY)})`,
    fix: "check it and the disk that holds it",
  });
});

test("the next read continues to the new end of a file that grew during the last one", async () => {
  const { folder, journal: writer } = newJournal();
  await writer.begin(withTopic("first"));
  const line = readFileSync(join(folder, TODAY), "utf8");
  const journal = open(folder);
  await fakeFiles((file) => {
    const { read } = file;
    vi.spyOn(file, "read").mockImplementationOnce(function (this: typeof file, options) {
      appendFileSync(join(folder, TODAY), line.replace("first", "second").replace(/"id":"/, "$&b"));
      return read.call(this, options);
    });
  });
  await journal.entries();

  expect(await topics(journal)).toEqual(["first", "second"]);
});

test("a line that a full disk cut off is written whole before the next one", async () => {
  const { folder, journal } = newJournal();
  const { own } = await journal.begin(withTopic("first"));
  await fakeFiles((file) => {
    const { write } = file;
    vi.spyOn(file, "write").mockImplementation(function (this: typeof file, text: string) {
      return write.call(this, text.slice(0, 3));
    });
  });
  await expect(journal.begin(withTopic("second"))).rejects.toMatchObject({
    problem: `can't be written (ENOSPC: ${join(folder, TODAY)})`,
    fix: "free some space on its disk",
  });
  await journal.end(own, { outcome: "done", jobId: "job-1" });
  vi.restoreAllMocks();
  await journal.begin(withTopic("third"));

  expect(await open(folder).entries()).toMatchObject([
    { arguments: { topic: "first" }, outcome: "done", jobId: "job-1" },
    { arguments: { topic: "third" } },
  ]);
});

test("a disk that doesn't answer fails the write after 4 s", async () => {
  const { disk } = newJournal();
  const delays: number[] = [];
  const after = (delayMs: number, action: () => void) => {
    delays.push(delayMs);
    action();
    return () => {};
  };
  const hanging = { ...disk, append: () => new Promise<void>(() => {}) };
  const files = new JournalFiles(hanging, { ...systemClock, after });

  await expect(files.append(["line"])).rejects.toThrow("(no answer in 4 s: ");
  expect(delays).toEqual([4_000]);
});

test.each([
  [
    "list",
    "EACCES",
    "give this server the right to read it, such as with: sudo chown -R \"$(id -un)\" 'FOLDER'",
  ],
  ["read", "EMFILE", "close other programs, which have too many files open"],
  ["read", "EIO", "check it and the disk that holds it"],
  [
    "append",
    "EPERM",
    "give this server the right to write it, such as with: sudo chown -R \"$(id -un)\" 'FOLDER'",
  ],
  ["append", "EROFS", "make its disk writable"],
  ["append", "EDQUOT", "free some space on its disk"],
])("a disk whose %s fails (%s) is named with what to do, and used again by the next call", async (...row) => {
  const [operation, reason, fix] = row;
  const disk = openPrivateFolder(temporaryFolder());
  await openJournal(disk).journal.begin(VIDEO);
  const broken: PrivateFolder = { ...disk, [operation]: failing(reason) };
  const { journal } = openJournal(broken);
  const use = () => (operation === "append" ? journal.begin(VIDEO) : journal.entries());
  const [ability, participle] = operation === "append" ? ["unwritable", "written"] : ["unreadable", "read"];
  const place = operation === "list" ? disk.path : join(disk.path, TODAY);

  await expect(use()).rejects.toMatchObject({
    facts: {
      code: `journal_${ability}`,
      message: `The journal that guards against paying or posting twice can't be ${participle} (${reason}: ${place}).`,
      nextStep: { model: `Tell the user: ${fix.replace("FOLDER", disk.path)}, then call again.` },
      outcome: "not_sent",
      retryable: true,
    },
  });
  Object.assign(broken, disk);
  await use();
});

test("an entry that reaches the disk after its write has failed counts as not sent", async () => {
  const { folder, disk } = newJournal();
  const lines: string[] = [];
  const append: PrivateFolder["append"] = (_, text) => (lines.push(text), failing("EIO")());
  const { journal, warnings } = openJournal({ ...disk, append });
  await expect(journal.begin(VIDEO)).rejects.toMatchObject({ facts: { code: "journal_unwritable" } });
  // Nothing was sent, so no outcome is lost.
  expect(warnings).toEqual([]);
  writeFileSync(join(folder, TODAY), lines[0] ?? "");

  expect(await journal.entries()).toEqual([]);
});

test("an outcome that a disk did not take is written after the next read, once", async () => {
  const { folder, disk } = newJournal();
  const broken: PrivateFolder = { ...disk };
  const { journal, warnings } = openJournal(broken);
  const { own } = await journal.begin(VIDEO);
  broken.append = failing("EROFS");
  await journal.end(own, { outcome: "done", jobId: "job-1" });
  await journal.entries();
  expect(warnings).toHaveLength(1);
  expect(await open(folder).entries()).toEqual([{ ...own, source: join(folder, TODAY) }]);
  broken.append = disk.append;
  for (let look = 0; look < 2; look += 1) await journal.entries();

  expect(await open(folder).entries()).toMatchObject([{ id: own.id, outcome: "done", jobId: "job-1" }]);
  expect(readFileSync(join(folder, TODAY), "utf8").match(/"outcome"/g)).toHaveLength(1);
});
