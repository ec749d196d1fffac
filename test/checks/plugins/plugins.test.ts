// docs/plugin, judged by the clients' own programs.

import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import * as z from "zod";
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

test("Claude Code installs the plugin with its skill, server and settings", async () => {
  const claude = await client("@anthropic-ai/claude-code", "claude");
  await claude("plugin", "marketplace", "add", ROOT);
  const installed = await claude("plugin", "install", "faceless-video@faceless-video");
  expect(installed.code, installed.stderr).toBe(0);
  const options = await claude("plugin", "configure", "faceless-video@faceless-video");
  expect(options.stdout).toMatch(/api_key .*sensitive[^]*base_url /);
  const { stdout } = await claude("plugin", "details", "faceless-video@faceless-video");
  expect(stdout).toMatch(/Skills \(1\) +make-faceless-video[^]*MCP servers \(1\) +faceless-video/);
});

test("Gemini CLI installs the extension with its skill, server and settings", async () => {
  const gemini = await client("@google/gemini-cli", "gemini", async (home) => {
    await mkdir(join(home, ".gemini"));
    await writeFile(join(home, ".gemini/trustedFolders.json"), JSON.stringify({ [PLUGIN]: "TRUST_FOLDER" }));
  });
  await gemini("extensions", "install", PLUGIN, "--consent", "--skip-settings");
  const { stdout, stderr } = await gemini("extensions", "list");
  expect(stdout + stderr).toMatch(
    /MCP servers:\s+faceless-video\s+Agent skills:\s+make-faceless-video[^]*API key[^]*Service address/,
  );
});

test("Codex installs the plugin with a server that gets the key from the shell", async () => {
  const codex = await client("@openai/codex", "codex");
  const { stderr } = await codex("plugin", "marketplace", "add", ROOT);
  expect((await codex("plugin", "add", "faceless-video@faceless-video")).code, stderr).toBe(0);
  const { stdout } = await codex("mcp", "list", "--json");
  expect(z.array(z.looseObject({})).parse(JSON.parse(stdout))).toEqual([
    expect.objectContaining({
      name: "faceless-video",
      enabled: true,
      transport: expect.objectContaining({
        type: "stdio",
        command: "npx",
        args: ["-y", "faceless-video-mcp", "--sandbox=auto"],
        env_vars: expect.arrayContaining(["FACELESS_API_KEY", "FACELESS_BASE_URL"]),
      }),
    }),
  ]);
});

/** Runs the client with a home folder of its own. */
async function client(
  name: keyof typeof VERSIONS,
  executable: string,
  prepare: (home: string) => Promise<void> = async () => {},
) {
  const program = await npmProgram(name, executable);
  const home = await mkdtemp(join(temporaryFolder(), "home-"));
  await prepare(home);
  return (...args: readonly string[]) => run(program, args, { cwd: home, env: { HOME: home } });
}
