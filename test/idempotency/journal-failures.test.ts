// What the journal does where its disk fails or is not there.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Disk, openDisk } from "../../src/idempotency/journal-files.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { failing, openJournal, TODAY, VIDEO } from "./open-journal.ts";

test.each(["a folder that does not exist", "a file in the place of the folder"])(
  "A disk with %s holds nothing",
  async (what) => {
    const folder = join(temporaryFolder(), "state");
    if (what.startsWith("a file")) writeFileSync(folder, "");

    expect(await openJournal(openDisk(folder)).journal.entries()).toEqual([]);
  },
);

test("A file that can't be read is named after three attempts, with what to do", async () => {
  const folder = temporaryFolder();
  const disk = openDisk(folder);
  await openJournal(disk).journal.begin(VIDEO);
  let attempts = 0;
  const read: Disk["read"] = () => ((attempts += 1), failing("EIO")());

  await expect(openJournal({ ...disk, read }).journal.entries()).rejects.toMatchObject({
    facts: {
      code: "journal_unreadable",
      message: `The journal that guards against paying or posting twice can't be read (EIO: ${join(folder, TODAY)}), so nothing was sent.`,
      nextStep:
        "Tell the user: give this server the right to read it, then call again. FACELESS_STATE_DIR=off lets the server work without this guard, which only the user may decide.",
      outcome: "not_sent",
      retryable: true,
    },
  });
  expect(attempts).toBe(3);
});

test.each(["EBUSY", "EMFILE", "EIO"])(
  "A disk that answers at the third attempt, after %s, is read",
  async (code) => {
    const disk = openDisk(temporaryFolder());
    await openJournal(disk).journal.begin(VIDEO);
    let failures = 2;
    const list = () => (failures-- > 0 ? failing(code)() : disk.list());

    expect(await openJournal({ ...disk, list }).journal.entries()).toHaveLength(1);
  },
);

test.each([
  ["no answer in 4 s", Object.assign(new Error("disk"), { code: "no answer in 4 s" })],
  ["unknown reason", new Error("disk")],
])(
  "A disk that fails with %s is named with that, and one that is slow is not asked again",
  async (reason, error) => {
    const disk = openDisk(temporaryFolder());
    let attempts = 0;
    const list = () => ((attempts += 1), Promise.reject(error));

    await expect(openJournal({ ...disk, list }).journal.entries()).rejects.toMatchObject({
      facts: { message: expect.stringContaining(`(${reason}: ${disk.path})`) },
    });
    expect(attempts).toBe(reason.startsWith("no answer") ? 1 : 3);
  },
);

test.each(["list", "read"] as const)(
  "A disk whose %s fails is named with the reason, and read again by the next look",
  async (operation) => {
    const disk = openDisk(temporaryFolder());
    await openJournal(disk).journal.begin(VIDEO);
    const broken: Disk = { ...disk, [operation]: failing("EACCES") };
    const { journal } = openJournal(broken);
    await expect(journal.entries()).rejects.toMatchObject({
      facts: { code: "journal_unreadable", message: expect.stringContaining(`(EACCES: ${disk.path}`) },
    });
    Object.assign(broken, disk);

    expect(await journal.entries()).toHaveLength(1);
  },
);

test("An entry whose line comes to the disk after its writing has failed was not sent", async () => {
  const folder = temporaryFolder();
  const disk = openDisk(folder);
  const lines: string[] = [];
  const append: Disk["append"] = (_, text) => (lines.push(text), failing("no answer in 4 s")());
  const { journal, warnings } = openJournal({ ...disk, append });
  await expect(journal.begin(VIDEO)).rejects.toMatchObject({ facts: { code: "journal_unwritable" } });
  expect(warnings).toHaveLength(1);
  writeFileSync(join(folder, TODAY), lines[0] ?? "");

  expect(await journal.entries()).toMatchObject([{ outcome: "not_sent" }]);
});

test("A journal without a folder keeps its entries in memory", async () => {
  const { journal, warnings } = openJournal(undefined);
  const { own } = await journal.begin(VIDEO);
  await journal.end(own, { outcome: "done", jobId: "job-1" });

  expect(warnings).toEqual([]);
  expect(await journal.entries()).toMatchObject([{ id: own.id, outcome: "done", file: "memory" }]);
});
