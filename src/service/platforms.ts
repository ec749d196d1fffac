// The connected platforms, whose place the service's documentation leaves open: a REST path if the OpenAPI document
// declares one, else the tool of that name at the service's own MCP endpoint, in either protocol era.

import { Client, SdkHttpError, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { BridgeError } from "../errors.ts";
import { cleanServiceText } from "../text.ts";
import {
  cancelledError,
  mcpAnswerError,
  mcpToolError,
  type Operation,
  statusError,
  transportError,
} from "./failures.ts";
import type { OpenAnswer } from "./http.ts";
import { GET_HEADERS_MS, type Requests } from "./requests.ts";
import { type ConnectedPlatforms, withoutNulls } from "./schemas.ts";
import { TransportFailure } from "./transport-failure.ts";

const TOOL = "list_connected_platforms";

export interface McpQuestion {
  readonly operation: Operation;
  readonly endpoint: URL;
  readonly requests: Requests;
  /** Of this bridge. */
  readonly version: string;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Calls list_connected_platforms at the service's MCP endpoint. Throws a BridgeError. */
export async function listThroughMcp(question: McpQuestion): Promise<ConnectedPlatforms> {
  const { operation, requests, endpoint, version, deadlineMs, signal } = question;
  const end = new AbortController();
  const giveUp = () => end.abort();
  const timer = setTimeout(giveUp, deadlineMs).unref();
  signal?.addEventListener("abort", giveUp, { once: true });
  let failure: TransportFailure | undefined;
  const http = await requests.http();
  const client = new Client(
    { name: "faceless-video-mcp", version },
    { versionNegotiation: { mode: "auto" } },
  );
  const transport = new StreamableHTTPClientTransport(endpoint, {
    fetch: async (input, init) => {
      // The transport may ask for a listening stream and for the session's end; a server may decline both.
      if (init?.method !== "POST") return new Response(null, { status: 405 });
      try {
        return responseOf(
          await http.open({
            method: "POST",
            url: new URL(input),
            headers: { ...requests.headers, ...Object.fromEntries(new Headers(init.headers)) },
            body: typeof init.body === "string" ? init.body : "",
            headersTimeoutMs: GET_HEADERS_MS,
            deadlineMs,
            signal: end.signal,
          }),
        );
      } catch (error) {
        // The SDK wraps what its fetch throws, and would lose it.
        if (error instanceof TransportFailure) failure = error;
        throw error;
      }
    },
  });
  try {
    await client.connect(transport, { signal: end.signal });
    const result = await client.callTool({ name: TOOL, arguments: {} }, { signal: end.signal });
    const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
    if (result.isError === true) throw mcpToolError(text);
    const platforms = readPlatforms(result.structuredContent ?? jsonWithin(text));
    if (platforms === undefined) throw mcpAnswerError("it names no platforms");
    return platforms;
  } catch (error) {
    if (error instanceof BridgeError) throw error;
    if (signal?.aborted === true) throw cancelledError(operation, "unknown");
    if (failure !== undefined) throw transportError(operation, failure);
    if (error instanceof SdkHttpError)
      throw statusError(operation, { status: error.status, headers: {}, text: bodyOf(error) });
    throw mcpAnswerError(end.signal.aborted ? "no answer in time" : wordsOf(error), error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
    await client.close().catch(() => {});
  }
}

function bodyOf(error: SdkHttpError): string {
  const text: unknown = error.data.text;
  return typeof text === "string" ? text : "";
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? cleanServiceText(error.message, 200).replace(/\.$/, "") : "unknown failure";
}

function responseOf(answer: OpenAnswer): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    for (const item of Array.isArray(value) ? value : [value])
      if (item !== undefined) headers.append(name, item);
  }
  if (answer.status === 204 || answer.status === 205 || answer.status === 304) {
    answer.dispose();
    return new Response(null, { status: answer.status, headers });
  }
  const iterator = answer.chunks[Symbol.asyncIterator]();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await iterator.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    cancel() {
      answer.dispose();
    },
  });
  return new Response(body, { status: answer.status, headers });
}

/** The JSON of a text block: the whole text, or what stands from its first bracket to its last. */
function jsonWithin(text: string): unknown {
  const candidates = [text, /[[{][^]*[\]}]/.exec(text)?.[0]];
  for (const candidate of candidates) {
    try {
      if (candidate !== undefined) return JSON.parse(candidate);
    } catch {
      // The next candidate, or none: the caller says that the answer was unreadable.
    }
  }
  return undefined;
}

const NAME_KEYS = ["platform", "name", "id", "slug", "provider", "type"] as const;

/** Platforms as strings or as objects, bare or within an object; undefined where there is no such list. */
export function readPlatforms(value: unknown): ConnectedPlatforms | undefined {
  const list = findList(withoutNulls(value));
  if (list === undefined) return undefined;
  const platforms = list.map(readPlatform);
  return platforms.every((platform) => platform !== undefined) ? { platforms } : undefined;
}

function findList(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value !== "object" || value === null) return undefined;
  const entries = Object.entries(value);
  const named = entries.find(([key, item]) => /platform/i.test(key) && Array.isArray(item));
  const only = entries.filter(([, item]) => Array.isArray(item));
  const found = named ?? (only.length === 1 ? only[0] : undefined);
  if (found !== undefined && Array.isArray(found[1])) return found[1];
  // { result: [...] } and { data: { platforms: [...] } } wrap it once more.
  const inner = entries.find(([key]) => /^(data|result|results|response)$/.test(key));
  return inner === undefined || inner[1] === value ? undefined : findList(inner[1]);
}

function readPlatform(item: unknown): ({ platform: string } & Record<string, unknown>) | undefined {
  if (typeof item === "string" && item !== "") return { platform: item };
  if (typeof item !== "object" || item === null || Array.isArray(item)) return undefined;
  const fields = new Map(Object.entries(item));
  for (const key of NAME_KEYS) {
    const name = fields.get(key);
    if (typeof name === "string" && name !== "") return { ...item, platform: name };
  }
  return undefined;
}
