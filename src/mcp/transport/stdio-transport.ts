// The wire under the SDK: one JSON-RPC message a line, over streams that are passed in. Owns the streams: back-pressure
// both ways and one quiet end. What the lines say is json-rpc.ts's; knows no tool and no process.

import type { JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/server";
import type { Readable, Writable } from "node:stream";
import { createJsonRpc } from "./json-rpc.ts";
import { createLineReader } from "./line-reader.ts";
import { createLineWriter } from "./line-writer.ts";

export interface StdioTransportOptions {
  input: Readable;
  output: Writable;
  /** A longer line is discarded up to its newline and answered -32700. Default 4 MB. */
  maxLineBytes?: number;
  /** No message is taken while more than this is unwritten. Default 1 MB. */
  maxUnwrittenBytes?: number;
  /** No message is taken while this many requests are delivered and unanswered. Default 64. */
  maxInFlight?: number;
  /** The last look at each message's JSON before it leaves, for redaction. Must return JSON on one line. */
  outgoing?: (json: string) => string;
  /** Sees each valid message of the client before the SDK does, and gives the one that the SDK is to see. */
  onInbound?: (message: JSONRPCMessage) => JSONRPCMessage;
  /** Sees each message of the SDK before it is written, and gives the one to write. */
  onOutbound?: (message: JSONRPCMessage, options?: TransportSendOptions) => JSONRPCMessage;
}

export interface StdioTransport extends Transport {
  setProtocolVersion: (version: string) => void;
  /** Takes no more messages. Those that it has taken may still be answered. */
  takeNoMore(): void;
}

/** How far the input is read while nothing may be delivered, so that its end is noticed unless the client is far ahead. */
const READ_AHEAD_BYTES = 64 * 1024;

export function createStdioTransport(options: StdioTransportOptions): StdioTransport {
  const { input, output, outgoing = (json) => json } = options;
  const { onInbound = (message) => message, onOutbound = (message) => message } = options;
  const { maxLineBytes = 4 * 1024 * 1024, maxUnwrittenBytes = 1024 * 1024, maxInFlight = 64 } = options;
  const reader = createLineReader({ maxLineBytes });
  const writer = createLineWriter(output, pump);
  const rpc = createJsonRpc({
    maxLineBytes,
    maxInFlight,
    outgoing,
    onMessage(message) {
      transport.onmessage?.(onInbound(message));
    },
    write: writer.write,
    // Not at once: this may run inside the SDK's own sending.
    onSettled: () => queueMicrotask(pump),
    report,
  });
  let started = false;
  let pumping = false;
  let ending = false;
  let takesMore = true;
  let closed = false;

  function mayTake(): boolean {
    if (closed || !takesMore || rpc.isWaiting()) return false;
    return writer.unwrittenBytes() <= maxUnwrittenBytes && !rpc.isFull();
  }

  function pump(): void {
    // `pumping`: a receiver may answer at once, and so come back here.
    if (pumping || !started || closed) return;
    pumping = true;
    while (mayTake()) {
      if (rpc.receiveHeld()) continue;
      const line = reader.next();
      if (line === undefined) break;
      rpc.receive(line);
    }
    pumping = false;
    if (closed || ending) return;
    if (reader.unreadBytes() > READ_AHEAD_BYTES) input.pause();
    else if (input.isPaused()) input.resume();
  }

  /**
   * Resolves when the line is in the stream or queued for it, and does not wait for a reader that stalls: serveStdio
   * awaits it before it takes the next message and before it closes. What piles up is bounded by taking no input.
   */
  async function send(message: JSONRPCMessage, sendOptions?: TransportSendOptions): Promise<void> {
    if (closed) throw new Error("The connection is closed");
    let written = message;
    try {
      written = onOutbound(message, sendOptions);
    } catch (error) {
      report(error);
    }
    rpc.send(written);
  }

  function report(problem: unknown): void {
    try {
      transport.onerror?.(problem instanceof Error ? problem : new Error(String(problem)));
    } catch {
      // Nobody is left to tell.
    }
  }

  function received(chunk: Buffer | string): void {
    reader.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
    pump();
  }

  /**
   * What came is delivered first, and what can be answered without waiting for anything gets its answer. The limits hold
   * here too: who doesn't read the answers has the rest of the requests dropped instead of worked off for nobody.
   */
  function inputEnded(): void {
    if (ending) return;
    ending = true;
    reader.end();
    pump();
    setImmediate(closeOnce);
  }

  function inputFailed(error: Error): void {
    if (ending) return;
    report(error);
    inputEnded();
  }

  // This listener and the input's stay on after the end: an unheard 'error' of a late write would kill the process.
  function outputFailed(error: Error): void {
    if (closed) return;
    report(error);
    closeOnce();
  }

  function closeOnce(): void {
    if (closed) return;
    closed = true;
    ending = true;
    input.off("data", received).off("end", inputEnded).off("close", inputEnded);
    input.pause();
    output.off("close", closeOnce);
    writer.end();
    try {
      transport.onclose?.();
    } catch (error) {
      report(error);
    }
  }

  const transport: StdioTransport = {
    async start() {
      if (started) throw new Error("The transport was started before");
      started = true;
      output.on("error", outputFailed).on("close", closeOnce);
      input.on("error", inputFailed).on("end", inputEnded).on("close", inputEnded).on("data", received);
      if (output.destroyed || output.writableEnded) setImmediate(closeOnce);
      else if (input.destroyed || input.readableEnded) inputEnded();
    },
    send,
    async close() {
      closeOnce();
    },
    setProtocolVersion: rpc.setVersion,
    takeNoMore() {
      takesMore = false;
    },
  };
  return transport;
}
