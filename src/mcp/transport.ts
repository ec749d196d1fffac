// The SDK's stdio transport, wrapped: hooks for messages that the SDK handles without telling the server, and
// redaction and bounds of what is written. Knows no tool and no process.

import type { JSONRPCMessage, RequestId, Transport } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { Readable, type Writable } from "node:stream";
import { cutText } from "../text.ts";
import { MAX_LINE_BYTES, readLines, type Refusal } from "./inbound-lines.ts";

export interface StdioTransportOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Takes the key out of the JSON of each message, read or written. Must return JSON on one line. */
  readonly redact: (json: string) => string;
  /** Resolves when messages may be delivered, except those that a client sends first. Must not reject. */
  readonly ready: () => Promise<void>;
  /** The hook for messages of a method, if it has one. */
  readonly hookOf: (method: string) => Hook | undefined;
}

export interface Hook {
  /** Sees a message of the client before the SDK. */
  inbound?(message: JSONRPCMessage): void;
  /** Called once an answer to a request of this method is handed to the stream. */
  answered?(id: RequestId): void;
}

/** Methods that a client calls at its start. */
const SENT_FIRST =
  /^(initialize|notifications\/initialized|ping|server\/discover|(tools|prompts|resources\/templates)\/list)$/;

/** The maximum number of characters of an error, which may quote what the client has sent. */
const MAX_ERROR_CHARS = 2_000;

export class StdioTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onerror?: (error: Error) => void;
  onclose?: () => void;

  readonly #options: StdioTransportOptions;
  readonly #wire: StdioServerTransport;
  /** Hooks that wait for the answer to a request. */
  readonly #answering = new Map<RequestId, Hook>();
  /** Notifications that are being written. True if the same one came again meanwhile and has to follow. */
  readonly #unwritten = new Map<string, boolean>();
  #isReceiving = true;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
    const refuse = (refusal: Refusal) => this.#write(this.#lineOf(refusal));
    const lines = Readable.from(readLines(options.input, options.redact, refuse));
    this.#wire = new StdioServerTransport(lines, options.output, { maxBufferSize: 2 * MAX_LINE_BYTES });
    /* eslint-disable unicorn/prefer-add-event-listener -- the SDK's Transport has no other way */
    this.#wire.onmessage = (message) => void this.#receive(message);
    this.#wire.onerror = (error) => this.onerror?.(error);
    this.#wire.onclose = () => {
      this.#isReceiving = false;
      this.onclose?.();
    };
    /* eslint-enable unicorn/prefer-add-event-listener */
  }

  start(): Promise<void> {
    return this.#wire.start();
  }

  close(): Promise<void> {
    return this.#wire.close();
  }

  /** Delivers no more messages. The requests that were delivered can still be answered. */
  stopReceiving(): void {
    this.#isReceiving = false;
  }

  /** Doesn't wait for the client to read: serveStdio awaits this before it takes the next message. */
  async send(message: JSONRPCMessage): Promise<void> {
    if ("error" in message) message.error.message = cutText(message.error.message, MAX_ERROR_CHARS);
    const line = this.#lineOf(message);
    if ("method" in message && !("id" in message)) this.#writeOnce(line);
    else this.#write(line);
    if ("method" in message || message.id === undefined) return;
    this.#answering.get(message.id)?.answered?.(message.id);
    this.#answering.delete(message.id);
  }

  #lineOf(message: object): string {
    return `${this.#options.redact(JSON.stringify(message))}\n`;
  }

  /** For a client that doesn't read, equal notifications wait as one. */
  #writeOnce(line: string): void {
    if (this.#unwritten.has(line)) return void this.#unwritten.set(line, true);
    this.#unwritten.set(line, false);
    this.#write(line, () => {
      // The client may have read the first one before the later change.
      const hasToFollow = this.#unwritten.get(line) === true;
      this.#unwritten.delete(line);
      if (hasToFollow) this.#writeOnce(line);
    });
  }

  #write(line: string, onWritten?: () => void): void {
    const { output } = this.#options;
    // Messages of one turn are written at once.
    if (output.writableCorked === 0) {
      output.cork();
      setImmediate(() => output.uncork());
    }
    output.write(line, onWritten);
  }

  /** Delivers delayed messages in their order: a cancellation must follow its request. */
  async #receive(message: JSONRPCMessage): Promise<void> {
    const { hookOf, ready } = this.#options;
    if ("method" in message && !SENT_FIRST.test(message.method)) await ready();
    if (!this.#isReceiving) return;
    const hook = "method" in message ? hookOf(message.method) : undefined;
    if (hook !== undefined && "id" in message && message.id !== undefined)
      this.#answering.set(message.id, hook);
    hook?.inbound?.(message);
    this.onmessage?.(message);
  }
}
