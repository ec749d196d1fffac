// What the plugins' entries start, with the values that clients pass before and after the user has set them.

import { expect, test } from "vitest";
import * as z from "zod";
import { PLUGIN_FILES } from "../../.config/plugin-files.ts";
import { SERVER } from "../../src/commands/server-entry.ts";
import { connectModern, textOf } from "../fixtures/clients.ts";
import { VIDEOS } from "../fixtures/constants.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";

const NOT_SET = { FACELESS_API_KEY: "", FACELESS_BASE_URL: "" };
const manifestSchema = z.looseObject({
  mcpServers: z.record(
    z.string(),
    z.object({ args: z.array(z.string()), env: z.record(z.string(), z.string()).default(NOT_SET) }),
  ),
});

/** By client. `env` as it is where nothing fills the placeholders in. */
const ENTRIES = Object.entries({
  "Claude Code": ".claude-plugin/plugin.json",
  Codex: "codex-mcp.json",
  Cursor: ".cursor-plugin/plugin.json",
  "Gemini CLI": "gemini-extension.json",
}).map(([client, file]) => {
  const { mcpServers } = manifestSchema.parse(JSON.parse(PLUGIN_FILES[`docs/plugin/${file}`] ?? ""));
  const { args = [], env = {} } = mcpServers[SERVER] ?? {};
  return [client, { args: args.filter((word) => word.startsWith("--")), env }] as const;
});

test.each(ENTRIES)(
  "the plugin of %s starts the sandbox while neither key nor address is given, and each summary says so",
  async (_, { args, env }) => {
    for (const values of [env, NOT_SET]) {
      // eslint-disable-next-line no-await-in-loop -- one server after the other
      const client = await connectModern({ args, env: values });
      expect(client.raw.getInstructions()).toContain("This is a sandbox");
      const started = await client.call("generate_video", { topic: "Why the sea is salty" });
      const listed = await client.call("list_videos");
      for (const result of [started, listed])
        expect(result.structuredContent?.["summary"]).toContain("This is a sandbox");
    }
  },
);

test.each(ENTRIES)("the plugin of %s uses the service that the user has given", async (_, { args }) => {
  const service = await scriptedService({ [VIDEOS]: { json: { videos: [] } } });
  const env = { FACELESS_API_KEY: "fl_example", FACELESS_BASE_URL: service.url };

  const { structuredContent } = await (await connectModern({ args, env })).call("list_videos");

  expect(structuredContent?.["videos"]).toEqual([]);
  expect(structuredContent?.["summary"]).not.toContain("sandbox");
});

test("a plugin with an address and no key says that the key is missing", async () => {
  const env = { FACELESS_API_KEY: "", FACELESS_BASE_URL: "https://videos.example.com" };
  const result = await (await connectModern({ args: ["--sandbox=auto"], env })).call("list_videos");
  expect(result.isError).toBe(true);
  expect(textOf(result)).toContain("FACELESS_API_KEY is not set");
});
