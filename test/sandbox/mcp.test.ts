import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { refusal, testSandbox } from "./fixture.ts";
import type { TestSandbox } from "./fixture.ts";

interface TestClient {
  readonly revision: string | undefined;
  toolNames(): Promise<string[]>;
  call(name: string, input?: Record<string, unknown>): Promise<unknown>;
}

const requestInit = { headers: { Authorization: "Bearer fl_sandbox" } };
const info = { name: "test", version: "1.0.0" };

async function legacyClient(sandbox: TestSandbox): Promise<TestClient> {
  const client = new LegacyClient(info);
  const transport = new LegacyTransport(new URL("/api/mcp", sandbox.url), { requestInit });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    revision: transport.protocolVersion,
    toolNames: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: (name, input = {}) => client.callTool({ name, arguments: input }),
  };
}

async function modernClient(sandbox: TestSandbox): Promise<TestClient> {
  const client = new ModernClient(info, { versionNegotiation: { mode: "auto" } });
  await client.connect(new ModernTransport(new URL("/api/mcp", sandbox.url), { requestInit }));
  onTestFinished(() => client.close());
  return {
    revision: client.getNegotiatedProtocolVersion(),
    toolNames: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: (name, input = {}) => client.callTool({ name, arguments: input }),
  };
}

/** A result that has the same object as text and as structured content. */
function both(value: object): object {
  return {
    content: [{ type: "text", text: JSON.stringify(value) }],
    structuredContent: value,
  };
}

const startedSchema = z.object({ structuredContent: z.object({ jobId: z.string() }) });

describe.each([
  { version: "2025-11-25", connect: legacyClient },
  { version: "2026-07-28", connect: modernClient },
])("/api/mcp in protocol version $version", ({ version, connect }) => {
  test("offers the five tools", async () => {
    const client = await connect(await testSandbox());

    expect({ revision: client.revision, tools: await client.toolNames() }).toEqual({
      revision: version,
      tools: [
        "generate_video",
        "get_video_status",
        "publish_video",
        "list_videos",
        "list_connected_platforms",
      ],
    });
  });

  test("lists the connected platforms", async () => {
    const client = await connect(await testSandbox());

    const result = await client.call("list_connected_platforms");

    expect(result).toMatchObject(
      both({
        platforms: [
          { platform: "tiktok", account: "@sandbox.clips", connectedAt: "2026-01-12T09:00:00.000Z" },
          { platform: "youtube", account: "Sandbox Clips", connectedAt: "2026-01-12T09:05:00.000Z" },
          { platform: "instagram", account: "@sandbox.reels", connectedAt: "2026-01-12T09:10:00.000Z" },
        ],
      }),
    );
  });

  test("generates, reports the status, lists and publishes on the account of the REST API", async () => {
    const sandbox = await testSandbox({ renderSeconds: 20 });
    const client = await connect(sandbox);

    const started = await client.call("generate_video", { topic: "The night train", duration: 15 });

    const { jobId } = startedSchema.parse(started).structuredContent;
    expect(started).toMatchObject(both({ jobId, status: "processing" }));
    sandbox.advance(20);
    const { body: status } = await sandbox.get(`/api/v1/status/${jobId}`);
    expect(status).toMatchObject({ status: "completed" });
    expect(await client.call("get_video_status", { jobId })).toMatchObject(both({ ...Object(status) }));
    const { body: videos } = await sandbox.get("/api/v1/videos");
    expect(videos).toMatchObject({ videos: [{ jobId }] });
    expect(await client.call("list_videos")).toMatchObject(both({ ...Object(videos) }));
    const url = `${sandbox.url}/media/posts/youtube/${jobId}.mp4`;
    expect(await client.call("publish_video", { jobId, platforms: ["youtube"] })).toMatchObject(
      both({ results: [{ platform: "youtube", ok: true, url }] }),
    );
    expect(sandbox.posts()).toMatchObject([{ jobId, platform: "youtube", url }]);
  });

  test("answers a refusal as a tool error in the service's words", async () => {
    const client = await connect(await testSandbox({ credits: 0 }));

    const result = await client.call("generate_video", { topic: "x" });

    expect(result).toMatchObject({
      isError: true,
      content: [{ type: "text", text: "out_of_credits: No credits remain on this account." }],
      structuredContent: refusal("out_of_credits", "No credits remain on this account."),
    });
  });

  test("refuses input that the REST API refuses, and spends nothing", async () => {
    const sandbox = await testSandbox();
    const client = await connect(sandbox);

    const results = [
      await client.call("generate_video", { topic: "x", duration: 91 }),
      await client.call("generate_video", { topic: "x", aspectRatio: "9:16" }),
    ];

    expect(results).toMatchObject([
      { isError: true, content: [{ type: "text", text: expect.stringContaining("duration") }] },
      { isError: true, content: [{ type: "text", text: expect.stringContaining("aspectRatio") }] },
    ]);
    expect((await sandbox.get("/api/v1/videos")).body).toEqual({ videos: [], nextCursor: null });
  });
});

test("/api/mcp refuses a wrong key with the documented error", async () => {
  const sandbox = await testSandbox();
  const client = new ModernClient(info);
  const requestInit = { headers: { Authorization: "Bearer fl_example" } };
  const transport = new ModernTransport(new URL("/api/mcp", sandbox.url), { requestInit });

  await expect(client.connect(transport)).rejects.toThrow(/401|unauthorized/i);
  expect(sandbox.requests()).toMatchObject([{ path: "/api/mcp", status: 401 }]);
});

test("requests to /api/mcp count against the rate limit", async () => {
  const sandbox = await testSandbox({ requestsPerMinute: 1 });
  await sandbox.get("/api/v1/videos");

  await expect(legacyClient(sandbox)).rejects.toThrow("rate_limited");
});
