// `config CLIENT`: each entry is read as its client reads its file. e2e/commands.test.ts starts them.

import { writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { CLIENTS, parseCommandLine } from "../../src/command-line.ts";
import { runConfig } from "../../src/commands/client-config.ts";
import { filesOf, FORMATS } from "../../src/commands/client-formats.ts";
import type { Host } from "../../src/commands/host.ts";
import { ADDRESS, KEY, load, SHELL } from "../fixtures/client-loaders.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { computer } from "../fixtures/host.ts";
import { run } from "../fixtures/run.ts";

const EXAMPLE_URL = "https://videos.example.com";
const NODE = "/opt/node/bin/node";
const PINNED = ["-y", "--prefer-offline", `faceless-video-mcp@${manifest.version}`];
/** npx in a folder in which no project lies. */
const BY_SH = { command: "/bin/sh", args: ["-c", 'cd / && exec npx "$@"', "sh", ...PINNED] };
const BY_CMD = {
  command: "C:\\Windows\\System32\\cmd.exe",
  args: ["/d", "/c", "cd", "/d", "C:\\Windows", "&&", "npx", ...PINNED],
};
/** The files of a server that was built. */
const files = temporaryFolder(afterAll);
writeFileSync(join(files, "cli.cjs"), "");
writeFileSync(join(files, "bin.cjs"), "");

/** The output of `config` with these arguments. The key must not be in it. */
async function config(words: readonly string[], changes: Partial<Host> = {}) {
  const command = parseCommandLine(["config", ...words]);
  if (command.name !== "config") throw new Error("No such command.");
  const { host, stdout, stderr } = computer({
    env: { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: ADDRESS },
    workingDir: "/home/user/project",
    platform: "linux",
    node: NODE,
    files,
    isOnNpm: true,
    ...changes,
  });
  const exitCode = await runConfig(command, host);
  const [entry, said] = [stdout(), stderr()];
  expect(`${entry}${said}`).not.toContain(KEY);
  return { exitCode, entry, said, sentences: said.replaceAll(/\s+/g, " ") };
}

describe.each(CLIENTS)("For %s", (client) => {
  const loadPrinted = async (...options: string[]) =>
    load(client, (await config([client, ...options])).entry);
  const asksForKey = ["vscode", "visual-studio"].includes(client);
  const takesKeyFromShell = ["claude-code", "codex", "gemini", "copilot", "opencode", "goose"].includes(
    client,
  );
  const holdsKey = !asksForKey && !takesKeyFromShell && client !== "continue";

  test("the entry starts this version through npx, outside of projects, with key and address", async () => {
    expect(await loadPrinted()).toEqual({
      ...BY_SH,
      env: {
        ...(client === "codex" && { HTTPS_PROXY: SHELL["HTTPS_PROXY"] }),
        FACELESS_API_KEY: holdsKey ? "fl_example" : KEY,
        FACELESS_BASE_URL: ADDRESS,
      },
    });
  });

  test("the entry with --sandbox needs neither key nor address", async () => {
    const { entry, said } = await config([client, "--sandbox"]);

    const args = [...BY_SH.args, "--sandbox"];
    expect(load(client, entry)).toEqual({ ...BY_SH, args, env: {} });
    expect(entry + said).not.toContain("FACELESS_");
  });

  test("the entry on Windows starts npx through cmd.exe, outside of projects", async () => {
    const onWindows = await loadPrinted("--windows");

    expect(onWindows).toEqual({ ...(await loadPrinted()), ...BY_CMD });
  });

  test.each([
    ["with --installed", ["--installed"], true],
    ["before the first release", [], false],
  ])("the entry %s starts the copy with this Node.js, and nothing names npx", async (_, options, isOnNpm) => {
    const homeDir = temporaryFolder();
    const { entry, said, sentences } = await config([client, ...options], { homeDir, isOnNpm });

    const script = join(homeDir, ".faceless-video-mcp/app/bin.cjs");
    expect(load(client, entry)).toEqual({
      ...(await loadPrinted()),
      command: NODE,
      args: [script],
      required: undefined,
    });
    expect(entry + said).not.toContain("npx");
    expect(sentences).toContain(`a copy of version ${manifest.version} in ~/.faceless-video-mcp/app.`);
    expect(said).toContain(`\n\n   node ${script} doctor --client ${client}\n`);
    expect(sentences).toContain("After you update or move Node.js, run this again and replace the entry.");
  });

  test("the entry can be pasted whatever the address and the paths hold", async () => {
    const homeDir = join(temporaryFolder(), `it's "\\a" \`b\`; ‘two’ # words: {x}`);
    await mkdir(homeDir);
    const env = { FACELESS_BASE_URL: "https://videos.test/it's-'$(x)'/$HOME/%PATH%" };

    const { entry, said } = await config([client, "--installed"], { env, homeDir });

    const start = load(client, entry);
    const address = env.FACELESS_BASE_URL.replaceAll("$", "%24");
    const script = join(homeDir, ".faceless-video-mcp/app/bin.cjs");
    expect([start.args, start.env["FACELESS_BASE_URL"]]).toEqual([[script], address]);
    const [, command] = /^ {3}((?:claude|codex|gemini|code) [^]+?)\n\n/m.exec(said) ?? [];
    if (command === undefined) return;
    const words = await run("/bin/sh", ["-c", `set -- ${command}\nprintf '%s\\0' "$@"`]);
    const isJson = client === "vscode" || client === "claude-code";
    expect(words.stdout).toContain(isJson ? JSON.stringify(script) : `\0${script}\0`);
    expect(words.stdout).toContain(isJson ? JSON.stringify(address) : `FACELESS_BASE_URL=${address}\0`);
  });
});

test("Claude Desktop's file is also named where its installer for Windows puts it", () => {
  const homeDir = String.raw`C:\Users\ann`;

  expect(filesOf(FORMATS["claude-desktop"], { env: {}, homeDir, platform: "win32" })).toEqual([
    String.raw`C:\Users\ann\AppData\Local\Packages\Claude_pzs8sxrjxfjjc\LocalCache\Roaming\Claude\claude_desktop_config.json`,
    String.raw`C:\Users\ann\AppData\Roaming\Claude\claude_desktop_config.json`,
  ]);
});

test("a key in the address is not printed", async () => {
  const env = { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: `https://videos.test/${KEY}` };

  expect((await config(["zed"], { env })).entry).toContain(EXAMPLE_URL);
});

test("an entry names Homebrew's Node.js by the link that an update keeps", async () => {
  const node = "/opt/homebrew/Cellar/node@24/24.1.0/bin/node";
  const { entry } = await config(["cursor", "--installed"], { homeDir: temporaryFolder(), node });

  expect(load("cursor", entry).command).toBe("/opt/homebrew/opt/node@24/bin/node");
});

test.each([
  "/home/user/project/node_modules/node/bin/node",
  "/srv/tools/node_modules/.bin/node",
  "/home/user/project/.tools/bin/node",
])("--installed names no Node.js of a project: %s", async (node) => {
  const printed = await config(["cursor", "--installed"], { homeDir: temporaryFolder(), node });

  expect(printed).toMatchObject({ exitCode: 1, entry: "", sentences: expect.stringContaining(node) });
});

test("--installed prints no entry for another computer's system", async () => {
  const printed = await config(["zed", "--installed", "--windows"]);

  expect(printed).toMatchObject({
    exitCode: 1,
    entry: "",
    sentences: expect.stringContaining("leave out --windows"),
  });
});

test("config prints for each client what was reviewed", async () => {
  const texts = CLIENTS.map(async (client) => {
    const { said, entry } = await config([client], { env: {} });
    return `# ${client}\n\n${entry}\n${said}`.replaceAll(manifest.version, "VERSION");
  });

  const text = (await Promise.all(texts)).join("\n");
  await expect(text).toMatchFileSnapshot("../contract/entries.txt");
});
