// The connected platforms, whose place the service's documentation leaves open: a REST path if the OpenAPI document
// declares one, else the tool of that name at the service's own MCP endpoint, in either protocol era.

import {
  Client,
  ProtocolError,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { BridgeError } from "../errors.ts";
import {
  cancelledError,
  mcpAnswerError,
  mcpToolError,
  type Operation,
  statusError,
  transportError,
} from "./errors.ts";
import type { OpenAnswer } from "./http.ts";
import { readRetryAfterMs } from "./rate-limit-headers.ts";
import { GET_HEADERS_MS, type Requests } from "./requests.ts";
import { type ConnectedPlatforms, tidied } from "./schemas.ts";
import { TransportFailure } from "./transport-failure.ts";

const TOOL = "list_connected_platforms";

export interface McpQuestion {
  readonly operation: Operation;
  readonly endpoint: URL;
  readonly requests: Requests;
  /** Of this bridge. */
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Calls list_connected_platforms at the service's MCP endpoint. Throws a BridgeError. */
export async function listThroughMcp(question: McpQuestion): Promise<ConnectedPlatforms> {
  const { operation, requests, endpoint, version, deadlineMs, signal } = question;
  const withdrawn = () => signal?.aborted === true;
  const http = await requests.http();
  if (withdrawn()) throw cancelledError(operation);
  const end = new AbortController();
  const giveUp = () => end.abort();
  const timer = setTimeout(giveUp, deadlineMs).unref();
  signal?.addEventListener("abort", giveUp, { once: true });
  const seen: Seen = { sent: false };
  const client = new Client(
    { name: "faceless-video-mcp", version },
    { versionNegotiation: { mode: "auto" } },
  );
  const transport = new StreamableHTTPClientTransport(endpoint, {
    fetch: async (input, init) => {
      // The transport may ask for a listening stream; a server may decline that, and so does this.
      if (init?.method !== "POST") return new Response(null, { status: 405 });
      const slot = requests.allowance.take("person");
      try {
        const answer = await http.open({
          method: "POST",
          url: new URL(input),
          headers: { ...requests.headers, ...Object.fromEntries(new Headers(init.headers)) },
          body: typeof init.body === "string" ? init.body : "",
          headersTimeoutMs: GET_HEADERS_MS,
          deadlineMs,
          signal: end.signal,
        });
        slot.settle(answer);
        Object.assign(seen, { sent: true, headers: answer.headers, failure: undefined } satisfies Seen);
        if (answer.status < 300 || answer.status >= 400) return responseOf(answer);
        // The transport would follow it within the origin.
        answer.dispose();
        throw statusError(operation, { ...answer, text: "" });
      } catch (error) {
        slot.settle();
        throw remember(seen, error);
      }
    },
  });
  const responseOf = (answer: OpenAnswer) =>
    toResponse(answer, (error) => {
      remember(seen, error);
      // The SDK would try to take the stream up again.
      giveUp();
    });
  try {
    await client.connect(transport, { signal: end.signal });
    const result = await client.callTool({ name: TOOL, arguments: {} }, { signal: end.signal });
    const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
    if (result.isError === true) throw mcpToolError(text);
    const platforms = readPlatforms(result.structuredContent) ?? readPlatforms(jsonWithin(text));
    if (platforms === undefined) throw mcpAnswerError("it names no platforms");
    return platforms;
  } catch (error) {
    if (error instanceof BridgeError) throw error;
    if (withdrawn()) throw cancelledError(operation, seen.sent ? "unknown" : "not_sent");
    if (seen.failure instanceof BridgeError) throw seen.failure;
    if (seen.failure !== undefined && seen.failure.kind !== "cancelled")
      throw transportError(operation, seen.failure);
    if (end.signal.aborted) throw transportError(operation, overdue(seen.sent, deadlineMs));
    if (error instanceof SdkHttpError) {
      const headers = seen.headers ?? {};
      const answer = { status: error.status, headers, text: bodyOf(error) };
      throw statusError(operation, answer, readRetryAfterMs(answer.headers, question.now()));
    }
    if (error instanceof ProtocolError) throw mcpToolError(error.message);
    // What the SDK says may quote the answer, and the answer's words are no words of ours.
    throw mcpAnswerError("it does not speak MCP as documented", error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
    await client.close().catch(() => {});
    // A stream may stay open after the answer.
    end.abort();
  }
}

/** What the exchanges behind the SDK's back have shown: it wraps what its fetch throws, and would lose it. */
interface Seen {
  /** Whether any request has left. */
  sent: boolean;
  /** Of the last answer. */
  headers?: OpenAnswer["headers"];
  failure?: TransportFailure | BridgeError | undefined;
}

function remember(seen: Seen, error: unknown): unknown {
  if (error instanceof TransportFailure || error instanceof BridgeError) {
    // What is given up after a failure tells nothing new: the SDK wants to send that it is cancelled, for one.
    seen.failure ??= error;
    seen.sent ||= error instanceof BridgeError || error.sent;
  }
  return error;
}

function overdue(sent: boolean, deadlineMs: number): TransportFailure {
  const reason = `no answer within ${Math.ceil(deadlineMs / 1000)} s`;
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

/** Where an object without a `platform` may name it. An account has an id or a name of its own beside it. */
const NAME_KEYS = ["provider", "slug", "name", "id", "type"] as const;

/** Platforms as strings or as objects, bare or within an object; undefined where there is no such list. */
export function readPlatforms(value: unknown): ConnectedPlatforms | undefined {
  const list = findList(tidied(value));
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
  // Identifiers of platforms are lower-case, their display names seldom.
  const best =
    named.find(({ key, name }) => key === "platform" || /^[a-z][a-z0-9_-]*$/.test(name)) ?? named[0];
  return best === undefined ? undefined : { ...item, platform: best.name };
}
