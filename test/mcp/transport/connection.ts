// The client's end of a StdioTransport: streams to write to, stall and break, and their messages.

import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { PassThrough, Writable } from "node:stream";
import { expect } from "vitest";
import { StdioTransport, type StdioTransportOptions } from "../../../src/mcp/transport/stdio-transport.ts";

export type Json = Record<string, unknown>;

/** An output whose reader reads nothing until `flow`. */
export class StalledOutput extends Writable {
  written = "";
  #resume: (() => void) | undefined;
  #flows = false;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.written += chunk.toString();
    if (this.#flows) done();
    else this.#resume = done;
  }

  flow(): void {
    this.#flows = true;
    this.#resume?.();
  }
}

export type Connection = Awaited<ReturnType<typeof connect>>;

/** A started transport over this output. Messages go to `received`, unless `onmessage` is set later. */
export async function connect(output: Writable, options: Partial<StdioTransportOptions> = {}) {
  const input = new PassThrough();
  const transport = new StdioTransport({ input, output, ...options });
  const received: JSONRPCMessage[] = [];
  const errors: string[] = [];
  let closed = 0;
  Object.assign(transport, {
    onmessage: (message: JSONRPCMessage) => void received.push(message),
    onerror: (error: Error) => void errors.push(error.message),
    onclose: () => void (closed += 1),
  });
  await transport.start();
  return {
    transport,
    input,
    /** The messages that the SDK has received. */
    received,
    errors,
    closed() {
      expect(closed).toBeLessThan(2);
      return closed === 1;
    },
    /** Writes each value as a line. */
    send(...values: readonly unknown[]) {
      for (const value of values) input.write(`${JSON.stringify(value)}\n`);
    },
  };
}

/** A connection whose client reads everything immediately. */
export async function connectReader(options: Partial<StdioTransportOptions> = {}) {
  const output = new PassThrough();
  let bytes = "";
  output.on("data", (chunk: Buffer) => (bytes += chunk.toString()));
  return { ...(await connect(output, options)), output, sent: () => parseLines(bytes) };
}

export function parseLines(text: string): unknown[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line));
}

/** Waits for some turns of the event loop, enough for work that needs no I/O. */
export async function turns(count = 5): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

export async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 5_000 && !condition(); turn += 1) await turns(1);
  if (!condition()) throw new Error("The condition was not met.");
}

export function request(id: string | number, method = "tools/call", params?: Json): JSONRPCMessage {
  return { jsonrpc: "2.0", id, method, ...(params && { params }) };
}

export function requests(from: number, to: number): JSONRPCMessage[] {
  return Array.from({ length: to - from + 1 }, (_, index) => request(from + index));
}

export function notification(method: string, params?: Json): JSONRPCMessage {
  return { jsonrpc: "2.0", method, ...(params && { params }) };
}

export function result(id: string | number, value: Json = {}): JSONRPCMessage {
  return { jsonrpc: "2.0", id, result: value };
}

export function error(id: string | number | null, code: number): Json {
  return { jsonrpc: "2.0", id, error: { code, message: expect.any(String) } };
}

export function cancelled(requestId: string | number): JSONRPCMessage {
  return notification("notifications/cancelled", { requestId });
}
