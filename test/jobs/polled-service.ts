// The real store, reader and watcher on a virtual clock, in front of a service that a test changes as it goes and that notes
// what it was asked, and when.

import { BridgeError, type BridgeErrorFacts } from "../../src/errors.ts";
import { createJobReader, type JobSource, type RequestOptions } from "../../src/jobs/job-reader.ts";
import { createSchedule } from "../../src/jobs/schedule.ts";
import { createJobStore } from "../../src/jobs/job-store.ts";
import { createWatcher } from "../../src/jobs/poller.ts";
import type { Job, Video } from "../../src/service/schemas.ts";
import { createVirtualClock } from "../bench/virtual-clock.ts";

export const START_MS = Date.UTC(2026, 10, 20);

export function job(jobId: string, more: Partial<Job> = {}): Job {
  const status = more.status ?? "processing";
  return { videoUrls: [], ...more, jobId, status, done: status === "completed" || status === "failed" };
}

/** As the service client makes them. */
export function failure(code: BridgeErrorFacts["code"], more: Partial<BridgeErrorFacts> = {}): BridgeError {
  const retryable = ["timeout", "network", "service_failed", "rate_limited", "bad_answer"].includes(code);
  return new BridgeError({
    code,
    message: `${code}.`,
    nextStep: "",
    outcome: "rejected",
    retryable,
    ...more,
  });
}

export interface WatchingOptions {
  readonly fixedMs?: number;
  readonly maxWatched?: number;
}

export function createWatching({ fixedMs, maxWatched }: WatchingOptions = {}) {
  const clock = createVirtualClock(START_MS);
  const seconds = () => Math.round((clock.now() - START_MS) / 100) / 10;

  const service = {
    /** What the status of a job says. */
    jobs: new Map<string, Job>(),
    /** The list, newest first; what is not here is not in the list. */
    list: [] as Video[],
    maxLimit: 100,
    canPage: false,
    /** How long a background request has to wait, at the least; how far they are apart; how many more may go. */
    waitMs: 0,
    paceMs: 0,
    left: Infinity,
    answerMs: 0,
    /** What fails with what. */
    failing: new Map<string, Error>(),
    /** Every request: seconds since the start, what was asked, and whether a person did. */
    asked: [] as string[],
    askedForListing: 0,
  };
  let opensMs = 0;
  const answer = async <T>(what: string, { background }: RequestOptions, make: () => T): Promise<T> => {
    // As the real client, which counts a request a few turns after it was asked for.
    await Promise.resolve();
    if (background) {
      service.left -= 1;
      opensMs = clock.now() + service.paceMs;
    }
    service.asked.push(`${seconds()} ${what}${background ? "" : " person"}`);
    await new Promise<void>((resolve) => void clock.after(service.answerMs, resolve));
    const error = service.failing.get(what) ?? service.failing.get(what.replace(/\?.*/, ""));
    if (error !== undefined) throw error;
    return make();
  };
  const source = {
    getJob: (jobId, options) =>
      answer(jobId, options, () => {
        const found = service.jobs.get(jobId);
        if (found === undefined) throw failure("not_found", { status: 404 });
        return found;
      }),
    listVideos: ({ limit, cursor }, options) => {
      const query = [
        limit === undefined ? [] : [`limit=${limit}`],
        cursor === undefined ? [] : [`cursor=${cursor}`],
      ];
      const what = query.flat().length === 0 ? "videos" : `videos?${query.flat().join("&")}`;
      return answer(what, options, () => {
        const from = Number(cursor ?? 0);
        const to = from + (limit ?? 20);
        const videos = service.list.slice(from, to);
        return { videos, ...(to < service.list.length && { nextCursor: String(to) }) };
      });
    },
    listing() {
      service.askedForListing += 1;
      return { maxLimit: service.maxLimit, canPage: service.canPage };
    },
    backgroundWaitMs: () =>
      service.left > 0
        ? Math.max(service.waitMs, Math.min(service.paceMs, opensMs - clock.now()), 0)
        : 60_000,
  } satisfies JobSource & Record<string, unknown>;

  const store = createJobStore(clock.now);
  const reader = createJobReader({ source, store, now: clock.now });
  const watcher = createWatcher({
    source,
    reader,
    store,
    schedule: createSchedule({ fixedMs, random: () => 0.5 }),
    clock,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    ...(maxWatched !== undefined && { maxWatched }),
  });

  /** Every announcement: seconds since the start, the job, and what the store says of it then. */
  const heard: string[] = [];
  store.changes.listen((jobId) => {
    const known = store.get(jobId);
    heard.push(`${seconds()} ${jobId} ${known?.watchEnded ?? known?.status}`);
  });

  return {
    clock,
    service,
    store,
    reader,
    watcher,
    heard,
    seconds,
    watch: (jobId: string) => watcher.watch(jobId, { awaited: false }),
    await: (jobId: string) => watcher.watch(jobId, { awaited: true }),
    /** Jobs that this process starts now, the last one being the newest; they run and are in the list. */
    start(...jobIds: string[]) {
      for (const jobId of jobIds) {
        store.start(jobId, "topic");
        service.jobs.set(jobId, job(jobId));
        service.list.unshift({ jobId, status: "processing" });
      }
    },
    /** A job's new status, which its status answer and the list tell. */
    become(jobId: string, more: Partial<Job>) {
      const state = job(jobId, { ...service.jobs.get(jobId), ...more });
      service.jobs.set(jobId, state);
      const listed = service.list.find((video) => video.jobId === jobId);
      if (listed !== undefined) listed.status = state.status;
    },
    /** Until so many seconds after the start. */
    until: (untilSeconds: number) => clock.runUntil(START_MS + untilSeconds * 1000),
    /** What was asked since the last time. */
    asked: () => service.asked.splice(0),
  };
}

export type Watching = ReturnType<typeof createWatching>;

/** Jobs of unknown age that run, each older than the one before and all than those in the list. */
export function found({ service }: Watching, ...jobIds: string[]) {
  for (const jobId of jobIds) {
    service.jobs.set(jobId, job(jobId));
    service.list.push({ jobId, status: "processing" });
  }
}

export function ids(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}
