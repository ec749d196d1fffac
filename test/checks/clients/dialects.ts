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

/** What the model reads of a result that is a text, or a list of parts. */
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

const toolUseSchema = z.looseObject({ type: z.literal("tool_use"), id: z.string(), name: z.string() });
const toolResultSchema = z.looseObject({
  type: z.literal("tool_result"),
  tool_use_id: z.string(),
  content: z.unknown(),
});

const anthropic: Dialect = {
  path: /\/messages$/,
  read(body) {
    const { messages, tools } = z
      .looseObject({
        messages: z.array(z.looseObject({ content: z.unknown() })),
        tools: z
          .array(z.looseObject({ name: z.string(), defer_loading: z.boolean().optional() }))
          .default([]),
      })
      .parse(body);
    const blocks = messages.flatMap(({ content }): unknown[] =>
      Array.isArray(content) ? content : [{ type: "text", text: content }],
    );
    const uses = blocks.flatMap((block) => toolUseSchema.safeParse(block).data ?? []);
    const results = blocks.flatMap((block) => toolResultSchema.safeParse(block).data ?? []);
    // The service shows the model a deferred tool only after a search.
    const offered = tools.filter(({ defer_loading: isDeferred }) => isDeferred !== true);
    return {
      tools: offered.map(({ name }) => name),
      calls: results.map(({ tool_use_id: id, content }) => ({
        tool: uses.find((use) => use.id === id)?.name ?? "",
        shown: textOf(content),
      })),
      lateResults: blocks.flatMap((block) => taskResult(textOf([block])) ?? []),
    };
  },
  write(response, reply, body) {
    const block =
      "say" in reply
        ? { type: "text", text: reply.say }
        : { type: "tool_use", id: `toolu_${randomUUID()}`, name: reply.call, input: reply.args };
    const stopReason = "say" in reply ? "end_turn" : "tool_use";
    const message = {
      id: `msg_${randomUUID()}`,
      type: "message",
      role: "assistant",
      model: z.looseObject({ model: z.string() }).parse(body).model,
      stop_sequence: null,
    };
    const usage = { input_tokens: 100, output_tokens: 20 };
    const empty = "say" in reply ? { ...block, text: "" } : { ...block, input: {} };
    const delta =
      "say" in reply
        ? { type: "text_delta", text: reply.say }
        : { type: "input_json_delta", partial_json: JSON.stringify(reply.args) };
    writeEvents(response, [
      { type: "message_start", message: { ...message, content: [], stop_reason: null, usage } },
      { type: "content_block_start", index: 0, content_block: empty },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: stopReason, stop_sequence: null }, usage },
      { type: "message_stop" },
    ]);
  },
};

/** Claude Code tells the model in a message when something that went on in the background has ended. */
function taskResult(message: string): string | undefined {
  return /<task-notification>[^]*<result>([^]*)<\/result>/.exec(message)?.[1];
}

const chatCompletions: Dialect = {
  path: /\/chat\/completions$/,
  read(body) {
    const { messages, tools } = z
      .looseObject({
        messages: z.array(
          z.looseObject({
            role: z.string(),
            content: z.unknown(),
            tool_call_id: z.string().optional(),
            tool_calls: z
              .array(z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string() }) }))
              .nullish(),
          }),
        ),
        tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })).default([]),
      })
      .parse(body);
    const made = messages.flatMap(({ tool_calls: calls }) => calls ?? []);
    return {
      tools: tools.map((tool) => tool.function.name),
      calls: messages
        .filter(({ role }) => role === "tool")
        .map(({ tool_call_id: id, content }) => ({
          tool: made.find((call) => call.id === id)?.function.name ?? "",
          shown: textOf(content),
        })),
      lateResults: [],
    };
  },
  write(response, reply) {
    const message =
      "say" in reply
        ? { role: "assistant", content: reply.say }
        : {
            role: "assistant",
            content: null,
            tool_calls: [
              {
                index: 0,
                id: `call_${randomUUID()}`,
                type: "function",
                function: { name: reply.call, arguments: JSON.stringify(reply.args) },
              },
            ],
          };
    const finishReason = "say" in reply ? "stop" : "tool_calls";
    const id = `chatcmpl-${randomUUID()}`;
    const chunk = { id, created: 1, model: "scripted", object: "chat.completion.chunk" };
    writeData(response, [
      { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: finishReason }] },
      { ...chunk, choices: [], usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } },
      "[DONE]",
    ]);
  },
};

