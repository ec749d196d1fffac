// Real gateways, which put a stdio server behind HTTP, between real clients and the built server.

import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { randomUUID } from "node:crypto";
import { spawn } from "node:child_process";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { readDocument } from "../../../scripts/docs-check.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { BUILT_FILE, SERVER_NODE } from "../../fixtures/clients.ts";
import { npmProgram } from "../../fixtures/npm-tools.ts";
import { run } from "../../fixtures/run.ts";
import { until } from "../../fixtures/until.ts";
import { freePort } from "../../fixtures/free-port.ts";

interface Gateway {
  readonly name: "mcp-proxy" | "supergateway";
  readonly args: (port: number, server: readonly string[]) => readonly string[];
  /** Server processes behind four sessions. */
  readonly processes: number;
}

/** supergateway has no option for the address and would listen on every network interface. */
const LOOPBACK_ONLY = `data:text/javascript,${encodeURIComponent(`
  import { Server } from "node:net";
  const { listen } = Server.prototype;
  Server.prototype.listen = function (port, ...rest) { return listen.call(this, port, "127.0.0.1", ...rest); };
`)}`;

const SECRET = "a-long-random-secret";
/** The secret that a client of mcp-proxy sends; supergateway has none for callers. */
const AS_CALLER = { requestInit: { headers: { "X-API-Key": SECRET } } };

const [, options = "", flags = ""] =
  /npx -y mcp-proxy (.+) -- npx -y faceless-video-mcp(.*)$/m.exec(readDocument("docs/GATEWAYS.md")) ?? [];
/** As documented. It takes the secret from the environment, since arguments are shown to all users of a computer. */
const MCP_PROXY: Gateway = {
  name: "mcp-proxy",
  args: (port, server) => [
    ...options.replace("8080", String(port)).split(" "),
    "--",
    ...server,
    ...flags.trim().split(" "),
  ],
  processes: 1,
};
const SUPERGATEWAY: Gateway = {
  name: "supergateway",
  args: (port, server) => [
    "--stdio",
    server.join(" "),
    ...`--outputTransport streamableHttp --stateful --port ${port}`.split(" "),
  ],
  processes: 4,
};

const startedSchema = z.looseObject({ jobId: z.string(), resourceUri: z.string() });

describe.each([MCP_PROXY, SUPERGATEWAY])("behind $name", (gateway) => {
  test("a subscribed client is told of its job until the video is ready", async () => {
    const { connect } = await startGateway(gateway);
    const { client, call, updates } = await connect();
    const { resourceUri: uri } = await call("generate_video", { topic: "Why the sea is salty" });
    await client.subscribeResource({ uri: String(uri) });

    const isCompleted = async () => {
      const { contents } = await client.readResource({ uri: String(uri) });
      return JSON.stringify(contents).includes('\\"status\\":\\"completed\\"');
    };
    while (!(await isCompleted())) {
      const seen = updates.length;
      await until(() => updates.length > seen);
    }
    expect(new Set(updates)).toEqual(new Set([uri]));
  });

  test("a waiting client gets the progress of the render, and then its end", async () => {
    const { connect } = await startGateway(gateway);
    const { call } = await connect();
    const { jobId } = await call("generate_video", { topic: "How glass is made" });
    const messages: string[] = [];
    const job = await call("get_video_status", { jobId, waitSeconds: 50 }, (message) =>
      messages.push(message),
    );
    expect(job).toMatchObject({ status: "completed", done: true });
    expect(messages.length).toBeGreaterThan(1);
  });

  test("four sessions use as many processes as docs/GATEWAYS.md says", async () => {
    const { connect, servers } = await startGateway(gateway);
    const sessions = await Promise.all([connect(), connect(), connect(), connect()]);
    for (const { client } of sessions) await client.listTools();
    expect(await servers()).toHaveLength(gateway.processes);
  });

  test.each(["SIGTERM", "SIGKILL"] as const)("no server outlives the gateway after %s", async (signal) => {
    const { child, connect, servers } = await startGateway(gateway);
    const { call } = await connect();
    await connect();
    await call("generate_video", { topic: "Rain" });
    expect(await servers()).not.toEqual([]);

    child.kill(signal);

    await expect.poll(servers, { timeout: 60_000 }).toEqual([]);
  });
});

