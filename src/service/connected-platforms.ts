// Reads the connected platforms, whose form is not documented, and calls list_connected_platforms at the service's
// MCP endpoint, by the legacy or the modern protocol.

import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { BridgeError } from "../errors.ts";
import { cancelledError, mcpResponseError, mcpToolError, type Operation, transportError } from "./errors.ts";
import type { RequestSender } from "./request-sender.ts";
import {
  type ConnectedPlatform,
  type ConnectedPlatforms,
  type JsonReader,
  MAX_ID,
  MAX_RESULTS,
} from "./responses.ts";
import { TransportFailure } from "./transport-failure.ts";

export interface McpCall {
  readonly operation: Operation;
  readonly requests: RequestSender;
  /** This bridge's. */
  readonly version: string;
  /** How much time is left. */
  readonly leftMs: () => number;
  readonly signal?: AbortSignal | undefined;
}

/** Calls list_connected_platforms at the service's MCP endpoint. Throws a BridgeError. */
export async function listThroughMcp(call: McpCall): Promise<ConnectedPlatforms> {
  const { operation, requests, version, leftMs, signal } = call;
  const url = requests.address("/api/mcp");
  let failure: unknown; // the last request's: the SDK would hide what its fetch throws
  const transport = new StreamableHTTPClientTransport(url, {
    async fetch(_, init) {
      // The transport asks for a listening stream, which a server may decline: nothing needs to be sent.
      if (init?.method !== "POST") return new Response(null, { status: 405 });
      failure = undefined;
      const headers = Object.fromEntries(new Headers(init.headers));
      const body = typeof init.body === "string" ? init.body : "";
      const parts = { url, method: "POST", headers, body, once: true } as const;
      try {
        // An endpoint declines one protocol version by a 4xx: the SDK then tries the other.
        return await requests.request(
          operation,
          parts,
          (answer) => {
            const { status, text } = answer;
            if (status >= 300) failure = requests.refusal(operation, answer);
            if (status >= 300 && (status < 400 || status === 429 || status >= 500)) throw failure;
            const list = Object.entries(answer.headers).map(([name, value]): [string, string] => [
              name,
              String(value),
            ]);
            return new Response(text || null, { status, headers: list });
          },
          { deadlineMs: leftMs(), signal },
        );
      } catch (error) {
        failure ??= error;
        throw error;
      }
    },
  });
  try {
    const info = { name: "faceless-video-mcp", version };
    const client = new Client(info, { versionNegotiation: { mode: "auto" } });
    // By itself the SDK would wait a minute for a missing answer.
    const options = () => ({ timeout: leftMs(), ...(signal !== undefined && { signal }) });
    await client.connect(transport, options());
    const result = await client.callTool({ name: "list_connected_platforms", arguments: {} }, options());
    const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
    if (result.isError === true) throw mcpToolError(String(requests.json.tidy(text)));
    const structured = requests.json.tidy(result.structuredContent);
    const platforms = readPlatforms(structured) ?? readPlatforms(jsonWithin(text, requests.json));
    if (platforms === undefined) throw mcpResponseError("it names no platforms");
    return platforms;
  } catch (error) {
    if (error instanceof BridgeError) throw error;
    if (error instanceof ProtocolError) throw mcpToolError(String(requests.json.tidy(error.message)));
    if (failure instanceof BridgeError) throw failure;
    if (signal?.aborted === true) throw cancelledError(operation, "unknown");
    if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
      const tooLong = new TransportFailure({ kind: "timeout", sent: true, reason: "it took too long" });
      throw transportError(operation, tooLong);
    }
    // The SDK's message may quote the answer, whose words must not pass for ours.
    throw mcpResponseError("it is not what MCP prescribes", error);
  } finally {
    void transport.close().catch(() => {});
  }
}

/** The JSON of a text: all of it, or from its first bracket to its last. */
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
  const platforms = list?.slice(0, MAX_RESULTS).flatMap((item) => readPlatform(item) ?? []);
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

const listOf = (value: unknown): unknown[] | undefined => (Array.isArray(value) ? value : undefined);

function readPlatform(item: unknown): ConnectedPlatform | undefined {
  if (typeof item === "string") return readPlatform({ platform: item });
  if (typeof item !== "object" || item === null) return undefined;
  const fields: Record<string, unknown> = { ...item };
  const names = ["platform", "name", "id"]
    .map((key) => fields[key])
    .filter((name) => typeof name === "string")
    .filter((name) => name !== "" && name.length <= MAX_ID);
  // An account may have a name and an id of its own. Platform identifiers are lower case.
  const platform =
    names.find((name) => name === fields["platform"] || /^[a-z][a-z0-9_-]*$/.test(name)) ?? names[0];
  return platform === undefined ? undefined : { ...fields, platform };
}
