// Puts the built server behind HTTP, because the conformance suite knows no stdio. It is as thin as the suite allows: one process for each
// session of the legacy protocol, and one for each request of the modern one, so that no message has to be told apart from another's.

import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createInterface } from "node:readline";
import { json } from "node:stream/consumers";
import * as z from "zod";

/** As the suite sends it: even a notification has a method, and a response has none. */
const messageSchema = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.looseObject({}).optional(),
});
type Message = z.infer<typeof messageSchema>;

export interface Bridge {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts the server as often as the requests need it. Ends all of them when it is closed. */
export async function startBridge(startServer: () => ChildProcess): Promise<Bridge> {
  const sessions = new Map<string, Session>();
  const http = createServer((incoming, outgoing) => {
    answer(incoming, outgoing, sessions, startServer).catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      if (outgoing.headersSent) outgoing.destroy();
      else fail(outgoing, 400, -32700, "The body is no JSON-RPC message.");
    });
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const address = http.address();
  if (address === null || typeof address === "string") throw new Error("The bridge has no port.");
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    async close() {
      for (const session of sessions.values()) session.end();
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };
}

/** The server that one client of the legacy protocol talks to. */
class Session {
  readonly #child: ChildProcess;
  readonly #answered = new Map<string | number, (message: Message) => void>();
  #stream: ServerResponse | undefined; // takes what answers no request
  readonly #waiting: Message[] = []; // until there is such a stream

  constructor(child: ChildProcess) {
    this.#child = child;
    onMessage(child, (message) => {
      const answered = message.method === undefined ? this.#answered.get(message.id ?? "") : undefined;
      if (answered !== undefined) answered(message);
      else if (this.#stream !== undefined) writeEvent(this.#stream, message);
      else this.#waiting.push(message);
    });
  }

  send(message: Message): void {
    writeLine(this.#child, message);
  }

  ask(message: Message): Promise<Message> {
    const { id = "" } = message;
    return new Promise((resolve) => {
      this.#answered.set(id, resolve);
      this.send(message);
    });
  }

  streamTo(outgoing: ServerResponse): void {
    beginEvents(outgoing);
    this.#stream = outgoing;
    for (const message of this.#waiting.splice(0)) writeEvent(outgoing, message);
    outgoing.on("close", () => (this.#stream = undefined));
  }

  end(): void {
    this.#stream?.end();
    this.#child.stdin?.end();
  }
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  sessions: Map<string, Session>,
  startServer: () => ChildProcess,
): Promise<void> {
  const { host = "", origin } = incoming.headers;
  // A web page that has its name resolved to this computer must not reach the server.
  if (![host, ...(origin === undefined ? [] : [new URL(origin).host])].every(isLoopback))
    return fail(outgoing, 403, -32000, "Not a loopback host.");
  const sessionId = String(incoming.headers["mcp-session-id"] ?? "");
  const session = sessions.get(sessionId);
  if (incoming.method !== "POST") {
    if (session === undefined)
      return fail(outgoing, sessionId === "" ? 405 : 404, -32000, "No such session.");
    if (incoming.method === "GET") return session.streamTo(outgoing);
    session.end();
    sessions.delete(sessionId);
    outgoing.writeHead(200).end();
    return;
  }
  const message = messageSchema.parse(await json(incoming));
  if (incoming.headers["mcp-protocol-version"] === "2026-07-28" || isModern(message))
    return answerModern(message, outgoing, startServer());
  if (message.method === "initialize") {
    const opened = new Session(startServer());
    const id = randomUUID();
    sessions.set(id, opened);
    return writeJson(outgoing, await opened.ask(message), 200, id);
  }
  if (session === undefined) return fail(outgoing, sessionId === "" ? 400 : 404, -32000, "No such session.");
  if (message.method !== undefined && message.id !== undefined)
    return writeJson(outgoing, await session.ask(message));
  session.send(message);
  outgoing.writeHead(202).end();
}

function isModern({ params }: Message): boolean {
  return Object(params?.["_meta"])["io.modelcontextprotocol/protocolVersion"] !== undefined;
}

/** All that this process writes belongs to this request. It ends with the answer, or when the client has left. */
function answerModern(message: Message, outgoing: ServerResponse, child: ChildProcess): void {
  writeLine(child, message);
  if (message.id === undefined) {
    child.stdin?.end();
    outgoing.writeHead(202).end();
    return;
  }
  outgoing.on("close", () => child.stdin?.end());
  onMessage(child, (said) => {
    const isAnswer = said.method === undefined && said.id === message.id;
    if (isAnswer && !outgoing.headersSent) return writeJson(outgoing, said, statusOf(said));
    if (!outgoing.headersSent) beginEvents(outgoing);
    writeEvent(outgoing, said);
    if (isAnswer) outgoing.end();
  });
}

function onMessage(child: ChildProcess, listener: (message: Message) => void): void {
  if (child.stdout === null) throw new Error("The server has no stdout.");
  createInterface({ input: child.stdout }).on("line", (line) =>
    listener(messageSchema.parse(JSON.parse(line))),
  );
}

function writeLine(child: ChildProcess, message: Message): void {
  child.stdin?.write(`${JSON.stringify(message)}\n`);
}

/** In the modern protocol HTTP has a status of its own for some errors. */
function statusOf(answered: Message): number {
  const code = Number(Object(answered["error"])["code"]);
  return code === -32601 ? 404 : [-32602, -32021, -32022].includes(code) ? 400 : 200;
}

function writeJson(outgoing: ServerResponse, message: Message, status = 200, sessionId?: string): void {
  outgoing
    .writeHead(status, {
      "content-type": "application/json",
      ...(sessionId !== undefined && { "mcp-session-id": sessionId }),
    })
    .end(JSON.stringify(message));
}

function beginEvents(outgoing: ServerResponse): void {
  outgoing.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  outgoing.flushHeaders();
}

function writeEvent(outgoing: ServerResponse, message: Message): void {
  outgoing.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}

function fail(outgoing: ServerResponse, status: number, code: number, message: string): void {
  outgoing
    .writeHead(status, { "content-type": "application/json" })
    .end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } }));
}

function isLoopback(host: string): boolean {
  return /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host);
}