test("a modern client follows its job through mcp-proxy", async () => {
  const { url } = await startGateway(MCP_PROXY);
  const client = new ModernClient(
    { name: "modern-gateway-test", version: "1.0.0" },
    { versionNegotiation: { mode: "auto" } },
  );
  const updates: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    updates.push(params.uri);
  });
  onTestFinished(() => client.close());
  await client.connect(new ModernTransport(url, AS_CALLER));

  const started = await client.callTool({ name: "generate_video", arguments: { topic: "Tides" } });
  const { jobId, resourceUri } = startedSchema.parse(started.structuredContent);
  await client.listen({ resourceSubscriptions: [resourceUri] });
  const waited = await client.callTool({
    name: "get_video_status",
    arguments: { jobId, waitSeconds: 50 },
  });

  expect(client.getNegotiatedProtocolVersion()).toBe("2026-07-28");
  expect(waited.structuredContent).toMatchObject({ status: "completed" });
  expect(new Set(updates)).toEqual(new Set([resourceUri]));
});

test("mcp-proxy as documented offers no tool that posts, since it passes no question on", async () => {
  const { connect } = await startGateway(MCP_PROXY);
  const { client } = await connect();

  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect(names).toContain("generate_video");
  expect(names).not.toContain("publish_video");
});

test("mcp-proxy as documented refuses web pages and callers without the secret", async () => {
  const { url, servers } = await startGateway(MCP_PROXY);
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "page", version: "1" } },
  });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const answers = await Promise.all(
    [{}, { origin: "https://evil.example" }, { "X-API-Key": "guessed" }].map((more) =>
      fetch(url, { method: "POST", headers: { ...headers, ...more }, body }),
    ),
  );

  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
  expect(await servers()).toHaveLength(1);
});

test("sessions that share a process see each other's jobs, so tenants must never share one", async () => {
  const { connect } = await startGateway(MCP_PROXY);
  const [one, other] = [await connect(), await connect()];
  const { resourceUri } = await one.call("generate_video", { topic: "A secret" });
  const { resources } = await other.client.listResources();
  expect(resources.map(({ uri }) => uri)).toContain(resourceUri);
});

test("supergateway ends a session's process when its client ends the session", async () => {
  const { connect, servers } = await startGateway(SUPERGATEWAY);
  const [staying, leaving] = [await connect(), await connect()];
  for (const { client } of [staying, leaving]) await client.listTools();
  expect(await servers()).toHaveLength(2);

  await leaving.leave();

  await expect.poll(servers, { timeout: 60_000 }).toHaveLength(1);
  await staying.client.listTools();
});

/** The gateway before the built server, before a sandbox of its own. Killed when the test is over. */
async function startGateway({ name, args }: Gateway) {
  const sandbox = await startSandbox({ renderSeconds: 2 });
  onTestFinished(() => sandbox.close());
  const port = await freePort();
  const mark = `faceless-gateway-${randomUUID()}`;
  // The mark tells this server's processes apart from all others.
  const server = [SERVER_NODE, `--title=${mark}`, BUILT_FILE];
  const program = await npmProgram(name, name);
  const child = spawn(process.execPath, ["--import", LOOPBACK_ONLY, program, ...args(port, server)], {
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      MCP_PROXY_API_KEY: SECRET,
      FACELESS_API_KEY: sandbox.apiKey,
      FACELESS_BASE_URL: sandbox.url,
      FACELESS_STATE_DIR: "off",
      FACELESS_POLL_SECONDS: "0.2",
    },
    stdio: "ignore",
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  // Any answer will do: it means that the port is open.
  await until(async () => (await fetch(url).catch(() => undefined)) !== undefined);
  return { child, url, connect: () => connectTo(url), servers: () => processesMarked(mark) };
}

async function connectTo(url: URL) {
  const client = new Client({ name: "gateway-test", version: "1.0.0" });
  const updates: string[] = [];
  client.setNotificationHandler(
    ResourceUpdatedNotificationSchema,
    ({ params }) => void updates.push(params.uri),
  );
  const transport = new StreamableHTTPClientTransport(url, AS_CALLER);
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    client,
    updates,
    leave: () => transport.terminateSession(),
    async call(name: string, values: object, onMessage?: (message: string) => void) {
      const options = onMessage && {
        onprogress: ({ message = "" }: { message?: string | undefined }) => onMessage(message),
      };
      const called = client.callTool({ name, arguments: { ...values } }, undefined, options);
      const result = CallToolResultSchema.parse(await called);
      if (result.isError === true || result.structuredContent === undefined)
        throw new Error(JSON.stringify(result.content));
      return result.structuredContent;
    },
  };
}

/** The ids of the server's own processes, without a shell that waits for them. */
async function processesMarked(mark: string): Promise<string[]> {
  const { stdout } = await run("ps", ["-A", "-ww", "-o", "pid=,stat=,args="]);
  return stdout
    .split("\n")
    .filter((line) => line.includes(mark) && !/^\s*\d+ Z|sh -c|--stdio|mcp-proxy/.test(line))
    .map((line) => line.trim().split(" ")[0] ?? "");
}
