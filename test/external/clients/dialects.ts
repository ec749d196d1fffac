// The APIs of model servers that clients call: how a turn is read from a request, and how an answer is
// written, always as the stream that they ask for.

import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import * as z from "zod";
import type { Reply, Turn } from "./scripted-model.ts";

export interface Dialect {
  /** The paths at which it is spoken. */
  readonly path: RegExp;
  read(body: unknown): Turn;
  write(response: ServerResponse, reply: Reply, body: unknown): void;
}

const namedSchema = z.looseObject({ name: z.string() });

/** The items that have this form. */
function matching<Item>(items: readonly unknown[], schema: z.ZodType<Item>): Item[] {
  return items.flatMap((item) => {
    const { success, data } = schema.safeParse(item);
    return success ? [data] : [];
  });
}

/** The text of a result that is a text, or a list of parts. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return JSON.stringify(content) ?? "";
  return content
    .map((part: unknown) => {
      const { text } = z.looseObject({ text: z.string().optional() }).parse(part);
      return text ?? JSON.stringify(part);
    })
    .join("\n");
}

const anthropicSchema = z.looseObject({
  model: z.string(),
  messages: z.array(z.looseObject({ content: z.unknown() })),
  tools: z.array(namedSchema.extend({ defer_loading: z.boolean().optional() })).default([]),
});
const toolUseSchema = namedSchema.extend({ type: z.literal("tool_use"), id: z.string() });
const toolResultSchema = z.looseObject({
  type: z.literal("tool_result"),
  tool_use_id: z.string(),
  content: z.unknown(),
});

const anthropic: Dialect = {
  path: /\/messages$/,
  read(body) {
    const { messages, tools } = anthropicSchema.parse(body);
    const blocks = messages.flatMap(({ content }): unknown[] =>
      Array.isArray(content) ? content : [{ type: "text", text: content }],
    );
    const uses = matching(blocks, toolUseSchema);
    // The service shows the model a deferred tool only after a search.
    const offered = tools.filter(({ defer_loading: isDeferred }) => isDeferred !== true);
    return {
      tools: offered.map(({ name }) => name),
      calls: matching(blocks, toolResultSchema).map(({ tool_use_id: id, content }) => ({
        tool: uses.find((use) => use.id === id)?.name ?? "",
        shown: textOf(content),
      })),
      lateResults: blocks.flatMap((block) => taskResult(textOf([block])) ?? []),
    };
  },
  write(response, reply, body) {
    const usage = { input_tokens: 100, output_tokens: 20 };
    const message = {
      id: `msg_${randomUUID()}`,
      type: "message",
      role: "assistant",
      model: anthropicSchema.parse(body).model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage,
    };
    const [block, delta] =
      "say" in reply
        ? [
            { type: "text", text: "" },
            { type: "text_delta", text: reply.say },
          ]
        : [
            { type: "tool_use", id: `toolu_${randomUUID()}`, name: reply.call, input: {} },
            { type: "input_json_delta", partial_json: JSON.stringify(reply.args) },
          ];
    const end = { stop_reason: "say" in reply ? "end_turn" : "tool_use", stop_sequence: null };
    writeEvents(response, [
      { type: "message_start", message },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: end, usage },
      { type: "message_stop" },
    ]);
  },
};

/** Claude Code tells the model in a message when something that went on in the background has ended. */
function taskResult(message: string): string | undefined {
  return /<task-notification>[^]*<result>([^]*)<\/result>/.exec(message)?.[1];
}

const functionToolSchema = z.looseObject({ function: namedSchema });
const completionsSchema = z.looseObject({
  messages: z.array(
    z.looseObject({
      role: z.string(),
      content: z.unknown(),
      tool_call_id: z.string().optional(),
      tool_calls: z.array(functionToolSchema.extend({ id: z.string() })).nullish(),
    }),
  ),
  tools: z.array(functionToolSchema).default([]),
});

const chatCompletions: Dialect = {
  path: /\/chat\/completions$/,
  read(body) {
    const { messages, tools } = completionsSchema.parse(body);
    const made = messages.flatMap(({ tool_calls: calls }) => calls ?? []);
    const results = messages.filter(({ role }) => role === "tool");
    return {
      tools: tools.map((tool) => tool.function.name),
      calls: results.map(({ tool_call_id: id, content }) => ({
        tool: made.find((call) => call.id === id)?.function.name ?? "",
        shown: textOf(content),
      })),
      lateResults: [],
    };
  },
  write(response, reply) {
    const delta = { role: "assistant", ...("say" in reply ? { content: reply.say } : toolCallOf(reply)) };
    const finishReason = "say" in reply ? "stop" : "tool_calls";
    const id = `chatcmpl-${randomUUID()}`;
    const chunk = { id, created: 1, model: "scripted", object: "chat.completion.chunk" };
    writeData(response, [
      { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: finishReason }] },
      { ...chunk, choices: [], usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } },
      "[DONE]",
    ]);
  },
};

function toolCallOf({ call, args }: Exclude<Reply, { say: string }>) {
  const called = { name: call, arguments: JSON.stringify(args) };
  const toolCall = { index: 0, id: `call_${randomUUID()}`, type: "function", function: called };
  return { content: null, tool_calls: [toolCall] };
}

