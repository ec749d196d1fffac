// One poller for all watched jobs, shared by the subscriptions of both protocol eras and by waiting calls. Decides what to
// ask next; when a job is due is schedule.ts's, how much may be asked is the allowance's.

import { BridgeError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Unsubscribe } from "./emitter.ts";
import type { Clock } from "./clock.ts";
import type { JobReader, JobSource } from "./job-reader.ts";
import { createListWalk, type Listing, type Page } from "./list-walk.ts";
import type { Schedule } from "./schedule.ts";
import type { JobStore } from "./job-store.ts";
import { createWatchedJobs, type WatchedJob } from "./watched-job.ts";

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
  readonly maxWatched?: number | undefined;
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

const MAX_WATCHED = 200;
const MOST_FLIGHTS = 4;
/**
 * How far the number of jobs in a list counts against the most urgent one that is not in it: 0 as their sum, which leaves old jobs
 * waiting for long; 1 as their mean, which takes too much for a few of them. Between them by `npm run bench:watch`.
 */
const CROWD_EXPONENT = 0.7;
/** So many terminal states of the list must have been confirmed before its word is taken where the budget is short. */
const TRUST_AFTER = 5;

export function createWatcher(options: WatcherOptions): Watcher {
  const { source, reader, store, schedule, clock, log, maxWatched = MAX_WATCHED } = options;
  const jobs = createWatchedJobs({ store, schedule, clock, log, maxWatched });
  const walk = createListWalk({ listing: () => source.listing(), now: clock.now });
  let cancelTimer: (() => void) | undefined;
  let flights = 0;
  let listing = false;
  let closed = false;
  /** Terminal states of the list that a status confirmed; NaN once one was denied. */
  let confirmations = 0;

  const arm = () => {
    cancelTimer?.();
    cancelTimer = undefined;
    if (closed || listing || flights >= MOST_FLIGHTS) return;
    const nowMs = clock.now();
    const dueMs = walk.next(jobs.all()) === undefined ? jobs.nextDueMs() : nowMs;
    if (dueMs === Infinity) return;
    cancelTimer = clock.after(dueMs > nowMs ? dueMs - nowMs : source.backgroundWaitMs(), tick);
  };

  // One request a turn: the budget counts a request when it is really sent, which may be a little later.
  const tick = () => {
    cancelTimer = undefined;
    jobs.endOverdue();
    if (source.backgroundWaitMs() === 0) askNext();
    arm();
  };

  /** Asks for what matters most, if anything is due: an end to confirm, then the rest of a walk. */
  const askNext = () => {
    const due = jobs.due();
    const toConfirm = due.find(({ endListedMs }) => endListedMs !== undefined);
    const nextPage = walk.next(jobs.all());
    if (toConfirm !== undefined) void askOne(toConfirm);
    else if (nextPage !== undefined) void askPage(nextPage);
    else askDue(due);
  };

  /** A walk down the list or one job's status, whichever is more urgent. */
  const askDue = (due: readonly WatchedJob[]) => {
    const pages = due.length === 0 ? 0 : walk.pagesWorthAWalk(jobs.dueSoon());
    const listed = new Set(due.filter((job) => pages > 0 && walk.pageOf(job) <= pages));
    let together = 0;
    let alone: { readonly job: WatchedJob; readonly urgency: number } | undefined;
    for (const job of due) {
      const urgency = jobs.urgency(job);
      if (listed.has(job)) together += urgency;
      else if (alone === undefined || urgency > alone.urgency) alone = { job, urgency };
    }
    // Without this first question 0 / 0 would let nobody go.
    if (
      alone !== undefined &&
      (listed.size === 0 || alone.urgency > together / listed.size ** CROWD_EXPONENT)
    )
      void askOne(alone.job);
    else if (listed.size > 0) void askPage(walk.start(pages, jobs.all()));
  };

  const askOne = async (job: WatchedJob): Promise<void> => {
    job.asking = true;
    flights += 1;
    const toConfirm = job.endListedMs !== undefined;
    try {
      const { done } = await reader.read(job.jobId, { background: true, awaited: job.waiters > 0 });
      if (toConfirm) judgeList(job, done);
      // An ended one is no longer among them: the store has announced it.
      if (!done) jobs.running(job);
    } catch (error) {
      jobs.failed(job, error, "status");
    } finally {
      job.asking = false;
      flights -= 1;
      arm();
    }
  };

  const judgeList = (job: WatchedJob, confirmed: boolean) => {
    if (confirmed) {
      confirmations += 1;
      return;
    }
    confirmations = Number.NaN;
    job.refuted = true;
    log.info(`The video list called job ${job.jobId} ended, which its status denies.`);
  };

  /** One page of the list. The next one waits for its turn like every other request. */
  const askPage = async (page: Page): Promise<void> => {
    listing = true;
    const { limit, cursor } = page;
    const wanted = new Set(jobs.all().filter((job) => !job.asking && walk.pageOf(job) === page.number));
    try {
      const query = { limit, ...(cursor !== undefined && { cursor }) };
      const { videos, nextCursor } = await source.listVideos(query, { background: true });
      store.list(videos, cursor === undefined);
      for (const [index, { jobId, status }] of videos.entries()) {
        const job = jobs.get(jobId);
        if (job === undefined || job.asking) continue;
        wanted.delete(job);
        walk.found(job, page, index);
        if (!job.refuted) listed(job, status);
      }
      walk.answered(page, nextCursor, [...wanted]);
    } catch (error) {
      const due = new Set(jobs.due());
      // A refusal for the rate is no fault of the list.
      if (!(error instanceof BridgeError && error.facts.code === "rate_limited")) walk.failed(page);
      for (const job of wanted) if (due.has(job)) jobs.failed(job, error, "list");
    } finally {
      listing = false;
      arm();
    }
  };

  /** The list has told of a job. */
  const listed = (job: WatchedJob, status: string) => {
    const { jobId, listedStatus } = job;
    job.listedStatus = status;
    if (status !== "completed" && status !== "failed") {
      jobs.running(job);
      // Only where the list's own word changes: it may call a running job something else than the status does.
      if (listedStatus !== undefined && listedStatus !== status) store.putStatus(jobId, status, false);
      return;
    }
    // The job's own status has the word, unless the list has proven right and there is no room to ask at once. Who waits in a
    // call wants the clips, which only the status has.
    const busy =
      source.backgroundWaitMs() > 0 || jobs.all().some(({ endListedMs }) => endListedMs !== undefined);
    if (confirmations >= TRUST_AFTER && busy && job.waiters === 0) store.putStatus(jobId, status, true);
    else jobs.endListed(job);
  };

  // Whoever asked: a job that has ended is polled no more.
  const stopHearing = store.changes.listen((jobId) => {
    if (store.get(jobId)?.job?.done !== true) return;
    jobs.ended(jobId);
    arm();
  });

  return {
    watch(jobId, { awaited }) {
      if (closed || store.get(jobId)?.job?.done === true) return () => {};
      const job = jobs.hold(jobId, awaited);
      arm();
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        jobs.letGo(job, awaited);
        arm();
      };
    },
    size: jobs.size,
    close() {
      closed = true;
      stopHearing();
      jobs.clear();
      arm();
    },
  };
}
