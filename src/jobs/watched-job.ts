// The polling state of one watched job: when it is due, and what an answer or a failure means for that. Sends nothing and sets
// no timer.

import type { Job } from "../service/answers.ts";
import type { Clock } from "./clock.ts";
import type { JobStore } from "./job-store.ts";
import type { PollState, Schedule } from "./schedule.ts";

export interface WatchedJobOptions {
  readonly store: JobStore;
  readonly schedule: Schedule;
  readonly clock: Clock;
}

const MAX_BACKOFF_MS = 60_000;
/** Hints bring a job's poll forward at most this often. */
const HINT_INTERVAL_MS = 5_000;
/** A job that is due this soon, as a share of its interval, shares a request for the list with those that are due now. */
const NEARLY_DUE = 0.25;

/** Times are milliseconds on the monotonic clock. */
export class WatchedJob {
  readonly jobId: string;
  readonly watchedSinceMs: number;
  /** How many subscriptions and waiting calls watch it. */
  watchers = 0;
  /** A request that answers for it is in flight. */
  inFlight = false;
  /** Whether the first page of the video list shows it, as far as is known. */
  onFirstPage = true;
  /** When the list first showed a status that the job's own answer has not confirmed yet. */
  confirmSinceMs: number | undefined;
  /** How often in a row the service did not know it. */
  notFoundCount = 0;
  readonly #store: JobStore;
  readonly #schedule: Schedule;
  readonly #clock: Clock;
  #dueMs: number;
  /** When it was last seen running, in its own status or in the list. */
  #seenMs: number | undefined;
  /** When its own status was last read, or watching began. */
  #statusMs: number;
  /** After a failure, when it may be read again. */
  #retryMs = -Infinity;
  /** What the list said last. */
  #listedStatus: string | undefined;
  /** How many polls in a row failed. */
  #failures = 0;
  /** Since when a hint waits for a poll. */
  #hintedMs: number | undefined;
  /** When it was last polled with a hint waiting. */
  #hintPolledMs = -Infinity;

  constructor(jobId: string, { store, schedule, clock }: WatchedJobOptions) {
    this.#store = store;
    this.#schedule = schedule;
    this.#clock = clock;
    this.jobId = jobId;
    this.watchedSinceMs = clock.monotonicMs();
    this.#statusMs = this.watchedSinceMs;
    this.#dueMs = this.watchedSinceMs + schedule.firstDelayMs(this.#ageMs());
    this.updateFromReads();
  }

