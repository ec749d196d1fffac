// The composition root: makes the state that outlives connections and wires it together.

import { GenerateOnce } from "../idempotency/generate-once.ts";
import { Guard, type GuardOptions } from "../idempotency/guard.ts";
import { Journal, type JournalStore, memoryStore } from "../idempotency/journal.ts";
import { PublishOnce } from "../idempotency/publish-once.ts";
import { FactsCache } from "../idempotency/journal-facts.ts";
import { JobBook } from "../jobs/job-book.ts";
import { Poller } from "../jobs/poller.ts";
import { JobReader } from "../jobs/reader.ts";
import { VideoSaver } from "../jobs/save-video.ts";
import { waitForEnd } from "../jobs/wait.ts";
import type { Application } from "../mcp/application.ts";
import type { Clock } from "../clock.ts";
import { type Config, stopsAll } from "../config.ts";
import type { OwnLog } from "../log.ts";
import { notConfiguredError, ServiceClient } from "../service/client.ts";
import { openJournalStore } from "./open-journal.ts";

export interface OpenOptions extends Pick<GuardOptions, "onWait" | "leave"> {
  /** Where a sandbox sends its webhooks. */
  readonly webhookPort?: () => Promise<number | undefined>;
  /** In place of the service that the settings name. */
  readonly service?: ServiceClient;
}

export function openApplication(
  config: Config,
  clock: Clock,
  { log, redact }: OwnLog,
  { webhookPort, onWait, leave, service = openService(config, clock, webhookPort) }: OpenOptions = {},
): Application {
  const opened = config.problems.length > 0 ? unusableStore(config, clock) : openJournalStore(config, clock);
  const store = opened ?? memoryStore(clock);
  const journal = new Journal({
    store,
    clock,
    isSandbox: config.sandbox,
    redact,
    onUnwritable: (error) => log.warn("The outcome of a request could not be written to the journal.", error),
  });
  const guard = new Guard({ journal, clock, onWait, leave });
  const facts = new FactsCache();
  const readJournal = async () => facts.of(await journal.entries(), clock.now() - store.now());
  const jobs = new JobBook({ clock, log, readJournal });
  const reader = new JobReader({ source: service, book: jobs, clock, isSandbox: config.sandbox });
  const schedule = { fixedMs: pollMs(config), random: Math.random };
  const poller = new Poller({ source: service, reader, book: jobs, schedule, clock, log });
  const videoSaver = new VideoSaver({
    folder: config.saveDir,
    book: jobs,
    poller,
    reader,
    async download(link, path, signal) {
      const { download } = await import("../jobs/download.ts");
      await download(link, path, { service: config.service ?? SANDBOX, signal });
    },
    clock,
    log,
  });
  const { maxGenerations } = config;
  return {
    config,
    service,
    jobs,
    reader,
    poller,
    videoSaver,
    waitForEnd: (wait) => waitForEnd({ poller, reader, book: jobs, clock }, wait),
    generateOnce: new GenerateOnce({
      service,
      guard,
      journal,
      maxGenerations,
      tryReadJob: (jobId, signal) => reader.tryRead(jobId, signal),
      isSandbox: config.sandbox,
      jobs,
    }),
    publishOnce: new PublishOnce({ service, guard, journal }),
    finishPaidRequests() {
      // A hanging connection would use up the time that is left for the outcomes.
      clock.after(RECONNECT_MS, () => store.reconnect?.());
      return guard.close();
    },
    unrecorded: () => journal.unwrittenReason(),
    guard,
    clock,
    log,
  };
}

function openService(config: Config, clock: Clock, webhookPort: OpenOptions["webhookPort"]): ServiceClient {
  return new ServiceClient({
    async connect() {
      if (config.problems.some(stopsAll)) throw notConfiguredError(config.problems);
      return config.service ?? startSandboxService(config.sandboxSeconds, await webhookPort?.());
    },
    clock,
    random: Math.random,
  });
}

/** Starts the sandbox, which runs until the process ends. */
async function startSandboxService(renderSeconds: number, webhookPort: number | undefined) {
  const { startSandbox } = await import("../sandbox/sandbox.ts");
  const webhook = webhookPort === undefined ? {} : { webhook: { url: `http://127.0.0.1:${webhookPort}/` } };
  const { apiKey, url } = await startSandbox({ renderSeconds, ...webhook });
  return { apiKey, baseUrl: new URL(url), proxies: {}, isSandbox: true } as const;
}

/** A server that is not set up touches no file or database. It records nothing, so nothing paid is sent. */
function unusableStore({ problems }: Config, clock: Clock): JournalStore {
  return { ...memoryStore(clock), append: () => Promise.reject(notConfiguredError(problems)) };
}

/** How long the database may take to answer once the process begins to end. */
const RECONNECT_MS = 300;
/** The usual schedule is for renders of minutes. */
const SANDBOX_POLL_SECONDS = 2;
/** The sandbox's address, whose port is not known before it starts. */
const SANDBOX = { baseUrl: new URL("http://127.0.0.1"), proxies: {} };

function pollMs({ pollSeconds, sandbox }: Config): number | undefined {
  const seconds = pollSeconds ?? (sandbox ? SANDBOX_POLL_SECONDS : undefined);
  return seconds === undefined ? undefined : 1000 * seconds;
}
