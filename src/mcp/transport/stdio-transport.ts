// The SDK's transport over two streams: one JSON-RPC message per line, with back-pressure and a quiet end.
// The SDK's own transport closes at a long line, leaves invalid lines unanswered and reads without limit.
// Knows no tool and no process.

import type { JSONRPCMessage, JSONRPCRequest, RequestId, Transport } from "@modelcontextprotocol/server";
import type { Readable, Writable } from "node:stream";
import { type ErrorResponse, failure, internalError, type Line, LineReader, parseLine } from "./json-rpc.ts";

export interface StdioTransportOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Changes the JSON of each message before it is written, for redaction. Must return JSON on one line. */
  readonly transformOutgoing?: (json: string) => string;
  /** Resolves when requests may be delivered, but for those that a client sends first. Must not reject. */
  readonly ready?: () => Promise<void>;
  /** By methods whose messages the SDK handles without telling the server. */
  readonly hooks?: readonly Readonly<Record<string, Hook>>[];
}

export interface Hook {
  /** Sees a message of the client before the SDK. May return another one for the SDK, or throw a refusal. */
  inbound?(message: JSONRPCMessage): JSONRPCMessage | undefined;
  /** Sees a message of the SDK before it is written. */
  outbound?(message: JSONRPCMessage): void;
  /** Called when a request of this method is answered. */
  answered?(id: RequestId): void;
}

const MAX_LINE_BYTES = 4 * 1024 * 1024;
/** No message is delivered while more waits in the output stream. Above its high-water mark. */
const MAX_UNWRITTEN_BYTES = 1024 * 1024;
/** No request but a ping is delivered while this many are in flight. */
const MAX_IN_FLIGHT = 64;
/** Requests of so many characters in all may wait for that, while other messages are read past them. */
const MAX_WAITING_CHARACTERS = 1024 * 1024;
/** What is read while nothing is delivered, so that the end is noticed unless the client is far ahead. */
const MAX_READ_AHEAD_BYTES = 64 * 1024;
/** Methods that a client calls at its start, and what must not come after its own cancellation. */
const SENT_FIRST =
  /^(initialize|ping|server\/discover|(tools|prompts|resources\/templates)\/list|subscriptions\/listen)$/;
/** Keeps the process running, as neither a paused input nor the timers of requests in flight do. */
const KEEP_ALIVE_MS = 2 ** 30;

