// The MCP server on stdio: makes the state that outlives connections and serves it.

import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Readable, Writable } from "node:stream";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../jobs/clock.ts";
import { createJobReader } from "../jobs/job-reader.ts";
import { createJournal } from "../jobs/journal.ts";
import { createPaidRequests } from "../jobs/paid-requests.ts";
import { createSchedule } from "../jobs/schedule.ts";
import { createJobStore } from "../jobs/store.ts";
import { waitForEnd } from "../jobs/wait.ts";
import { createWatcher } from "../jobs/watcher.ts";
import { createLog, type Log } from "../log.ts";
import type { Application } from "../mcp/application.ts";
import { createConfirmations } from "../mcp/confirmation.ts";
import { createFailedQuestions } from "../mcp/failed-questions.ts";
import { createServer } from "../mcp/server.ts";
import { createStdioTransport } from "../mcp/stdio.ts";
import { createSubscriptions } from "../mcp/subscriptions.ts";
import type { Service } from "../service/client.ts";
import { lazyService, unconfiguredService } from "../service/lazy-service.ts";
import type { CallOptions } from "../service/requests.ts";
import type { VideosQuery } from "../service/schemas.ts";
import type { ServiceSettings, Settings } from "../settings.ts";
import { createRedact, type Redact } from "../text.ts";
import { createGenerationLimit } from "../tools/generation-limit.ts";
import { VERSION } from "../version.ts";
import { stateFolder } from "./state-folder.ts";

export interface ServeOptions {
  /** Most jobs polled at once; the watcher's own limit unless told. */
  readonly maxWatched?: number | undefined;
}

export interface Streams {
  readonly input: Readable;
  readonly output: Writable;
  /** Whole lines for the log. */
  readonly writeLog: (line: string) => void;
}

export interface Server {
  /**
   * Ends the watching at once and takes no more requests. Resolves when no paid or public one is on its way, `patienceMs` at
   * the latest.
   */
  end(patienceMs: number): Promise<void>;
}

/** Serves until the client leaves, then calls `onClosed`. */
export function serve(
  settings: Settings,
  { input, output, writeLog }: Streams,
  onClosed: () => void,
  options: ServeOptions = {},
): Server {
  const redact = createRedact(settings.service?.apiKey);
  const log = createLog(settings.logLevel, redact, writeLog);
  const service = serviceOf(settings);
  const application = createApplication(settings, service, log, redact, options);
  for (const { variable, problem, remedy } of settings.problems)
    log.warn(`${variable} ${problem}. ${remedy}.`);
  const subscriptions = createSubscriptions(application);
  const questions = createFailedQuestions();
  const transport = createStdioTransport({
    input,
    output,
    outgoing: redact,
    onInbound(message) {
      subscriptions.onInbound(message);
      return questions.onInbound(message);
    },
    onOutbound(message, options) {
      subscriptions.onOutbound(message);
      return questions.onOutbound(message, options);
    },
  });
  serveStdio(() => createServer(application, subscriptions), {
    transport,
    onerror: (error) => log.debug(`stdio: ${error.message}`),
  });
  const closed = transport.onclose;
  // eslint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's Transport has no other way
  transport.onclose = () => {
    closed?.();
    subscriptions.close();
    onClosed();
  };
  return {
    async end(patienceMs) {
      transport.takeNoMore();
      subscriptions.close();
      application.watcher.close();
      const finished = application.paid.finish((jobId) => {
        writeLog(redact(`faceless-video-mcp: job ${jobId} was started as this server ended\n`));
      });
      await Promise.race([finished, sleep(patienceMs, undefined, { ref: false })]);
      // What the service has said goes to the client, who may still be reading.
      await nextTurn();
      await transport.close();
      service.close();
    },
  };
}

function createApplication(
  settings: Settings,
  service: Service,
  log: Log,
  redact: Redact,
  { maxWatched }: ServeOptions,
): Application {
  const clock = systemClock;
  const journal = createJournal({
    folder: journalFolder(settings),
    now: clock.now,
    redact,
    onUnwritable: (reason) => log.warn(`No journal is kept: its folder can't be written (${reason}).`),
  });
  const paid = createPaidRequests({ journal, account: accountOf(settings), now: clock.now });
  const jobs = createJobStore(clock.now, paid.started);
  const reader = createJobReader({ source: service, store: jobs, now: clock.now });
  const schedule = createSchedule({
    ...(settings.pollSeconds !== undefined && { fixedMs: settings.pollSeconds * 1000 }),
    random: Math.random,
  });
  const source = {
    ...service,
    listing: () => ({ maxLimit: 100, canPage: false }),
    listVideos: (query: VideosQuery, options?: CallOptions) =>
      query.limit === undefined ? service.listVideos(query, options) : service.listNewestVideos(options),
  };
  const watcher = createWatcher({ source, reader, store: jobs, schedule, clock, log, maxWatched });
  return {
    version: VERSION,
    settings,
    service,
    jobs,
    reader,
    watcher,
    waitForEnd: (wait) => waitForEnd({ watcher, store: jobs, clock }, wait),
    paid,
    confirmations: createConfirmations({
      enabled: settings.confirmPublish,
      log,
      now: () => performance.now(),
    }),
    generationLimit: createGenerationLimit(settings.maxGenerations),
    log,
  };
}

/** What the journal tells accounts apart by. A sandbox is a new one with every process. */
function accountOf({ service, sandbox }: Settings): string {
  if (service !== undefined) return `${service.baseUrl.href} ${service.apiKey}`;
  return sandbox ? crypto.randomUUID() : "none";
}

/** The platform's folder for state, unless the person named one or none; a sandbox's jobs are gone with it. */
function journalFolder({ stateDir, sandbox, problems }: Settings): string | undefined {
  if (stateDir === false || problems.length > 0) return undefined;
  if (stateDir !== undefined) return stateDir;
  if (sandbox) return undefined;
  return stateFolder();
}

function serviceOf(settings: Settings): Service {
  const { service, problems, sandbox } = settings;
  if (problems.length > 0) return unconfiguredService(problems);
  if (sandbox) return lazyService(() => startSandboxService(settings));
  if (service === undefined) throw new TypeError("Settings without a problem name a service.");
  return lazyService(() => connectService(service, settings));
}

async function connectService(service: ServiceSettings, { pollSeconds }: Settings): Promise<Service> {
  const { createService } = await import("../service/client.ts");
  return createService({
    settings: service,
    version: VERSION,
    now: Date.now,
    random: Math.random,
    // Whoever sets the interval has it, unless the service itself names a limit.
    ...(pollSeconds !== undefined && { backgroundPerMinute: Infinity }),
  });
}

async function startSandboxService(settings: Settings): Promise<Service> {
  const { startSandbox } = await import("../sandbox/sandbox.ts");
  const sandbox = await startSandbox({ renderSeconds: settings.sandboxSeconds });
  const { apiKey, url } = sandbox;
  const service = await connectService({ apiKey, baseUrl: new URL(url), proxies: {} }, settings);
  return {
    ...service,
    close() {
      service.close();
      void sandbox.close();
    },
  };
}
