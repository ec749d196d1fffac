// Reads what a client writes, line by line, before the SDK does. Gives other forms of a request the one that the
// SDK takes, and answers the requests that the SDK would drop without a word.

import {
  type JSONRPCErrorResponse,
  parseJSONRPCMessage,
  ProtocolErrorCode,
  STDIO_DEFAULT_MAX_BUFFER_SIZE,
} from "@modelcontextprotocol/server";
import type { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { mapFields, MAX_LEVELS, valueAt } from "../value-at.ts";

/** The error for a request; the id is null if it can't be read. */
export type Refusal = Omit<JSONRPCErrorResponse, "id"> & { readonly id: string | number | null };

/** The SDK's buffer also holds the lines that came in the same chunk. */
export const MAX_LINE_BYTES = STDIO_DEFAULT_MAX_BUFFER_SIZE;
const TOO_LONG = `A message may have ${MAX_LINE_BYTES / 1024 / 1024} MB at most, and this one has more.`;
const BATCH = "This server takes no batches: write each message on a line of its own.";
const NO_REQUEST =
  'A request needs "jsonrpc": "2.0", a method, an id that is a text or a whole number, and an object as params.';
const BYTE_ORDER_MARK = /^\uFEFF/;

/**
 * Whole lines, those of a chunk together, as `redact` leaves them: what is cut before the key is taken out of it could
 * show most of it. Calls `refuse` for each request that can't be delivered.
 */
export async function* readLines(
  input: Readable,
  redact: (line: string) => string,
  refuse: (refusal: Refusal) => void,
): AsyncGenerator<Buffer> {
  // Joined at the end of the line, so that a long one takes no longer than it must.
  let unfinished: string[] = [];
  for await (const chunk of input.setEncoding("utf8")) {
    const [end = "", ...starts] = String(chunk).split("\n");
    unfinished.push(end);
    let text = "";
    for (const start of starts) {
      text += readLine(redact(unfinished.join("").replace(BYTE_ORDER_MARK, "")), refuse);
      unfinished = [start];
    }
    if (text !== "") yield Buffer.from(text);
  }
  // Requests that can be answered at once still are.
  await nextTurn();
}

/** The line as the SDK takes it; empty if it was refused. The SDK drops and logs what is no message. */
function readLine(line: string, refuse: (refusal: Refusal) => void): string {
  const value = fromJson(line);
  const isTooLong = Buffer.byteLength(line) > MAX_LINE_BYTES;
  if (!isTooLong && isUsual(line, value)) return `${line}\n`;
  const isMessage = typeof value === "object" && value !== null;
  const message = isMessage && "method" in value ? readRequest(value) : value;
  const refusals = isTooLong ? [refusal(idOf(value), TOO_LONG)] : refusalsOf(message);
  for (const one of refusals) refuse(one);
  if (refusals.length > 0) return "";
  try {
    return `${isMessage ? JSON.stringify(message, withoutNulls) : line}\n`;
  } catch {
    // The value is nested too deeply to copy.
    return `${line}\n`;
  }
}

/** What another form of a request has: null, an empty list, arguments as one text, or a number beyond JSON's. */
const UNUSUAL = /\bnull\b|\[\s*\]|"arguments"\s*:\s*"|[:[,\s]-?[\d.]+[eE]\+?\d/;
const MEMBERS: readonly string[] = ["jsonrpc", "id", "method", "params"];

/** True for a request in the SDK's own form, as nearly all are: neither a copy nor a second check is needed. */
function isUsual(line: string, value: unknown): boolean {
  if (UNUSUAL.test(line) || typeof value !== "object" || value === null) return false;
  const [id, params] = [valueAt(value, "id"), valueAt(value, "params")];
  const [meta, args] = [valueAt(params, "_meta"), valueAt(params, "arguments")];
  return (
    Object.keys(value).every((name) => MEMBERS.includes(name)) &&
    valueAt(value, "jsonrpc") === "2.0" &&
    typeof valueAt(value, "method") === "string" &&
    (id === undefined || idOf(value) !== null) &&
    [params, meta, args].every((part) => part === undefined || isObject(part)) &&
    ["string", "number", "undefined"].includes(typeof valueAt(meta, "progressToken"))
  );
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Clients in Go, C# and Java write unset fields as null. JSON has no Infinity, so 1e400 would become null. */
function withoutNulls(this: unknown, _name: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  return value === null && !Array.isArray(this) ? undefined : value;
}

/** The members of a request or notification, in the one form that the SDK takes. */
function readRequest(request: object) {
  const { jsonrpc, method, id, params: given }: Record<string, unknown> = { ...request };
  const isIdLess = id === undefined || (id === null && String(method).startsWith("notifications/"));
  const params = withoutLists(given, 1);
  const isObject = typeof params === "object" && params !== null && !Array.isArray(params);
  return {
    jsonrpc,
    ...(!isIdLess && { id }),
    method,
    params: isObject ? mapFields(params, readParameter) : params,
  };
}

function readParameter(value: unknown, name: string): unknown {
  if (name === "arguments") return withoutLists(typeof value === "string" ? fromJson(value) : value, 1);
  return name === "_meta" || name === "capabilities" ? withoutLists(value) : value;
}

/** The value of a JSON text, or the text itself. */
function fromJson(text: string): unknown {
  try {
    return text.trim() === "" ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}

/** Reads empty lists as objects, since PHP writes `{}` as `[]`, and null as absent. */
function withoutLists(value: unknown, levels = MAX_LEVELS): unknown {
  if (typeof value !== "object" || levels === 0) return value;
  if (value === null || (Array.isArray(value) && value.length > 0)) return value ?? undefined;
  return mapFields(value, (inner) => withoutLists(inner, levels - 1));
}

/** The errors for what the SDK would drop, although its client waits for an answer. */
function refusalsOf(message: unknown): readonly Refusal[] {
  if (Array.isArray(message)) {
    const requests = message.filter((one) => valueAt(one, "method") !== undefined && idOf(one) !== null);
    return (requests.length === 0 ? [undefined] : requests).map((one) => refusal(idOf(one), BATCH));
  }
  if (typeof message !== "object" || message === null || !("id" in message)) return [];
  if ("result" in message || "error" in message) return [];
  const params = valueAt(message, "params");
  const isObject = typeof params === "object" && !Array.isArray(params);
  try {
    // The SDK checks the rest of the parameters later, and answers.
    parseJSONRPCMessage({ ...message, ...(isObject && { params: { _meta: valueAt(params, "_meta") } }) });
  } catch {
    return [refusal(idOf(message), NO_REQUEST)];
  }
  const args = valueAt(params, "arguments");
  if (args === undefined || (typeof args === "object" && !Array.isArray(args))) return [];
  return [refusal(idOf(message), "The arguments must be one JSON object.", ProtocolErrorCode.InvalidParams)];
}

function idOf(message: unknown): Refusal["id"] {
  const id = valueAt(message, "id");
  return typeof id === "string" || (typeof id === "number" && Number.isSafeInteger(id)) ? id : null;
}

function refusal(id: Refusal["id"], message: string, code = ProtocolErrorCode.InvalidRequest): Refusal {
  return { jsonrpc: "2.0", id, error: { code, message } };
}
