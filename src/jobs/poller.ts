// Polls all watched jobs in the background, one poller per process however many subscriptions and waiting calls watch. Decides
// which request is next; the schedule says when a job is due, and the rate limiter how much may be sent.

import { BridgeError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Clock } from "./clock.ts";
import type { Unsubscribe } from "./emitter.ts";
import type { JobReader, JobSource } from "./job-reader.ts";
import type { JobStore } from "./job-store.ts";
import { chooseRequest, first } from "./next-request.ts";
import type { Schedule } from "./schedule.ts";
import { isEnd, WatchedJob } from "./watched-job.ts";

export interface PollerOptions {
  readonly source: Pick<JobSource, "listNewestVideos" | "hasSpareRequests"> & {
    /** Milliseconds until a background request may be sent; 0 for now. */
    backgroundWaitMs(): number;
  };
  readonly reader: JobReader;
  readonly store: JobStore;
  readonly schedule: Schedule;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxWatched?: number | undefined;
}

const MAX_WATCHED = 200;
const MAX_IN_FLIGHT = 4;
const MAX_WATCH_MS = 60 * 60_000;
/** A job that is watched again within this time, such as by the next of several waiting calls, keeps its schedule. */
const RESUME_MS = 5_000;
/** After a failed list the jobs are asked one by one: the list may be broken where the status is not. */
const LIST_PAUSE = { firstMs: 15_000, maxMs: 600_000 } as const;
/** After a refusal for the rate that names no time. */
const RATE_LIMITED_PAUSE = { notSentMs: 1_000, rejectedMs: 5_000, maxMs: 60_000 } as const;

/** While polls have to wait for the rate limiter, a read for the clips alone keeps this distance from them. */
const QUIET_MS = 2_000;
const THROTTLED_FOR_MS = 60_000;

