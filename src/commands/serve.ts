// The MCP server on stdio: makes the state that outlives connections and serves it.

import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Readable, Writable } from "node:stream";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../jobs/clock.ts";
import { createJobReader } from "../jobs/job-reader.ts";
import { createSchedule } from "../jobs/schedule.ts";
import { createJobStore } from "../jobs/store.ts";
import { waitForEnd } from "../jobs/wait.ts";
import { createWatcher } from "../jobs/watcher.ts";
import { createLog, type Log } from "../log.ts";
import type { Application } from "../mcp/application.ts";
import { Elicitation } from "../mcp/elicitation.ts";
import { createServer } from "../mcp/server.ts";
import { StdioTransport } from "../mcp/transport/stdio-transport.ts";
import { createSubscriptions } from "../mcp/subscriptions.ts";
import { GenerationLimit } from "../once/generation-limit.ts";
import { createJournal } from "../once/journal.ts";
import { SendOnce } from "../once/send-once.ts";
import type { Service } from "../service/client.ts";
import { deferService, unconfiguredService } from "../service/deferred.ts";
import type { Config, ServiceConfig } from "../config.ts";
import { createRedact, type Redact } from "../redact.ts";
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

/** The processes of this machine. */
export interface Host {
  /** Of this process. */
  readonly pid: number;
  readonly isRunning: (pid: number) => boolean;
}

export interface Server {
  /**
   * Ends the watching at once and takes no more requests. Resolves when no paid or public one is on its way, `patienceMs` at
   * the latest.
   */
  end(patienceMs: number): Promise<void>;
}

/** A guarded call has little time for it. */
const LOOK_AT_JOB_MS = 1_500;

/** Serves until the client leaves, then calls `onClosed`. */
export function serve(
  config: Config,
  { input, output, writeLog, ...host }: Streams & Host,
  onClosed: () => void,
  options: ServeOptions = {},
): Server {
  const redact = createRedact(config.service?.apiKey);
  const log = createLog(config.logLevel, redact, writeLog);
  const service = serviceOf(config);
  const application = createApplication(config, service, log, redact, host, options);
  for (const { variable, problem, fix } of [...config.problems, ...config.warnings])
    log.warn(`${variable} ${problem}. ${fix}.`);
  const subscriptions = createSubscriptions(application);
  const transport = new StdioTransport({
    input,
    output,
    transformOutgoing: redact,
    onInbound(message) {
      subscriptions.onInbound(message);
      return message;
    },
    onOutbound(message) {
      subscriptions.onOutbound(message);
      return message;
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
      transport.stopReceiving();
      subscriptions.close();
      application.watcher.close();
      const finished = application.once.finish((jobId) => {
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
  config: Config,
  service: Service,
  log: Log,
  redact: Redact,
  host: Host,
  { maxWatched }: ServeOptions,
): Application {
  const clock = systemClock;
  const jobs = createJobStore(clock.now);
  const reader = createJobReader({ source: service, store: jobs, now: clock.now });
  const lookAtJob = (jobId: string, signal: AbortSignal | undefined) => {
    const known = jobs.get(jobId)?.job;
    if (known?.done === true && known.finalVideoUrl !== undefined) return Promise.resolve(known);
    const read = reader.read(jobId, { background: false, signal }).catch(() => undefined);
    return Promise.race([read, sleep(LOOK_AT_JOB_MS, undefined, { ref: false })]);
  };
  const journal = createJournal({
    folder: journalFolder(config),
    now: clock.now,
    redact,
    onUnwritable: (reason) => log.warn(`No journal is kept: its folder can't be written (${reason}).`),
    pid: host.pid,
  });
  const once = new SendOnce({
    service,
    journal,
    generationLimit: new GenerationLimit(config.maxGenerations),
    account: accountOf(config),
    lookAtJob,
    isKnownJob: (jobId) => jobs.get(jobId) !== undefined,
    onListed: (videos) => jobs.list(videos, true),
    isRunning: host.isRunning,
    pid: host.pid,
    now: clock.now,
    monotonicMs: () => performance.now(),
  });
  let recalled: Promise<void> | undefined;
  const recallJobs = () =>
    (recalled ??= once.startedJobs().then(
      (started) => jobs.recall(started),
      (error: unknown) => log.info("The jobs of earlier processes are not known.", error),
    ));
  const schedule = createSchedule({
    ...(config.pollSeconds !== undefined && { fixedMs: config.pollSeconds * 1000 }),
    random: Math.random,
  });
  const watcher = createWatcher({ source: service, reader, store: jobs, schedule, clock, log, maxWatched });
  return {
    version: VERSION,
    config,
    service,
    jobs,
    reader,
    watcher,
    waitForEnd: (wait) => waitForEnd({ watcher, store: jobs, clock }, wait),
    once,
    lookAtJob,
    recallJobs,
    elicitation: new Elicitation({ isEnabled: config.confirmPublish, log }),
    log,
  };
}

/** What the journal tells accounts apart by. A sandbox is a new one with every process. */
function accountOf({ service, sandbox }: Config): string {
  if (service !== undefined) return `${service.baseUrl.href} ${service.apiKey}`;
  return sandbox ? crypto.randomUUID() : "none";
}

/** The platform's folder for state, unless the person named one or none; a sandbox's jobs are gone with it. */
function journalFolder({ stateDir, sandbox, problems }: Config): string | undefined {
  if (stateDir === false || problems.length > 0) return undefined;
  if (stateDir !== undefined) return stateDir;
  if (sandbox) return undefined;
  return stateFolder();
}

function serviceOf(config: Config): Service {
  const { service, problems, sandbox } = config;
  if (problems.length > 0) return unconfiguredService(problems);
  if (sandbox) return deferService(() => startSandboxService(config));
  if (service === undefined) throw new TypeError("Config without a problem name a service.");
  return deferService(() => connectService(service, config));
}

async function connectService(service: ServiceConfig, { pollSeconds }: Config): Promise<Service> {
  const { createService } = await import("../service/client.ts");
  return createService({
    config: service,
    version: VERSION,
    now: Date.now,
    random: Math.random,
    // Whoever sets the interval has it, unless the service itself names a limit.
    ...(pollSeconds !== undefined && { unknownPolls: Infinity }),
  });
}

async function startSandboxService(config: Config): Promise<Service> {
  const { startSandbox } = await import("../sandbox/sandbox.ts");
  const sandbox = await startSandbox({ renderSeconds: config.sandboxSeconds });
  const { apiKey, url } = sandbox;
  const service = await connectService({ apiKey, baseUrl: new URL(url), proxies: {} }, config);
  return {
    ...service,
    close() {
      service.close();
      void sandbox.close();
    },
  };
}
