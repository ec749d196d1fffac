// Polls all followed jobs in the background: one loop, one request after the other, the most overdue job
// first. A schedule says when a job is due, the rate limiter how much may be sent.

import { BridgeError, toBridgeError } from "../errors.ts";
import { isEnded } from "../service/job.ts";
import type { Log } from "../log.ts";
import { type Clock, pause } from "../clock.ts";
import type { JobBook, Unsubscribe } from "./job-book.ts";
import { hasEnded } from "./job-record.ts";
import type { JobReader, JobSource } from "./reader.ts";

/** How long to wait before the next poll of a job. */
export interface Schedule {
  /** Polls at this interval instead of the schedule. */
  readonly fixedMs?: number | undefined;
  /** Gives numbers in [0, 1). */
  readonly random: () => number;
}

export interface PollerOptions {
  readonly source: JobSource;
  readonly reader: JobReader;
  readonly book: JobBook;
  readonly schedule: Schedule;
  readonly clock: Clock;
  readonly log: Log;
}

const FIRST_POLL_MS = 12_000;
/** Few renders end before this age. */
const USUAL_FROM_MS = 120_000;
const EARLY_INTERVAL_MS = 30_000;
/** After that, the interval is a share of the job's age within these bounds. */
const LATE = { minMs: 6_000, shareOfAge: 0.02, maxMs: 30_000 } as const;
const JITTER = 0.1;
const MAX_FOLLOWING_MS = 60 * 60_000;
const MAX_BACKOFF_MS = 60_000;
/** Hints bring a job's poll forward at most this often: anything on this computer can send one. */
const HINT_INTERVAL_MS = 5_000;
/** A job that is due this soon shares the list request with those that are due now. */
const DUE_SOON_MS = 2_000;
/** For this time after a failed list, each job's own status is requested, which may work without it. */
const LIST_PAUSE_MS = 60_000;
/** The list shows no clips, so each job's own status is read this often too, more slowly for many jobs. */
const CLIPS_AGE = { minMs: 30_000, perJobMs: 3_000 } as const;

/** Times are milliseconds on the monotonic clock. */
interface FollowedJob {
  readonly jobId: string;
  readonly sinceMs: number;
  /** The number of subscriptions, tasks and waiting calls that follow the job. */
  followers: number;
  dueMs: number;
  /** When the last hint made the job due. */
  hintedMs: number;
  /** How many polls in a row failed. */
  failures: number;
  /** How many polls in a row were answered with 404. */
  notFound: number;
  /** The list lacks the job, or shows an end that the job's own status must confirm. */
  mustAskItself: boolean;
}

/**
 * There are two ways to ask for a job that is due.
 *
 * - Its own status: for the first answer, after a hint, to read the clips again, and if the
 *   list can't answer for it (`mustAskItself`).
 * - The list: for all others, if two or more are due. One request answers for all of them.
 */
export class Poller {
  readonly #options: PollerOptions;
  readonly #jobs = new Map<string, FollowedJob>();
  readonly #unsubscribe: Unsubscribe;
  /** Ends the loop's pause, since what is due has changed. */
  #wake = new AbortController();
  #isRunning = false;
  #listPausedUntilMs = -Infinity;
  #isClosed = false;

