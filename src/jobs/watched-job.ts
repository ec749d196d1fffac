// The polling state of one watched job: when it is due, and what an answer or a failure means for that. Sends
// nothing and sets no timer.

import { isEnded } from "../job.ts";
import type { Clock } from "../clock.ts";
import type { JobStore } from "./job-store.ts";
import type { Schedule } from "./schedule.ts";

export interface WatchedJobOptions {
  readonly store: JobStore;
  readonly schedule: Schedule;
  readonly clock: Clock;
}

const MAX_BACKOFF_MS = 60_000;
/** Hints bring a job's poll forward at most this often. */
const HINT_INTERVAL_MS = 5_000;

/** Times are milliseconds on the monotonic clock. */
export class WatchedJob {
  readonly jobId: string;
  readonly watchedSinceMs: number;
  /** How many subscriptions and waiting calls watch it. */
  watchers = 0;
  /** Whether a request that answers for it is in flight. */
  inFlight = false;
  /** How often in a row the service did not know it. */
  notFoundCount = 0;
  readonly #options: WatchedJobOptions;
  /** When the schedule says to poll it. */
  #scheduledMs: number;
  /** When it may be polled again after a failure. */
  #retryMs = -Infinity;
  /** How many polls in a row failed. */
  #failures = 0;
  /** Whether the list answers for it: not after a list that didn't show it, or was wrong about its end. */
  #isListed = true;
  /** When the list first showed its end, until its own status answers; Infinity if it doesn't. */
  #endListedMs = Infinity;
  /** When the hint came that waits for the answer to a request sent after it. */
  #hintedMs = Infinity;
  /** When the request was sent that answered the last hint. */
  #hintAskedMs = -Infinity;
  /** When it was last seen not to have ended. */
  #seenMs: number | undefined;

  constructor(jobId: string, options: WatchedJobOptions) {
    const { store, schedule, clock } = options;
    this.#options = options;
    this.jobId = jobId;
    this.watchedSinceMs = clock.monotonicMs();
    this.#seenMs = store.get(jobId)?.fetchedAtMs;
    const firstDelayMs = schedule.firstDelayMs(store.ageMs(jobId));
    this.#scheduledMs =
      firstDelayMs > 0 || this.#seenMs === undefined
        ? this.watchedSinceMs + firstDelayMs
        : Math.max(this.watchedSinceMs, this.#seenMs + this.#nextDelayMs());
  }

  /** When to poll it: as scheduled, or at once where the list says that it has ended or a hint waits. */
  get dueMs(): number {
    return Math.max(this.#retryMs, Math.min(this.#scheduledMs, this.#endListedMs, this.#hintDueMs()));
  }

  /** When its own status, which has the clips, gets too old. */
  get clipsDueMs(): number {
    const { fetchedAtMs = this.watchedSinceMs } = this.#options.store.get(this.jobId) ?? {};
    return Math.max(this.#retryMs, fetchedAtMs + this.#options.schedule.maxStatusAgeMs);
  }

  /** Whether the list, which has no clips, may answer for it: not as its first answer, nor on news of it. */
  get sharesList(): boolean {
    return (
      this.#isListed && this.#isKnown() && Math.min(this.#endListedMs, this.#hintDueMs()) > this.#nowMs()
    );
  }

  /** Makes a poll of its own status due. False if a hint waits already. */
  hint(): boolean {
    if (this.#hintedMs < Infinity) return false;
    this.#hintedMs = this.#nowMs();
    return true;
  }

  /** Updates it from its own status, requested at `askedMs`, which says that it has not ended. */
  updateFromStatus(askedMs: number): void {
    this.#retryMs = -Infinity;
    this.#failures = 0;
    this.notFoundCount = 0;
    if (this.#endListedMs < Infinity) this.#isListed = false;
    this.#endListedMs = Infinity;
    const scheduledMs = this.#scheduledMs;
    this.#schedulePoll();
    if (this.#hintedMs > askedMs) return;
    this.#hintedMs = Infinity;
    this.#hintAskedMs = askedMs;
    // A hint may be forged: the poll that was due anyway must not come later because of it.
    if (scheduledMs > this.#nowMs()) this.#scheduledMs = Math.min(scheduledMs, this.#scheduledMs);
  }

  /** Updates it from a list, which is believed about ends only. `status` is undefined if it isn't listed. */
  updateFromList(status: string | undefined): void {
    if (status === undefined) {
      this.#isListed = false;
    } else if (!isEnded(status)) {
      this.#isListed = true;
      this.#endListedMs = Infinity;
      if (this.#isKnown()) this.#schedulePoll();
    } else if (this.#isListed) {
      this.#endListedMs = Math.min(this.#endListedMs, this.#nowMs());
    }
  }

  /** A request for its status failed. */
  backOff(retryAfterMs: number): void {
    const backoffMs = this.#nextDelayMs() * 2 ** Math.min(this.#failures, 6);
    this.#failures += 1;
    this.#retryMs = this.#nowMs() + Math.min(MAX_BACKOFF_MS, Math.max(backoffMs, retryAfterMs));
  }

  /**
   * How long it took from creation to its end, which was just seen: until the middle between now and when it
   * was last seen before its end. Undefined where its creation or that time is not known.
   */
  durationMs(): number | undefined {
    const ageMs = this.#options.store.ageMs(this.jobId);
    if (ageMs === undefined || this.#seenMs === undefined) return undefined;
    return ageMs - (this.#nowMs() - this.#seenMs) / 2;
  }

  /** Whether it was started or read by this process. */
  #isKnown(): boolean {
    return this.#options.store.get(this.jobId)?.job !== undefined;
  }

  #schedulePoll(): void {
    this.#seenMs = this.#nowMs();
    this.#scheduledMs = this.#seenMs + this.#nextDelayMs();
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  #hintDueMs(): number {
    return Math.max(this.#hintedMs, this.#hintAskedMs + HINT_INTERVAL_MS);
  }

  #nextDelayMs(): number {
    const { store, schedule } = this.#options;
    return schedule.nextDelayMs({
      ageMs: store.ageMs(this.jobId),
      observedMs: this.#nowMs() - this.watchedSinceMs,
      progress: store.get(this.jobId)?.job?.progress,
    });
  }
}
