// One start as root with the user's home, as sudo on macOS does it, and homes that can't be written.

import { chownSync, mkdirSync, promises as fs, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { checkJournal, checkSavedVideos } from "../../src/commands/doctor/folders.ts";
import { installCopy } from "../../src/commands/installed-copy.ts";
import { NO_FLAGS, readConfig } from "../../src/config.ts";
import { openPrivateFolder } from "../../src/disk.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { computer } from "../fixtures/host.ts";
import { openJournal, TODAY, VIDEO } from "../fixtures/open-journal.ts";

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
    fix: "Run this without sudo, as the user whose home folder it is.",
  });
  expect(await installCopy(host)).toMatchObject({
    problem: expect.stringContaining("root would own it in the home folder of another user"),
  });
  expect(readdirSync(home, { recursive: true })).toEqual(before);
});

test.runIf(process.getuid?.() === 0)("root can use its own home folder", async () => {
  const folder = join(temporaryFolder(), "a", "b");
  await openJournal(openPrivateFolder(folder)).journal.begin(VIDEO);

  expect(readdirSync(folder)).toHaveLength(1);
});

test.runIf(process.getuid?.() === 0)(
  "doctor says that root makes no folder for videos in another user's home",
  async () => {
    const home = homeOfOther();
    const check = (saveDir: string) =>
      checkSavedVideos(readConfig({ FACELESS_SAVE_DIR: saveDir }, NO_FLAGS, home));

    expect(await check(join(home, "Videos"))).toMatchObject([
      {
        status: "warn",
        detail: expect.stringContaining("root would own it in the home folder of another user"),
      },
    ]);
    // In a container, root uses what a user has mounted.
    expect(await check(home)).toMatchObject([{ status: "ok" }]);
    expect(readdirSync(home)).toEqual([]);
  },
);

const SET_STATE_DIR =
  "set FACELESS_STATE_DIR to a folder that this server may write to (for a systemd service, StateDirectory= makes one)";

test.each([["EACCES"], ["EPERM"], ["EROFS"], ["ENOENT"]])(
  "if a service may not write to its home folder, the fix is another folder: %s",
  async (code) => {
    vi.spyOn(fs, "mkdir").mockRejectedValue(Object.assign(new Error("no"), { code }));
    onTestFinished(() => void vi.restoreAllMocks());
    const folder = join(temporaryFolder(), "state");

    await expect(openJournal(openPrivateFolder(folder)).journal.begin(VIDEO)).rejects.toMatchObject({
      problem: `can't be written (${code}: ${join(folder, TODAY)})`,
      fix: SET_STATE_DIR,
    });
    expect(fs.mkdir).toHaveBeenCalledWith(folder, { mode: 0o700 });
  },
);

test("if a service can't read its home folder, the fix is another folder", async () => {
  for (const method of ["stat", "readdir"] as const)
    vi.spyOn(fs, method).mockRejectedValue(Object.assign(new Error("no"), { code: "EACCES" }));
  onTestFinished(() => void vi.restoreAllMocks());
  const { host } = computer();
  const problem = "can't be read (EACCES: /srv/home/.faceless-video-mcp)";

  expect(await checkJournal(readConfig({}, NO_FLAGS, "/srv/home"), host)).toMatchObject({
    status: "fail",
    detail: expect.stringContaining(problem),
    fix: `${SET_STATE_DIR.replace(/^s/, "S")}.`,
  });
});

test("if the home folder is a file, doctor also names another folder as the fix", async () => {
  const { host } = computer();

  expect(await checkJournal(readConfig({}, NO_FLAGS, "/dev/null"), host)).toMatchObject({
    status: "fail",
    fix: `${SET_STATE_DIR.replace(/^s/, "S")}.`,
  });
});

test("for a full disk the fix is not another folder", async () => {
  vi.spyOn(fs, "mkdir").mockRejectedValue(Object.assign(new Error("no"), { code: "ENOSPC" }));
  onTestFinished(() => void vi.restoreAllMocks());
  const folder = join(temporaryFolder(), "state");

  await expect(openJournal(openPrivateFolder(folder)).journal.begin(VIDEO)).rejects.toMatchObject({
    fix: "free some space on its disk",
  });
});