  constructor(options: PollerOptions) {
    this.#options = options;
    // Stops polling once any reader has seen the job end.
    this.#unsubscribe = options.book.on("change", (jobId) => {
      if (hasEnded(options.book.get(jobId))) this.#remove(jobId);
    });
  }

  /** Polls the job until it ends, unless it has ended, or until every caller has unsubscribed. */
  follow(jobId: string): Unsubscribe {
    if (this.#isClosed || hasEnded(this.#options.book.get(jobId))) return () => {};
    const job = this.#jobs.get(jobId) ?? this.#add(jobId);
    job.followers += 1;
    this.#wake.abort();
    if (!this.#isRunning) void this.#run();
    let isFollowing = true;
    return () => {
      if (isFollowing && --job.followers === 0 && this.#jobs.get(jobId) === job) this.#remove(jobId);
      isFollowing = false;
    };
  }

  /** Makes the job due now, if it is followed: there may be news. */
  hint(jobId: string): void {
    const job = this.#jobs.get(jobId);
    if (job === undefined) return;
    const dueMs = Math.max(this.#nowMs(), job.hintedMs + HINT_INTERVAL_MS);
    if (dueMs >= job.dueMs) return;
    job.hintedMs = dueMs;
    job.dueMs = dueMs;
    this.#wake.abort();
  }

  /** Ends all polling for good. */
  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    this.#jobs.clear();
    this.#wake.abort();
  }

  #add(jobId: string): FollowedJob {
    const { book, schedule } = this.#options;
    const nowMs = this.#nowMs();
    const { fetchedAtMs } = book.get(jobId);
    const ageMs = book.ageMs(jobId);
    const job = {
      jobId,
      sinceMs: nowMs,
      followers: 0,
      dueMs:
        fetchedAtMs === undefined
          ? nowMs + firstDelayMs(schedule, ageMs)
          : fetchedAtMs + nextDelayMs(schedule, ageMs),
      hintedMs: -Infinity,
      failures: 0,
      notFound: 0,
      mustAskItself: false,
    };
    this.#jobs.set(jobId, job);
    if (book.get(jobId).followingEnded !== undefined) book.note(jobId, { followingEnded: undefined });
    return job;
  }

  #remove(jobId: string): void {
    if (this.#jobs.delete(jobId)) this.#wake.abort();
  }

  async #run(): Promise<void> {
    const { clock, source } = this.#options;
    this.#isRunning = true;
    for (let [next] = this.#byDueTime(); next !== undefined; [next] = this.#byDueTime()) {
      const waitMs = Math.max(dueAt(next) - this.#nowMs(), source.backgroundWaitMs());
      if (waitMs > 0) {
        this.#wake = new AbortController();
        await pause(clock, waitMs, this.#wake.signal);
      } else {
        await this.#poll(next);
      }
    }
    this.#isRunning = false;
  }

  async #poll(next: FollowedJob): Promise<void> {
    const nowMs = this.#nowMs();
    if (nowMs >= next.sinceMs + MAX_FOLLOWING_MS)
      return this.#end(
        next,
        "Following ended after 60 minutes: ask with get_video_status how far the job is.",
      );
    const sharing = this.#byDueTime().filter(
      (job) => this.#sharesList(job) && dueAt(job) <= nowMs + DUE_SOON_MS,
    );
    const [first] = sharing;
    const isDue = first !== undefined && dueAt(first) <= nowMs && nowMs >= this.#listPausedUntilMs;
    const canShare = isDue && sharing.length > 1;
    await (canShare ? this.#readList() : this.#readStatus(next));
  }

  /** True if the list request may replace the job's own status request. */
  #sharesList({ jobId, mustAskItself, dueMs, hintedMs, sinceMs }: FollowedJob): boolean {
    const { state, fetchedAtMs = sinceMs } = this.#options.book.get(jobId);
    const maxAgeMs = Math.max(CLIPS_AGE.minMs, CLIPS_AGE.perJobMs * this.#jobs.size);
    const hasFreshClips = this.#nowMs() - fetchedAtMs < maxAgeMs;
    return state !== undefined && dueMs !== hintedMs && !mustAskItself && hasFreshClips;
  }

  /** One request for the newest videos, which answers for all jobs that have not ended. */
  async #readList(): Promise<void> {
    const { source, book, log } = this.#options;
    try {
      const { videos } = await source.listNewestVideos({ background: true });
      const statuses = new Map(videos.map(({ jobId, status }) => [jobId, status]));
      book.updateFromPage(videos, { isFirstPage: true });
      for (const job of this.#jobs.values()) {
        const status = statuses.get(job.jobId);
        const hasEnd = status !== undefined && isEnded(status);
        job.mustAskItself = status === undefined || hasEnd;
        if (this.#sharesList(job)) job.dueMs = this.#nextDueMs(job);
        else if (hasEnd) job.dueMs = Math.min(job.dueMs, this.#nowMs());
      }
    } catch (error) {
      if (this.#endIfUnauthorized(error)) return;
      this.#listPausedUntilMs = this.#nowMs() + LIST_PAUSE_MS;
      log.debug("Polling the video list failed.", error);
    }
  }

  async #readStatus(job: FollowedJob): Promise<void> {
    const { reader, log } = this.#options;
    // The job is not due again unless a hint arrives during the read.
    job.dueMs = Infinity;
    try {
      await reader.read(job.jobId, { background: true });
      job.failures = 0;
      job.notFound = 0;
      job.dueMs = Math.min(job.dueMs, this.#nextDueMs(job));
    } catch (error) {
      if (this.#endIfUnauthorized(error)) return;
      const { facts, message } = toBridgeError(error, "rejected");
      const { code, retryAfterSeconds = 0 } = facts;
      job.notFound = code === "not_found" ? job.notFound + 1 : 0;
      if (job.notFound > 1) return this.#end(job, `Following ended. ${message}`);
      const nowMs = this.#nowMs();
      const backoffMs = (this.#nextDueMs(job) - nowMs) * 2 ** Math.min(job.failures, 6);
      job.failures += 1;
      job.dueMs = nowMs + Math.max(Math.min(MAX_BACKOFF_MS, backoffMs), retryAfterSeconds * 1000);
      log.debug(`Polling job ${job.jobId} failed.`, error);
    }
  }

  #byDueTime(): FollowedJob[] {
    return [...this.#jobs.values()].sort((a, b) => dueAt(a) - dueAt(b));
  }

  #nextDueMs({ jobId }: FollowedJob): number {
    const { book, schedule } = this.#options;
    return this.#nowMs() + nextDelayMs(schedule, book.ageMs(jobId));
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  /** A 403 may be about one request alone. */
  #endIfUnauthorized(error: unknown): boolean {
    const { code, status } = error instanceof BridgeError ? error.facts : {};
    if (code !== "unauthorized" || status === 403) return false;
    for (const job of Array.from(this.#jobs.values()))
      this.#end(job, "Following ended: the service does not accept the API key.");
    return true;
  }

  #end(job: FollowedJob, reason: string): void {
    // All callers may have unsubscribed during the request.
    if (this.#jobs.get(job.jobId) !== job) return;
    this.#jobs.delete(job.jobId);
    this.#options.log.info(`${job.jobId}: ${reason}`);
    this.#options.book.endFollowing(job.jobId, reason);
  }
}

function dueAt({ dueMs, sinceMs }: FollowedJob): number {
  return Math.min(dueMs, sinceMs + MAX_FOLLOWING_MS);
}

/** The ms from now to the first poll of a job of this age. A job of unknown age is polled immediately. */
export function firstDelayMs({ fixedMs = FIRST_POLL_MS }: Schedule, ageMs: number | undefined): number {
  return ageMs === undefined ? 0 : Math.max(0, fixedMs - ageMs);
}

/** The ms from a job's last poll to its next one. A job of unknown age may end at any moment. */
export function nextDelayMs({ fixedMs, random }: Schedule, ageMs = USUAL_FROM_MS): number {
  return fixedMs ?? intervalMs(ageMs) * (1 - JITTER + 2 * JITTER * random());
}

function intervalMs(ageMs: number): number {
  const untilUsualMs = USUAL_FROM_MS - ageMs;
  const longestMs = untilUsualMs > 0 ? Math.min(EARLY_INTERVAL_MS, untilUsualMs) : LATE.shareOfAge * ageMs;
  return Math.max(LATE.minMs, Math.min(LATE.maxMs, longestMs));
}
