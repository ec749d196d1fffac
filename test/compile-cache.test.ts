import { chmodSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { compileCacheFolder } from "../src/compile-cache.ts";
import { temporaryFolder } from "./fixtures/folder.ts";

const uid = process.getuid?.();
const modeOf = (path: string) => lstatSync(path).mode & 0o777;

/** A home folder with a journal's folder in it, and what is asked about it. */
function home({ make = true } = {}) {
  const homeDir = temporaryFolder();
  const stateDir = join(homeDir, "state");
  if (make) mkdirSync(stateDir, { mode: 0o700 });
  return {
    homeDir,
    stateDir,
    folder: join(stateDir, "compiled"),
    options: { stateDir, isDefault: true, uid },
  };
}

test("compiled code gets a folder for this user alone, below the default folder, which is made", () => {
  const { stateDir, folder, options } = home({ make: false });

  expect(compileCacheFolder(options)).toBe(folder);
  expect(compileCacheFolder(options)).toBe(folder);
  expect([stateDir, folder].map(modeOf)).toEqual([0o700, 0o700]);
});

test("a folder that the user has named is used, but not made", () => {
  const { homeDir, options } = home({ make: false });
  const named = { ...options, isDefault: false };

  expect(compileCacheFolder(named)).toBeUndefined();
  expect(readdirSync(homeDir)).toEqual([]);
  mkdirSync(named.stateDir);
  expect(compileCacheFolder(named)).toBe(join(named.stateDir, "compiled"));
});

type Home = ReturnType<typeof home>;

test.each<[string, (home: Home) => void]>([
  ["the folder is a link", ({ homeDir, folder }) => symlinkSync(homeDir, folder)],
  ["the folder is a file", ({ folder }) => writeFileSync(folder, "")],
  ["others may write to the folder", ({ folder }) => openTo(0o777, folder)],
  ["the group may write to the folder", ({ folder }) => openTo(0o770, folder)],
  ["others may write to the journal's folder", ({ stateDir }) => chmodSync(stateDir, 0o777)],
  ["others may replace the journal's folder", ({ homeDir }) => chmodSync(homeDir, 0o777)],
])("no compiled code is kept where %s", (_, spoil) => {
  const spoilt = home();
  spoil(spoilt);

  expect(compileCacheFolder(spoilt.options)).toBeUndefined();
});

test("no compiled code is kept behind a link that others may replace", () => {
  const { homeDir, stateDir } = home();
  const [own, shared] = [join(temporaryFolder(), "link"), join(temporaryFolder(), "link")];
  for (const link of [own, shared]) symlinkSync(homeDir, link);
  chmodSync(dirname(shared), 0o777);
  const folderAt = (link: string) =>
    compileCacheFolder({ stateDir: join(link, "state"), isDefault: false, uid });

  expect(folderAt(shared)).toBeUndefined();
  expect(readdirSync(stateDir)).toEqual([]);
  expect(folderAt(own)).toBe(join(own, "state/compiled"));
});

test("no compiled code is kept in another user's folder", () => {
  const { options } = home();

  expect(compileCacheFolder({ ...options, uid: (uid ?? 0) + 1 })).toBeUndefined();
});

test("users may move only what is their own in a folder with the sticky bit, so one in it is used", () => {
  const { homeDir, folder, options } = home();
  chmodSync(homeDir, 0o1777);

  expect(compileCacheFolder(options)).toBe(folder);
});

test("no compiled code is kept where the home folder can't be written to", () => {
  const { homeDir } = home();
  const file = join(homeDir, "file");
  writeFileSync(file, "");

  expect(compileCacheFolder({ stateDir: join(file, "state"), isDefault: true, uid })).toBeUndefined();
});

test("on Windows, where owners are not known, only the default folder is used", () => {
  const { folder, options } = home();

  const used = [true, false].map((isDefault) =>
    compileCacheFolder({ ...options, isDefault, uid: undefined }),
  );
  expect(used).toEqual([folder, undefined]);
});

/** Makes it with these permissions, whatever the umask. */
function openTo(mode: number, folder: string): void {
  mkdirSync(folder);
  chmodSync(folder, mode);
}
