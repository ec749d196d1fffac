import { chmodSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compileCacheFolder } from "../src/compile-cache.ts";
import { temporaryFolder } from "./fixtures/folder.ts";

const uid = process.getuid?.() ?? 0;

function home() {
  const homeDir = temporaryFolder();
  const stateDir = join(homeDir, "state");
  return { homeDir, stateDir, folder: join(stateDir, "compiled") };
}

test("compiled code gets a folder for this user alone, also on Windows, where owners are not known", () => {
  const { homeDir, stateDir, folder } = home();

  expect([uid, uid, undefined].map((user) => compileCacheFolder(homeDir, stateDir, user))).toEqual([
    folder,
    folder,
    folder,
  ]);
  expect([stateDir, folder].map((path) => lstatSync(path).mode & 0o777)).toEqual([0o700, 0o700]);
});

type Home = ReturnType<typeof home>;

test.each<[string, (home: Home) => void]>([
  ["its place is a file", ({ folder }) => writeFileSync(folder, "")],
  ["others may write to it", ({ folder }) => makeOpen(0o777, folder)],
  ["the group may write to it", ({ folder }) => makeOpen(0o770, folder)],
  [
    "it is a link to a folder that others may exchange",
    ({ homeDir, folder }) => {
      makeOpen(0o777, join(homeDir, "shared"));
      mkdirSync(join(homeDir, "shared/code"));
      symlinkSync(join(homeDir, "shared/code"), folder);
    },
  ],
  ["others may exchange the journal's folder", ({ homeDir }) => chmodSync(homeDir, 0o777)],
])("no compiled code is kept if %s", (_, spoil) => {
  const spoilt = home();
  mkdirSync(spoilt.stateDir);
  spoil(spoilt);

  expect(compileCacheFolder(spoilt.homeDir, spoilt.stateDir, uid)).toBeUndefined();
});

test("no folder is made in another user's home folder", () => {
  const { homeDir, stateDir } = home();

  expect(compileCacheFolder(homeDir, stateDir, uid + 1)).toBeUndefined();
  expect(readdirSync(homeDir)).toEqual([]);
});

/** Makes it with these permissions, whatever the umask. */
function makeOpen(mode: number, folder: string): void {
  mkdirSync(folder);
  chmodSync(folder, mode);
}