/** Codex puts the tools of a server into a namespace. A call names both. */
const NAMESPACE_END = "/";
const responsesSchema = z.looseObject({ input: z.unknown(), tools: z.array(z.unknown()).default([]) });
const functionSchema = z.looseObject({ type: z.string(), name: z.string().optional() });
const namespaceSchema = namedSchema.extend({ type: z.literal("namespace"), tools: z.array(namedSchema) });
const functionCallSchema = namedSchema.extend({
  type: z.literal("function_call"),
  call_id: z.string(),
  namespace: z.string().optional(),
});
const functionOutputSchema = z.looseObject({
  type: z.literal("function_call_output"),
  call_id: z.string(),
  output: z.unknown(),
});

const responses: Dialect = {
  path: /\/responses$/,
  read(body) {
    const { input, tools } = responsesSchema.parse(body);
    const items = Array.isArray(input) ? input : [];
    const made = matching(items, functionCallSchema);
    return {
      tools: tools.flatMap(offeredFunctions),
      calls: matching(items, functionOutputSchema).map(({ call_id: id, output }) => {
        const call = made.find((one) => one.call_id === id);
        const namespace = call?.namespace === undefined ? "" : `${call.namespace}${NAMESPACE_END}`;
        return { tool: `${namespace}${call?.name ?? ""}`, shown: textOf(output) };
      }),
      lateResults: [],
    };
  },
  write(response, reply) {
    const item = "say" in reply ? messageOf(reply.say) : functionCallOf(reply);
    const delta = "say" in reply && {
      type: "response.output_text.delta",
      item_id: item.id,
      output_index: 0,
      content_index: 0,
      delta: reply.say,
    };
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 120,
    };
    const about = { id: `resp_${randomUUID()}`, object: "response", created_at: 1, model: "scripted" };
    const events: readonly StreamEvent[] = [
      { type: "response.created", response: { ...about, status: "in_progress", output: [] } },
      { type: "response.output_item.added", output_index: 0, item },
      ...(delta === false ? [] : [delta]),
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { ...about, status: "completed", output: [item], usage } },
    ];
    writeEvents(
      response,
      events.map((event, index) => ({ ...event, sequence_number: index })),
    );
  },
};

function offeredFunctions(tool: unknown): string[] {
  const namespace = namespaceSchema.safeParse(tool).data;
  if (namespace !== undefined)
    return namespace.tools.map(({ name }) => `${namespace.name}${NAMESPACE_END}${name}`);
  const { type, name = type } = functionSchema.parse(tool);
  return [name];
}

function messageOf(text: string) {
  const content = [{ type: "output_text", text, annotations: [] }];
  return { type: "message", id: `msg_${randomUUID()}`, role: "assistant", status: "completed", content };
}

function functionCallOf({ call, args }: Exclude<Reply, { say: string }>) {
  const [name = call, namespace] = call.split(NAMESPACE_END).reverse();
  return {
    type: "function_call",
    id: `fc_${randomUUID()}`,
    call_id: `call_${randomUUID()}`,
    ...(namespace !== undefined && { namespace }),
    name,
    arguments: JSON.stringify(args),
    status: "completed",
  };
}

const geminiSchema = z.looseObject({
  contents: z.array(z.looseObject({ parts: z.array(z.unknown()).default([]) })),
  tools: z.array(z.looseObject({ functionDeclarations: z.array(namedSchema).default([]) })).default([]),
});
const functionResponseSchema = z.looseObject({
  functionResponse: namedSchema.extend({ response: z.unknown() }),
});

const gemini: Dialect = {
  path: /:streamGenerateContent$/,
  read(body) {
    const { contents, tools } = geminiSchema.parse(body);
    const parts = contents.flatMap((content) => content.parts);
    return {
      tools: tools.flatMap(({ functionDeclarations }) => functionDeclarations.map(({ name }) => name)),
      calls: matching(parts, functionResponseSchema).map(({ functionResponse }) => ({
        tool: functionResponse.name,
        shown: textOf(functionResponse.response),
      })),
      lateResults: [],
    };
  },
  write(response, reply) {
    const part =
      "say" in reply ? { text: reply.say } : { functionCall: { name: reply.call, args: reply.args } };
    writeData(response, [
      {
        candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 },
        modelVersion: "scripted",
      },
    ]);
  },
};

export const DIALECTS: readonly Dialect[] = [anthropic, chatCompletions, responses, gemini];

interface StreamEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

function writeEvents(response: ServerResponse, events: readonly StreamEvent[]): void {
  writeStream(
    response,
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}`),
  );
}

function writeData(response: ServerResponse, chunks: readonly unknown[]): void {
  const texts = chunks.map((chunk) => (typeof chunk === "string" ? chunk : JSON.stringify(chunk)));
  writeStream(
    response,
    texts.map((text) => `data: ${text}`),
  );
}

function writeStream(response: ServerResponse, events: readonly string[]): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  for (const event of events) response.write(`${event}\n\n`);
  response.end();
}