  /** When it is to be polled; at once while the list's word has to be confirmed or a hint waits. */
  get dueMs(): number {
    const dueMs =
      this.confirmSinceMs === undefined ? this.#dueMs : Math.max(this.confirmSinceMs, this.#retryMs);
    return Math.min(dueMs, this.#hintDueMs());
  }

  isToConfirm(): boolean {
    return this.confirmSinceMs !== undefined && this.#retryMs <= this.#clock.monotonicMs();
  }

  /** Whether a hint is reason enough to poll it now. */
  isHinted(): boolean {
    return this.#hintDueMs() <= this.#clock.monotonicMs();
  }

  #hintDueMs(): number {
    if (this.#hintedMs === undefined) return Infinity;
    return Math.max(this.#hintedMs, this.#hintPolledMs + HINT_INTERVAL_MS, this.#retryMs);
  }

  /** When its own status, which has the clips, gets too old to be left to the list. */
  get statusDueMs(): number {
    return Math.max(this.#retryMs, this.#statusMs + this.#schedule.maxStatusAgeMs);
  }

  /** When its own status was last read, or watching began: an older list has no news of it. */
  get statusMs(): number {
    return this.#statusMs;
  }

  isNearlyDue(): boolean {
    return this.#dueMs <= this.#clock.monotonicMs() + NEARLY_DUE * this.#intervalMs();
  }

  /** How long it was not seen, weighted by its interval: the greatest is polled first. */
  urgency(): number {
    const intervalMs = this.#intervalMs();
    const seenMs = this.#seenMs ?? this.watchedSinceMs - intervalMs;
    return (this.#clock.monotonicMs() - seenMs) / Math.sqrt(intervalMs);
  }

  /** A read for a user is as good as a poll, unless it came before the first poll is worth it. */
  updateFromReads(): void {
    const { fetchedAtMs = -Infinity } = this.#store.get(this.jobId) ?? {};
    if (fetchedAtMs <= (this.#seenMs ?? -Infinity)) return;
    this.#seenMs = fetchedAtMs;
    this.#statusMs = Math.max(this.#statusMs, fetchedAtMs);
    this.#retryMs = -Infinity;
    const agoMs = this.#clock.monotonicMs() - fetchedAtMs;
    const ageMs = this.#ageMs();
    if (this.#schedule.firstDelayMs(ageMs === undefined ? undefined : ageMs - agoMs) > 0) return;
    this.#polled(fetchedAtMs);
  }

  /** Makes its next poll come soon. False if that poll waits already. */
  hint(): boolean {
    if (this.#hintedMs !== undefined) return false;
    this.#hintedMs = this.#clock.monotonicMs();
    return true;
  }

  /** A request for its status is sent now: whether it also answers a hint. A hint that comes later needs another request. */
  takeHint(): boolean {
    if (this.#hintedMs === undefined) return false;
    this.#hintedMs = undefined;
    this.#hintPolledMs = this.#clock.monotonicMs();
    return true;
  }

  /** Its own status says that it runs. */
  seenRunning({ wasHinted }: { readonly wasHinted: boolean }): void {
    this.#statusMs = this.#clock.monotonicMs();
    this.#retryMs = -Infinity;
    const dueMs = this.#dueMs;
    // A hint may be forged: the poll that was due anyway must not come later because of it.
    const keepsDue = wasHinted && this.confirmSinceMs === undefined && dueMs > this.#statusMs;
    this.#polled(this.#statusMs);
    if (keepsDue) this.#dueMs = Math.min(dueMs, this.#dueMs);
  }

  /** The list names this status for it; `known` is what its own answer said last. */
  seenInList(status: string, known: string | undefined): void {
    // The list may have a word of its own for a running job, which is compared once.
    const isNews = status !== this.#listedStatus && (known === undefined ? isEnd(status) : status !== known);
    this.#listedStatus = status;
    // Of a job whose own status has denied this end before, the list is not believed.
    this.onFirstPage = isNews || !isEnd(status);
    if (isNews) this.confirmSinceMs ??= this.#clock.monotonicMs();
    else if (this.onFirstPage) this.#polled(this.#clock.monotonicMs());
  }

  /** A request for its status failed. */
  failed(retryAfterMs: number): void {
    this.#failures += 1;
    const backoffMs = this.#nextDelayMs() * 2 ** Math.min(this.#failures - 1, 6);
    this.#dueMs = this.#clock.monotonicMs() + Math.min(MAX_BACKOFF_MS, Math.max(backoffMs, retryAfterMs));
    this.#retryMs = this.#dueMs;
  }

  /**
   * How long it took from creation to its end, which was just seen: the middle between the last time that it was seen running and
   * the first time that it was seen ended. Undefined where either is not known.
   */
  durationMs(): number | undefined {
    const nowMs = this.#clock.monotonicMs();
    const ageMs = this.#ageMs();
    if (ageMs === undefined || this.#seenMs === undefined) return undefined;
    return ageMs - (nowMs - (this.#seenMs + (this.confirmSinceMs ?? nowMs)) / 2);
  }

  #polled(atMs: number): void {
    this.#seenMs = atMs;
    this.#failures = 0;
    this.notFoundCount = 0;
    this.confirmSinceMs = undefined;
    this.#dueMs = atMs + this.#nextDelayMs();
  }

  #ageMs(): number | undefined {
    const createdAtMs = this.#store.get(this.jobId)?.createdAtMs;
    return createdAtMs === undefined ? undefined : this.#clock.now() - createdAtMs;
  }

  #pollState(): PollState {
    return {
      ageMs: this.#ageMs(),
      observedMs: this.#clock.monotonicMs() - this.watchedSinceMs,
      progress: wholeProgress(this.#store.get(this.jobId)?.job?.progress),
    };
  }

  #intervalMs(): number {
    return this.#schedule.intervalMs(this.#pollState());
  }

  #nextDelayMs(): number {
    return this.#schedule.nextDelayMs(this.#pollState());
  }
}

/** Whether a status of the list says that the job has ended. */
export function isEnd(status: string): boolean {
  return status === "completed" || status === "failed";
}

/** Counts that a forecast can be made of. */
function wholeProgress(progress: Job["progress"]): PollState["progress"] {
  const { total, completed, failed = 0 } = progress ?? {};
  if (total === undefined || completed === undefined || !(total > 0)) return undefined;
  return { total, completed, failed };
}
