// docs/plugin, judged by the clients' own programs.

import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import * as z from "zod";
import { temporaryFolder } from "../fixtures/folder.ts";
import { npmProgram, type VERSIONS } from "../fixtures/npm-tools.ts";
import { run } from "../fixtures/run.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
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

test("Codex installs the plugin from its marketplace, with a server that gets the key from the shell", async () => {
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
        args: ["-y", "faceless-video-mcp"],
        env_vars: ["FACELESS_API_KEY", "FACELESS_BASE_URL"],
      }),
    }),
  ]);
});

/** Runs the client with a home folder of its own. */
async function client(name: keyof typeof VERSIONS, executable: string) {
  const program = await npmProgram(name, executable);
  const home = await mkdtemp(join(temporaryFolder(), "home-"));
  return (...args: readonly string[]) => run(program, args, { cwd: home, env: { HOME: home } });
}
