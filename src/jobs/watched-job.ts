// The watched jobs: who holds each, when it is due, and what an answer or a failure means for it. Asks nobody and sets no
// timer: both are the watcher's.

import { BridgeError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Job } from "../service/schemas.ts";
import type { Clock } from "./clock.ts";
import type { Schedule, WatchedAge } from "./schedule.ts";
import type { JobStore } from "./job-store.ts";

export interface WatchedJob {
  readonly jobId: string;
  readonly sinceMs: number;
  users: number;
  /** Those of the users who wait in a call. */
  waiters: number;
  /** When it was last seen running. */
  seenMs: number | undefined;
  dueMs: number;
  /** When `dueMs` was set. */
  setMs: number;
  /** It is on its way. */
  asking: boolean;
  /** Since when the list has it as ended: its own status has to confirm that. */
  endListedMs: number | undefined;
  /** Its own status denied what the list said, which has no word on it any more. */
  refuted: boolean;
  /** What the list said of it last. */
  listedStatus: string | undefined;
  /** Where in the list, newest first, it was last seen; at first nobody knows, and a job just started is at the top. */
  index: number;
  failures: number;
  /** How often in a row the service did not know it. */
  missing: number;
}

export interface WatchedJobs {
  size(): number;
  all(): readonly WatchedJob[];
  get(jobId: string): WatchedJob | undefined;
  /** Throws a BridgeError when too many are watched. */
  hold(jobId: string, awaited: boolean): WatchedJob;
  letGo(job: WatchedJob, awaited: boolean): void;
  /** Those to be asked for now. */
  due(): readonly WatchedJob[];
  /** Those and the ones that would be so very soon: a list tells of them as well. */
  dueSoon(): readonly WatchedJob[];
  /** When the next one is due, of those that nobody is asking for; Infinity when there is none. */
  nextDueMs(): number;
  /** How long it has not been seen, weighted by its interval. */
  urgency(job: WatchedJob): number;
  /** It was seen running just now. */
  running(job: WatchedJob): void;
  /** The list has it as ended. */
  endListed(job: WatchedJob): void;
  /** The store has it as ended. */
  ended(jobId: string): void;
  /** Asking failed; `whom` was asked. */
  failed(job: WatchedJob, error: unknown, whom: "status" | "list"): void;
  /** Nobody is watched for ever. */
  endOverdue(): void;
  clear(): void;
}

export interface WatchedJobsOptions {
  readonly store: JobStore;
  readonly schedule: Schedule;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxWatched: number;
}

const MAX_WATCH_MS = 60 * 60_000;
const MAX_BACKOFF_MS = 60_000;
/** Jobs that would be due this soon, as a share of their interval, come along in a list. */
const DUE_SOON = 0.25;

