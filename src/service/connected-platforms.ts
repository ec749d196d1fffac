// Reads the connected platforms, whose form is not documented, and calls list_connected_platforms at the
// service's MCP endpoint, by the legacy or the modern protocol.

import { Client, ProtocolError, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { BridgeError, toBridgeError } from "../errors.ts";
import { VERSION } from "../version.ts";
import { boundJson } from "./bound-json.ts";
import { badResponseError, mcpToolError, type Operation } from "./errors.ts";
import { objectOf } from "./openapi.ts";
import { platformIn, UNKNOWN_PLATFORM } from "./platforms.ts";
import type { RequestSender } from "./request-sender.ts";
import { type ConnectedPlatform, MAX_ID_CHARS, MAX_RESULTS, type ParsedResponse } from "./responses.ts";

/** The SDK ends this much before the call, and a request this much before the SDK: its error says why. */
const MARGIN_MS = 500;
/** An event has three or four lines. */
const MAX_LINES = 1_000;

/** Calls list_connected_platforms at the service's MCP endpoint. Throws a BridgeError. */
export async function listThroughMcp(
  operation: Operation,
  requests: RequestSender,
  leftMs: () => number,
  signal?: AbortSignal,
): Promise<readonly ConnectedPlatform[]> {
  const url = requests.address("/api/mcp");
  // The last request's, kept here because the SDK hides what its fetch throws.
  let failure: Error | undefined;
  let last: Partial<ParsedResponse> = {};
  const read = (answer: ParsedResponse) => {
    last = answer;
    const { status, text } = answer;
    const refusal = status < 300 ? undefined : requests.refusal(operation, answer);
    // An endpoint declines one protocol version by a 4xx: the SDK then tries the other.
    if (refusal && (status < 400 || status === 429 || status >= 500)) throw refusal;
    failure = refusal;
    // An answer, or a stream of events, that the SDK reads within milliseconds.
    const bounded = boundJson(text, MAX_RESULTS).split("\n", MAX_LINES).join("\n");
    const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    return new Response(bounded || null, { status, headers });
  };
  const transport = new StreamableHTTPClientTransport(url, {
    async fetch(_, { method, headers, body } = {}) {
      // The transport asks for a listening stream, which a server may decline: nothing needs to be sent.
      if (method !== "POST") return new Response(null, { status: 405 });
      failure = undefined;
      const text = typeof body === "string" ? body : "";
      const parts = { url, method, headers: Object.fromEntries(new Headers(headers)), body: text } as const;
      try {
        const deadlineMs = Math.max(1, leftMs() - 2 * MARGIN_MS);
        return await requests.request(operation, parts, read, { deadlineMs, signal });
      } catch (error) {
        failure = toBridgeError(error, "unknown");
        throw failure;
      }
    },
  });
  try {
    const about = { name: "faceless-video-mcp", version: VERSION };
    const client = new Client(about, { versionNegotiation: { mode: "auto" } });
    // The SDK's own limit is a minute.
    const options = () => ({ timeout: Math.max(1, leftMs() - MARGIN_MS) });
    await client.connect(transport, options());
    const result = await client.callTool({ name: "list_connected_platforms", arguments: {} }, options());
    const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
    if (result.isError === true) throw mcpToolError(String(requests.json.tidy(text)));
    const structured = requests.json.tidy(result.structuredContent);
    // Words may stand before and after the JSON.
    const end = Math.max(text.lastIndexOf("]"), text.lastIndexOf("}")) + 1;
    const json = text.slice(Math.max(0, text.search(/[[{]/)), end);
    const platforms = readPlatforms(structured) ?? readPlatforms(requests.json.parse(json));
    if (platforms === undefined) throw badResponseError(operation, last, "it names no platforms");
    return platforms;
  } catch (error) {
    if (error instanceof BridgeError) throw error;
    if (error instanceof ProtocolError) throw mcpToolError(String(requests.json.tidy(error.message)));
    // The SDK's message may quote the answer, whose words must not read like ours.
    throw failure ?? badResponseError(operation, last, "it is not what MCP prescribes", error);
  } finally {
    void transport.close().catch(() => {});
  }
}

/**
 * Reads a list of strings or objects, or an object that holds one; undefined if no item names a platform. An
 * account that names none is kept, as it may be on any platform.
 */
export function readPlatforms(value: unknown): readonly ConnectedPlatform[] | undefined {
  if (value === null) return [];
  const { platforms, ...fields } = objectOf(value);
  const lists = Object.values(fields).filter((field) => Array.isArray(field));
  const [list] = [value, platforms, lists.length === 1 && lists[0]].filter((each) => Array.isArray(each));
  const read = list?.slice(0, MAX_RESULTS).flatMap((item) => readPlatform(item) ?? []);
  const isReadable = list?.length === 0 || read?.some(({ platform }) => platform !== UNKNOWN_PLATFORM);
  return isReadable === true ? read : undefined;
}

function readPlatform(item: unknown): ConnectedPlatform | undefined {
  if (typeof item !== "string" && (typeof item !== "object" || Array.isArray(item))) return undefined;
  const fields = typeof item === "string" ? { platform: item } : objectOf(item);
  const platform = platformIn(fields);
  if (platform !== undefined) return platform.length > MAX_ID_CHARS ? undefined : { ...fields, platform };
  return typeof item === "string" ? undefined : { ...fields, platform: UNKNOWN_PLATFORM };
}
