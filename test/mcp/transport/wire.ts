// The client's end of the transport, by hand: streams to write to, stall and break, and the messages that go over them.

import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { PassThrough, Writable } from "node:stream";
import { afterEach, beforeEach, expect } from "vitest";
import { createStdioTransport } from "../../../src/mcp/transport/stdio-transport.ts";
import type { StdioTransport, StdioTransportOptions } from "../../../src/mcp/transport/stdio-transport.ts";

export type Json = Record<string, unknown>;

/** A stream that takes one write and then nothing until it is released: a client that does not read. */
export class StalledOutput extends Writable {
  written = "";
  private release: (() => void) | undefined;
  private flowing = false;

  constructor(highWaterMark = 16 * 1024) {
    super({ highWaterMark });
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.written += chunk.toString();
    if (this.flowing) done();
    else this.release = done;
  }

  /** Lets one write through. */
  step(): void {
    const { release } = this;
    this.release = undefined;
    release?.();
  }

  flow(): void {
    this.flowing = true;
    this.step();
  }
}

export async function ticks(count = 5): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

export async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2000 && !condition(); turn += 1) await ticks(1);
  if (!condition()) throw new Error("It did not come about");
}

export function parseLines(bytes: string): unknown[] {
  return bytes
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line));
}

interface Handlers {
  onmessage?: (message: JSONRPCMessage) => void;
  onerror?: (error: Error) => void;
  onclose?: () => void;
}

export interface Wire {
  transport: StdioTransport;
  input: PassThrough;
  received: JSONRPCMessage[];
  errors: Error[];
  closings: () => number;
  /** Writes each value as a line. */
  say(...values: unknown[]): void;
  sayBytes(bytes: string | Uint8Array): void;
}

export interface OpenWire extends Wire {
  output: PassThrough;
  /** What has come out so far, parsed. */
  heard(): unknown[];
}

/** What the SDK does when it connects. */
export function listen(transport: StdioTransport, handlers: Handlers): void {
  Object.assign(transport, handlers);
}

export function over<T extends Writable>(
  output: T,
  options: Partial<StdioTransportOptions> = {},
): Wire & { output: T } {
  const input = new PassThrough();
  const transport = createStdioTransport({ input, output, ...options });
  const received: JSONRPCMessage[] = [];
  const errors: Error[] = [];
  let closed = 0;
  listen(transport, {
    onmessage: (message) => void received.push(message),
    onerror: (error) => void errors.push(error),
    onclose: () => void (closed += 1),
  });
  return {
    transport,
    input,
    output,
    received,
    errors,
    closings: () => closed,
    say(...values) {
      for (const value of values) input.write(`${JSON.stringify(value)}\n`);
    },
    sayBytes: (bytes) => void input.write(bytes),
  };
}

/** Reads the stream, and tells what has come so far, parsed. */
export function hear(output: PassThrough): () => unknown[] {
  let bytes = "";
  output.on("data", (chunk: Buffer) => {
    bytes += chunk.toString();
  });
  return () => parseLines(bytes);
}

export async function open(options: Partial<StdioTransportOptions> = {}): Promise<OpenWire> {
  const wire = over(new PassThrough(), options);
  const heard = hear(wire.output);
  await wire.transport.start();
  return { ...wire, heard };
}

export async function openStalled(options: Partial<StdioTransportOptions> & { highWaterMark?: number } = {}) {
  const wire = over(new StalledOutput(options.highWaterMark), options);
  await wire.transport.start();
  return wire;
}

export function request(id: string | number, method = "ping", params?: Json): JSONRPCMessage {
  return { jsonrpc: "2.0", id, method, ...(params && { params }) };
}

export function notification(method: string, params?: Json): JSONRPCMessage {
  return { jsonrpc: "2.0", method, ...(params && { params }) };
}

export function result(id: string | number, value: Json = {}): JSONRPCMessage {
  return { jsonrpc: "2.0", id, result: value };
}

export function failure(id: string | number | null, code: number): Json {
  return { jsonrpc: "2.0", id, error: { code, message: expect.any(String) } };
}

export const cancelled = (requestId: string | number) =>
  notification("notifications/cancelled", { requestId });
export const updated = (uri: string, subscription?: string) =>
  notification("notifications/resources/updated", {
    uri,
    ...(subscription && { _meta: { "io.modelcontextprotocol/subscriptionId": subscription } }),
  });

/** Of the requests among them, the ids; of the notifications, the methods. */
export function names(messages: JSONRPCMessage[]): unknown[] {
  return messages.map((message) => ("id" in message ? message.id : "method" in message && message.method));
}

export function isDeepEqual(actual: unknown, expected: unknown): boolean {
  try {
    expect(actual).toEqual(expected);
    return true;
  } catch {
    return false;
  }
}

/** To be called by each test file: a promise that nobody caught fails the test it came from. */
export function failOnUnhandledRejections(): void {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  beforeEach(() => {
    unhandled.length = 0;
    process.on("unhandledRejection", note);
  });
  afterEach(async () => {
    await ticks(2);
    process.off("unhandledRejection", note);
    if (unhandled.length > 0) throw new Error("A rejection was not handled", { cause: unhandled[0] });
  });
}
