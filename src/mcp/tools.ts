// Calls the tools. Their arguments are checked by runTool, so that a refusal looks like any other failure.

import type { McpServer } from "@modelcontextprotocol/server";
import { inSentences } from "../sentences.ts";
import { cleanServiceText } from "../text.ts";
import { TOOLS } from "../tools/catalog.ts";
import { offered } from "../tools/listing.ts";
import { runTool, structureOf, type ToolContext } from "../tools/tool.ts";
import type { Application } from "./application.ts";
import type { ConnectedClient } from "./connected-client.ts";
import { AskUser, type Elicitation } from "./elicitation.ts";
import { Progress, waitWithProgress } from "./progress.ts";
import { failureResult, invalidParams, successResult } from "./results.ts";
import type { Tasks } from "./tasks.ts";
import { valueAt } from "../value-at.ts";

/** The SDK's own registration would check arguments first, and hide whether a call asks for a task. */
export function registerTools(
  { server }: McpServer,
  application: Application,
  client: ConnectedClient,
  tasks: Tasks,
  elicitation: Elicitation,
): void {
  const { log, config, clock } = application;
  const tools = offered(TOOLS, config);
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined) throw invalidParams(`Tool ${params.name} not found`);
    const { signal, _meta } = mcpReq;
    /** The sentences about yeses that came too late. Each is said once, so not to a call that has ended. */
    const takeTooLate = (result: object = {}) => {
      const isNamed = (id: string) => JSON.stringify([params.arguments, result]).toLowerCase().includes(id);
      return signal.aborted ? undefined : elicitation.takeTooLate(isNamed);
    };
    const progress = new Progress(mcpReq);
    const calledMs = clock.monotonicMs();
    // Fields that follow a spread would take longer than the rest of this.
    const context: ToolContext = Object.assign({}, application, {
      signal,
      client: describeClient(client.info(mcpReq)),
      maxWaitSeconds: client.maxWaitSeconds(mcpReq, _meta?.progressToken !== undefined),
      async waitForEnd(job, forMs) {
        // The client's time-out began with its call, and asking for the job has taken some of it.
        const leftMs = calledMs + forMs - clock.monotonicMs();
        return waitWithProgress(application, progress, { job, forMs: leftMs, signal });
      },
      askUser: (question) => elicitation.confirm(mcpReq, progress, question),
    } satisfies Partial<ToolContext>);
    try {
      const ran = await runTool(tool, params.arguments, context);
      const tooLate = takeTooLate(ran.fields);
      const result = tooLate
        ? structureOf({ ...ran, summary: inSentences(ran.summary, tooLate) })
        : ran.fields;
      // A repeated call isn't a task: it has to say at once that nothing was charged.
      if (tool.startsJob !== true || result["alreadyStarted"] === true) return successResult(result);
      // Each job is a resource.
      server
        .sendResourceListChanged()
        .catch((error: unknown) => log.debug("A notification was not sent.", error));
      return tasks.answer(result, mcpReq, progress, valueAt(params, "task") !== undefined);
    } catch (error) {
      if (error instanceof AskUser) return error.result;
      return failureResult(error, tool.effect, application, takeTooLate());
    }
  });
}

/** "Claude Desktop 1.2.3". */
function describeClient(info: unknown): string | undefined {
  const [title, name, version] = ["title", "name", "version"]
    .map((key) => valueAt(info, key))
    .map((text) => (typeof text === "string" ? cleanServiceText(text, 40) : ""));
  return `${title || name} ${version}`.trim() || undefined;
}
