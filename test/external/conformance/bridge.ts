// Puts the built server behind HTTP, since the conformance suite knows no stdio: one process per session of
// the legacy protocol and per request of the modern one, so that no messages can be mixed up.

/* eslint-disable unicorn/prefer-add-event-listener -- the SDK's transports have no other way */
import { StdioClientTransport, type StdioServerParameters } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  isInitializeRequest,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { listen } from "../../fixtures/free-port.ts";

/** Starts the server as often as the requests need it. Ends all of them when it is closed. */
export async function startBridge(server: StdioServerParameters) {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const processes: StdioClientTransport[] = [];
  const startServer = async () => {
    const started = new StdioClientTransport(server);
    processes.push(started);
    await started.start();
    return started;
  };
  const openSession = async () => {
    const session = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: true,
      onsessioninitialized: (id) => void sessions.set(id, session),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    const own = await startServer();
    session.onmessage = (message) => void own.send(message);
    session.onclose = () => void own.close();
    own.onmessage = (message) => void session.send(message);
    return session;
  };
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { host = "", origin } = incoming.headers;
    // DNS rebinding: a web page whose name resolves to this computer must not reach the server.
    if (![host, ...(origin === undefined ? [] : [new URL(origin).host])].every(isLoopback))
      return fail(outgoing, 403, -32000, "Not a loopback host.");
    const message = incoming.method === "POST" ? await json(incoming) : undefined;
    if (incoming.headers["mcp-protocol-version"] === "2026-07-28" || isModern(message))
      return answerModern(JSONRPCMessageSchema.parse(message), outgoing, await startServer());
    const id = String(incoming.headers["mcp-session-id"] ?? "");
    const session = sessions.get(id) ?? (isInitializeRequest(message) ? await openSession() : undefined);
    if (session !== undefined) return session.handleRequest(incoming, outgoing, message);
    fail(outgoing, id !== "" ? 404 : incoming.method === "POST" ? 400 : 405, -32000, "No such session.");
  };
  const http = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      if (outgoing.headersSent) outgoing.destroy();
      else fail(outgoing, 400, -32700, "The body is no JSON-RPC message.");
    });
  });
  const port = await listen(http);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      http.closeAllConnections();
      http.close();
      await Promise.all([once(http, "close"), ...processes.map((started) => started.close())]);
    },
  };
}

function isModern(message: unknown): boolean {
  const { _meta: meta } = Object(Object(message).params);
  return Object(meta)["io.modelcontextprotocol/protocolVersion"] !== undefined;
}

/** Sends the client all that this process writes. Ends it after the answer, or when the client has left. */
async function answerModern(
  message: JSONRPCMessage,
  outgoing: ServerResponse,
  own: StdioClientTransport,
): Promise<void> {
  const id = "id" in message ? message.id : undefined;
  outgoing.on("close", () => void own.close());
  own.onmessage = (said) => {
    const isAnswer = !("method" in said) && said.id === id;
    if (isAnswer && !outgoing.headersSent) return writeJson(outgoing, statusOf(said), said);
    if (!outgoing.headersSent)
      outgoing.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    outgoing.write(`event: message\ndata: ${JSON.stringify(said)}\n\n`);
    if (isAnswer) outgoing.end();
  };
  await own.send(message);
  if (id === undefined) outgoing.writeHead(202).end();
}

/** Some errors of the modern protocol have an HTTP status of their own. */
function statusOf(answered: JSONRPCMessage): number {
  const code = "error" in answered ? answered.error.code : 0;
  return code === -32601 ? 404 : [-32602, -32021, -32022].includes(code) ? 400 : 200;
}

function fail(outgoing: ServerResponse, status: number, code: number, message: string): void {
  writeJson(outgoing, status, { jsonrpc: "2.0", id: null, error: { code, message } });
}

function writeJson(outgoing: ServerResponse, status: number, message: object): void {
  outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(message));
}

function isLoopback(host: string): boolean {
  return /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host);
}
