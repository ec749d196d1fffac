// The connected platforms, whose place the service's documentation leaves open: a REST path if the OpenAPI document declares
// one, else the tool of that name at the service's own MCP endpoint, legacy or modern protocol.

import {
  Client,
  ProtocolError,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { setImmediate as nextTurn } from "node:timers/promises";
import { BridgeError } from "../errors.ts";
import {
  cancelledError,
  mcpAnswerError,
  mcpToolError,
  type Operation,
  parseJson,
  statusError,
  TransportFailure,
  transportError,
} from "./errors.ts";
import type { OpenAnswer } from "./http.ts";
import { readRetryAfterMs } from "./rate-limiter.ts";
import { HEADERS_TIMEOUT_MS, type Requests } from "./requests.ts";
import { type ConnectedPlatforms, tidied } from "./schemas.ts";

const TOOL = "list_connected_platforms";

export interface McpCall {
  readonly operation: Operation;
  readonly endpoint: URL;
  readonly requests: Requests;
  /** Of this bridge. */
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** By `requests.monotonicMs`. */
  readonly endsAtMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Calls list_connected_platforms at the service's MCP endpoint. Throws a BridgeError. */
export async function listThroughMcp(call: McpCall): Promise<ConnectedPlatforms> {
  const { operation, requests, endpoint, version, endsAtMs, signal } = call;
  const isCancelled = () => signal?.aborted === true;
  const deadlineMs = Math.max(1, endsAtMs - requests.monotonicMs());
  const http = await requests.http();
  if (isCancelled()) throw cancelledError(operation);
  const end = new AbortController();
  const giveUp = () => end.abort();
  let isOutOfTime = false;
  const timer = setTimeout(() => {
    isOutOfTime = true;
    giveUp();
  }, deadlineMs).unref();
  signal?.addEventListener("abort", giveUp, { once: true });
  const seen: Seen = { sent: false };
  const client = new Client(
    { name: "faceless-video-mcp", version },
    { versionNegotiation: { mode: "auto" } },
  );
  const transport = new StreamableHTTPClientTransport(endpoint, {
    fetch: async (input, init) => {
      // The transport may ask for a listening stream. A server may decline that, and so does this client.
      if (init?.method !== "POST") return new Response(null, { status: 405 });
      try {
        const permit = await requests.acquire(operation, { kind: "user", endsAtMs, signal: end.signal });
        const answer = await http
          .open({
            method: "POST",
            url: new URL(input),
            headers: { ...requests.headers, ...Object.fromEntries(new Headers(init.headers)) },
            body: typeof init.body === "string" ? init.body : "",
            headersTimeoutMs: HEADERS_TIMEOUT_MS,
            deadlineMs,
            signal: end.signal,
          })
          .catch((error: unknown) => {
            permit.release();
            throw error;
          });
        permit.release(answer);
        Object.assign(seen, { sent: true, headers: answer.headers, failure: undefined } satisfies Seen);
        if (answer.status < 300 || answer.status >= 400) return responseOf(answer);
        // The transport would follow a redirect within the origin.
        answer.dispose();
        throw statusError(operation, { ...answer, text: "" });
      } catch (error) {
        throw remember(seen, error);
      }
    },
  });
  const responseOf = (answer: OpenAnswer) =>
    toResponse(answer, (error) => {
      remember(seen, error);
      // The SDK would try to resume the stream.
      giveUp();
    });
  // The SDK's promises wait for their own time, a minute, where the endpoint answers without an answer.
  const givenUp = new Promise<never>((_, reject) => {
    end.signal.addEventListener("abort", () => reject(new Error("The call was given up.")), { once: true });
  });
  const callTool = async () => {
    await client.connect(transport, { signal: end.signal });
    return client.callTool({ name: TOOL, arguments: {} }, { signal: end.signal });
  };
  try {
    const result = await Promise.race([callTool(), givenUp]);
    const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
    if (result.isError === true) throw mcpToolError(text);
    const platforms =
      readPlatforms(withoutNulls(result.structuredContent)) ?? readPlatforms(jsonWithin(text));
    if (platforms === undefined) throw mcpAnswerError("it names no platforms");
    return platforms;
  } catch (error) {
    if (error instanceof BridgeError) throw error;
    // Requests in flight end now and note whether they were sent.
    end.abort();
    await nextTurn();
    if (isCancelled()) throw cancelledError(operation, seen.sent ? "unknown" : "not_sent");
    const { failure } = seen;
    if (failure instanceof BridgeError && failure.facts.code !== "cancelled") throw failure;
    if (failure instanceof TransportFailure && failure.kind !== "cancelled")
      throw transportError(operation, failure);
    if (isOutOfTime) throw transportError(operation, timeout(seen.sent, deadlineMs));
    if (error instanceof SdkHttpError) {
      const answer = { status: error.status, headers: seen.headers ?? {}, text: bodyOf(error) };
      const retryAfterMs =
        error.status === 429 ? requests.limiter.waitMs("user") : readRetryAfterMs(answer.headers, call.now());
      throw statusError(operation, answer, retryAfterMs);
    }
    if (error instanceof ProtocolError) throw mcpToolError(error.message);
    // What the SDK says may quote the answer, and the answer's words must not pass for ours.
    throw mcpAnswerError("it does not speak MCP as documented", error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
    // A stream may stay open after the answer.
    end.abort();
    void client.close().catch(() => {});
  }
}

/** What the requests below the SDK have shown: it wraps what its fetch throws, and would lose it. */
interface Seen {
  /** Whether any request was sent. */
  sent: boolean;
  /** Of the last answer. */
  headers?: OpenAnswer["headers"];
  failure?: TransportFailure | BridgeError | undefined;
}

function remember(seen: Seen, error: unknown): unknown {
  if (error instanceof TransportFailure || error instanceof BridgeError) {
    // The first failure counts: after it the SDK only tries to cancel.
    seen.failure ??= error;
    if (error instanceof TransportFailure) seen.sent ||= error.sent;
  }
  return error;
}

function timeout(sent: boolean, deadlineMs: number): TransportFailure {
  const reason = `it took longer than ${Math.ceil(deadlineMs / 1000)} s`;
  return new TransportFailure({ kind: "timeout", sent, reason });
}

function bodyOf(error: SdkHttpError): string {
  const text: unknown = error.data.text;
  return typeof text === "string" ? text : "";
}

function toResponse(answer: OpenAnswer, onError: (error: unknown) => void): Response {
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
      try {
        const next = await iterator.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      } catch (error) {
        onError(error);
        throw error;
      }
    },
    cancel() {
      answer.dispose();
    },
  });
  return new Response(body, { status: answer.status, headers });
}

