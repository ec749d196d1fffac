// The copy of this server that entries start, made of a server of two small files.

import { execFileSync } from "node:child_process";
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { copyFolder, type CopyOptions, installCopy } from "../../src/commands/installed-copy.ts";
import { VERSION } from "../../src/version.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { run } from "../fixtures/run.ts";

const DAY_MS = 24 * 60 * 60_000;

/** A user, and a server whose files hold `text`. */
async function computer(changes: Partial<CopyOptions> = {}) {
  const [homeDir, files] = [temporaryFolder(), temporaryFolder()];
  const write = async (text: string) => {
    await mkdir(join(files, "chunks"), { recursive: true });
    await writeFile(join(files, "bin.cjs"), 'require("./cli.cjs");\n');
    await writeFile(join(files, "cli.cjs"), 'console.log(require("./chunks/text.cjs"));\n');
    await writeFile(join(files, "chunks/text.cjs"), `module.exports = ${JSON.stringify(text)};\n`);
  };
  await write("one");
  const options = { homeDir, uid: process.getuid?.(), clock: systemClock, files, ...changes };
  const app = copyFolder(homeDir);
  const install = (days = 0) =>
    installCopy({ ...options, clock: { ...systemClock, now: () => Date.now() + days * DAY_MS } });
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
  expect(await readFile(join(app, one ?? "", "chunks/text.cjs"), "utf8")).toContain('"one"');
  expect((await versions()).every((name) => name.startsWith(`${VERSION}-`))).toBe(true);
  expect((await stat(app)).mode & 0o777).toBe(0o700);
});

test("the same version again changes nothing, and a damaged copy is replaced while servers start from it", async () => {
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

test.each<[string, (home: string, files: string) => unknown, Partial<CopyOptions>, RegExp]>([
  [
    "another user's home folder",
    () => {},
    { uid: (process.getuid?.() ?? 0) + 1 },
    /^.+: another user owns .+sudo;/,
  ],
  [
    "a folder to which others may write",
    async (home) => {
      await mkdir(join(home, ".faceless-video-mcp"));
      await chmod(join(home, ".faceless-video-mcp"), 0o770);
    },
    {},
    /another user owns .+\.faceless-video-mcp, or may write to it\..+ run chmod go-w on it$/,
  ],
  ["a home folder that others may exchange", (home) => chmod(home, 0o777), {}, /may write to it/],
  [
    "the place of a server that wasn't built",
    (_, files) => rm(join(files, "cli.cjs")),
    {},
    /Run npm run build/,
  ],
])("nothing is copied to or from %s, and no folder is made", async (_, prepare, options, problem) => {
  const { homeDir, install, files } = await computer(options);
  await prepare(homeDir, files);

  expect(await install()).toEqual({ problem: expect.stringMatching(problem) });
  expect(execFileSync("find", [homeDir, "-name", "app"]).toString()).toBe("");
});
