// Polls all watched jobs in the background: one poller per process for all subscriptions and waiting calls.
// The most overdue job goes first. The schedule says when one is due, the rate limiter how much may be sent.

import { stateOf } from "../job.ts";
import { BridgeError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Clock } from "../clock.ts";
import type { JobReader, JobSource } from "./job-reader.ts";
import type { JobStore, Unsubscribe } from "./job-store.ts";
import type { Schedule } from "./schedule.ts";
import { WatchedJob } from "./watched-job.ts";

export interface PollerOptions {
  readonly source: JobSource;
  readonly reader: JobReader;
  readonly store: JobStore;
  readonly schedule: Schedule;
  readonly clock: Clock;
  readonly log: Log;
}

const MAX_IN_FLIGHT = 4;
/** A job that is due this soon shares the list with those that are due now. */
const DUE_SOON_MS = 2_000;
const MAX_WATCH_MS = 60 * 60_000;
const MAX_REMEMBERED_ENDS = 2_000;
/** After a list that failed, each job is asked for its status: that may work where the list doesn't. */
const LIST_PAUSE_MS = 60_000;
/** The rate limiter knows how long to wait after a refusal. This pause only prevents a new try at once. */
const RATE_LIMITED_PAUSE_MS = 1_000;

/** Times are milliseconds on the monotonic clock. */
export class Poller {
  readonly #options: PollerOptions;
  readonly #jobs = new Map<string, WatchedJob>();
  /** Why jobs are no longer polled though they have not ended, the oldest first. */
  readonly #watchEnded = new Map<string, string>();
  readonly #unsubscribe: Unsubscribe;
  /** Cancels the timer for the next request; there is none while nothing is due or too many are in flight. */
  #cancelTimer = () => {};
  /** How many requests are in flight, and whether one of them is for the list. */
  #inFlight = 0;
  #isListInFlight = false;
  /** Set when the list fails: the jobs are asked one by one before. */
  #listPausedUntilMs = -Infinity;
  /** Set when a request is refused for the rate: none is sent before. */
  #pausedUntilMs = -Infinity;
  #isClosed = false;

  constructor(options: PollerOptions) {
    this.#options = options;
    // A job that has ended is polled no more, whoever read its end.
    this.#unsubscribe = options.store.on("change", (jobId) => this.#removeIfEnded(jobId));
  }