export class StdioTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onerror?: (error: Error) => void;
  onclose?: () => void;

  readonly #options: StdioTransportOptions;
  readonly #lines = new LineReader(MAX_LINE_BYTES);
  /** Requests of the client that are neither answered nor cancelled. */
  readonly #inFlight = new Set<unknown>();
  /** Requests that wait for `ready`. Not kept by id: a client may use one twice. */
  readonly #held = new Set<JSONRPCMessage>();
  /** Requests that are not delivered yet, the oldest first, with the lengths of their lines. */
  readonly #waiting: { readonly request: JSONRPCRequest; readonly characters: number }[] = [];
  #waitingCharacters = 0;
  /** Hooks that wait for the answer to a request. */
  readonly #answering = new Map<RequestId, Hook>();
  /** "ending": the input has ended; what can be answered at once still is. */
  #state: "new" | "open" | "ending" | "closed" = "new";
  #receives = true;
  #keepAlive: NodeJS.Timeout | undefined;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    if (this.#state !== "new") throw new Error("The transport was already started");
    this.#state = "open";
    const { input, output } = this.#options;
    output.on("error", this.#onOutputError).on("drain", this.#deliverLines);
    input.on("error", this.#onInputError).on("end", this.#onInputEnd).on("close", this.#onInputEnd);
    input.on("data", this.#onData);
    this.#keepAlive = setInterval(() => {}, KEEP_ALIVE_MS);
  }

  /**
   * Resolves when the line is in the output stream's buffer, without waiting for the client to read it:
   * serveStdio awaits this before it takes the next message and before it closes.
   */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#state === "closed") throw new Error("The connection is closed");
    // One more may be delivered now. Not at once: the SDK may be in the middle of its own sending.
    queueMicrotask(this.#deliverLines);
    this.#noteOutbound(message);
    this.#write(message);
  }

  /** Delivers no more messages. The requests that were delivered can still be answered. */
  stopReceiving(): void {
    this.#receives = false;
  }

  async close(): Promise<void> {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#receives = false;
    clearInterval(this.#keepAlive);
    // The listeners stay: without one for 'error', a late failure would end the process with a stack trace.
    this.#options.input.pause();
    this.onclose?.();
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#state !== "open") return;
    this.#lines.push(chunk);
    this.#deliverLines();
  };

  readonly #onInputEnd = (): void => {
    if (this.#state !== "open") return;
    this.#state = "ending";
    this.#lines.end();
    this.#deliverLines();
    setImmediate(() => void this.close());
  };

  readonly #onInputError = (error: Error): void => {
    if (this.#state !== "open") return;
    this.onerror?.(error);
    this.#onInputEnd();
  };

  readonly #onOutputError = (error: Error): void => {
    if (this.#state === "closed") return;
    this.onerror?.(error);
    void this.close();
  };

  readonly #deliverLines = (): void => {
    this.#deliverWaiting();
    while (this.#mayDeliver() && this.#waitingCharacters <= MAX_WAITING_CHARACTERS) {
      const line = this.#lines.next();
      if (line === undefined) break;
      this.#receive(line);
    }
    if (this.#state !== "open") return;
    const { input } = this.#options;
    if (this.#lines.unreadBytes > MAX_READ_AHEAD_BYTES) input.pause();
    else if (input.isPaused()) input.resume();
  };

  #mayDeliver(): boolean {
    return this.#receives && this.#options.output.writableLength <= MAX_UNWRITTEN_BYTES;
  }

  #deliverWaiting(): void {
    while (this.#inFlight.size < MAX_IN_FLIGHT && this.#mayDeliver()) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#waitingCharacters -= next.characters;
      this.#deliver(next.request);
    }
  }

  #receive(line: Line): void {
    const received = parseLine(line);
    if (received.kind === "message") this.#queue(received.message, "text" in line ? line.text.length : 0);
    else if (received.kind === "invalid") this.#write(received.response);
    else if (received.kind === "invalid response") this.onerror?.(new Error("Dropped an invalid response"));
  }

  /** A request waits for its turn. Pings, notifications and responses don't: a request may depend on them. */
  #queue(message: JSONRPCMessage, characters: number): void {
    if ("method" in message && "id" in message && message.method !== "ping") {
      this.#waiting.push({ request: message, characters });
      this.#waitingCharacters += characters;
    } else if (!this.#cancelWaiting(message)) this.#deliver(message);
    this.#deliverWaiting();
  }

  /** Whether the message cancels a waiting request, which is then neither delivered nor answered. */
  #cancelWaiting(message: JSONRPCMessage): boolean {
    const cancelled = cancelledId(message);
    if (cancelled === undefined) return false;
    const index = this.#waiting.findIndex(({ request }) => request.id === cancelled);
    if (index === -1) return false;
    for (const { characters } of this.#waiting.splice(index, 1)) this.#waitingCharacters -= characters;
    return true;
  }

  #deliver(message: JSONRPCMessage): void {
    this.#trackInbound(message);
    const isRequest = "method" in message && "id" in message;
    const { ready } = this.#options;
    if (ready === undefined || !isRequest || SENT_FIRST.test(message.method)) return this.#passOn(message);
    this.#held.add(message);
    void ready().then(() => {
      if (this.#held.delete(message) && this.#receives) this.#passOn(message);
    });
  }

  #passOn(message: JSONRPCMessage): void {
    try {
      this.onmessage?.(this.#callInboundHook(message));
    } catch (error) {
      this.#report(error);
      if (!("method" in message) || !("id" in message)) return;
      this.#inFlight.delete(message.id);
      this.#write(failure(message.id, error));
    }
  }

  #trackInbound(message: JSONRPCMessage): void {
    const cancelled = cancelledId(message);
    // The SDK doesn't answer a cancelled request.
    this.#inFlight.delete(cancelled);
    for (const held of this.#held) if ("id" in held && held.id === cancelled) this.#held.delete(held);
    // A listen request is answered when its subscription ends; the SDK limits how many there are.
    if ("method" in message && "id" in message && message.method !== "subscriptions/listen")
      this.#inFlight.add(message.id);
  }

  #callInboundHook(message: JSONRPCMessage): JSONRPCMessage {
    const hook = "method" in message ? this.#hookOf(message.method) : undefined;
    const delivered = hook?.inbound?.(message) ?? message;
    if (hook?.answered !== undefined && "id" in message && message.id !== undefined)
      this.#answering.set(message.id, hook);
    return delivered;
  }

  #hookOf(method: string): Hook | undefined {
    return this.#options.hooks?.find((hooks) => Object.hasOwn(hooks, method))?.[method];
  }

  /** A failing hook must not cost the client its answer. */
  #noteOutbound(message: JSONRPCMessage): void {
    try {
      if ("method" in message) return this.#hookOf(message.method)?.outbound?.(message);
      const { id } = message;
      if (id === undefined) return;
      this.#inFlight.delete(id);
      const hook = this.#answering.get(id);
      this.#answering.delete(id);
      hook?.answered?.(id);
    } catch (error) {
      this.#report(error);
    }
  }

  /** A response that can't be serialised is replaced by an error, so that no request stays unanswered. */
  #write(message: JSONRPCMessage | ErrorResponse): void {
    const { output, transformOutgoing = (json) => json } = this.#options;
    let json: string;
    try {
      json = transformOutgoing(JSON.stringify(message));
    } catch (error) {
      this.#report(error);
      if ("method" in message) throw error;
      json = JSON.stringify(
        internalError(message.id ?? null, "Internal error: the answer could not be serialised"),
      );
    }
    // One write carries what one turn of the event loop sends: a write costs as much as the whole answer.
    if (output.writableCorked === 0) {
      output.cork();
      setImmediate(() => output.uncork());
    }
    output.write(`${json}\n`);
  }

  #report(error: unknown): void {
    this.onerror?.(error instanceof Error ? error : new Error(String(error)));
  }
}

/** The request that a message cancels, which may be anything. */
function cancelledId(message: JSONRPCMessage): unknown {
  const isCancellation = "method" in message && message.method === "notifications/cancelled";
  return isCancellation ? message.params?.["requestId"] : undefined;
}
