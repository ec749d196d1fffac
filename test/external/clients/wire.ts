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
export type ServerRun = readonly WireMessage[];

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
  return Promise.all(files.map(async (name) => readMessages(await readFile(join(folder, name), "utf8"))));
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

/** The protocol version that both sides settled on, or "none". */
export function protocolOf(run: ServerRun): string {
  const modern = callsOf(run).map(({ params }) => params?._meta?.[`${META}protocolVersion`]);
  const initialize = run.find(({ method }) => method === "initialize");
  const versions = [...modern, initialize && resultOf(initialize, run)?.["protocolVersion"]];
  return versions.find((version) => typeof version === "string") ?? "none";
}

/** True if the client declares that the user can be asked. */
export function canAsk(run: ServerRun): boolean {
  return run.some(
    ({ from, params }) =>
      from === "client" &&
      [params?.["capabilities"], params?._meta?.[`${META}clientCapabilities`]].some(
        (capabilities) => Object(capabilities).elicitation !== undefined,
      ),
  );
}

/** Those that were answered with a question came again. */
export function toolCalls(run: ServerRun): ToolCall[] {
  return callsOf(run)
    .map((call) => ({
      tool: String(call.params?.["name"]),
      result: toolResultSchema.safeParse(resultOf(call, run)).data,
    }))
    .filter(({ result }) => result?.["resultType"] !== "input_required");
}

function callsOf(run: ServerRun): WireMessage[] {
  return run.filter(({ from, method }) => from === "client" && method === "tools/call");
}

function resultOf({ id }: WireMessage, run: ServerRun): WireMessage["result"] {
  return run.find((message) => message.from === "server" && message.id === id && message.result !== undefined)
    ?.result;
}

/** How the client answered a question of this server. */
export interface Answer {
  readonly about: "order" | "post";
  readonly action: string;
  readonly afterMs: number;
}

export function answersOf(run: ServerRun): Answer[] {
  const questions = run.filter(
    ({ from, method, result }) =>
      from === "server" && (method === "elicitation/create" || result?.["resultType"] === "input_required"),
  );
  return questions.map((asked) => {
    const answer = run.find(
      ({ from, atMs, id, result, params }) =>
        from === "client" &&
        atMs >= asked.atMs &&
        ((id === asked.id && result !== undefined) || params?.["inputResponses"] !== undefined),
    );
    const action = /"action":"(\w+)"/.exec(JSON.stringify(answer?.result ?? answer?.params ?? {}))?.[1];
    return {
      about: /"message":"Publish/.test(JSON.stringify(asked)) ? "post" : "order",
      action: action ?? "none",
      afterMs: (answer?.atMs ?? asked.atMs) - asked.atMs,
    };
  });
}

/** Seconds of the longest call of get_video_status that was answered. */
export function longestWaitSeconds(run: ServerRun): number {
  const waits = callsOf(run).flatMap((call) => {
    const answer = run.find(
      ({ from, id, result }) => from === "server" && id === call.id && result !== undefined,
    );
    return call.params?.["name"] === "get_video_status" && answer !== undefined
      ? [(answer.atMs - call.atMs) / 1000]
      : [];
  });
  return Math.round(Math.max(0, ...waits));
}

/** True once the client has the list of tools. */
export function hasListed(run: ServerRun): boolean {
  return run.some(({ from, result }) => from === "server" && Array.isArray(result?.["tools"]));
}
