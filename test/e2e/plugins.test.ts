// The plugins' files agree with the code, and their entries start what they promise before and after the user
// has set the values. `npm run plugins` has the clients check them.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import manifest from "../../package.json" with { type: "json" };
import { documentOf, FORMATS } from "../../src/commands/client-formats.ts";
import { launch, NPX_ARGS, SERVER } from "../../src/commands/server-entry.ts";
import { connectModern, textOf } from "../fixtures/clients.ts";
import { VIDEOS } from "../fixtures/constants.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";
import { TOOLS } from "../fixtures/tools.ts";

const OPTIONS = { windows: false, sandbox: false };
const SWITCHES = ["--sandbox=auto"];
/** npx in the folder of the plugin, which has a repository's package.json above it in some clients. */
const inFolder = (cwd: string) => {
  const [yes, offline, spec] = NPX_ARGS;
  return { command: "npx", args: [yes, offline, "--prefix", ".", spec, ...SWITCHES], cwd };
};
const STARTS = {
  // This client ignores cwd.
  "claude-code": { command: "${CLAUDE_PLUGIN_ROOT}/start-server", args: SWITCHES },
  codex: inFolder("."),
  cursor: { command: "${CURSOR_PLUGIN_ROOT}/start-server", args: SWITCHES },
  gemini: inFolder("${extensionPath}"),
} as const;
const NOT_SET = { FACELESS_API_KEY: "", FACELESS_BASE_URL: "" };
/** Short, since some clients put the plugin's name before it. */
const PLUGIN_SERVER = "video";
const FILES = [
  ["claude-code", ".claude-plugin/plugin.json"],
  ["codex", "codex-mcp.json"],
  ["cursor", ".cursor-plugin/plugin.json"],
  ["gemini", "gemini-extension.json"],
] as const;
const serversSchema = z.record(
  z.string(),
  z.looseObject({
    env: z.record(z.string(), z.string()).optional(),
    env_vars: z.array(z.string()).optional(),
  }),
);

const read = (name: string) => readFileSync(`docs/plugin/${name}`, "utf8");

test.each(FILES)("the plugin of %s starts the sandbox until a value is set", async (client, file) => {
  const server = serversSchema.parse(JSON.parse(read(file)).mcpServers)[PLUGIN_SERVER] ?? {};
  const { env = {} } = server;
  const printed = documentOf(FORMATS[client], { ...launch(OPTIONS), env, isInstalled: false });
  const [servers] = Object.values(printed);
  const expected = serversSchema.parse(servers)[SERVER];
  // A plugin of Codex has no file for the user's own values: they come from the shell.
  expected?.env_vars?.unshift("FACELESS_API_KEY");
  expected?.env_vars?.push("FACELESS_BASE_URL");
  expect({ ...server, env }).toEqual({ ...expected, ...STARTS[client] });

  // Nothing has filled in the placeholders.
  const { call } = await connectModern({ args: SWITCHES, env: { ...NOT_SET, ...env } });
  const started = await call("generate_video", { topic: "Why the sea is salty" });
  expect(started.structuredContent?.["summary"]).toContain("This is a sandbox");
});

test.each(FILES)("no tool of the plugin of %s has a name that a provider refuses", (_, file) => {
  const { name: plugin } = JSON.parse(read(".claude-plugin/plugin.json"));
  const names = Object.keys(JSON.parse(read(file)).mcpServers).flatMap((server) =>
    TOOLS.map((tool) => `mcp__plugin_${plugin}_${server}__${tool}`),
  );

  expect(names.filter((name) => !/^[\w-]{1,64}$/.test(name))).toEqual([]);
  expect(names).toHaveLength(TOOLS.length);
});

test("a plugin uses the service that the user has given, and says which value is missing", async () => {
  const service = await scriptedService({ [VIDEOS]: { json: { videos: [] } } });
  const listWith = async (env: Record<string, string>) =>
    (await connectModern({ args: SWITCHES, env: { ...NOT_SET, ...env } })).call("list_videos");

  const given = await listWith({ FACELESS_API_KEY: "fl_example_key", FACELESS_BASE_URL: service.url });
  const half = await listWith({ FACELESS_BASE_URL: service.url });

  expect(given.structuredContent).toMatchObject({
    videos: [],
    summary: expect.not.stringContaining("sandbox"),
  });
  expect([half.isError, textOf(half)]).toEqual([
    true,
    expect.stringContaining("FACELESS_API_KEY is not set"),
  ]);
});

test.each([
  ".claude-plugin/plugin.json",
  ".codex-plugin/plugin.json",
  ".cursor-plugin/plugin.json",
  "gemini-extension.json",
])("%s has the version and the description of the package", (file) => {
  const { version, description } = manifest;
  expect(JSON.parse(read(file))).toMatchObject({ version, description });
});

test.each(["start-server", "start-server.cmd"])("%s starts the exact version outside of projects", (file) => {
  expect(read(file).split("\n").at(-2)).toMatch(/cd .*(\/|%SystemRoot%").*npx/);
  expect(read(file)).toContain(` ${NPX_ARGS.join(" ")} `);
});

test("Codex's short description has at most 30 characters, as its directory wants", () => {
  expect(JSON.parse(read(".codex-plugin/plugin.json"))).toMatchObject({
    interface: { shortDescription: expect.stringMatching(/^.{1,30}$/) },
  });
});

test("the skill has its folder's name and never speaks as the user", () => {
  const folder = "skills/make-faceless-video";
  const [skill, styles] = [read(`${folder}/SKILL.md`), read(`${folder}/references/styles.md`)];
  expect(parse(/^---\n(.*?)\n---\n/s.exec(skill)?.[1] ?? "")).toMatchObject({
    name: "make-faceless-video",
    description: expect.stringMatching(/^.{1,1024}$/),
  });
  expect(`${skill}${styles}`.match(/.{0,20}\b(I|me|my|mine)\b.{0,20}/g)).toBeNull();
});
