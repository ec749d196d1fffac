// What the journal does where its disk fails or is not there.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type PrivateFolder, openPrivateFolder } from "../../src/private-folder.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { failing, openJournal, TODAY, VIDEO } from "./open-journal.ts";

test.each(["a folder that does not exist", "a file in the place of the folder"])(
  "A disk with %s holds nothing",
  async (what) => {
    const folder = join(temporaryFolder(), "state");
    if (what.startsWith("a file")) writeFileSync(folder, "");

    expect(await openJournal(openPrivateFolder(folder)).journal.entries()).toEqual([]);
  },
);

test.each([
  ["list", "EACCES", failing("EACCES"), "", "give this server the right to read it"],
  ["read", "EIO", failing("EIO"), TODAY, "check it and the disk that holds it"],
  ["read", "EPERM", failing("EPERM"), TODAY, "give this server the right to read it"],
  ["read", "ENFILE", failing("ENFILE"), TODAY, "close other programs, which have too many files open"],
  ["read", "EMFILE", failing("EMFILE"), TODAY, "close other programs, which have too many files open"],
  [
    "read",
    "an odd failure",
    () => Promise.reject(new Error("an odd failure")),
    TODAY,
    "check it and the disk that holds it",
  ],
])(
  "A disk whose %s fails is named with what to do (%s), and read again by the next look",
  async (operation, reason, fails, file, fix) => {
    const disk = openPrivateFolder(temporaryFolder());
    await openJournal(disk).journal.begin(VIDEO);
    const broken: PrivateFolder = { ...disk, [operation]: fails };
    const { journal } = openJournal(broken);
    await expect(journal.entries()).rejects.toMatchObject({
      facts: {
        code: "journal_unreadable",
        message: `The journal that guards against paying or posting twice can't be read (${reason}: ${join(disk.path, file)}), so nothing was sent.`,
        nextStep: `Tell the user: ${fix}, then call again. FACELESS_STATE_DIR=off lets the server work without this guard, and only the user may turn it off.`,
        outcome: "not_sent",
        retryable: true,
      },
    });
    Object.assign(broken, disk);

    expect(await journal.entries()).toHaveLength(1);
  },
);

test.each([
  ["EACCES", "give this server the right to write it"],
  ["EROFS", "give this server the right to write it"],
  ["ENOSPC", "free some space on its disk"],
  ["EDQUOT", "free some space on its disk"],
])("A journal that can't be written (%s) is told with what to do", async (reason, fix) => {
  const disk = openPrivateFolder(temporaryFolder());
  const { journal } = openJournal({ ...disk, append: failing(reason) });

  await expect(journal.begin(VIDEO)).rejects.toMatchObject({ fix, facts: { code: "journal_unwritable" } });
});

test("An entry whose line comes to the disk after its writing has failed was not sent", async () => {
  const folder = temporaryFolder();
  const disk = openPrivateFolder(folder);
  const lines: string[] = [];
  const append: PrivateFolder["append"] = (_, text) => (lines.push(text), failing("no answer in 4 s")());
  const { journal, warnings } = openJournal({ ...disk, append });
  await expect(journal.begin(VIDEO)).rejects.toMatchObject({ facts: { code: "journal_unwritable" } });
  // Nothing was sent, so no outcome is lost.
  expect(warnings).toEqual([]);
  writeFileSync(join(folder, TODAY), lines[0] ?? "");

  expect(await journal.entries()).toEqual([]);
});

test("A journal without a folder keeps its entries in memory", async () => {
  const { journal, warnings } = openJournal(undefined);
  const { own } = await journal.begin(VIDEO);
  await journal.end(own, { outcome: "done", jobId: "job-1" });

  expect(warnings).toEqual([]);
  expect(await journal.entries()).toMatchObject([{ id: own.id, outcome: "done", source: "memory" }]);
});
