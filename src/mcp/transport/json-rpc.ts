// Parses one line of JSON-RPC, and makes the errors that the transport itself sends. Pure.

import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  ProtocolError,
  type RequestId,
} from "@modelcontextprotocol/server";
import type { Line } from "./line-reader.ts";

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
  return (
    typeof value === "object" &&
    value !== null &&
    (Object.hasOwn(value, "result") || Object.hasOwn(value, "error"))
  );
}

/** Null for an id that can't be sent back as it came: JSON.parse rounds large integers. */
function idOf(value: unknown): RequestId | null {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, "id")) return null;
  const id: unknown = Reflect.get(value, "id");
  return typeof id === "string" || (typeof id === "number" && Number.isSafeInteger(id)) ? id : null;
}
