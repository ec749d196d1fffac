// Lists and calls the tools. Their arguments are checked by runTool, so that a refusal looks like any other failure.

import {
  CLIENT_INFO_META_KEY,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { toBridgeError } from "../errors.ts";
import { inSentences, textFor } from "../sentences.ts";
import { cleanServiceText } from "../text.ts";
import { toolsFor } from "../tools/catalog.ts";
import { runTool, structureOf, type Tool, type ToolContext } from "../tools/tool.ts";
import { TOOL_SCHEMAS } from "../tools/tool-schemas.ts";
import type { Application } from "./application.ts";
import { CARD_URI } from "./card/card.ts";
import { canAsk } from "./connected-client.ts";
import { AskUser, type Elicitation } from "./elicitation.ts";
import { maxWaitSeconds, withMaxWait } from "./patience.ts";
import { Progress, waitWithProgress } from "./progress.ts";
import { failureResult, successResult } from "./results.ts";
import type { Tasks } from "./tasks.ts";
import { valueAt } from "../value-at.ts";

type McpRequest = ServerContext["mcpReq"];

/** The SDK's own registration would check arguments first, and hide whether a call asks for a task. */
export function registerTools(
  { server }: McpServer,
  application: Application,
  tasks: Tasks,
  elicitation: Elicitation,
): void {
  const { log, config } = application;
  const tools = toolsFor(config);
  server.registerCapabilities({ tools: { listChanged: false } });
  server.setRequestHandler("tools/list", (_request, { mcpReq }) => {
    const shown = {
      seconds: maxWaitSeconds(clientInfo(server, mcpReq), true),
      asTask: tasks.listsTaskSupport,
      sandbox: config.sandbox,
      asksUser: application.asksBeforeOrders && canAsk(server, mcpReq),
    };
    return { tools: tools.map((tool) => toListing(tool, shown)) };
  });
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${params.name} not found`);
    const { name, effect } = tool;
    /** The sentences about yeses that came too late. Each is said once, so not to a call that has ended. */
    const takeTooLate = (result: object = {}) => {
      if (mcpReq.signal.aborted) return undefined;
      const text = JSON.stringify([params.arguments, result]).toLowerCase();
      return elicitation.takeTooLate((jobId) => text.includes(jobId));
    };
    const progress = new Progress(mcpReq);
    const askUser: ToolContext["askUser"] = (question) =>
      elicitation.confirm(server, mcpReq, progress, question);
    try {
      const context = { ...toolContext(application, server, mcpReq, progress), askUser };
      const ran = await runTool(tool, params.arguments, context);
      const result = structureOf({ ...ran, summary: inSentences(ran.summary, takeTooLate(ran.fields)) });
      // A repeated call isn't a task: it has to say at once that nothing was charged.
      if (tool.startsJob !== true || result["alreadyStarted"] === true) return successResult(result);
      // Each job is a resource.
      server
        .sendResourceListChanged()
        .catch((error: unknown) => log.debug("A notification was not sent.", error));
      return tasks.answer(result, mcpReq, progress, valueAt(params, "task") !== undefined);
    } catch (error) {
      if (error instanceof AskUser) return error.result;
      const failure = toBridgeError(error, effect === "reads" ? "rejected" : "unknown");
      log.info(`${name}: ${failure.message}`, failure.cause);
      return failureResult(failure, effect, application, takeTooLate());
    }
  });
}

/** A tool as clients see it, with the longest wait that this client was measured to allow. */
function toListing(
  { name, title, description, descriptionIfAsked, sandboxDescription, annotations, startsJob }: Tool,
  {
    seconds,
    asTask,
    sandbox,
    asksUser,
  }: Readonly<{ seconds: number; asTask: boolean; sandbox: boolean; asksUser: boolean }>,
) {
  const schemas = TOOL_SCHEMAS[name];
  if (schemas === undefined) throw new TypeError(`${name} has no schemas.`);
  return {
    name,
    title,
    description: textFor(
      "model",
      (sandbox ? sandboxDescription : asksUser ? descriptionIfAsked : undefined) ?? description,
    ),
    inputSchema: withMaxWait(schemas.input, seconds),
    annotations: { title, ...annotations },
    ...(startsJob === true && asTask && { execution: { taskSupport: "optional" as const } }),
    ...(startsJob === true && { _meta: { ui: { resourceUri: CARD_URI } } }),
    outputSchema: schemas.output,
  };
}

/** All that a tool may use, but for the question to the user. */
function toolContext(
  application: Application,
  server: McpServer["server"],
  mcpReq: McpRequest,
  progress: Progress,
): Omit<ToolContext, "askUser"> {
  const { clock } = application;
  const { signal } = mcpReq;
  const calledMs = clock.monotonicMs();
  const info = clientInfo(server, mcpReq);
  return {
    ...application,
    signal,
    client: describeClient(info),
    maxWaitSeconds: maxWaitSeconds(info, mcpReq._meta?.progressToken !== undefined),
    async waitForEnd(job, forMs) {
      // The client's time-out began with its call, and asking for the job has taken some of it.
      const leftMs = calledMs + forMs - clock.monotonicMs();
      return waitWithProgress(application, progress, { job, forMs: leftMs, signal });
    },
  };
}

/** A legacy client gives its name once, at initialize; a modern one with each request. */
export function clientInfo(server: McpServer["server"], { envelope }: McpRequest): unknown {
  return valueAt(envelope, CLIENT_INFO_META_KEY) ?? server.getClientVersion();
}

/** "Claude Desktop 1.2.3". */
function describeClient(info: unknown): string | undefined {
  const [title, name, version] = ["title", "name", "version"]
    .map((key) => valueAt(info, key))
    .map((text) => (typeof text === "string" ? cleanServiceText(text, 40) : ""));
  return `${title || name} ${version}`.trim() || undefined;
}