/** The JSON of a text block: the whole text, or what stands from its first bracket to its last. Parses twice at most. */
function jsonWithin(text: string): unknown {
  const whole = parseJson(text);
  if (whole !== undefined) return whole;
  const from = text.search(/[[{]/);
  const to = from === -1 ? -1 : text.lastIndexOf(text[from] === "[" ? "]" : "}");
  return to > from ? parseJson(text.slice(from, to + 1)) : undefined;
}

/** undefined where it is nested too deeply to be walked. */
function withoutNulls(value: unknown): unknown {
  try {
    return tidied(value);
  } catch {
    return undefined;
  }
}

/** Fields that may name the platform where there is no `platform`. An account has an id or a name of its own beside it. */
const NAME_KEYS = ["provider", "slug", "name", "id", "type"] as const;

/** Platforms as strings or objects, in a list or in an object that holds one; undefined where there is no such list. `value` has no nulls. */
export function readPlatforms(value: unknown): ConnectedPlatforms | undefined {
  const list = findList(value);
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
  const fields = new Map<string, unknown>(Object.entries(item));
  const named = ["platform", ...NAME_KEYS]
    .map((key) => ({ key, name: fields.get(key) }))
    .filter(
      (field): field is { key: string; name: string } => typeof field.name === "string" && field.name !== "",
    );
  // Platform identifiers are lower case, display names seldom are.
  const best =
    named.find(({ key, name }) => key === "platform" || /^[a-z][a-z0-9_-]*$/.test(name)) ?? named[0];
  return best === undefined ? undefined : { ...item, platform: best.name };
}
