// The composition root of the server: makes the state that outlives connections and wires it together.

import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config.ts";
import { systemClock } from "../jobs/clock.ts";
import { JobReader } from "../jobs/job-reader.ts";
import { JobStore } from "../jobs/job-store.ts";
import { Poller } from "../jobs/poller.ts";
import { SavedVideos } from "../jobs/saved-videos.ts";
import { Schedule } from "../jobs/schedule.ts";
import { VideoFolder } from "../jobs/video-folder.ts";
import { waitForEnd } from "../jobs/wait.ts";
import { lazy } from "../lazy.ts";
import type { Log } from "../log.ts";
import type { Application } from "../mcp/application.ts";
import { CardReads } from "../mcp/card/card-reads.ts";
import { Elicitation } from "../mcp/elicitation.ts";
import { GenerationLimit } from "../once/generation-limit.ts";
import { createJournal } from "../once/journal.ts";
import { SendOnce } from "../once/send-once.ts";
import type { Redact } from "../redact.ts";
import type { Service } from "../service/client.ts";
import { VERSION } from "../version.ts";
import { stateFolder } from "./state-folder.ts";

/** The processes of this machine. */
export interface Host {
  /** Of this process. */
  readonly pid: number;
  readonly isRunning: (pid: number) => boolean;
}

export interface ApplicationOptions {
  readonly config: Config;
  readonly service: Service;
  readonly log: Log;
  readonly redact: Redact;
  readonly host: Host;
  /** Most jobs that are polled at once; the poller's own limit unless given. */
  readonly maxWatched?: number | undefined;
}

/** A guarded call has little time to look at an earlier job. */
const LOOK_AT_JOB_MS = 1_500;

export function createApplication(options: ApplicationOptions): Application {
  const { config, service, log, redact, host, maxWatched } = options;
  const clock = systemClock;
  const jobs = new JobStore(clock);
  const reader = new JobReader({ source: service, store: jobs, clock });
  const schedule = new Schedule({
    ...(config.pollSeconds !== undefined && { fixedMs: config.pollSeconds * 1000 }),
    random: Math.random,
  });
  const poller = new Poller({ source: service, reader, store: jobs, schedule, clock, log, maxWatched });
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
    knownJobIds: () => jobs.ids(),
    onListed: (videos) => jobs.list(videos, true),
    isRunning: host.isRunning,
    pid: host.pid,
    now: clock.now,
    monotonicMs: clock.monotonicMs,
  });
  const downloader = lazy(async () => {
    const { createDownload } = await import("../service/download.ts");
    return createDownload({ service: config.service ?? SANDBOX, version: VERSION });
  });
  const savedVideos = new SavedVideos({
    folder:
      config.saveDir === undefined
        ? undefined
        : new VideoFolder({ path: config.saveDir, ...host, now: clock.now }),
    store: jobs,
    download: async (request) => (await downloader())(request),
    watch: (jobId) => poller.watch(jobId),
    lookUpLinks: async () => jobs.list((await service.listNewestVideos({ background: true })).videos, true),
    clock,
    log,
  });
  let recalled: Promise<void> | undefined;
  return {
    version: VERSION,
    config,
    service,
    jobs,
    reader,
    poller,
    savedVideos,
    waitForEnd: (wait) => waitForEnd({ poller, reader, store: jobs, clock }, wait),
    once,
    lookAtJob,
    history: () => once.history().catch(() => new Map()),
    recallJobs: () =>
      (recalled ??= once.startedJobs().then(
        (started) => jobs.recall(started),
        (error: unknown) => log.info("The jobs of earlier processes are not known.", error),
      )),
    canPublish: !config.readOnly && !config.noPublish,
    elicitation: new Elicitation({ isEnabled: config.confirmPublish, log }),
    cardReads: new CardReads({ poller, reader, jobs, service, savedVideos, clock }),
    log,
  };
}

/** Of the sandbox, whose port is not known before it starts. */
const SANDBOX = { baseUrl: new URL("http://127.0.0.1"), proxies: {} };

/** What the journal tells accounts apart by. A sandbox is a new one with every process. */
function accountOf({ service, sandbox }: Config): string {
  if (service !== undefined) return `${service.baseUrl.href} ${service.apiKey}`;
  return sandbox ? crypto.randomUUID() : "none";
}

/** The platform's folder for state, unless the user named one or none; a sandbox's jobs are gone with it. */
function journalFolder({ stateDir, sandbox, problems }: Config): string | undefined {
  if (stateDir === false || problems.length > 0) return undefined;
  if (stateDir !== undefined) return stateDir;
  return sandbox ? undefined : stateFolder();
}