export function createWatchedJobs(options: WatchedJobsOptions): WatchedJobs {
  const { store, schedule, clock, log, maxWatched } = options;
  const jobs = new Map<string, WatchedJob>();

  const ageOf = (job: WatchedJob): WatchedAge => {
    const known = store.get(job.jobId);
    return {
      ageMs: known?.createdAtMs === undefined ? undefined : clock.now() - known.createdAtMs,
      observedMs: clock.now() - job.sinceMs,
      awaited: job.waiters > 0,
      progress: wholeProgress(known?.job?.progress),
    };
  };
  const nextDelayMs = (job: WatchedJob) => schedule.nextDelayMs(ageOf(job));

  const setDue = (job: WatchedJob, dueMs: number) => {
    job.dueMs = dueMs;
    job.setMs = clock.now();
  };

  /** At once where the clock was set back: what it says of the times before is of no use. */
  const dueMsOf = ({ dueMs, setMs }: WatchedJob) => (clock.now() < setMs ? clock.now() : dueMs);

  const firstDelayMs = (jobId: string, atMs: number) => {
    const createdAtMs = store.get(jobId)?.createdAtMs;
    return schedule.firstDelayMs(createdAtMs === undefined ? undefined : atMs - createdAtMs);
  };

  /** What somebody else has asked since then was as good as a poll, unless it was before the first one is worth it. */
  const catchUp = (job: WatchedJob) => {
    const fetchedAtMs = store.get(job.jobId)?.fetchedAtMs;
    if (fetchedAtMs === undefined || fetchedAtMs > clock.now()) return;
    if (fetchedAtMs <= (job.seenMs ?? -Infinity)) return;
    job.seenMs = fetchedAtMs;
    if (firstDelayMs(job.jobId, fetchedAtMs) > 0) return;
    job.failures = 0;
    job.missing = 0;
    setDue(job, fetchedAtMs + nextDelayMs(job));
  };

  const isHeld = (job: WatchedJob) => jobs.get(job.jobId) === job;
  const idle = () => [...jobs.values()].filter((job) => !job.asking);

  const endWatch = (job: WatchedJob, reason: string) => {
    jobs.delete(job.jobId);
    log.info(`${job.jobId}: ${reason}`);
    store.endWatch(job.jobId, reason);
  };

  const enter = (jobId: string): WatchedJob => {
    if (jobs.size >= maxWatched) throw tooManyError(maxWatched);
    const nowMs = clock.now();
    const job: WatchedJob = {
      jobId,
      sinceMs: nowMs,
      users: 0,
      waiters: 0,
      seenMs: undefined,
      dueMs: nowMs + firstDelayMs(jobId, nowMs),
      setMs: nowMs,
      asking: false,
      endListedMs: undefined,
      refuted: false,
      listedStatus: undefined,
      index: 0,
      failures: 0,
      missing: 0,
    };
    jobs.set(jobId, job);
    store.resumeWatch(jobId);
    return job;
  };

  return {
    size: () => jobs.size,
    all: () => [...jobs.values()],
    get: (jobId) => jobs.get(jobId),

    hold(jobId, awaited) {
      const job = jobs.get(jobId) ?? enter(jobId);
      job.users += 1;
      if (awaited) job.waiters += 1;
      catchUp(job);
      // Sooner for who waits, but no sooner than a service in trouble may be asked again.
      if (awaited && job.seenMs !== undefined && job.failures === 0 && job.endListedMs === undefined)
        job.dueMs = Math.min(job.dueMs, job.seenMs + nextDelayMs(job));
      return job;
    },

    letGo(job, awaited) {
      job.users -= 1;
      if (awaited) job.waiters -= 1;
      if (job.users === 0 && isHeld(job)) jobs.delete(job.jobId);
    },

    due() {
      const due = idle().filter((job) => dueMsOf(job) <= clock.now());
      for (const job of due) if (job.endListedMs === undefined) catchUp(job);
      return due.filter((job) => dueMsOf(job) <= clock.now());
    },

    dueSoon() {
      const soonMs = (job: WatchedJob) => clock.now() + DUE_SOON * schedule.intervalMs(ageOf(job));
      return idle().filter((job) => job.endListedMs === undefined && dueMsOf(job) <= soonMs(job));
    },

    nextDueMs: () => Math.min(Infinity, ...idle().map(dueMsOf)),

    urgency(job) {
      const intervalMs = schedule.intervalMs(ageOf(job));
      const seenMs = job.seenMs ?? job.sinceMs - intervalMs;
      return (clock.now() - seenMs) / Math.sqrt(intervalMs);
    },

    running(job) {
      job.seenMs = clock.now();
      job.endListedMs = undefined;
      job.failures = 0;
      job.missing = 0;
      setDue(job, clock.now() + nextDelayMs(job));
    },

    endListed(job) {
      if (job.endListedMs !== undefined) return;
      job.endListedMs = clock.now();
      setDue(job, clock.now());
    },

    ended(jobId) {
      const job = jobs.get(jobId);
      if (job === undefined || !jobs.delete(jobId)) return;
      const { status, createdAtMs } = store.get(jobId) ?? {};
      if (status !== "completed" || createdAtMs === undefined || job.seenMs === undefined) return;
      schedule.recordCompletion((job.seenMs + (job.endListedMs ?? clock.now())) / 2 - createdAtMs);
    },

    failed(job, error, whom) {
      if (!isHeld(job)) return;
      const { code, status, retryAfterSeconds = 0 } = error instanceof BridgeError ? error.facts : {};
      // 403 may be about this one question.
      if (code === "unauthorized" && status !== 403) {
        for (const other of Array.from(jobs.values()))
          endWatch(other, "Watching ended: the service does not accept the API key.");
        return;
      }
      if (whom === "status") job.missing = code === "not_found" ? job.missing + 1 : 0;
      if (job.missing >= 2) {
        endWatch(job, "Watching ended: the service says that it knows no such job.");
        return;
      }
      job.failures += 1;
      const backoffMs = nextDelayMs(job) * 2 ** Math.min(job.failures - 1, 6);
      setDue(job, clock.now() + Math.min(MAX_BACKOFF_MS, Math.max(backoffMs, retryAfterSeconds * 1000)));
      log.debug(`Polling job ${job.jobId} failed.`, error);
    },

    endOverdue() {
      for (const job of Array.from(jobs.values()))
        if (clock.now() - job.sinceMs >= MAX_WATCH_MS)
          endWatch(job, "Watching ended after 60 minutes: ask with get_video_status how far the job is.");
    },

    clear: () => jobs.clear(),
  };
}

/** Counts that a forecast can be made of. */
function wholeProgress(progress: Job["progress"]): WatchedAge["progress"] {
  const { total, completed, failed = 0 } = progress ?? {};
  if (total === undefined || completed === undefined || !(total > 0)) return undefined;
  return { total, completed, failed };
}

function tooManyError(maxWatched: number): BridgeError {
  return new BridgeError({
    code: "limit_reached",
    message: `${maxWatched} jobs are watched already, which is the most.`,
    nextStep: "End another subscription first, or ask with get_video_status now and then.",
    outcome: "not_sent",
    retryable: true,
  });
}
