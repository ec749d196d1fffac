// Reads and fills in each entry that `config` prints as its client does. e2e/commands.test.ts starts them.

import { writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { systemClock } from "../../src/clock.ts";
import { CLIENTS, parseCommandLine } from "../../src/command-line.ts";
import { runConfig, type EntryContext } from "../../src/commands/client-config.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { ADDRESS, KEY, LOADERS, SHELL, type Start } from "./client-loaders.ts";

const PLACEHOLDER_URL = "https://videos.example.com";
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

/** What `config` prints with these arguments. The key must not be in it. */
async function config(words: readonly string[], changes: Partial<EntryContext> = {}) {
  const commandLine = parseCommandLine(["config", ...words]);
  if (!("command" in commandLine) || commandLine.command.name !== "config")
    throw new Error("No such command.");
  const { client, options } = commandLine.command;
  const surroundings: EntryContext = {
    env: { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: ADDRESS },
    homeDir: "/home/user",
    workingDir: "/home/user/project",
    platform: "linux",
    uid: undefined,
    clock: systemClock,
    node: NODE,
    files,
    ...changes,
  };
  const printed = await runConfig(client, options, surroundings);
  expect(printed.stdout + printed.stderr).not.toContain(KEY);
  return printed;
}

/** Leaves out the fields that only some clients have. */
const startOf = ({ command, args, env }: Start): Start => ({ command, args, env });

describe.each(CLIENTS)("For %s", (client) => {
  const load = async (...options: string[]) => LOADERS[client]((await config([client, ...options])).stdout);

  test("the entry starts this version through npx, outside of projects, with key and address", async () => {
    const holdsKey = ["claude-desktop", "zed", "cline", "lm-studio"].includes(client);
    expect(startOf(await load())).toEqual({
      ...BY_SH,
      env: {
        ...(client === "codex" && { HTTPS_PROXY: SHELL["HTTPS_PROXY"] }),
        FACELESS_API_KEY: holdsKey ? "fl_example" : KEY,
        FACELESS_BASE_URL: ADDRESS,
      },
    });
  });

  test("the entry with --sandbox needs neither key nor address", async () => {
    const { stdout, stderr } = await config([client, "--sandbox"]);

    const args = [...BY_SH.args, "--sandbox"];
    expect(startOf(LOADERS[client](stdout))).toEqual({ ...BY_SH, args, env: {} });
    expect(stdout + stderr).not.toContain("FACELESS_");
  });

  test("the entry on Windows starts npx through cmd.exe, outside of projects", async () => {
    const onWindows = await load("--windows");

    expect(onWindows).toEqual({ ...(await load()), ...BY_CMD });
    expect(LOADERS[client]((await config([client], { platform: "win32" })).stdout)).toEqual(onWindows);
  });

  test("the entry with --installed starts the copy with this Node.js, without npx", async () => {
    const homeDir = temporaryFolder();
    const { stdout, stderr } = await config([client, "--installed"], { homeDir });

    const script = join(homeDir, ".faceless-video-mcp/app/bin.cjs");
    expect(LOADERS[client](stdout)).toEqual({ ...(await load()), command: NODE, args: [script] });
    expect(stderr).toContain(`It starts a copy of version ${manifest.version}.`);
    expect(stderr).not.toContain("open this link");
  });

  test("the entry can be pasted whatever the address and the paths hold", async () => {
    const homeDir = join(temporaryFolder(), `it's "\\a" \`b\`; ‘two’ # words: {x}`);
    await mkdir(homeDir);
    const env = { FACELESS_BASE_URL: "https://videos.test/it's-'$(x)'/$HOME/%PATH%" };

    const { stdout } = await config([client, "--installed"], { env, homeDir });

    const start = LOADERS[client](stdout);
    const address = env.FACELESS_BASE_URL.replaceAll("$", "%24");
    const script = join(homeDir, ".faceless-video-mcp/app/bin.cjs");
    expect([start.args, start.env["FACELESS_BASE_URL"]]).toEqual([[script], address]);
  });

  test("an entry without an address has a placeholder or lets the client ask", async () => {
    const { stdout, stderr } = await config([client], { env: {} });

    expect(stderr).toMatch(/^This goes into .*\.(json|toml|yaml)/);
    expect(stderr).toContain("To save finished videos, add FACELESS_SAVE_DIR");
    expect(stderr.includes("fl_example with your key")).toBe(stdout.includes("fl_example"));
    const hasPlaceholder = !["vscode", "visual-studio"].includes(client);
    expect(stdout.includes(`"${PLACEHOLDER_URL}"`)).toBe(hasPlaceholder);
    expect(stderr.includes(`${PLACEHOLDER_URL} with the service's address.`)).toBe(hasPlaceholder);
  });
});

test("a key in the address is not printed", async () => {
  const env = { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: `https://videos.test/${KEY}` };

  expect((await config(["zed"], { env })).stdout).toContain(PLACEHOLDER_URL);
});

test("Codex waits for a server that npx starts, and not for one that is installed", async () => {
  const { stdout, stderr } = await config(["codex", "--installed"], { homeDir: temporaryFolder() });

  expect((await config(["codex"])).stderr).toContain("starts no session without it");
  expect(stdout + stderr).not.toMatch(/required|starts no session/);
});

test("an entry names Homebrew's Node.js by the link that an update keeps", async () => {
  const node = "/opt/homebrew/Cellar/node@24/24.1.0/bin/node";
  const { stdout } = await config(["cursor", "--installed"], { homeDir: temporaryFolder(), node });

  expect(LOADERS.cursor(stdout).command).toBe("/opt/homebrew/opt/node@24/bin/node");
});

test.each([
  "/home/user/project/node_modules/node/bin/node",
  "/srv/tools/node_modules/.bin/node",
  "/home/user/project/.tools/bin/node",
])("--installed names no Node.js of a project: %s", async (node) => {
  const homeDir = temporaryFolder();
  const printed = await config(["cursor", "--installed"], { homeDir, node });

  expect(printed).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringContaining(node) });
});

test("--installed prints no entry for another computer's system", async () => {
  expect(await config(["zed", "--installed", "--windows"])).toMatchObject({
    exitCode: 1,
    stdout: "",
    stderr: expect.stringContaining("leave out --windows"),
  });
});
