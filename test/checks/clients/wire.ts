// The messages on the server's stdin and stdout while a client ran, and what they say about the client.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";

const META = "io.modelcontextprotocol/";

const messageSchema = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.looseObject({ _meta: z.looseObject({}).optional() }).optional(),
  result: z.looseObject({}).optional(),
});

/** One JSON-RPC message of the client or the server. */
export interface WireMessage extends z.infer<typeof messageSchema> {
  readonly from: "client" | "server";
  readonly atMs: number;
}

/** The messages of one server process, oldest first. */
export interface ServerRun {
  readonly messages: readonly WireMessage[];
}

/** One call of a tool and its result, if it came. */
export interface ToolCall {
  readonly tool: string;
  readonly result: ToolResult | undefined;
}

const toolResultSchema = z.looseObject({
  content: z.array(z.looseObject({ text: z.string().optional() })).default([]),
  structuredContent: z.looseObject({}).optional(),
});
type ToolResult = z.infer<typeof toolResultSchema>;

export async function readServerRuns(folder: string): Promise<ServerRun[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith(".jsonl"));
  return Promise.all(
    files.map(async (name) => ({ messages: readMessages(await readFile(join(folder, name), "utf8")) })),
  );
}

const recordSchema = z.object({ atMs: z.number(), from: z.enum(["client", "server"]), data: z.string() });

/** A chunk may hold several messages, or a part of one. */
function readMessages(text: string): WireMessage[] {
  const messages: WireMessage[] = [];
  const rest = { client: Buffer.alloc(0), server: Buffer.alloc(0) };
  for (const line of text.split("\n").filter(Boolean)) {
    const { atMs, from, data } = recordSchema.parse(JSON.parse(line));
    let bytes = Buffer.concat([rest[from], Buffer.from(data, "base64")]);
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10)) {
      messages.push({ ...messageSchema.parse(JSON.parse(bytes.toString("utf8", 0, end))), from, atMs });
      bytes = bytes.subarray(end + 1);
    }
    rest[from] = bytes;
  }
  return messages;
}

/** The protocol version that both sides settled on. */
export function protocolOf({ messages }: ServerRun): string | undefined {
  const modern = messages
    .filter(({ from, method }) => from === "client" && method === "tools/call")
    .map(({ params }) => params?._meta?.[`${META}protocolVersion`])
    .find((version) => typeof version === "string");
  return (
    modern ??
    z.looseObject({ protocolVersion: z.string() }).safeParse(answerTo("initialize", messages)).data
      ?.protocolVersion
  );
}

function answerTo(method: string, messages: readonly WireMessage[]): unknown {
  const request = messages.find((message) => message.from === "client" && message.method === method);
  return messages.find(
    ({ from, id, result }) => from === "server" && result !== undefined && id === request?.id,
  )?.result;
}

export function capabilitiesOf({ messages }: ServerRun): Record<string, unknown> {
  const capabilities = z.looseObject({}).catch({});
  const initialize = messages.find(({ method }) => method === "initialize");
  const modern = messages.find(
    ({ from, params }) => from === "client" && params?._meta?.[`${META}clientCapabilities`] !== undefined,
  );
  return {
    ...capabilities.parse(initialize?.params?.["capabilities"]),
    ...capabilities.parse(modern?.params?._meta?.[`${META}clientCapabilities`]),
  };
}

export function toolCalls({ messages }: ServerRun): ToolCall[] {
  return messages
    .filter(({ from, method }) => from === "client" && method === "tools/call")
    .map(({ id, params }) => ({
      tool: String(params?.["name"]),
      result: toolResultSchema.safeParse(
        messages.find(
          (message) => message.from === "server" && message.id === id && message.result !== undefined,
        )?.result,
      ).data,
    }));
}

/** How the client answered the question before publishing: undefined if it was not asked. */
export function answerOf({
  messages,
}: ServerRun): { readonly action: string; readonly afterMs: number } | undefined {
  const asked = messages.find(
    ({ from, method, result }) =>
      from === "server" && (method === "elicitation/create" || result?.["resultType"] === "input_required"),
  );
  if (asked === undefined) return undefined;
  const answer = messages.find(
    ({ from, atMs, id, result, params }) =>
      from === "client" &&
      atMs >= asked.atMs &&
      ((id === asked.id && result !== undefined) || params?.["inputResponses"] !== undefined),
  );
  const action = /"action":"(\w+)"/.exec(JSON.stringify(answer?.result ?? answer?.params ?? {}))?.[1];
  return { action: action ?? "none", afterMs: (answer?.atMs ?? asked.atMs) - asked.atMs };
}
