import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { envelope, testSandbox } from "./fixture.ts";
import type { TestSandbox } from "./fixture.ts";

const requestInit = { headers: { Authorization: "Bearer fl_sandbox" } };
const info = { name: "test", version: "1.0.0" };

/** The tools that the service documents. */
const TOOLS = "generate_video get_video_status publish_video list_videos list_connected_platforms".split(" ");

async function legacyClient(sandbox: TestSandbox) {
  const client = new LegacyClient(info);
  const transport = new LegacyTransport(new URL("/api/mcp", sandbox.url), { requestInit });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, version: transport.protocolVersion };
}

async function modernClient(sandbox: TestSandbox) {
  const client = new ModernClient(info, { versionNegotiation: { mode: "auto" } });
  await client.connect(new ModernTransport(new URL("/api/mcp", sandbox.url), { requestInit }));
  onTestFinished(() => client.close());
  return { client, version: client.getNegotiatedProtocolVersion() };
}

/** A result that has the same object as text and as structured content. */
function both(value: object): object {
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
}

const startedSchema = z.object({ structuredContent: z.object({ jobId: z.string() }) });

test.each([
  ["2025-11-25", legacyClient],
  ["2026-07-28", modernClient],
])("/api/mcp in protocol version %s has these tools, and lists the platforms", async (version, connect) => {
  const connected = await connect(await testSandbox());
  const { tools } = await connected.client.listTools();

  expect(connected.version).toBe(version);
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(TOOLS));
  const platforms = [
    { platform: "tiktok", account: "@sandbox.clips", connectedAt: "2026-01-12T09:00:00.000Z" },
    { platform: "youtube", account: "Sandbox Clips", connectedAt: "2026-01-12T09:05:00.000Z" },
    { platform: "instagram", account: "@sandbox.reels", connectedAt: "2026-01-12T09:10:00.000Z" },
  ];
  expect(await connected.client.callTool({ name: "list_connected_platforms", arguments: {} })).toMatchObject(
    both({ platforms }),
  );
});

test("the tools of /api/mcp work on the account of the REST API", async () => {
  const sandbox = await testSandbox({ renderSeconds: 0 });
  const { client } = await modernClient(sandbox);
  const call = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });

  const started = await call("generate_video", { topic: "The night train", duration: 15 });

  const { jobId } = startedSchema.parse(started).structuredContent;
  const rest = async (path: string) => both(Object((await sandbox.get(`/api/v1/${path}`)).body));
  expect(await call("get_video_status", { jobId })).toMatchObject(await rest(`status/${jobId}`));
  expect(await call("list_videos", {})).toMatchObject(await rest("videos"));
  const url = `${sandbox.url}/media/posts/youtube/${jobId}.mp4`;
  const results = [{ platform: "youtube", ok: true, url }];
  expect(await call("publish_video", { jobId, platforms: ["youtube"] })).toMatchObject(both({ results }));
});

test("/api/mcp answers a refusal as a tool error, and spends nothing", async () => {
  const { client } = await modernClient(await testSandbox({ credits: 1 }));
  const generate = (more: object) =>
    client.callTool({ name: "generate_video", arguments: { topic: "x", ...more } });

  const invalid = await generate({ duration: 91 });
  const started = await generate({});
  const refused = await generate({});

  const message = "No credits remain on this account. A restarted sandbox has new ones.";
  expect([invalid.isError, started.isError]).toEqual([true, undefined]);
  expect(refused).toMatchObject({ isError: true, structuredContent: envelope("out_of_credits", message) });
});
