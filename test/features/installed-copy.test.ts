// The copy of this server that entries start, made from a server of two small files.

import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { isInProject } from "../../src/commands/client-config.ts";
import { copyFolder, installCopy } from "../../src/commands/installed-copy.ts";
import { VERSION } from "../../src/version.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { computer as hostWith } from "../fixtures/host.ts";
import { run } from "../fixtures/run.ts";

const DAY_MS = 24 * 60 * 60_000;

/** A user, and a server whose files hold `text`. */
async function computer() {
  const [homeDir, files] = [temporaryFolder(), temporaryFolder()];
  const write = async (text: string) => {
    await writeFile(join(files, "bin.cjs"), 'require("./cli.cjs");\n');
    await rm(join(files, "chunks"), { recursive: true, force: true });
    await mkdir(join(files, "chunks"));
    await writeFile(join(files, "cli.cjs"), `console.log(require("./chunks/text-${text}.cjs"));\n`);
    await writeFile(join(files, `chunks/text-${text}.cjs`), `module.exports = ${JSON.stringify(text)};\n`);
  };
  await write("one");
  const app = copyFolder(homeDir);
  const install = (days = 0) => {
    const clock = { ...systemClock, now: () => Date.now() + days * DAY_MS };
    return installCopy(hostWith({ homeDir, files, clock }).host);
  };
  const start = async () => (await run(process.execPath, [join(app, "bin.cjs")])).stdout.trim();
  const versions = async () => (await readdir(app)).filter((name) => name !== "bin.cjs");
  return { homeDir, app, write, install, start, versions, files };
}

test("the copy starts by a path that stays the same when another version takes its place", async () => {
  const { app, install, start, write, versions } = await computer();

  const first = await install();
  const [one] = await versions();
  expect([first, await start()]).toEqual([{ script: join(app, "bin.cjs") }, "one"]);
  await write("two");
  expect([await install(), await start()]).toEqual([first, "two"]);

  // A server of the first version may still load files.
  expect(await readFile(join(app, one ?? "", "chunks/text-one.cjs"), "utf8")).toContain('"one"');
  expect((await versions()).every((name) => name.startsWith(`${VERSION}-`))).toBe(true);
  expect((await stat(app)).mode & 0o777).toBe(0o700);
});

test("a copy is replaced only if it is damaged, even while servers start from it", async () => {
  const { app, install, start, versions } = await computer();
  await install();
  await install();
  const [folder = "", ...more] = await versions();
  expect(more).toEqual([]);
  const starts = Promise.all(Array.from({ length: 12 }, start));

  await writeFile(join(app, folder, "chunks/more.cjs"), "");
  const installed = await Promise.all(Array.from({ length: 3 }, () => install()));

  expect(installed).toEqual(installed.map(() => ({ script: join(app, "bin.cjs") })));
  expect([...new Set(await starts), await start()]).toEqual(["one", "one"]);
});

test("a version is deleted 90 days after it was replaced, however long it was in use", async () => {
  const { install, write, versions } = await computer();
  await install();
  for (const [text, days] of [
    ["two", 200],
    ["three", 289],
  ] as const) {
    await write(text);
    await install(days);
  }
  expect(await versions()).toHaveLength(3);

  await write("four");
  await install(291);
  expect(await versions()).toHaveLength(3);
});

test("a server that wasn't built is not copied", async () => {
  const { homeDir, install, files } = await computer();
  await rm(join(files, "cli.cjs"));

  expect(await install()).toEqual({ problem: expect.stringMatching(/Run npm run build/) });
  expect(await readdir(homeDir)).toEqual([]);
});

const HOME = String.raw`C:\Users\ann`;
const NODE = String.raw`C:\Program Files\nodejs\node.exe`;
test.each<[where: string, workingDir: string, homeDir: string, node: string, isRefused: boolean]>([
  ["on another drive", String.raw`D:\work\app`, HOME, NODE, false],
  ["on a share", String.raw`\\server\share\work`, HOME, NODE, false],
  ["on C:, with a home on H:", String.raw`C:\work`, "H:\\", NODE, false],
  ["at the root of the drive that has Node.js", "C:\\", "H:\\", NODE, false],
  ["in the folder of that Node.js", String.raw`D:\work`, HOME, String.raw`D:\work\node.exe`, true],
])(
  "on Windows, config --installed looks for a project and ends if the terminal stands %s",
  (_, workingDir, homeDir, node, isRefused) => {
    expect(isInProject({ platform: "win32", workingDir, homeDir, node })).toBe(isRefused);
  },
);
