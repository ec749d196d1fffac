// What answers a client's calls: the application, and the questions, tasks and subscriptions of the connection.

import type { McpServer, ProtocolEra } from "@modelcontextprotocol/server";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import { errnoOf } from "../errors.ts";
import type { Log, OwnLog } from "../log.ts";
import type { ConnectedClient } from "../mcp/connected-client.ts";
import { Elicitation } from "../mcp/elicitation.ts";
import { registerPrompts } from "../mcp/prompts.ts";
import { registerResources } from "../mcp/resources.ts";
import { Subscriptions } from "../mcp/subscriptions.ts";
import { Tasks } from "../mcp/tasks.ts";
import { registerTools } from "../mcp/tools.ts";
import { inSentences } from "../sentences.ts";
import type { WebhookReceiver } from "../service/webhook-receiver.ts";
import { openApplication } from "./create-application.ts";

export type Calls = ReturnType<typeof serveCalls>;

interface Options extends OwnLog {
  readonly config: Config;
  readonly clock: Clock;
  /** Whole lines for the log. */
  readonly writeLog: (line: string) => void;
  readonly client: ConnectedClient;
}

/** The time to remove unfinished downloads at the end. */
const CLEAN_UP_MS = 50;

export function serveCalls({ config, clock, log, redact, writeLog, client }: Options) {
  // Calls are faster once zod may compile its schemas, which the build forbids at the start.
  z.config({ jitless: false });
  const application = openApplication(
    config,
    clock,
    { log, redact },
    {
      webhookPort: async () => (await receiver)?.port,
    },
  );
  const { jobs, poller, videoSaver, service } = application;
  const receiver = openReceiver(config, log, (jobId) => poller.hint(jobId));
  const subscriptions = new Subscriptions(application);
  const tasks = new Tasks(application, client);
  const elicitation = new Elicitation({ log, clock, client });
  // Long files take seconds to read, so reading begins before the first call needs them. A database is not read.
  if (config.journalUrl === undefined) void jobs.restore();
  return {
    /** Answers what comes to this server of the connection. */
    attach(server: McpServer, era: ProtocolEra): void {
      registerTools(server, application, client, tasks, elicitation);
      registerResources(server, application, client);
      registerPrompts(server, application, client);
      subscriptions.attach(server);
      tasks.attach(server, era);
    },
    hooks: subscriptions.hooks,
    /** Resolves when the jobs of earlier processes are known, which any answer may show. */
    ready: () => jobs.restore(),
    /** Stops polling. Resolves when no paid or public request is in flight any more, or after `patienceMs`. */
    async end(patienceMs: number): Promise<void> {
      subscriptions.close();
      tasks.close();
      poller.close();
      void receiver.then((opened) => opened?.close());
      const nothingHalfSaved = Promise.race([
        videoSaver.close(),
        sleep(CLEAN_UP_MS, undefined, { ref: false }),
      ]);
      jobs.on("start", (jobId) => {
        writeLog(redact(`faceless-video-mcp: job ${jobId} was started as this server ended\n`));
      });
      const finished = application.finishPaidRequests();
      await Promise.race([finished, sleep(patienceMs, undefined, { ref: false })]);
      await nothingHalfSaved;
    },
    disconnect: () => service.close(),
  };
}

/** Resolves to nothing, after a warning, if the port is not available: jobs are then only polled. */
async function openReceiver(
  { webhookPort: port }: Config,
  log: Log,
  onHint: (jobId: string) => void,
): Promise<WebhookReceiver | undefined> {
  if (port === undefined) return undefined;
  const { receiveWebhooks } = await import("../service/webhook-receiver.ts");
  try {
    return await receiveWebhooks({ port, onHint });
  } catch (error) {
    log.warn(
      inSentences(
        `FACELESS_WEBHOOK_PORT: port ${port} can't be opened (${errnoOf(error) ?? "unknown reason"}),`,
        "so polling without webhooks is used.",
        "If another server process uses it, that one gets updates sooner.",
      ),
    );
    return undefined;
  }
}
