// What the plugins' entries start, with the values that clients pass before and after the user has set them.

import { expect, test } from "vitest";
import * as z from "zod";
import { PLUGIN_FILES } from "../../.config/plugin-files.ts";
import { SERVER } from "../../src/commands/server-entry.ts";
import { connectModern, textOf } from "../fixtures/clients.ts";
import { VIDEOS } from "../fixtures/constants.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";

const NOT_SET = { FACELESS_API_KEY: "", FACELESS_BASE_URL: "" };
const ARGS = ["--sandbox=auto"];
const manifestSchema = z.looseObject({
  mcpServers: z.record(
    z.string(),
    z.object({ args: z.array(z.string()), env: z.record(z.string(), z.string()).default(NOT_SET) }),
  ),
});

test.each([
  ".claude-plugin/plugin.json",
  "codex-mcp.json",
  ".cursor-plugin/plugin.json",
  "gemini-extension.json",
])("%s starts the sandbox while neither key nor address is given, and each summary says so", async (file) => {
  const { mcpServers } = manifestSchema.parse(JSON.parse(PLUGIN_FILES[`docs/plugin/${file}`] ?? ""));
  const { args = [], env = {} } = mcpServers[SERVER] ?? {};
  expect(args.filter((word) => word.startsWith("--"))).toEqual(ARGS);

  // With the placeholders that nothing has filled in.
  const client = await connectModern({ args: ARGS, env });

  const started = await client.call("generate_video", { topic: "Why the sea is salty" });
  expect(started.structuredContent?.["summary"]).toContain("This is a sandbox");
});

test("a plugin uses the service that the user has given", async () => {
  const service = await scriptedService({ [VIDEOS]: { json: { videos: [] } } });
  const env = { FACELESS_API_KEY: "fl_example", FACELESS_BASE_URL: service.url };

  const { structuredContent } = await (await connectModern({ args: ARGS, env })).call("list_videos");

  expect(structuredContent?.["videos"]).toEqual([]);
  expect(structuredContent?.["summary"]).not.toContain("sandbox");
});

test("a plugin with an address and no key says that the key is missing", async () => {
  const env = { ...NOT_SET, FACELESS_BASE_URL: "https://videos.example.com" };
  const result = await (await connectModern({ args: ARGS, env })).call("list_videos");
  expect(result.isError).toBe(true);
  expect(textOf(result)).toContain("FACELESS_API_KEY is not set");
});