/** Times are milliseconds on the monotonic clock. */
export class Poller {
  readonly #options: PollerOptions;
  readonly #maxWatched: number;
  readonly #jobs = new Map<string, WatchedJob>();
  /** Jobs that nothing watches any more and that are not polled, with the time of the last unwatch, the oldest first. */
  readonly #unwatched = new Map<string, { readonly job: WatchedJob; readonly atMs: number }>();
  readonly #unsubscribe: Unsubscribe;
  /** For the next request; none while nothing is due or too many are in flight. */
  #cancelTimer: (() => void) | undefined;
  #inFlight = 0;
  #listInFlight = false;
  #listFailures = 0;
  #listPausedUntilMs = -Infinity;
  /** Set when the service or the rate limiter refuses a request: none is sent before. */
  #pausedUntilMs = -Infinity;
  #lastSentMs = -Infinity;
  /** Whether the last request was sent with a hint waiting for it. */
  #lastHinted = false;
  /** When a due poll last had to wait for the rate limiter. */
  #throttledMs = -Infinity;
  #closed = false;

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#maxWatched = options.maxWatched ?? MAX_WATCHED;
    // A job that has ended is polled no more, whoever read its end.
    this.#unsubscribe = options.store.changes.on((jobId) => this.#changed(jobId));
  }

  /** How many jobs are polled. */
  get size(): number {
    return this.#jobs.size;
  }

  /**
   * Polls the job until it ends or the returned function was called as often as this one. A job that is known to have ended is not
   * polled. Throws a BridgeError when too many jobs are watched.
   */
  watch(jobId: string): Unsubscribe {
    if (this.#closed || this.#options.store.get(jobId)?.job?.done === true) return () => {};
    const job = this.#jobs.get(jobId) ?? this.#add(jobId);
    job.watchers += 1;
    this.#setTimer();
    let watching = true;
    return () => {
      if (!watching) return;
      watching = false;
      job.watchers -= 1;
      if (job.watchers === 0 && this.#jobs.get(jobId) === job) this.#unwatch(job);
      this.#setTimer();
    };
  }

  /**
   * Polls the job as soon as the rate limiter allows, if it is watched: there may be news of it. Needs no trust, because a hint costs
   * one request at most, and those of one job come at least 5 s apart.
   */
  hint(jobId: string): void {
    if (this.#jobs.get(jobId)?.hint() !== true) return;
    this.#options.log.debug(`A hint says that there is news of job ${jobId}.`);
    this.#setTimer();
  }

  /** Ends all polling for good. */
  close(): void {
    this.#closed = true;
    this.#unsubscribe();
    this.#jobs.clear();
    this.#unwatched.clear();
    this.#setTimer();
  }

  #add(jobId: string): WatchedJob {
    if (this.#jobs.size >= this.#maxWatched) throw tooManyError(this.#maxWatched);
    this.#forgetUnwatched();
    const job = this.#unwatched.get(jobId)?.job ?? new WatchedJob(jobId, this.#options);
    this.#unwatched.delete(jobId);
    this.#jobs.set(jobId, job);
    this.#options.store.resumeWatch(jobId);
    return job;
  }

  #unwatch(job: WatchedJob): void {
    this.#forgetUnwatched();
    this.#jobs.delete(job.jobId);
    this.#unwatched.set(job.jobId, { job, atMs: this.#options.clock.monotonicMs() });
  }

  #forgetUnwatched(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const [jobId, { atMs }] of this.#unwatched)
      if (nowMs - atMs > RESUME_MS || this.#unwatched.size >= this.#maxWatched) this.#unwatched.delete(jobId);
  }

  #idleJobs(): WatchedJob[] {
    return [...this.#jobs.values()].filter(({ inFlight }) => !inFlight);
  }

  #setTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#inFlight >= MAX_IN_FLIGHT) return;
    const { clock } = this.#options;
    const nowMs = clock.monotonicMs();
    const pollMs = this.#nextPollMs();
    const atMs = Math.min(pollMs, this.#nextClipsRead(pollMs)?.atMs ?? Infinity);
    if (atMs === Infinity) return;
    const waitMs = this.#waitMs();
    if (pollMs <= nowMs && waitMs > 0) this.#throttledMs = nowMs;
    this.#cancelTimer = clock.after(atMs > nowMs ? atMs - nowMs : waitMs, () => this.#tick());
  }

  #waitMs(): number {
    const { clock, source } = this.#options;
    return Math.max(0, source.backgroundWaitMs(), this.#pausedUntilMs - clock.monotonicMs());
  }

  #nextPollMs(): number {
    return Math.min(Infinity, ...this.#idleJobs().map(({ dueMs }) => dueMs));
  }

  /**
   * The list has no clips, so with two or more jobs, which share it, each is asked for its own status now and then, unless little of
   * the rate limit is left. While polls have to wait for the rate limiter, only where that delays none of them.
   */
  #nextClipsRead(pollMs: number): { readonly job: WatchedJob; readonly atMs: number } | undefined {
    const job = first(this.#jobs.size > 1 ? this.#idleJobs() : [], ({ statusDueMs }) => statusDueMs);
    if (job === undefined || !this.#options.source.hasSpareRequests()) return undefined;
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#throttledMs > THROTTLED_FOR_MS) return { job, atMs: job.statusDueMs };
    const atMs = Math.max(nowMs, job.statusDueMs, this.#lastSentMs + QUIET_MS);
    return pollMs - atMs < QUIET_MS ? undefined : { job, atMs };
  }

  /** Sends one request: the rate limiter counts it only when it is really sent, which may be a little later. */
  #tick(): void {
    this.#cancelTimer = undefined;
    this.#endOverdue();
    if (this.#waitMs() === 0) this.#sendNext();
    this.#setTimer();
  }

  #sendNext(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const job of this.#idleJobs())
      if (job.dueMs <= nowMs && job.confirmSinceMs === undefined) job.updateFromReads();
    const canList = !this.#listInFlight && nowMs >= this.#listPausedUntilMs;
    const next = chooseRequest(this.#idleJobs(), { canList, afterHint: this.#lastHinted, nowMs });
    if (next?.kind === "list") void this.#readList();
    else if (next !== undefined) void this.#readStatus(next.job);
    else {
      const clipsRead = this.#nextClipsRead(this.#nextPollMs());
      if (clipsRead !== undefined && clipsRead.atMs <= nowMs) void this.#readStatus(clipsRead.job);
    }
  }

  async #readStatus(job: WatchedJob): Promise<void> {
    job.inFlight = true;
    this.#inFlight += 1;
    this.#lastSentMs = this.#options.clock.monotonicMs();
    // The answer to an earlier request may be older than the hint, which then waits for the next one.
    const wasHinted = !this.#options.reader.isReading(job.jobId) && job.takeHint();
    this.#lastHinted = wasHinted;
    try {
      const { done } = await this.#options.reader.read(job.jobId, { background: true });
      if (!done) job.seenRunning({ wasHinted });
    } catch (error) {
      if (wasHinted) job.hint();
      this.#failed(job, error);
    } finally {
      job.inFlight = false;
      this.#inFlight -= 1;
      this.#setTimer();
    }
  }

  /** One request for the newest jobs, which answers for all that are believed to be among them. */
  async #readList(): Promise<void> {
    const { source, store, clock } = this.#options;
    const expected = this.#idleJobs().filter((job) => job.onFirstPage);
    for (const job of expected) job.inFlight = true;
    this.#listInFlight = true;
    this.#inFlight += 1;
    const sentMs = clock.monotonicMs();
    this.#lastSentMs = sentMs;
    this.#lastHinted = false;
    try {
      const { videos } = await source.listNewestVideos({ background: true });
      this.#listFailures = 0;
      for (const job of expected) {
        job.inFlight = false;
        job.onFirstPage = false;
      }
      for (const { jobId, status } of videos) this.#seenInList(jobId, status, sentMs);
      store.updateFromPage(videos, { isFirstPage: true });
    } catch (error) {
      this.#listFailed(error);
    } finally {
      for (const job of expected) job.inFlight = false;
      this.#listInFlight = false;
      this.#inFlight -= 1;
      this.#setTimer();
    }
  }

  #seenInList(jobId: string, status: string, sentMs: number): void {
    const { store } = this.#options;
    const job = this.#jobs.get(jobId);
    if (job === undefined) return;
    job.updateFromReads();
    // Its own status, in flight or read since, is newer.
    if (job.inFlight || job.statusMs > sentMs) return void (job.onFirstPage = !isEnd(status));
    job.seenInList(status, store.get(jobId)?.job?.status);
    // The job's own status has the clips, so it is asked first wherever the rate limiter has room.
    const isBusy =
      this.#waitMs() > 0 || [...this.#jobs.values()].some((other) => other !== job && other.isToConfirm());
    if (job.confirmSinceMs !== undefined && isEnd(status) && isBusy) store.putListedEnd(jobId, status);
  }

  /** Ends the polling of a job that has ended, whoever read that. */
  #changed(jobId: string): void {
    const { store, schedule } = this.#options;
    const { status, job: state } = store.get(jobId) ?? {};
    const job = this.#jobs.get(jobId);
    if (job === undefined || state?.done !== true) return;
    this.#jobs.delete(jobId);
    const durationMs = status === "completed" ? job.durationMs() : undefined;
    if (durationMs !== undefined) schedule.recordCompletion(durationMs);
    this.#setTimer();
  }

  #listFailed(error: unknown): void {
    if (this.#concernsAllRequests(error)) return;
    const pauseMs = Math.min(LIST_PAUSE.maxMs, LIST_PAUSE.firstMs * 2 ** this.#listFailures);
    this.#listFailures += 1;
    this.#listPausedUntilMs = this.#options.clock.monotonicMs() + pauseMs;
    this.#options.log.debug("Polling the video list failed.", error);
  }

  #failed(job: WatchedJob, error: unknown): void {
    if (this.#concernsAllRequests(error)) return;
    const { code, retryAfterSeconds = 0 } = error instanceof BridgeError ? error.facts : {};
    job.notFoundCount = code === "not_found" ? job.notFoundCount + 1 : 0;
    if (job.notFoundCount > 1 && this.#jobs.get(job.jobId) === job)
      return this.#endWatch(job, "Watching ended: the service says that it knows no such job.");
    job.failed(retryAfterSeconds * 1000);
    this.#options.log.debug(`Polling job ${job.jobId} failed.`, error);
  }

  /** Whether an error says nothing about the job or list that was asked for: then it is handled here. */
  #concernsAllRequests(error: unknown): boolean {
    if (!(error instanceof BridgeError)) return false;
    const { code, status, outcome, retryAfterSeconds } = error.facts;
    if (code === "rate_limited") {
      const { notSentMs, rejectedMs, maxMs } = RATE_LIMITED_PAUSE;
      const defaultMs = outcome === "not_sent" ? notSentMs : rejectedMs;
      const pauseMs = retryAfterSeconds === undefined ? defaultMs : retryAfterSeconds * 1000;
      const nowMs = this.#options.clock.monotonicMs();
      this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + Math.min(maxMs, pauseMs));
      return true;
    }
    // A 403 may be about this one request.
    if (code !== "unauthorized" || status === 403) return false;
    for (const job of Array.from(this.#jobs.values()))
      this.#endWatch(job, "Watching ended: the service does not accept the API key.");
    return true;
  }

  #endOverdue(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const job of Array.from(this.#jobs.values()))
      if (nowMs - job.watchedSinceMs >= MAX_WATCH_MS)
        this.#endWatch(job, "Watching ended after 60 minutes: ask with get_video_status how far the job is.");
  }

  #endWatch(job: WatchedJob, reason: string): void {
    this.#jobs.delete(job.jobId);
    this.#options.log.info(`${job.jobId}: ${reason}`);
    this.#options.store.endWatch(job.jobId, reason);
  }
}

function tooManyError(maxWatched: number): BridgeError {
  return new BridgeError({
    code: "limit_reached",
    message: `The limit of ${maxWatched} watched jobs is reached.`,
    nextStep: "End another subscription first, or ask with get_video_status now and then.",
    outcome: "not_sent",
    retryable: true,
  });
}