const functionSchema = z.looseObject({ type: z.string(), name: z.string().optional() });
const namespaceSchema = z.looseObject({
  type: z.literal("namespace"),
  name: z.string(),
  tools: z.array(z.looseObject({ name: z.string() })),
});
/** Codex puts the tools of a server into a namespace. A call names both. */
const NAMESPACE_END = "/";

const responses: Dialect = {
  path: /\/responses$/,
  read(body) {
    const { input, tools } = z
      .looseObject({ input: z.unknown(), tools: z.array(z.unknown()).default([]) })
      .parse(body);
    const items = Array.isArray(input) ? input : [];
    const made = items.flatMap(
      (item) =>
        z
          .looseObject({
            type: z.literal("function_call"),
            call_id: z.string(),
            name: z.string(),
            namespace: z.string().optional(),
          })
          .safeParse(item).data ?? [],
    );
    const results = items.flatMap(
      (item) =>
        z
          .looseObject({ type: z.literal("function_call_output"), call_id: z.string(), output: z.unknown() })
          .safeParse(item).data ?? [],
    );
    return {
      tools: tools.flatMap(offeredFunctions),
      calls: results.map(({ call_id: id, output }) => {
        const call = made.find((one) => one.call_id === id);
        const namespace = call?.namespace === undefined ? "" : `${call.namespace}${NAMESPACE_END}`;
        return { tool: `${namespace}${call?.name ?? ""}`, shown: textOf(output) };
      }),
      lateResults: [],
    };
  },
  write(response, reply) {
    const id = `resp_${randomUUID()}`;
    const item =
      "say" in reply
        ? {
            type: "message",
            id: `msg_${randomUUID()}`,
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text: reply.say, annotations: [] }],
          }
        : functionCall(reply);
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 120,
    };
    const about = { id, object: "response", created_at: 1, model: "scripted" };
    const whole = { ...about, status: "completed", output: [item], usage };
    const events: readonly StreamEvent[] = [
      { type: "response.created", response: { ...about, status: "in_progress", output: [] } },
      { type: "response.output_item.added", output_index: 0, item },
      ...("say" in reply
        ? [
            {
              type: "response.output_text.delta",
              item_id: item.id,
              output_index: 0,
              content_index: 0,
              delta: reply.say,
            },
          ]
        : []),
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: whole },
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

function functionCall({ call, args }: { readonly call: string; readonly args: object }) {
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

const functionResponseSchema = z.looseObject({
  functionResponse: z.looseObject({ name: z.string(), response: z.unknown() }),
});

const gemini: Dialect = {
  path: /:streamGenerateContent$/,
  read(body) {
    const { contents, tools } = z
      .looseObject({
        contents: z.array(z.looseObject({ parts: z.array(z.unknown()).default([]) })),
        tools: z
          .array(
            z.looseObject({
              functionDeclarations: z.array(z.looseObject({ name: z.string() })).default([]),
            }),
          )
          .default([]),
      })
      .parse(body);
    const results = contents
      .flatMap(({ parts }) => parts)
      .flatMap((part) => functionResponseSchema.safeParse(part).data ?? []);
    return {
      tools: tools.flatMap(({ functionDeclarations }) => functionDeclarations.map(({ name }) => name)),
      calls: results.map(({ functionResponse }) => ({
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
  startStream(response);
  for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
}

function writeData(response: ServerResponse, chunks: readonly unknown[]): void {
  startStream(response);
  for (const chunk of chunks)
    response.write(`data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}\n\n`);
  response.end();
}

function startStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
}
