// The MCP server on stdio: makes the state that outlives connections and serves it.

import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Readable, Writable } from "node:stream";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { type Clock, systemClock } from "../clock.ts";
import { errnoOf } from "../errors.ts";
import type { Log } from "../log.ts";
import { ConnectedClient } from "../mcp/connected-client.ts";
import { Elicitation } from "../mcp/elicitation.ts";
import { createServer } from "../mcp/server.ts";
import { StdioTransport } from "../mcp/transport.ts";
import { Subscriptions } from "../mcp/subscriptions.ts";
import { Tasks } from "../mcp/tasks.ts";
import type { WebhookReceiver } from "../service/webhook-receiver.ts";
import type { Config } from "../config.ts";
import { openApplication } from "./create-application.ts";

/** The streams of the process, and a callback into it. */
export interface Streams {
  readonly input: Readable;
  readonly output: Writable;
  /** Whole lines for the log. */
  readonly writeLog: (line: string) => void;
  /** Called when the client has its list of tools. */
  readonly onListed?: () => void;
}

export type Server = ReturnType<typeof serve>;

/** The time to remove unfinished downloads at the end. */
const CLEAN_UP_MS = 50;

/** Serves until the client leaves, then calls `onClosed`. */
export function serve(
  config: Config,
  { input, output, writeLog, onListed }: Streams,
  onClosed: () => void,
  clock: Clock = systemClock,
) {
  const application = openApplication(config, clock, writeLog, {
    webhookPort: async () => (await receiver)?.port,
  });
  const { log, redact, service } = application;
  for (const { variable, problem, fix } of config.problems) log.warn(`${variable} ${problem}. ${fix}.`);
  const receiver = openReceiver(config, log, (jobId) => application.poller.hint(jobId));
  const subscriptions = new Subscriptions(application);
  const client = new ConnectedClient();
  const tasks = new Tasks(application, client);
  const elicitation = new Elicitation({ log, clock, client });
  const transport = new StdioTransport({
    input,
    output,
    transformOutgoing: redact,
    // Jobs of earlier processes are known before anything is served that may show them.
    ready: () => application.jobs.restore(),
    hooks: {
      ...client.hooks,
      ...subscriptions.hooks,
      "tools/list": {
        answered() {
          onListed?.();
          // Calls are faster once zod may compile its schemas, which the build forbids at the start.
          z.config({ jitless: false });
          // Long files take seconds to read, so reading begins before the first call needs them. A database is not read.
          if (config.journalUrl === undefined) void application.jobs.restore();
        },
      },
    },
  });
  serveStdio(({ era }) => createServer(application, era, subscriptions, tasks, elicitation, client), {
    transport,
    onerror: (error) => log.debug(`stdio: ${error.message}`),
  });
  const closed = transport.onclose;
  // eslint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's Transport has no other way
  transport.onclose = () => {
    closed?.();
    subscriptions.close();
    tasks.close();
    onClosed();
  };
  return {
    /**
     * Stops polling and accepting requests. Resolves when no paid or public one is in flight any more, or
     * after `patienceMs`.
     */
    async end(patienceMs: number): Promise<void> {
      transport.stopReceiving();
      subscriptions.close();
      tasks.close();
      application.poller.close();
      void receiver.then((opened) => opened?.close());
      const nothingHalfSaved = Promise.race([
        application.videoSaver.close(),
        sleep(CLEAN_UP_MS, undefined, { ref: false }),
      ]);
      application.jobs.on("start", (jobId) => {
        writeLog(redact(`faceless-video-mcp: job ${jobId} was started as this server ended\n`));
      });
      const finished = application.finishPaidRequests();
      await Promise.race([finished, sleep(patienceMs, undefined, { ref: false })]);
      await nothingHalfSaved;
      // The service's last answers still go to the client, which may still read.
      await nextTurn();
      await transport.close();
      service.close();
    },
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
      `FACELESS_WEBHOOK_PORT: port ${port} can't be opened (${errnoOf(error) ?? "unknown reason"}), so polling without webhooks is used. If another server process uses it, that one gets updates sooner.`,
    );
    return undefined;
  }
}
