// The composition root of the server: makes the state that outlives connections and wires it together.

import { BridgeError } from "../errors.ts";
import { pause } from "../clock.ts";
import { JobReader } from "../jobs/job-reader.ts";
import { JobStore } from "../jobs/job-store.ts";
import { Poller } from "../jobs/poller.ts";
import { NOTHING_SAVED, SavedVideos } from "../saved-videos/saved-videos.ts";
import { Schedule } from "../jobs/schedule.ts";
import { VideoFolder } from "../saved-videos/video-folder.ts";
import { waitForEnd } from "../jobs/wait.ts";
import { lazy } from "../lazy.ts";
import type { Application } from "../mcp/application.ts";
import { Elicitation } from "../mcp/elicitation.ts";
import { GenerateOnce, type JobLookup } from "../idempotency/generate-once.ts";
import { Journal, type JournalEntry, memoryStore } from "../idempotency/journal.ts";
import { PublishOnce } from "../idempotency/publish-once.ts";
import { Guard } from "../idempotency/guard.ts";
import { ordersOf, jobHistories } from "../idempotency/same-request.ts";
import type { Redact } from "../redact.ts";
import { LOOK_FIRST_MS } from "../time-budget.ts";
import { VERSION } from "../version.ts";
import { openJournalStore } from "./open-journal.ts";

type Given = Pick<Application, "config" | "service" | "clock" | "log"> & { readonly redact: Redact };

export function createApplication({ config, service, clock, log, redact }: Given): Application {
  const jobs = new JobStore(clock);
  let known: { readonly entries: unknown; readonly jobs: ReturnType<typeof jobHistories> } | undefined;
  const history = async () => {
    try {
      const entries = await journal.entries();
      if (known?.entries !== entries) known = { entries, jobs: jobHistories(entries) };
      return { jobs: known.jobs, orders: ordersOf(entries), nowMs: store.now() };
    } catch (error) {
      log.info("The journal can't be read.", error);
      return undefined;
    }
  };
  /** When an entry was made by this computer's clock, which the store's may differ from. */
  const localMs = (entry: JournalEntry) => clock.now() - journal.ageMs(entry);
  const startedAtMs = async (jobId: string) => {
    const order = (await history())?.jobs.get(jobId.toLowerCase())?.order;
    return order && localMs(order);
  };
  const reader = new JobReader({ source: service, store: jobs, clock, startedAtMs });
  const pollSeconds = config.pollSeconds ?? (config.sandbox ? SANDBOX_POLL_SECONDS : undefined);
  const schedule = new Schedule({
    fixedMs: pollSeconds === undefined ? undefined : pollSeconds * 1000,
    random: Math.random,
  });
  const poller = new Poller({ source: service, reader, store: jobs, schedule, clock, log });
  const waiting = { poller, reader, store: jobs, clock };
  const tryReadJob = async (jobId: string, signal: AbortSignal): Promise<JobLookup> => {
    const read = reader.readLatest(jobId, { background: false, signal }).catch((error: unknown) => {
      if (!(error instanceof BridgeError) || error.facts.code !== "not_found") return undefined;
      // A gateway's 404, for which the user has to check the address, says nothing of the job.
      return error.facts.isForUser === true ? undefined : "not found";
    });
    return Promise.race([read, pause(clock, LOOK_FIRST_MS).then(() => undefined)]);
  };
  // A server that is not set up touches neither a file nor a database.
  const opened = config.problems.length > 0 ? undefined : openJournalStore(config, clock);
  const store = opened ?? memoryStore(clock);
  const journal = new Journal({
    store,
    redact,
    onUnwritable: (error) => log.warn("The outcome of a request could not be written to the journal.", error),
  });
  const guard = new Guard({ journal, clock });
  const { maxGenerations } = config;
  const generateOnce = new GenerateOnce({ service, guard, journal, maxGenerations, tryReadJob, jobs });
  const publishOnce = new PublishOnce({ service, guard, journal });
  const downloader = lazy(async () => {
    const { Downloader } = await import("../saved-videos/download.ts");
    return new Downloader({ service: config.service ?? SANDBOX, version: VERSION, clock });
  });
  let restored: Promise<void> | undefined;
  const restore = async () => {
    const read = await history();
    // The next request tries again.
    if (read === undefined) return void (restored = undefined);
    const started = read.orders.flatMap((order) =>
      order.jobId === undefined
        ? []
        : [{ jobId: order.jobId, topic: String(order.arguments["topic"]), createdAtMs: localMs(order) }],
    );
    jobs.restore(started.reverse());
  };
  const savedVideos =
    config.saveDir === undefined
      ? NOTHING_SAVED
      : new SavedVideos({
          folder: new VideoFolder({ path: config.saveDir, now: clock.now }),
          store: jobs,
          topicOf: async (jobId) => {
            const { arguments: order } = (await history())?.jobs.get(jobId.toLowerCase())?.order ?? {};
            return order && String(order["topic"]);
          },
          download: async function* (url, signal) {
            yield* (await downloader()).download(url, signal);
          },
          untilEnded: (jobId, signal) =>
            waitForEnd(waiting, { job: jobs.lastSeen(jobId), forMs: Infinity, signal, onChange() {} }),
          lookUpLinks: () => reader.refreshFromList(0),
          clock,
          log,
        });
  return {
    config,
    service,
    jobs,
    reader,
    poller,
    savedVideos,
    waitForEnd: (wait) => waitForEnd(waiting, wait),
    generateOnce,
    publishOnce,
    finishPaidRequests: () => guard.close(),
    tryReadJob,
    history,
    restoreJobs: () => (restored ??= restore()),
    canPublish: !config.readOnly && !config.noPublish,
    suggested: new Set(),
    elicitation: new Elicitation(log),
    clock,
    log,
  };
}

/** The usual schedule is for renders of minutes. */
const SANDBOX_POLL_SECONDS = 2;
/** The sandbox's address, whose port is not known before it starts. */
const SANDBOX = { baseUrl: new URL("http://127.0.0.1"), proxies: {} };
