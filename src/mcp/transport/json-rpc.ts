// Reads JSON-RPC from the bytes of stdio: cuts them into lines in linear time, however they were chunked,
// parses each line, and makes the errors that the transport itself sends. Knows nothing of streams.

import { isUtf8 } from "node:buffer";
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  ProtocolError,
  type RequestId,
} from "@modelcontextprotocol/server";

/** A line without its newline (it may end in a carriage return), or why it can't be read. */
export type Line = { readonly text: string } | { readonly problem: string };

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** A buffer that grew larger than this for one long line is dropped after it. */
const MAX_IDLE_BUFFER_BYTES = 256 * 1024;

export class LineReader {
  readonly #maxLineBytes: number;
  /** The received bytes are those from #lineStart to #end. */
  #buffer = Buffer.alloc(0);
  #lineStart = 0;
  /** There is no newline between #lineStart and here. */
  #searchedTo = 0;
  #end = 0;
  /** The beginning of this line was discarded because the line is too long. */
  #tooLong = false;
  #isFirstLine = true;
  #ended = false;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** Bytes that `next` has not looked at yet. */
  get unreadBytes(): number {
    return this.#end - this.#searchedTo;
  }

  push(chunk: Uint8Array): void {
    if (this.#end + chunk.length > this.#buffer.length) this.#makeSpace(chunk.length);
    this.#buffer.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /** No more bytes will come: what is left without a newline is the last line. */
  end(): void {
    this.#ended = true;
  }

  /** The next line, or undefined until more bytes have come. */
  next(): Line | undefined {
    const newline = this.#buffer.subarray(this.#searchedTo, this.#end).indexOf(NEWLINE);
    if (newline === -1 && !this.#ended) {
      this.#searchedTo = this.#end;
      if (this.#end - this.#lineStart > this.#maxLineBytes) this.#discardBeginning();
      return undefined;
    }
    const lineEnd = newline === -1 ? this.#end : this.#searchedTo + newline;
    if (newline === -1 && lineEnd === this.#lineStart && !this.#tooLong) return undefined;
    const line = this.#decode(this.#buffer.subarray(this.#lineStart, lineEnd));
    this.#lineStart = this.#searchedTo = newline === -1 ? lineEnd : lineEnd + 1;
    this.#tooLong = false;
    this.#isFirstLine = false;
    if (this.#lineStart === this.#end) this.#reset();
    return line;
  }

  #decode(bytes: Buffer): Line {
    if (this.#tooLong || bytes.length > this.#maxLineBytes) {
      return { problem: `the line is longer than ${this.#maxLineBytes} bytes` };
    }
    // A lenient decoder would replace the invalid bytes, and so change the message.
    if (!isUtf8(bytes)) return { problem: "the line is not UTF-8" };
    const marked = this.#isFirstLine && bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
    return { text: bytes.toString("utf8", marked ? BYTE_ORDER_MARK.length : 0) };
  }

  /** Moves the unfinished line to the front of the buffer, or of a larger one. */
  #makeSpace(chunkBytes: number): void {
    const needed = this.#end - this.#lineStart + chunkBytes;
    // Twice what is needed: otherwise one-byte chunks would copy the line once for each byte.
    const target = 2 * needed > this.#buffer.length ? Buffer.allocUnsafe(2 * needed) : this.#buffer;
    this.#buffer.copy(target, 0, this.#lineStart, this.#end);
    this.#buffer = target;
    this.#end -= this.#lineStart;
    this.#searchedTo -= this.#lineStart;
    this.#lineStart = 0;
  }

  #discardBeginning(): void {
    this.#tooLong = true;
    this.#reset();
  }

  #reset(): void {
    this.#lineStart = this.#searchedTo = this.#end = 0;
    if (this.#buffer.length > MAX_IDLE_BUFFER_BYTES) this.#buffer = Buffer.alloc(0);
  }
}

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const INTERNAL_ERROR = -32603;

/** The SDK's error response has no null id, which JSON-RPC requires where the id can't be known. */
export interface ErrorResponse {
  readonly jsonrpc: "2.0";
  readonly id: RequestId | null;
  readonly error: { readonly code: number; readonly message: string };
}

export type Received =
  | { readonly kind: "message"; readonly message: JSONRPCMessage }
  | { readonly kind: "invalid"; readonly response: ErrorResponse }
  /** An invalid response. It gets no error back: two peers would send each other errors for ever. */
  | { readonly kind: "invalid response" }
  | { readonly kind: "blank" };

export function parseLine(line: Line): Received {
  if ("problem" in line) return invalid(null, PARSE_ERROR, `Parse error: ${line.problem}`);
  if (/^[ \t\r]*$/.test(line.text)) return { kind: "blank" };
  let value: unknown;
  try {
    value = JSON.parse(line.text);
  } catch {
    return invalid(null, PARSE_ERROR, "Parse error: the line is not JSON");
  }
  if (Array.isArray(value)) {
    return invalid(
      null,
      INVALID_REQUEST,
      "Invalid Request: batches are not supported; send one message per line",
    );
  }
  try {
    return { kind: "message", message: parseJSONRPCMessage(value) };
  } catch {
    if (isResponse(value)) return { kind: "invalid response" };
    return invalid(idOf(value), INVALID_REQUEST, "Invalid Request: not a JSON-RPC 2.0 message");
  }
}

/** Answers a request that failed before the SDK had it. */
export function failure(id: RequestId, error: unknown): ErrorResponse {
  if (!(error instanceof ProtocolError)) return internalError(id, "Internal error");
  return { jsonrpc: "2.0", id, error: { code: error.code, message: error.message } };
}

export function internalError(id: RequestId | null, message: string): ErrorResponse {
  return { jsonrpc: "2.0", id, error: { code: INTERNAL_ERROR, message } };
}

function invalid(id: RequestId | null, code: number, message: string): Received {
  return { kind: "invalid", response: { jsonrpc: "2.0", id, error: { code, message } } };
}

function isResponse(value: unknown): boolean {
  return typeof value === "object" && value !== null && ("result" in value || "error" in value);
}

/** Null for an id that can't be sent back as it came: JSON.parse rounds large integers. */
function idOf(value: unknown): RequestId | null {
  const id = typeof value === "object" && value !== null && "id" in value ? value.id : undefined;
  return typeof id === "string" || (typeof id === "number" && Number.isSafeInteger(id)) ? id : null;
}