  /** Polls the job until it ends, unless it is known to have, or every caller has unsubscribed. */
  watch(jobId: string): Unsubscribe {
    if (this.#isClosed || this.#options.store.get(jobId)?.job?.done === true) return () => {};
    const job = this.#jobs.get(jobId) ?? this.#add(jobId);
    job.watchers += 1;
    this.#setTimer();
    let isWatching = true;
    return () => {
      if (!isWatching) return;
      isWatching = false;
      job.watchers -= 1;
      if (job.watchers === 0 && this.#jobs.get(jobId) === job) this.#jobs.delete(jobId);
      this.#setTimer();
    };
  }

  /** Why the job is no longer polled though it has not ended, as a sentence. */
  watchEnded(jobId: string): string | undefined {
    return this.#watchEnded.get(jobId);
  }

  /**
   * Polls the job, if it is watched, as soon as the rate limiter allows: there may be news. Hints need no
   * trust, because each costs one request at most, and those of one job come at least 5 s apart.
   */
  hint(jobId: string): void {
    if (this.#jobs.get(jobId)?.hint() !== true) return;
    this.#options.log.debug(`A hint says that there is news of job ${jobId}.`);
    this.#setTimer();
  }

  /** Ends all polling for good. */
  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    this.#jobs.clear();
    this.#setTimer();
  }

  #add(jobId: string): WatchedJob {
    const job = new WatchedJob(jobId, this.#options);
    this.#jobs.set(jobId, job);
    this.#watchEnded.delete(jobId);
    return job;
  }

  #setTimer(): void {
    this.#cancelTimer();
    if (this.#inFlight >= MAX_IN_FLIGHT) return;
    const { clock } = this.#options;
    const idle = this.#idleJobs();
    const atMs = Math.min(
      ...idle.map(({ dueMs }) => dueMs),
      this.#nextForClips(idle)?.clipsDueMs ?? Infinity,
    );
    if (atMs === Infinity) return;
    const delayMs = atMs - clock.monotonicMs();
    this.#cancelTimer = clock.after(delayMs > 0 ? delayMs : this.#waitMs(), () => this.#tick());
  }

  #idleJobs(): WatchedJob[] {
    const isListInFlight = this.#isListInFlight;
    return [...this.#jobs.values()].filter((job) => !job.inFlight && !(isListInFlight && job.sharesList));
  }

  /** How long the next request has to wait for the rate limiter. */
  #waitMs(): number {
    const { clock, source } = this.#options;
    return Math.max(0, source.backgroundWaitMs(), this.#pausedUntilMs - clock.monotonicMs());
  }

  /** Sends one request per tick: the rate limiter counts it only when it is really sent, perhaps later. */
  #tick(): void {
    const nowMs = this.#options.clock.monotonicMs();
    this.#endWatches(
      (job) => nowMs - job.watchedSinceMs >= MAX_WATCH_MS,
      "Watching ended after 60 minutes: ask with get_video_status how far the job is.",
    );
    if (this.#waitMs() === 0) this.#sendNext();
    this.#setTimer();
  }

  #sendNext(): void {
    const nowMs = this.#options.clock.monotonicMs();
    const idle = this.#idleJobs();
    const [next] = idle.toSorted((a, b) => a.dueMs - b.dueMs);
    const forClips = this.#nextForClips(idle);
    if (next !== undefined && next.dueMs <= nowMs) {
      const sharing = idle.filter(({ sharesList, dueMs }) => sharesList && dueMs <= nowMs + DUE_SOON_MS);
      const canShare = next.sharesList && sharing.length > 1 && nowMs >= this.#listPausedUntilMs;
      void (canShare ? this.#readList() : this.#readStatus(next));
    } else if (forClips !== undefined && forClips.clipsDueMs <= nowMs) {
      void this.#readStatus(forClips);
    }
  }

  /**
   * The list shows no clips, so with two or more jobs each is also asked for its own status now and then, as
   * long as enough of the rate limit is left and no job is due.
   */
  #nextForClips(idle: readonly WatchedJob[]): WatchedJob | undefined {
    if (this.#jobs.size < 2 || !this.#options.source.hasSpareRequests()) return undefined;
    return idle.toSorted((a, b) => a.clipsDueMs - b.clipsDueMs)[0];
  }

  async #readStatus(job: WatchedJob): Promise<void> {
    const askedMs = this.#options.clock.monotonicMs();
    job.inFlight = true;
    await this.#send(
      async () => {
        const { done } = await this.#options.reader.read(job.jobId, { background: true });
        if (!done) job.updateFromStatus(askedMs);
      },
      (error) => this.#statusFailed(job, error),
    );
    job.inFlight = false;
    this.#setTimer();
  }

  /** One request for the newest jobs, which answers for all that share it. */
  async #readList(): Promise<void> {
    const { source, store, clock, log } = this.#options;
    this.#isListInFlight = true;
    await this.#send(
      async () => {
        const { videos } = await source.listNewestVideos({ background: true });
        const statuses = new Map(videos.map(({ jobId, status }) => [jobId, status]));
        // A status in flight is newer.
        for (const job of this.#jobs.values()) if (!job.inFlight) job.updateFromList(statuses.get(job.jobId));
        store.updateFromPage(videos, { isFirstPage: true });
      },
      (error) => {
        this.#listPausedUntilMs = clock.monotonicMs() + LIST_PAUSE_MS;
        log.debug("Polling the video list failed.", error);
      },
    );
    this.#isListInFlight = false;
    this.#setTimer();
  }

  /** Sends a request. A failure about the key or the rate concerns all requests; others go to `onFailure`. */
  async #send(request: () => Promise<void>, onFailure: (error: unknown) => void): Promise<void> {
    this.#inFlight += 1;
    try {
      await request();
    } catch (error) {
      const { code, status } = error instanceof BridgeError ? error.facts : {};
      // A 403 may be about one request alone.
      if (code === "unauthorized" && status !== 403)
        this.#endWatches(() => true, "Watching ended: the service does not accept the API key.");
      else if (code === "rate_limited")
        this.#pausedUntilMs = this.#options.clock.monotonicMs() + RATE_LIMITED_PAUSE_MS;
      else onFailure(error);
    }
    this.#inFlight -= 1;
  }

  #removeIfEnded(jobId: string): void {
    const { store, schedule } = this.#options;
    const { job: state } = store.get(jobId) ?? {};
    const job = this.#jobs.get(jobId);
    if (job === undefined || state?.done !== true) return;
    this.#jobs.delete(jobId);
    const durationMs = stateOf(state.status) === "ready" ? job.durationMs() : undefined;
    if (durationMs !== undefined) schedule.recordCompletion(durationMs);
    this.#setTimer();
  }

  #statusFailed(job: WatchedJob, error: unknown): void {
    const { code, message, retryAfterSeconds = 0 } = error instanceof BridgeError ? error.facts : {};
    job.notFoundCount = code === "not_found" ? job.notFoundCount + 1 : 0;
    if (job.notFoundCount > 1 && this.#jobs.get(job.jobId) === job)
      return this.#endWatch(job, `Watching ended. ${message}`);
    job.backOff(retryAfterSeconds * 1000);
    this.#options.log.debug(`Polling job ${job.jobId} failed.`, error);
  }

  #endWatches(isOver: (job: WatchedJob) => boolean, reason: string): void {
    for (const job of Array.from(this.#jobs.values())) if (isOver(job)) this.#endWatch(job, reason);
  }

  #endWatch(job: WatchedJob, reason: string): void {
    this.#jobs.delete(job.jobId);
    this.#watchEnded.set(job.jobId, reason);
    const [oldest = ""] = this.#watchEnded.keys();
    if (this.#watchEnded.size > MAX_REMEMBERED_ENDS) this.#watchEnded.delete(oldest);
    this.#options.log.info(`${job.jobId}: ${reason}`);
    this.#options.store.notify(job.jobId);
  }
}
