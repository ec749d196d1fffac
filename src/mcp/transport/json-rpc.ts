// JSON-RPC over one connection: lines into messages, messages into lines, errors for what is no message, and batches
// where the protocol version has them. Knows no stream and no method but those that open, cancel and subscribe.

import { parseJSONRPCMessage } from "@modelcontextprotocol/server";
import type { JSONRPCMessage, JSONRPCRequest } from "@modelcontextprotocol/server";
import { createBatch, createInFlight } from "./in-flight.ts";
import type { Batch, Pending } from "./in-flight.ts";
import type { Line } from "./line-reader.ts";
import {
  INTERNAL_ERROR,
  INVALID_REQUEST,
  PARSE_ERROR,
  coalescingKey,
  errorAnswer,
  isAnswerLike,
  subscriptionIdOf,
  usableId,
} from "./wire-messages.ts";
import type { ErrorAnswer } from "./wire-messages.ts";

/** The only version with JSON-RPC batches: it obliges a server to take them, and the next one removed them. */
const BATCH_VERSION = "2025-03-26";
/** The answers of a batch wait for one another in memory. */
const MAX_BATCH = 100;

export interface JsonRpcOptions {
  /** For error texts; the reader keeps to it. */
  maxLineBytes: number;
  maxInFlight: number;
  outgoing: (json: string) => string;
  /** May throw. */
  onMessage: (message: JSONRPCMessage) => void;
  /** Of lines with the same key only the latest matters. */
  write: (line: string, key?: string) => void;
  /** A request is off the books: there may be room again. */
  onSettled: () => void;
  report: (problem: unknown) => void;
}

export interface JsonRpc {
  receive(line: Line): void;
  /** Delivers a batch that had to wait, and says whether there was one. To be called before the next line. */
  receiveHeld(): boolean;
  /** A batch waits for the answer to initialize. */
  isWaiting(): boolean;
  /**
   * As many requests are in flight as may be. A cancellation that comes behind the limit is read when the first of them
   * ends. Never so while the server itself has asked the client something (elicitation): the answer that lets a request
   * end comes by the same pipe.
   */
  isFull(): boolean;
  /** Throws if the message can't be written. */
  send(message: JSONRPCMessage): void;
  setVersion(version: string): void;
}

