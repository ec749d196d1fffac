// Who is watched, and one poller for all of them, shared by the subscriptions of both protocol eras and by waiting calls.
// Decides what to ask next; when a job is due is schedule.ts's, how much may be asked is the allowance's.

import { BridgeError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Unsubscribe } from "./announcer.ts";
import type { Clock } from "./clock.ts";
import type { JobReader, JobSource } from "./job-reader.ts";
import type { Schedule } from "./schedule.ts";
import type { JobStore } from "./store.ts";

/** What the list can do, as far as it is known by now. */
export interface Listing {
  readonly maxLimit: number;
  /** Whether the name of the paging parameter is confirmed. */
  readonly canPage: boolean;
}

export interface WatcherOptions {
  readonly source: JobSource & {
    listing(): Listing;
    /** Milliseconds until a background request may go; 0 for now. */
    backgroundWaitMs(): number;
  };
  readonly reader: JobReader;
  readonly store: JobStore;
  readonly schedule: Schedule;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxWatched?: number;
}

export interface Watcher {
  /**
   * Has the job polled until it ends or the returned function was called as often as this one. `awaited` while a call waits
   * for it. A job that is known to have ended is not polled. Throws a BridgeError when too many jobs are watched.
   */
  watch(jobId: string, options: { readonly awaited: boolean }): Unsubscribe;
  /** How many jobs are polled. */
  size(): number;
  /** Ends all of it. */
  close(): void;
}

interface Watched {
  readonly jobId: string;
  readonly sinceMs: number;
  users: number;
  waiters: number;
  dueMs: number;
  polledMs: number | undefined;
  asking: boolean;
  /** The list has it as ended: its own status has to confirm that. */
  confirm: boolean;
  /** Where in the list, newest first, it was last seen; at first nobody knows, and a job just started is at the top. */
  index: number;
  failures: number;
  missing: number;
}

/** A walk down the list, page by page. */
interface Walk {
  readonly limit: number;
  readonly page: number;
  /** How many pages it is to be. */
  readonly pages: number;
  readonly cursor: string | undefined;
  /** Videos on the pages before. */
  readonly seen: number;
}

const MAX_WATCHED = 200;
const MAX_WATCH_MS = 60 * 60_000;
const MAX_BACKOFF_MS = 60_000;
const MOST_FLIGHTS = 4;
/** Jobs that would be due this soon, as a share of their interval, come along in a list. */
const DUE_SOON = 0.25;
/** So many terminal states of the list must have been confirmed before its word is taken where the budget is short. */
const TRUST_AFTER = 5;
const MOST_PAGES = 10;

