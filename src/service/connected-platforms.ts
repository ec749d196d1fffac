// Reads the connected platforms, whose place is not documented: a REST path if the OpenAPI document declares
// one, else list_connected_platforms at the service's MCP endpoint, by the legacy or the modern protocol.

import { Client, ProtocolError, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Clock } from "../clock.ts";
import { BridgeError } from "../errors.ts";
import {
  cancelledError,
  mcpResponseError,
  mcpToolError,
  type Operation,
  statusError,
  transportError,
} from "./errors.ts";
import type { RequestSender } from "./request-sender.ts";
import {
  type ConnectedPlatform,
  type ConnectedPlatforms,
  hasMoreValues,
  type JsonReader,
  MAX_ID,
  type ParsedResponse,
} from "./responses.ts";
import { TransportFailure } from "./transport-failure.ts";

const ENDPOINT = "/api/mcp";
const MAX_PLATFORMS = 100;
const MAX_RESPONSE_CHARACTERS = 1024 * 1024;
/** Of one call. The protocols need up to five; the rest answers what the endpoint asks meanwhile. */
const MAX_REQUESTS = 10;
/** The SDK's schemas collect several issues for each value: a list of platforms has some hundreds. */
const MAX_SEPARATORS = 5_000;

export interface McpCall {
  readonly operation: Operation;
  readonly requests: RequestSender;
  /** This bridge's. */
  readonly version: string;
  readonly clock: Clock;
  /** A time on its monotonic clock. */
  readonly endsAtMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Calls list_connected_platforms at the service's MCP endpoint. Throws a BridgeError. */
export async function listThroughMcp(call: McpCall): Promise<ConnectedPlatforms> {
  const { operation, requests, version, signal } = call;
  let failure: unknown; // the last request's: the SDK would hide what its fetch throws
  let requested = 0;
  let previous: Promise<unknown> = Promise.resolve();
  const over = new AbortController(); // ends all requests of the call
  const transport = new StreamableHTTPClientTransport(requests.address(ENDPOINT), {
    async fetch(_, init) {
      // The transport asks for a listening stream, which a server may decline: nothing needs to be sent.
      if (init?.method !== "POST") return new Response(null, { status: 405 });
      try {
        if (!over.signal.aborted) failure = undefined;
        requested += 1;
        if (requested > MAX_REQUESTS) throw mcpResponseError("it asks for too many answers");
        // One at a time: requests that the endpoint never answers must not take the connections of others.
        const answering = previous.then(() => post(call, init, over.signal));
        previous = answering.catch(() => {});
        const answer = await answering;
        const { status, headers, text } = answer;
        if (text.length > MAX_RESPONSE_CHARACTERS || hasMoreValues(text, MAX_SEPARATORS))
          throw mcpResponseError("it is too large");
        if (status >= 300)
          failure = statusError(operation, answer, { retryAfterMs: requests.retryAfterMs(answer) });
        // An endpoint may decline one protocol version by any other 4xx: the SDK then tries the other.
        if (status >= 300 && (status < 400 || status === 429 || status >= 500)) throw failure;
        const values = Object.entries(headers).map(([name, value]): [string, string] => [
          name,
          String(value),
        ]);
        return new Response(text || null, { status, headers: values });
      } catch (error) {
        failure ??= error;
        if (requested > MAX_REQUESTS) end();
        throw error;
      }
    },
  });
  const close = () => void transport.close().catch(() => {});
  const end = () => {
    over.abort();
    close();
  };

  // The SDK would wait a minute for a missing answer. Closing its transport ends whatever it does.
  const timeout = AbortSignal.timeout(Math.max(1, Math.ceil(call.endsAtMs - call.clock.monotonicMs())));
  timeout.addEventListener("abort", close);
  signal?.addEventListener("abort", end);
  if (signal?.aborted === true) over.abort();
  try {
    const client = new Client(
      { name: "faceless-video-mcp", version },
      { versionNegotiation: { mode: "auto" } },
    );
    await client.connect(transport);
    const result = await client.callTool({ name: "list_connected_platforms", arguments: {} });
    const { json } = requests;
    const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
    if (result.isError === true) throw mcpToolError(String(json.clean(text)));
    const platforms =
      readPlatforms(json.clean(result.structuredContent)) ?? readPlatforms(jsonWithin(text, json));
    if (platforms === undefined) throw mcpResponseError("it names no platforms");
    return platforms;
  } catch (error) {
    if (error instanceof BridgeError) throw error;
    if (error instanceof ProtocolError) throw mcpToolError(String(requests.json.clean(error.message)));
    if (failure instanceof BridgeError) throw failure;
    if (signal?.aborted === true) throw cancelledError(operation, "unknown");
    // All requests were answered, and none of the answers was the result.
    if (timeout.aborted)
      throw transportError(
        operation,
        new TransportFailure({ kind: "timeout", sent: true, reason: "it took too long" }),
      );
    // The SDK's message may quote the answer, whose words must not pass for ours.
    throw mcpResponseError("it is not what MCP prescribes", error);
  } finally {
    signal?.removeEventListener("abort", end);
    end();
  }
}

/** Sends the SDK's request like all others: with the key, through http.ts and within the rate limit. */
function post(
  { operation, requests, clock, endsAtMs }: McpCall,
  { headers, body }: RequestInit,
  signal: AbortSignal,
): Promise<ParsedResponse> {
  const parts = {
    method: "POST",
    url: requests.address(ENDPOINT),
    headers: Object.fromEntries(new Headers(headers)),
    body: typeof body === "string" ? body : "",
    once: true,
    // Whatever its status, the SDK reads it.
    isAnswer: () => true,
  } as const;
  return requests.request(operation, undefined, parts, {
    deadlineMs: endsAtMs - clock.monotonicMs(),
    signal,
  });
}

/** The JSON of a text: all of it, or from its first bracket to its last. Parses twice at most. */
function jsonWithin(text: string, { parse }: JsonReader): unknown {
  const from = text.search(/[[{]/);
  const to = text.lastIndexOf(text[from] === "[" ? "]" : "}");
  return parse(text) ?? parse(text.slice(Math.max(0, from), to + 1));
}

/**
 * Reads a list of strings or objects, or an object that holds one, without the items that name no platform;
 * else undefined, as for a list of such items alone. `value` has no nulls.
 */
export function readPlatforms(value: unknown): ConnectedPlatforms | undefined {
  const list = findList(value);
  const platforms = list?.slice(0, MAX_PLATFORMS).flatMap((item) => readPlatform(item) ?? []);
  if (list === undefined || platforms === undefined) return undefined;
  const leftOut = list.length - platforms.length;
  if (leftOut === 0) return { platforms };
  return platforms.length === 0 ? undefined : { platforms, leftOut };
}

function findList(value: unknown): unknown[] | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return listOf(value);
  const { platforms, ...fields }: Record<string, unknown> = { ...value };
  const [list, ...others] = Object.values(fields).filter((field) => Array.isArray(field));
  return listOf(platforms) ?? (others.length === 0 ? list : undefined);
}

const listOf = (value: unknown) => (Array.isArray(value) ? value : undefined);

function readPlatform(item: unknown): ConnectedPlatform | undefined {
  if (typeof item === "string") return readPlatform({ platform: item });
  if (typeof item !== "object" || item === null) return undefined;
  const fields: Record<string, unknown> = { ...item };
  const given = ["platform", "name", "id"].map((key) => fields[key]);
  const names = given
    .filter((name) => typeof name === "string")
    .filter((name) => name !== "" && name.length <= MAX_ID);
  // An account may have a name and an id of its own. Platform identifiers are lower case.
  const platform =
    names.find((name) => name === fields["platform"] || /^[a-z][a-z0-9_-]*$/.test(name)) ?? names[0];
  return platform === undefined ? undefined : { ...fields, platform };
}