export function createJsonRpc(options: JsonRpcOptions): JsonRpc {
  const { maxLineBytes, maxInFlight, outgoing, report } = options;
  const inFlight = createInFlight();
  let version: string | undefined;
  let heldBatch: unknown[] | undefined;

  function receiveLine(line: Line): void {
    if (line.kind === "too-long") {
      write(errorAnswer(null, PARSE_ERROR, `Parse error: the line is longer than ${maxLineBytes} bytes`));
      return;
    }
    if (line.kind === "not-utf8") {
      write(errorAnswer(null, PARSE_ERROR, "Parse error: the line is not UTF-8"));
      return;
    }
    if (/^[ \t\r]*$/.test(line.text)) return;
    let value: unknown;
    try {
      value = JSON.parse(line.text);
    } catch {
      write(errorAnswer(null, PARSE_ERROR, "Parse error: the line is not JSON"));
      return;
    }
    if (!Array.isArray(value)) receiveValue(value);
    // Sent without waiting for the answer to initialize, which says whether there are batches.
    else if (inFlight.isInitializing()) heldBatch = value;
    else receiveBatch(value);
  }

  function receiveBatch(values: unknown[]): void {
    const problem = batchProblem(values, version);
    if (problem !== undefined) {
      if (values.length > 0 && values.every(isAnswerLike)) report(new Error("Dropped a batch of responses"));
      else write(errorAnswer(null, INVALID_REQUEST, `Invalid Request: ${problem}`));
      return;
    }
    const batch = createBatch(options.write);
    // Open on its own account until all members are delivered: one that is answered at once must not end it.
    batch.open();
    for (const value of values) receiveValue(value, batch);
    batch.close();
  }

  function receiveValue(value: unknown, batch?: Batch): void {
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(value);
    } catch {
      if (isAnswerLike(value)) report(new Error("Dropped an invalid response"));
      else {
        refuse(
          errorAnswer(usableId(value), INVALID_REQUEST, "Invalid Request: not a JSON-RPC 2.0 message"),
          batch,
        );
      }
      return;
    }
    if (!("method" in message)) {
      inFlight.stopAsking(message.id);
      deliver(message);
    } else if (!("id" in message)) {
      deliver(message);
      // The SDK sends no answer to a cancelled request.
      if (message.method === "notifications/cancelled") settle(message.params?.["requestId"])?.batch?.close();
    } else if (batch !== undefined && message.method === "initialize") {
      refuse(
        errorAnswer(message.id, INVALID_REQUEST, "Invalid Request: initialize must not be in a batch"),
        batch,
      );
    } else {
      receiveRequest(message, batch);
    }
  }

  function receiveRequest(request: JSONRPCRequest, batch: Batch | undefined): void {
    const pending: Pending = { method: request.method, batch };
    inFlight.add(request.id, pending);
    batch?.open();
    if (deliver(request) || !inFlight.has(request.id, pending)) return;
    writeAnswer(errorAnswer(request.id, INTERNAL_ERROR, "Internal error"), settle(request.id));
  }

  /** False if a receiver threw. */
  function deliver(message: JSONRPCMessage): boolean {
    try {
      options.onMessage(message);
      return true;
    } catch (error) {
      report(error);
      return false;
    }
  }

  function settle(id: unknown): Pending | undefined {
    const pending = inFlight.settle(id);
    if (pending !== undefined) options.onSettled();
    return pending;
  }

  /** Answers what never became a request in flight. */
  function refuse(answer: ErrorAnswer, batch: Batch | undefined): void {
    batch?.open();
    writeAnswer(answer, { method: "", batch });
  }

  function writeAnswer(answer: JSONRPCMessage | ErrorAnswer, pending: Pending | undefined): void {
    if (pending?.batch === undefined) write(answer);
    else pending.batch.close(serialize(answer));
  }

  function write(answer: JSONRPCMessage | ErrorAnswer): void {
    options.write(serialize(answer));
  }

  /**
   * An answer that can't be written (nested too deep for JSON.stringify, or refused by `outgoing`) becomes an error:
   * no request stays without an answer. Throws for anything else that can't be written.
   */
  function serialize(message: JSONRPCMessage | ErrorAnswer): string {
    try {
      return outgoing(JSON.stringify(message));
    } catch (error) {
      report(error);
      if ("method" in message) throw error;
      return JSON.stringify(
        errorAnswer(message.id ?? null, INTERNAL_ERROR, "Internal error: the answer could not be written"),
      );
    }
  }

  function send(message: JSONRPCMessage): void {
    if (!("method" in message)) {
      writeAnswer(message, settle(message.id));
      return;
    }
    const line = serialize(message);
    // Before it is written: the answer may come while it is.
    if ("id" in message) inFlight.ask(message.id);
    else if (message.method === "notifications/cancelled") inFlight.stopAsking(message.params?.["requestId"]);
    // A listen request is answered when its subscription ends; acknowledged, it is no work under way.
    else if (message.method === "notifications/subscriptions/acknowledged") settle(subscriptionIdOf(message));
    options.write(line, coalescingKey(message));
  }

  return {
    receive: receiveLine,
    receiveHeld() {
      const batch = heldBatch;
      heldBatch = undefined;
      if (batch !== undefined) receiveBatch(batch);
      return batch !== undefined;
    },
    isWaiting: () => heldBatch !== undefined && inFlight.isInitializing(),
    isFull: () => inFlight.count() >= maxInFlight && !inFlight.isAsking(),
    send,
    setVersion(negotiated) {
      version = negotiated;
    },
  };
}

function batchProblem(values: unknown[], version: string | undefined): string | undefined {
  if (version !== BATCH_VERSION) {
    return `JSON-RPC batches exist in protocol version ${BATCH_VERSION} only: send one message a line`;
  }
  if (values.length === 0) return "an empty batch";
  return values.length > MAX_BATCH ? `a batch of more than ${MAX_BATCH} messages` : undefined;
}
