import { McpServer } from "@modelcontextprotocol/server";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { StdioTransportOptions } from "../../../src/mcp/transport/stdio-transport.ts";
import {
  StalledOutput,
  cancelled,
  failOnUnhandledRejections,
  failure,
  hear,
  notification,
  over,
  parseLines,
  request,
  result,
  ticks,
  until,
  updated,
} from "./wire.ts";
import type { Json } from "./wire.ts";

failOnUnhandledRejections();

function createServer(): McpServer {
  const server = new McpServer(
    { name: "test", version: "1.0.0" },
    { capabilities: { resources: { subscribe: true } } },
  );
  server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({
    content: [{ type: "text", text }],
  }));
  server.registerTool("wait", {}, async (ctx) => {
    await new Promise((resolve) => ctx.mcpReq.signal.addEventListener("abort", resolve));
    return { content: [] };
  });
  server.registerTool("ask", {}, async (ctx) => {
    const answer = await ctx.mcpReq.elicitInput({
      message: "Really?",
      requestedSchema: { type: "object", properties: {} },
    });
    return { content: [{ type: "text", text: answer.action }] };
  });
  server.registerResource("job", "faceless://jobs/a", {}, () => ({ contents: [] }));
  return server;
}

async function serve(options: Partial<StdioTransportOptions> = {}) {
  const wire = over(new PassThrough(), options);
  const heard = hear(wire.output);
  const servers: McpServer[] = [];
  serveStdio(
    () => {
      const server = createServer();
      servers.push(server);
      return server;
    },
    { transport: wire.transport },
  );
  await ticks(1);
  const answer = async (id: unknown): Promise<unknown> => {
    const find = () => heard().find((message) => isAnswerTo(id, message));
    await until(() => find() !== undefined);
    return find();
  };
  return { ...wire, servers, heard, answer };
}

function isAnswerTo(id: unknown, message: unknown): boolean {
  return message instanceof Object && Reflect.get(message, "id") === id && !("method" in message);
}

function isQuestion(message: unknown): message is { id: number } {
  return message instanceof Object && Reflect.get(message, "method") === "elicitation/create";
}

function initialize(protocolVersion: string, capabilities: Json = {}): JSONRPCMessage {
  return request(0, "initialize", { protocolVersion, capabilities, clientInfo: { name: "c", version: "1" } });
}

function modern(id: string | number, method: string, params: Json = {}): JSONRPCMessage {
  const envelope = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "c", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return request(id, method, { ...params, _meta: envelope });
}

function call(id: number, name: string, args: Json = {}): JSONRPCMessage {
  return request(id, "tools/call", { name, arguments: args });
}

describe("serveStdio over this transport", () => {
  test("serves a 2025-11-25 client, bad lines and a batch between its requests", async () => {
    const { say, sayBytes, answer, heard } = await serve();

    say(initialize("2025-11-25"), notification("notifications/initialized"));
    sayBytes("garbage\n");
    say([call(8, "echo", { text: "no" })], call(1, "echo", { text: "hi" }));

    expect(await answer(0)).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
    expect(await answer(1)).toMatchObject({ result: { content: [{ type: "text", text: "hi" }] } });
    expect(heard()).toHaveLength(4);
    expect(heard()).toContainEqual(failure(null, -32700));
    expect(heard()).toContainEqual(failure(null, -32600));
  });

  test("serves a batch to a 2025-03-26 client, even one sent along with initialize", async () => {
    const { say, heard } = await serve();

    say(initialize("2025-03-26"), notification("notifications/initialized"), [
      call(1, "echo", { text: "one" }),
      request(2, "no/such"),
      call(3, "wait"),
      { id: 4 },
      cancelled(3),
    ]);

    await until(() => heard().length === 2);
    await ticks();
    expect(heard()).toHaveLength(2);
    expect(heard()[0]).toMatchObject({ id: 0, result: { protocolVersion: "2025-03-26" } });
    expect(heard()[1]).toEqual(
      expect.arrayContaining([
        { jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text: "one" }] } },
        failure(2, -32601),
        failure(4, -32600),
      ]),
    );
    expect(heard()[1]).toHaveLength(3);
  });

  test("serves a 2026-07-28 client, and its subscription gets the latest update only when the reader stalls", async () => {
    const { servers, say, answer, heard, output } = await serve({ maxInFlight: 1 });
    say(modern(1, "server/discover"), modern(2, "tools/list"));
    expect(await answer(1)).toMatchObject({ result: { supportedVersions: ["2026-07-28"] } });
    expect(await answer(2)).toMatchObject({
      result: { tools: [{ name: "echo" }, { name: "wait" }, { name: "ask" }] },
    });

    const job = "faceless://jobs/a";
    say(modern("s", "subscriptions/listen", { notifications: { resourceSubscriptions: [job] } }));
    say(modern(3, "tools/call", { name: "echo", arguments: { text: "hi" } }));
    expect(await answer(3)).toMatchObject({ result: { content: [{ type: "text", text: "hi" }] } });
    const before = heard().length;
    output.pause();
    const server = servers.at(-1);
    for (let turn = 0; turn < 2000; turn += 1) await server?.server.sendResourceUpdated({ uri: job });
    output.resume();
    await ticks();

    const updates = heard().slice(before);
    expect(updates.at(-1)).toEqual(updated(job, "s"));
    expect(updates.length).toBeLessThan(1000);
  });

  test("has room after 64 cancelled calls", async () => {
    const { say, answer } = await serve();
    say(initialize("2025-11-25"), notification("notifications/initialized"));
    for (let id = 1; id <= 100; id += 1) say(call(id, "wait"), cancelled(id));

    say(call(101, "echo", { text: "still here" }));

    expect(await answer(101)).toMatchObject({ result: { content: [{ text: "still here" }] } });
  });

  test("does not lock up when as many calls as may be in flight ask the person something", async () => {
    const { say, answer, heard } = await serve({ maxInFlight: 3 });
    say(initialize("2025-11-25", { elicitation: {} }), notification("notifications/initialized"));
    say(call(1, "ask"), call(2, "ask"), call(3, "ask"), request(4, "ping"));
    const questions = () => heard().flatMap((message) => (isQuestion(message) ? [message.id] : []));
    await until(() => questions().length === 3);

    for (const id of questions()) say(result(id, { action: "decline" }));

    for (const id of [1, 2, 3])
      expect(await answer(id)).toMatchObject({ result: { content: [{ text: "decline" }] } });
    expect(await answer(4)).toMatchObject({ result: {} });
  });

  test("answers what came before the input ended, and closes without a word", async () => {
    const { servers, say, input, heard } = await serve();

    say(
      initialize("2025-11-25"),
      notification("notifications/initialized"),
      call(1, "echo", { text: "bye" }),
    );
    say(call(2, "wait"));
    input.end();

    await until(() => heard().length === 2);
    await ticks();
    expect(heard()).toHaveLength(2);
    expect(servers.at(-1)?.isConnected()).toBe(false);
  });

  test("closes by its handle although the reader stalls and a subscription is open", async () => {
    const output = new StalledOutput(10);
    const { transport, say } = over(output);
    const handle = serveStdio(createServer, { transport });
    say(modern(1, "server/discover"));
    await until(() => output.written !== "");
    say(
      modern("s", "subscriptions/listen", {
        notifications: { resourceSubscriptions: ["faceless://jobs/a"] },
      }),
    );
    await ticks();

    await handle.close();
    output.flow();

    await until(() => parseLines(output.written).length === 3);
    expect(parseLines(output.written)[2]).toMatchObject({ id: "s", result: { resultType: "complete" } });
  });
});
