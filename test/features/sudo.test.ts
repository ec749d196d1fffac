// One start as root with the user's home, as sudo on macOS does it, and homes that can't be written.

import { chownSync, mkdirSync, promises as fs, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { checkJournal } from "../../src/commands/doctor/folders.ts";
import { installCopy } from "../../src/commands/installed-copy.ts";
import { NO_FLAGS, readConfig } from "../../src/config.ts";
import { openPrivateFolder } from "../../src/idempotency/private-folder.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { computer } from "../fixtures/host.ts";
import { openJournal, VIDEO } from "../fixtures/open-journal.ts";

const NOBODY = 65_534;
const WITHOUT_SUDO = "run this without sudo, as the user whose home folder it is";

/** The home of another user, in which root may write. */
function homeOfOther(): string {
  const home = temporaryFolder();
  chownSync(home, NOBODY, NOBODY);
  return home;
}

test.runIf(process.getuid?.() === 0).each([
  ["is missing", () => {}],
  ["is there", (folder: string) => (mkdirSync(folder), chownSync(folder, NOBODY, NOBODY))],
])("root makes nothing in another user's home if the default folder %s", async (_, prepare) => {
  const home = homeOfOther();
  const folder = join(home, ".faceless-video-mcp");
  prepare(folder);
  const before = readdirSync(home, { recursive: true });
  const { journal } = openJournal(openPrivateFolder(folder));
  const files = temporaryFolder();
  writeFileSync(join(files, "cli.cjs"), "");
  const { host } = computer({ homeDir: home, files });

  await expect(journal.begin(VIDEO)).rejects.toMatchObject({
    problem: expect.stringContaining("root would own it in the home folder of another user"),
    fix: WITHOUT_SUDO,
  });
  expect(await checkJournal(readConfig({}, NO_FLAGS, home), host)).toMatchObject({
    status: "fail",
    fix: "Run this without sudo, as the user whose home folder it is",
  });
  expect(await installCopy(host)).toMatchObject({
    problem: expect.stringContaining("root would own it in the home folder of another user"),
  });
  expect(readdirSync(home, { recursive: true })).toEqual(before);
});

test.runIf(process.getuid?.() === 0)("root uses its own home as anybody does", async () => {
  const folder = join(temporaryFolder(), "a", "b");
  await openJournal(openPrivateFolder(folder)).journal.begin(VIDEO);

  expect(readdirSync(folder)).toHaveLength(1);
});

test("a home on a disk that can't be written is named as such", async () => {
  vi.spyOn(fs, "mkdir").mockRejectedValue(Object.assign(new Error("read-only"), { code: "EROFS" }));
  onTestFinished(() => void vi.restoreAllMocks());
  const folder = join(temporaryFolder(), "state");

  await expect(openJournal(openPrivateFolder(folder)).journal.begin(VIDEO)).rejects.toMatchObject({
    problem: expect.stringMatching(/^can't be written \(EROFS: /),
    fix: "make its disk writable",
  });
  expect(fs.mkdir).toHaveBeenCalledWith(folder, { mode: 0o700 });
});
