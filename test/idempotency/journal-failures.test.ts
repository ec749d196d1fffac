// What the journal does where its disk fails or is not there.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type PrivateFolder, openPrivateFolder } from "../../src/private-folder.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { failing, newJournal, openJournal, TODAY, VIDEO } from "./open-journal.ts";

test.each(["a folder that does not exist", "a file in the place of the folder"])(
  "A disk with %s holds nothing",
  async (what) => {
    const folder = join(temporaryFolder(), "state");
    if (what.startsWith("a file")) writeFileSync(folder, "");

    expect(await openJournal(openPrivateFolder(folder)).journal.entries()).toEqual([]);
  },
);

test.each([
  ["list", "EACCES", "give this server the right to read it"],
  ["read", "EPERM", "give this server the right to read it"],
  ["read", "EMFILE", "close other programs, which have too many files open"],
  ["read", "ENFILE", "close other programs, which have too many files open"],
  ["read", "EIO", "check it and the disk that holds it"],
  ["append", "EACCES", "give this server the right to write it"],
  ["append", "EROFS", "give this server the right to write it"],
  ["append", "EDQUOT", "free some space on its disk"],
  ["append", "EIO", "check it and the disk that holds it"],
])("A disk whose %s fails (%s) is named with what to do, and used again by the next call", async (...row) => {
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
      message: `The journal that guards against paying or posting twice can't be ${participle} (${reason}: ${place}), so nothing was sent.`,
      nextStep: `Tell the user: ${fix}, then call again. FACELESS_STATE_DIR=off lets the server work without this guard, and only the user may turn it off.`,
      outcome: "not_sent",
      retryable: true,
    },
  });
  Object.assign(broken, disk);
  await use();
});

test("An entry whose line comes to the disk after its writing has failed was not sent", async () => {
  const { folder, disk } = newJournal();
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