export function createWatcher(options: WatcherOptions): Watcher {
  const { source, reader, store, schedule, clock, log, maxWatched = MAX_WATCHED } = options;
  const watched = new Map<string, Watched>();
  let cancelTimer: (() => void) | undefined;
  let flights = 0;
  let listing = false;
  let walk: Walk | undefined;
  let closed = false;
  /** Terminal states of the list that a status confirmed; NaN once one was refuted. */
  let confirmations = 0;

  // --- when

  const ageOf = (job: Watched, nowMs: number) => {
    const known = store.get(job.jobId);
    return {
      ageMs: known?.createdAtMs === undefined ? undefined : nowMs - known.createdAtMs,
      observedMs: nowMs - job.sinceMs,
      awaited: job.waiters > 0,
      progress: wholeProgress(known?.job?.progress),
    };
  };

  const urgency = (job: Watched, nowMs: number) =>
    job.polledMs === undefined
      ? Infinity
      : (nowMs - job.polledMs) / Math.sqrt(schedule.intervalMs(ageOf(job, nowMs)));

  const arm = () => {
    cancelTimer?.();
    cancelTimer = undefined;
    if (closed || listing || flights >= MOST_FLIGHTS) return;
    let dueMs = Infinity;
    for (const job of watched.values()) if (!job.asking) dueMs = Math.min(dueMs, job.dueMs);
    if (walk !== undefined) dueMs = 0;
    if (dueMs === Infinity) return;
    const nowMs = clock.now();
    const delayMs = Math.max(dueMs - nowMs, dueMs <= nowMs ? source.backgroundWaitMs() : 0, 0);
    cancelTimer = clock.after(delayMs, tick);
  };

  const tick = () => {
    cancelTimer = undefined;
    while (!closed && !listing && flights < MOST_FLIGHTS && source.backgroundWaitMs() === 0) {
      const nowMs = clock.now();
      endOverdue(nowMs);
      if (!askNext(nowMs)) break;
    }
    arm();
  };

  /** Asks for what matters most; false when nothing is due. */
  const askNext = (nowMs: number): boolean => {
    const due = [...watched.values()].filter((job) => !job.asking && job.dueMs <= nowMs);
    const confirm = due.find((job) => job.confirm);
    if (confirm !== undefined) {
      void askOne(confirm);
      return true;
    }
    if (walk !== undefined) {
      void askPage(walk);
      return true;
    }
    if (due.length === 0) return false;
    const pages = pagesWorthAWalk(nowMs);
    const inWalk = due.filter((job) => pageOf(job) <= pages);
    const alone = due.filter((job) => pageOf(job) > pages);
    const walkUrgency = Math.max(-Infinity, ...inWalk.map((job) => urgency(job, nowMs)));
    const single = alone.length === 0 ? undefined : mostUrgent(alone, nowMs);
    if (single !== undefined && urgency(single, nowMs) > walkUrgency) void askOne(single);
    else void askPage(firstPage(pages));
    return true;
  };

  /** Which page of the list the job is believed to be on; Infinity where it can't be had from the list. */
  const pageOf = (job: Watched) => {
    const page = Math.floor(job.index / source.listing().maxLimit) + 1;
    return page === 1 || (source.listing().canPage && page <= MOST_PAGES) ? page : Infinity;
  };

  /** How many pages to walk, so that the jobs on them that are due, or very soon, cost fewer requests than one each. */
  const pagesWorthAWalk = (nowMs: number): number => {
    const soon = new Map<number, number>();
    for (const job of watched.values()) {
      if (job.asking || job.confirm) continue;
      const page = pageOf(job);
      if (page !== Infinity && job.dueMs <= nowMs + DUE_SOON * schedule.intervalMs(ageOf(job, nowMs)))
        soon.set(page, (soon.get(page) ?? 0) + 1);
    }
    let best = { pages: 0, saved: 0 };
    let saved = 0;
    for (let page = 1; page <= Math.max(0, ...soon.keys()); page++) {
      saved += (soon.get(page) ?? 0) - 1;
      if (saved > best.saved) best = { pages: page, saved };
    }
    return best.pages;
  };

  const mostUrgent = (jobs: readonly Watched[], nowMs: number) =>
    jobs.reduce((first, job) => (urgency(job, nowMs) > urgency(first, nowMs) ? job : first));

  // --- asking

  const askOne = async (job: Watched): Promise<void> => {
    job.asking = true;
    flights += 1;
    const before = job.polledMs;
    try {
      const { done, status } = await reader.read(job.jobId, { background: true });
      if (job.confirm && !done) {
        confirmations = Number.NaN;
        log.info(`The video list called job ${job.jobId} ended, which its status denies.`);
      } else if (job.confirm) confirmations += 1;
      polled(job);
      if (done) ended(job, status, before);
    } catch (error) {
      failed(job, error);
    } finally {
      job.asking = false;
      flights -= 1;
      arm();
    }
  };

  const firstPage = (pages: number): Walk => {
    let deepest = 0;
    for (const job of watched.values()) if (pageOf(job) === 1) deepest = Math.max(deepest, job.index);
    const { maxLimit } = source.listing();
    const limit = pages > 1 ? maxLimit : Math.min(maxLimit, 10 * Math.ceil((deepest + 1) / 10) + 10);
    return { limit, page: 1, pages, cursor: undefined, seen: 0 };
  };

  /** One page of the list. The next one waits for its turn like every other request. */
  const askPage = async ({ limit, page, pages, cursor, seen }: Walk): Promise<void> => {
    listing = true;
    walk = undefined;
    const wanted = new Map([...watched].filter(([, job]) => !job.asking && pageOf(job) === page));
    try {
      const { videos, nextCursor } = await source.listVideos(
        { limit, ...(cursor !== undefined && { cursor }) },
        { background: true },
      );
      store.list(videos, cursor === undefined);
      for (const [index, { jobId, status }] of videos.entries()) {
        const job = watched.get(jobId);
        if (job === undefined || job.asking) continue;
        wanted.delete(jobId);
        job.index = seen + index;
        listed(job, status);
      }
      // What is not here has been pushed down by newer jobs, or is not in the list at all.
      for (const job of wanted.values()) job.index = seen + videos.length;
      if (nextCursor === undefined) for (const job of wanted.values()) job.index = Infinity;
      else if (page < pages)
        walk = { limit, page: page + 1, pages, cursor: nextCursor, seen: seen + videos.length };
    } catch (error) {
      const nowMs = clock.now();
      for (const job of wanted.values()) if (job.dueMs <= nowMs) failed(job, error);
    } finally {
      listing = false;
      arm();
    }
  };

  /** The list has told of a job. */
  const listed = (job: Watched, status: string) => {
    const before = job.polledMs;
    polled(job);
    if (status !== "completed" && status !== "failed") {
      job.confirm = false;
      if (store.get(job.jobId)?.job?.status !== status) store.putStatus(job.jobId, status, false);
      return;
    }
    // Its own status has the word, unless the list has proven right and there is no room to ask for it at once.
    if (confirmations >= TRUST_AFTER && (source.backgroundWaitMs() > 0 || anyToConfirm())) {
      store.putStatus(job.jobId, status, true);
      ended(job, status, before);
      return;
    }
    job.confirm = true;
    job.dueMs = clock.now();
  };

  const anyToConfirm = () => {
    for (const job of watched.values()) if (job.confirm) return true;
    return false;
  };

  const polled = (job: Watched) => {
    const nowMs = clock.now();
    job.polledMs = nowMs;
    job.failures = 0;
    job.missing = 0;
    job.confirm = false;
    job.dueMs = nowMs + schedule.nextDelayMs(ageOf(job, nowMs));
  };

  const ended = (job: Watched, status: string, polledBeforeMs: number | undefined) => {
    const createdAtMs = store.get(job.jobId)?.createdAtMs;
    if (status === "completed" && createdAtMs !== undefined && polledBeforeMs !== undefined)
      schedule.recordCompletion((polledBeforeMs + clock.now()) / 2 - createdAtMs);
    watched.delete(job.jobId);
  };

  const failed = (job: Watched, error: unknown) => {
    const facts = error instanceof BridgeError ? error.facts : undefined;
    const nowMs = clock.now();
    if (facts?.code === "unauthorized") {
      for (const other of Array.from(watched.values()))
        endWatch(other, "Watching ended: the service does not accept the API key.");
      return;
    }
    job.missing = facts?.code === "not_found" ? job.missing + 1 : 0;
    if (job.missing >= 2) {
      endWatch(job, "Watching ended: the service says that it knows no such job.");
      return;
    }
    job.failures += 1;
    const backoffMs = schedule.nextDelayMs(ageOf(job, nowMs)) * 2 ** Math.min(job.failures - 1, 6);
    const askedMs = facts?.retryAfterSeconds === undefined ? 0 : facts.retryAfterSeconds * 1000;
    job.dueMs = nowMs + Math.min(MAX_BACKOFF_MS, Math.max(backoffMs, askedMs));
    log.debug(`Polling job ${job.jobId} failed.`, error);
  };

  const endOverdue = (nowMs: number) => {
    for (const job of Array.from(watched.values())) {
      if (nowMs - job.sinceMs >= MAX_WATCH_MS)
        endWatch(job, "Watching ended after 60 minutes: ask with get_video_status how far the job is.");
    }
  };

  const endWatch = (job: Watched, reason: string) => {
    if (!watched.delete(job.jobId)) return;
    log.info(`${job.jobId}: ${reason}`);
    store.endWatch(job.jobId, reason);
  };

  return {
    watch(jobId, { awaited }) {
      if (closed || store.get(jobId)?.job?.done === true) return () => {};
      let job = watched.get(jobId);
      const nowMs = clock.now();
      if (job === undefined) {
        if (watched.size >= maxWatched) throw tooMany(maxWatched);
        const createdAtMs = store.get(jobId)?.createdAtMs;
        job = {
          jobId,
          sinceMs: nowMs,
          users: 0,
          waiters: 0,
          dueMs: nowMs + schedule.firstDelayMs(createdAtMs === undefined ? undefined : nowMs - createdAtMs),
          polledMs: undefined,
          asking: false,
          confirm: false,
          index: 0,
          failures: 0,
          missing: 0,
        };
        watched.set(jobId, job);
      }
      const entry = job;
      entry.users += 1;
      if (awaited) {
        entry.waiters += 1;
        if (entry.polledMs !== undefined)
          entry.dueMs = Math.min(entry.dueMs, entry.polledMs + schedule.nextDelayMs(ageOf(entry, nowMs)));
      }
      arm();
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        entry.users -= 1;
        if (awaited) entry.waiters -= 1;
        if (entry.users > 0) return;
        if (watched.get(jobId) === entry) watched.delete(jobId);
        arm();
      };
    },
    size: () => watched.size,
    close() {
      closed = true;
      watched.clear();
      cancelTimer?.();
      cancelTimer = undefined;
    },
  };
}

/** Counts that a forecast can be made of. */
function wholeProgress(
  progress:
    | { total?: number | undefined; completed?: number | undefined; failed?: number | undefined }
    | undefined,
) {
  const { total, completed, failed = 0 } = progress ?? {};
  return total === undefined || completed === undefined || !(total > 0)
    ? undefined
    : { total, completed, failed };
}

function tooMany(maxWatched: number): BridgeError {
  return new BridgeError({
    code: "limit_reached",
    message: `${maxWatched} jobs are watched already, which is the most.`,
    nextStep: "End another subscription first, or ask with get_video_status now and then.",
    outcome: "not_sent",
    retryable: true,
  });
}
