// docs/plugin, judged by the clients' own programs.

import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import * as z from "zod";
import { BUILT_FILE } from "../../fixtures/clients.ts";
import { temporaryFolder } from "../../fixtures/folder.ts";
import { npmProgram, type VERSIONS } from "../../fixtures/npm-tools.ts";
import { run } from "../../fixtures/run.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const PLUGIN = join(ROOT, "docs/plugin");

test.each([
  ["the plugin", PLUGIN],
  ["the marketplace", ROOT],
])("Claude Code accepts %s without a warning", async (_, path) => {
  const claude = await client("@anthropic-ai/claude-code", "claude");
  const { code, stdout } = await claude("plugin", "validate", "--strict", path);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("Validation passed") });
});

test("Gemini CLI accepts the extension", async () => {
  const gemini = await client("@google/gemini-cli", "gemini");
  const { code, stdout, stderr } = await gemini("extensions", "validate", PLUGIN);
  expect({ code, said: stdout + stderr }).toEqual({
    code: 0,
    said: expect.stringContaining("successfully validated"),
  });
});

test("Claude Code installs the plugin completely and starts npx outside the project", async () => {
  const claude = await client("@anthropic-ai/claude-code", "claude");
  await claude("plugin", "marketplace", "add", ROOT);
  const installed = await claude("plugin", "install", "faceless-video@faceless-video");
  expect(installed.code, installed.stderr).toBe(0);
  const options = await claude("plugin", "configure", "faceless-video@faceless-video");
  expect(options.stdout).toMatch(/api_key .*sensitive[^]*base_url /);
  const { stdout } = await claude("plugin", "details", "faceless-video@faceless-video");
  expect(stdout).toMatch(/Skills \(1\) +make-faceless-video[^]*MCP servers \(1\) +video/);
  const started = await claude("mcp", "list");
  expect([started.stdout, await npxFolders(claude.home)]).toEqual([
    expect.stringContaining("Connected"),
    ["/"],
  ]);
});

test("Gemini CLI installs the extension completely and starts npx in its folder", async () => {
  const gemini = await client("@google/gemini-cli", "gemini", async (home) => {
    await mkdir(join(home, ".gemini"));
    const trusted = { [PLUGIN]: "TRUST_FOLDER", [home]: "TRUST_FOLDER" };
    await writeFile(join(home, ".gemini/trustedFolders.json"), JSON.stringify(trusted));
  });
  await gemini("extensions", "install", PLUGIN, "--consent", "--skip-settings");
  const { stdout, stderr } = await gemini("extensions", "list");
  expect(stdout + stderr).toMatch(
    /MCP servers:\s+video\s+Agent skills:\s+make-faceless-video[^]*API key[^]*Service address/,
  );
  await gemini("mcp", "list");
  expect(await npxFolders(gemini.home)).toEqual([join(gemini.home, ".gemini/extensions/faceless-video")]);
});

test("Codex installs the plugin with a server that gets the key from the shell", async () => {
  const codex = await client("@openai/codex", "codex");
  const { stderr } = await codex("plugin", "marketplace", "add", ROOT);
  expect((await codex("plugin", "add", "faceless-video@faceless-video")).code, stderr).toBe(0);
  const { stdout } = await codex("mcp", "list", "--json");
  expect(z.array(z.looseObject({})).parse(JSON.parse(stdout))).toEqual([
    expect.objectContaining({
      name: "video",
      enabled: true,
      transport: expect.objectContaining({
        type: "stdio",
        command: "npx",
        // The plugin's own folder.
        cwd: expect.stringMatching(/\.codex\/plugins\/.+\/faceless-video\//),
        env_vars: expect.arrayContaining(["FACELESS_API_KEY", "FACELESS_BASE_URL"]),
      }),
    }),
  ]);
});

/** The folders in which npx was started. */
async function npxFolders(home: string): Promise<string[]> {
  return (await readFile(join(home, "npx.log"), "utf8")).trim().split("\n");
}

/**
 * Runs the client with a home folder of its own, which is the project too. Its npx notes the folder in which it is
 * started, and starts the built server.
 */
async function client(
  name: keyof typeof VERSIONS,
  executable: string,
  prepare: (home: string) => Promise<void> = async () => {},
) {
  const program = await npmProgram(name, executable);
  const home = await mkdtemp(join(temporaryFolder(), "home-"));
  await prepare(home);
  const npx = `#!/bin/sh\npwd >> "$HOME/npx.log"\nexec "${process.execPath}" "${BUILT_FILE}" --sandbox\n`;
  await mkdir(join(home, "bin"));
  await writeFile(join(home, "bin/npx"), npx, { mode: 0o755 });
  const env = { HOME: home, PATH: [join(home, "bin"), process.env["PATH"]].join(":") };
  const ask = (...args: readonly string[]) => run(program, args, { cwd: home, env });
  return Object.assign(ask, { home });
}
