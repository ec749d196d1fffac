// Registers the tools with the SDK, and turns what a tool returned or threw into a result of the protocol.
// Their arguments are checked by runTool, so that a refusal looks like any other failure: the SDK only lists
// the schemas.

import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
  type StandardSchemaWithJSON,
} from "@modelcontextprotocol/server";
import { type BridgeError, describeFailure, type Effect, toBridgeError } from "../errors.ts";
import { cleanServiceText } from "../text.ts";
import { toolsFor } from "../tools/catalog.ts";
import { runTool, type Tool, type ToolContext } from "../tools/tool.ts";
import { TOOL_SCHEMAS } from "./tool-schemas.ts";
import type { Application } from "./application.ts";
import { CARD_URI } from "./card/card.ts";
import { AskUser } from "./elicitation.ts";
import { maxWaitSeconds } from "./patience.ts";
import { waitWithProgress } from "./progress.ts";
import type { Hook } from "./transport.ts";
import { valueAt } from "./value-at.ts";

type McpRequest = ServerContext["mcpReq"];

/** How calls become tasks. The tasks themselves need the results that are made here. */
interface TaskCalls {
  answer(result: Readonly<Record<string, unknown>>, request: McpRequest): CallToolResult;
  isOptionalFor(tool: Tool): boolean;
}

/** Marks a legacy call for a task: the SDK shows a tool the `_meta` of its call, but not its `task`. */
export const TASK_REQUESTED = "faceless/task-requested";

/** Hooks for the transport. */
export const toolHooks: Readonly<Record<string, Hook>> = {
  "tools/call": {
    inbound(message) {
      if (!("method" in message) || message.params?.["task"] === undefined) return undefined;
      const { params } = message;
      return { ...message, params: { ...params, _meta: { ...params._meta, [TASK_REQUESTED]: true } } };
    },
  },
};

/** `tasks` is given if the client may call a tool as a task. */
export function registerTools(server: McpServer, application: Application, tasks?: TaskCalls): void {
  const { log } = application;
  for (const tool of toolsFor(application.config)) {
    const { name, title, description, annotations, effect } = tool;
    const registered = server.registerTool(
      name,
      {
        title,
        description,
        annotations: { title, ...annotations },
        ...schemas(name),
        ...(tool.startsJob === true && { _meta: { ui: { resourceUri: CARD_URI } } }),
      },
      async (args, { mcpReq }) => {
        try {
          const result = await runTool(tool, args, toolContext(application, server, mcpReq));
          // A repeated call isn't a task: it has to say at once that nothing was charged.
          if (tool.startsJob !== true || result["alreadyStarted"] === true) return successResult(result);
          // Each job is a resource.
          server.server
            .sendResourceListChanged()
            .catch((error: unknown) => log.debug("A notification was not sent.", error));
          return tasks?.answer(result, mcpReq) ?? successResult(result);
        } catch (error) {
          if (error instanceof AskUser) return error.result;
          const failure = toBridgeError(error, effect === "reads" ? "rejected" : "unknown");
          log.info(`${name}: ${failure.message}`, failure.cause);
          return failureResult(failure, effect, application.clock.now());
        }
      },
    );
    if (tasks?.isOptionalFor(tool) === true) registered.execution = { taskSupport: "optional" };
  }
}

function schemas(name: string) {
  const json = TOOL_SCHEMAS[name];
  if (json === undefined) throw new TypeError(`${name} has no schemas.`);
  const letThrough = (value: unknown) => ({ value });
  return {
    inputSchema: schemaFrom(json.input, letThrough),
    outputSchema: schemaFrom(json.output, letThrough),
  };
}

function toolContext(application: Application, server: McpServer, mcpReq: McpRequest): ToolContext {
  const { elicitation, config, clock } = application;
  const { signal } = mcpReq;
  const calledMs = clock.monotonicMs();
  return {
    ...application,
    signal,
    get client() {
      return clientName(server, mcpReq);
    },
    maxWaitSeconds: maxWaitSeconds(
      valueAt(clientInfo(server, mcpReq), "name"),
      mcpReq._meta?.progressToken !== undefined,
    ),
    // A server that is not set up asks nothing: the request says what is missing.
    askUser: async (question) => config.problems.length > 0 || elicitation.confirm(server, mcpReq, question),
    async waitForEnd(job, forMs) {
      // The client's time-out began with its call, and asking for the job has taken some of it.
      const leftMs = calledMs + forMs - clock.monotonicMs();
      return waitWithProgress(application, mcpReq, { job, forMs: leftMs, signal });
    },
  };
}

/** A legacy client gives its name once, at initialize; a modern one with each request. */
function clientInfo(server: McpServer, { envelope }: McpRequest): unknown {
  return valueAt(envelope, CLIENT_INFO_META_KEY) ?? server.server.getClientVersion();
}

/** "Claude Desktop 1.2.3". */
function clientName(server: McpServer, request: McpRequest): string | undefined {
  const info = clientInfo(server, request);
  const [title, name, version] = ["title", "name", "version"]
    .map((key) => valueAt(info, key))
    .map((text) => (typeof text === "string" ? cleanServiceText(text, 40) : ""));
  return `${title || name} ${version}`.trim() || undefined;
}

/** A schema that is listed as this JSON. */
export function schemaFrom<Value>(
  json: Record<string, unknown>,
  validate: StandardSchemaWithJSON<unknown, Value>["~standard"]["validate"],
): StandardSchemaWithJSON<unknown, Value> {
  const jsonSchema = { input: () => json, output: () => json };
  return { "~standard": { version: 1, vendor: "faceless-video-mcp", validate, jsonSchema } };
}

/** Text and structure say the same, since some clients show the model only the one, some only the other. */
export function successResult(structuredContent: Readonly<Record<string, unknown>>): CallToolResult {
  const { summary, nextStep, ...rest } = structuredContent;
  const guidance = [summary, nextStep].filter((part) => typeof part === "string").join(" ");
  return {
    content: [{ type: "text", text: `${guidance}\n${JSON.stringify(rest)}` }],
    structuredContent,
  };
}

export function failureResult(error: BridgeError, effect: Effect, nowMs: number): CallToolResult {
  return {
    content: [{ type: "text", text: describeFailure(error, effect, nowMs) }],
    isError: true,
    _meta: { "faceless/error": errorMeta(error) },
  };
}

/** A failed read, as a JSON-RPC error. */
export function protocolError(
  error: BridgeError,
  nowMs: number,
  data: Record<string, unknown> = {},
): ProtocolError {
  const details = { ...data, "faceless/error": errorMeta(error) };
  return new ProtocolError(ProtocolErrorCode.InternalError, describeFailure(error, "reads", nowMs), details);
}

/** The machine-readable half of a failure. */
export function errorMeta({ facts }: BridgeError): Record<string, unknown> {
  const { code, status, outcome, retryable, retryAfterSeconds } = facts;
  return { code, status, outcome, retryable, retryAfterSeconds };
}
