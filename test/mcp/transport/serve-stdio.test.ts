// The transport with the SDK's serveStdio.

import { type JSONRPCMessage, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { expect, test } from "vitest";
import * as z from "zod";
import {
  cancelled,
  connectReader,
  error,
  type Json,
  notification,
  request,
  result,
  turns,
  until,
} from "./connection.ts";

function createServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({
    content: [{ type: "text", text }],
  }));
  server.registerTool("wait", {}, async (context) => {
    await new Promise((resolve) => context.mcpReq.signal.addEventListener("abort", resolve));
    return { content: [] };
  });
  server.registerTool("ask", {}, async (context) => {
    const question = { message: "Really?", requestedSchema: { type: "object", properties: {} } } as const;
    const { action } = await context.mcpReq.elicitInput(question);
    return { content: [{ type: "text", text: action }] };
  });
  return server;
}

/** A 2025-11-25 client that has initialized. */
async function serve(capabilities: Json = {}) {
  const connection = await connectReader();
  // serveStdio starts it again otherwise.
  Object.assign(connection.transport, { start: async () => {} });
  const { onclose } = connection.transport;
  serveStdio(createServer, { transport: connection.transport });
  const closed = connection.transport.onclose;
  Object.assign(connection.transport, {
    onclose: () => {
      closed?.();
      onclose?.();
    },
  });
  const clientInfo = { name: "client", version: "1" };
  connection.send(
    request(0, "initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo }),
    notification("notifications/initialized"),
  );
  await until(() => connection.sent().length === 1);
  return connection;
}

const call = (id: number, name: string, args: Json = {}): JSONRPCMessage =>
  request(id, "tools/call", { name, arguments: args });
const text = (id: number, words: string) => result(id, { content: [{ type: "text", text: words }] });

test("a request after an unreadable line and a batch is answered", async () => {
  const { send, input, sent } = await serve();

  input.write("garbage\n");
  send([call(8, "echo", { text: "no" })], call(1, "echo", { text: "hi" }));

  await until(() => sent().length === 4);
  expect(sent().slice(1)).toEqual([error(null, -32700), error(null, -32600), text(1, "hi")]);
});

test("100 cancelled calls, which the SDK never answers, don't block later requests", async () => {
  const { send, sent } = await serve();

  for (let id = 1; id <= 100; id += 1) send(call(id, "wait"), cancelled(id));
  send(call(101, "echo", { text: "still here" }));

  await until(() => sent().length === 2);
  expect(sent()[1]).toEqual(text(101, "still here"));
});

test("calls that all ask the user at the same time don't block the connection", async () => {
  const { send, sent } = await serve({ elicitation: {} });
  const CALLS = 70;
  for (let id = 1; id <= CALLS; id += 1) send(call(id, "ask"));
  const questions = () =>
    sent().filter((message) => Reflect.get(Object(message), "method") === "elicitation/create");
  await until(() => questions().length === CALLS);

  for (const question of questions())
    send(result(Reflect.get(Object(question), "id"), { action: "decline" }));

  await until(() => sent().length === 1 + 2 * CALLS);
  for (let id = 1; id <= CALLS; id += 1) expect(sent()).toContainEqual(text(id, "decline"));
});

test("requests before the end of the input are answered unless they are still running", async () => {
  const { send, input, sent, closed } = await serve();

  send(call(1, "wait"), call(2, "echo", { text: "bye" }));
  input.end();

  await until(closed);
  await turns();
  expect(sent().slice(1)).toEqual([text(2, "bye")]);
});
