// The copy that `config CLIENT --installed` keeps, with a server of two small files.

import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { type CopyOptions, copiedVersion, copyFolder, keepCopy } from "../../src/commands/installed-copy.ts";
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
  const options = { env: {}, homeDir, platform: process.platform, clock: systemClock, files, ...changes };
  const app = copyFolder(options);
  const keep = (days = 0) =>
    keepCopy({ ...options, clock: { ...systemClock, now: () => Date.now() + days * DAY_MS } });
  const start = async () => (await run(process.execPath, [join(app, "bin.cjs")])).stdout.trim();
  const versions = async () => (await readdir(app)).filter((name) => name !== "bin.cjs");
  return { homeDir, app, write, keep, start, versions, files };
}

test("the copy starts by a path that stays the same when another version takes its place", async () => {
  const { app, keep, start, write, versions } = await computer();

  const first = await keep();
  const [one] = await versions();
  expect([first, await start()]).toEqual([{ script: join(app, "bin.cjs") }, "one"]);
  await write("two");
  expect([await keep(), await start()]).toEqual([first, "two"]);

  // A server of the first version may still load files.
  expect(await readFile(join(app, one ?? "", "chunks/text.cjs"), "utf8")).toContain('"one"');
  expect([await copiedVersion(app), (await versions()).length]).toEqual([VERSION, 2]);
});

test("the same version again changes nothing, and one that was damaged is copied anew", async () => {
  const { app, keep, start, versions } = await computer();
  await keep();
  const [folder = ""] = await versions();
  const file = join(app, folder, "cli.cjs");
  const before = await stat(file);

  await keep();
  expect((await stat(file)).ino).toBe(before.ino);
  await rm(join(app, folder, "chunks"), { recursive: true });
  await keep();

  expect([await start(), await versions()]).toEqual(["one", [folder]]);
});

test("a version is deleted 90 days after it was replaced, however long it was in use", async () => {
  const { keep, write, versions } = await computer();
  await keep();
  await write("two");
  await keep(200);

  await keep(289);
  expect(await versions()).toHaveLength(2);
  await keep(291);
  expect(await versions()).toHaveLength(1);
});

test("only the user can read the copy", async () => {
  const { app, keep } = await computer();
  await keep();

  const found = await readdir(app, { recursive: true, withFileTypes: true });
  const modes = await Promise.all(
    found.map(async (entry) => {
      // eslint-disable-next-line no-bitwise -- the rest tells the kind of file
      const mode = (await stat(join(entry.parentPath, entry.name))).mode & 0o777;
      return entry.isDirectory() ? mode.toString(8) : `file ${mode.toString(8)}`;
    }),
  );
  expect(new Set(modes)).toEqual(new Set(["700", "file 600"]));
});

test.each([
  ["where FACELESS_STATE_DIR says", (state: string) => state, (state: string) => state],
  [
    "in the default folder where no journal is kept",
    () => "off",
    (_: string, home: string) => `${home}/.faceless-video-mcp`,
  ],
])("the copy lies %s", async (_, setting, place) => {
  const [state, homeDir] = [temporaryFolder(), temporaryFolder()];
  const { keep } = await computer({ homeDir, env: { FACELESS_STATE_DIR: setting(state) } });

  expect(await keep()).toEqual({ script: join(place(state, homeDir), "app/bin.cjs") });
});

test.each<[string, (home: string, files: string) => Promise<unknown>, string, RegExp]>([
  [
    "a link in its place",
    async (home) => {
      await mkdir(join(home, ".faceless-video-mcp"));
      await symlink(home, join(home, ".faceless-video-mcp/app"));
    },
    "",
    /app: it is a link or a file$/,
  ],
  [
    "a folder to which others may write",
    async (home) => {
      await mkdir(join(home, ".faceless-video-mcp"));
      await chmod(join(home, ".faceless-video-mcp"), 0o770);
    },
    "",
    /another user owns .+\.faceless-video-mcp, or may write to it\. If it is yours, run chmod go-w on it$/,
  ],
  [
    "a folder below one to which others may write",
    async (home) => {
      await mkdir(join(home, "shared/state"), { recursive: true });
      await chmod(join(home, "shared"), 0o777);
    },
    "~/shared/state",
    /another user owns .+\/shared, or may write to it\./,
  ],
  ["a set folder that is missing", async () => {}, "~/not/mounted", /not\/mounted\/app: .+ \(ENOENT\)$/],
  ["a relative folder", async () => {}, "state", /^FACELESS_STATE_DIR is a relative path, .+~\.$/],
  [
    "a server that was not built",
    async (_, files) => rm(join(files, "cli.cjs")),
    "",
    /Run npm run build first$/,
  ],
])("nothing is copied into or from %s", async (_, prepare, setting, problem) => {
  const homeDir = temporaryFolder();
  const { keep, files } = await computer({ homeDir, env: { FACELESS_STATE_DIR: setting } });
  await prepare(homeDir, files);

  expect(await keep()).toEqual({ problem: expect.stringMatching(problem) });
  const left = await readdir(homeDir, { recursive: true });
  expect(left.filter((name) => /cjs|\.new-/.test(name))).toEqual([]);
});
