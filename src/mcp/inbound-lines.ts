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
/** The characters that are kept of each end of a longer line, where its id may be. */
const KEPT_CHARACTERS = 1_000;
const TOO_LONG = `A message may have ${MAX_LINE_BYTES / 1024 / 1024} MB at most, and this one has more.`;
const BATCH = "This server takes no batches: write each message on a line of its own.";
const NO_REQUEST =
  'A request needs "jsonrpc": "2.0", a method, an id that is a text or a whole number, and an object as params.';
const BYTE_ORDER_MARK = /^\uFEFF/;

/** Whole lines, those of a chunk together. Calls `refuse` for each request that can't be delivered. */
export async function* readLines(
  input: Readable,
  refuse: (refusal: Refusal) => void,
): AsyncGenerator<Buffer> {
  const line = new UnfinishedLine();
  for await (const chunk of input.setEncoding("utf8")) {
    const [end = "", ...starts] = String(chunk).split("\n");
    line.append(end);
    let text = "";
    for (const start of starts) {
      const ended = line.end();
      if (typeof ended === "string") text += readLine(ended, refuse);
      else refuse(refusal(ended.id, TOO_LONG));
      line.append(start);
    }
    if (text !== "") yield Buffer.from(text);
  }
  // Requests that can be answered at once still are.
  await nextTurn();
}

/** The pieces of a line that has not ended. Keeps both ends of one that is too long. */
class UnfinishedLine {
  #pieces: string[] = [];
  #length = 0;

  append(piece: string): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length <= MAX_LINE_BYTES) return;
    const text = this.#pieces.join("");
    this.#pieces = [text.slice(0, KEPT_CHARACTERS), text.slice(-KEPT_CHARACTERS)];
  }

  /** The line, or the id of one that is too long. */
  end(): string | { readonly id: Refusal["id"] } {
    const text = this.#pieces.join("");
    const isLong = this.#length > MAX_LINE_BYTES || Buffer.byteLength(text) > MAX_LINE_BYTES;
    this.#pieces = [];
    this.#length = 0;
    return isLong ? { id: idAtAnEnd(text) } : text;
  }
}

/** The id of a request that is too long to be read. All SDKs write it either first or last. */
function idAtAnEnd(text: string): Refusal["id"] {
  const [start, end] = [text.slice(0, KEPT_CHARACTERS), text.slice(-KEPT_CHARACTERS)];
  const id = '"id"\\s*:\\s*("[^"\\\\]{1,200}"|\\d{1,15})\\s*';
  const before = '^\\uFEFF?\\s*\\{(?:\\s*"(?:jsonrpc|method)"\\s*:\\s*"[^"\\\\]{0,100}"\\s*,){0,2}\\s*';
  const first = new RegExp(`${before}${id},`).exec(start);
  const [, found] = first ?? new RegExp(`,\\s*${id}\\}\\s*$`).exec(end) ?? [];
  return idOf(found === undefined ? undefined : { id: fromJson(found) });
}

/** The line as the SDK takes it; empty if it was refused. The SDK drops and logs what is no message. */
function readLine(given: string, refuse: (refusal: Refusal) => void): string {
  const line = given.replace(BYTE_ORDER_MARK, "");
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return `${line}\n`;
  }
  if (typeof value !== "object" || value === null) return `${line}\n`;
  const message = "method" in value ? readRequest(value) : value;
  const refusals = refusalsOf(message);
  for (const one of refusals) refuse(one);
  if (refusals.length > 0) return "";
  try {
    return `${JSON.stringify(message, withoutNulls)}\n`;
  } catch {
    // It is nested too deep for a copy.
    return `${line}\n`;
  }
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
  const params = asObject(given);
  const isObject = typeof params === "object" && params !== null;
  return {
    jsonrpc,
    ...(!isIdLess && { id }),
    method,
    ...(params !== undefined && { params: isObject ? mapFields(params, readParameter) : params }),
  };
}

function readParameter(value: unknown, name: string): unknown {
  if (name === "arguments") return asObject(typeof value === "string" ? fromJson(value) : value);
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

/** PHP writes an empty object as an empty list. */
function asObject(value: unknown): unknown {
  return value === null || (Array.isArray(value) && value.length === 0) ? undefined : value;
}

/** Empty lists as objects, and no nulls, at any depth. */
function withoutLists(value: unknown, levels = MAX_LEVELS): unknown {
  if (typeof value !== "object" || levels === 0) return value;
  if (value === null || (Array.isArray(value) && value.length > 0)) return value ?? undefined;
  return mapFields(value, (inner) => withoutLists(inner, levels - 1));
}

/** The errors for what the SDK would drop, although its client waits for an answer. */
function refusalsOf(message: object): readonly Refusal[] {
  if (Array.isArray(message)) {
    const requests = message.filter((one) => valueAt(one, "method") !== undefined && idOf(one) !== null);
    return (requests.length === 0 ? [undefined] : requests).map((one) => refusal(idOf(one), BATCH));
  }
  if (!("id" in message) || "result" in message || "error" in message) return [];
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
