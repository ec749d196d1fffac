// Tracks the service's rate limit from response headers and decides when the next request may be sent.
// Knows nothing about HTTP, retries or jobs.

import type { Clock } from "../clock.ts";

/** `user`: a user's call waits for the answer. `background`: a poll. */
export type RequestKind = "user" | "background";

/** Names in lower case. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** One reserved request. Release it exactly once, with the response if there was one. */
export interface Permit {
  release(response?: { readonly status: number; readonly headers: ResponseHeaders }): void;
}

export interface RateLimiterOptions {
  /** Its time of day is only for absolute times in answers that have no Date header. */
  readonly clock: Pick<Clock, "now" | "monotonicMs">;
  /** Background requests per minute while the service names no limit. */
  readonly backgroundPerMinute?: number | undefined;
}

const BACKGROUND_SHARE = 0.6;
const MINUTE_MS = 60_000;
/** Reset and Date have whole seconds, so a window may end up to a second later than they say. */
const ROUNDING_MS = 1_000;
/** Two readings of one window's end differ by less. */
const SAME_WINDOW_MS = 2_000;
/** How soon to look again while only requests in flight use up the limit. */
const RECHECK_MS = 250;
/** Polls wait this much longer after a pause, so that users' waiting calls go first. */
const USERS_FIRST_MS = 1_000;
/** Follows a 429 with neither Retry-After nor reset. */
const DEFAULT_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 3_600_000;
/** Times in headers that are further away count as this far away. */
const MAX_MS = 24 * 3_600_000;

/** One account's rate limit, shared by the whole process. Times: milliseconds of the monotonic clock. */
export class RateLimiter {
  readonly #options: RateLimiterOptions;
  #limit = Infinity; // requests per window; Infinity until the service has named one
  #remaining = Infinity; // as last reported, not counting what is in flight
  #resetsAtMs = Infinity; // end of the window; Infinity when the service does not say, or it is over
  #resetIsInMs = false; // whether a reset has shown that it counts milliseconds from now
  #pausedUntilMs = -Infinity; // set by a 429; nothing is sent before
  #inFlight = 0;
  #backgroundSent = 0; // in this window
  #nextBackgroundMs = -Infinity; // when the next one is due at an even pace

  constructor(options: RateLimiterOptions) {
    this.#options = options;
  }

  /** Reserves a request, or says how long to wait before trying again. */
  tryAcquire(kind: RequestKind): Permit | { readonly retryInMs: number } {
    const retryInMs = this.waitMs(kind);
    if (retryInMs > 0) return { retryInMs };
    if (kind === "background") {
      const atMs = this.#options.clock.monotonicMs();
      this.#nextBackgroundMs = Math.max(this.#nextBackgroundMs, atMs) + this.#backgroundGapMs(atMs);
      this.#backgroundSent += 1;
    }
    this.#inFlight += 1;
    return {
      release: (response) => {
        if (response !== undefined) this.#update(response.status, response.headers);
        this.#inFlight -= 1;
      },
    };
  }

  /** Milliseconds until `tryAcquire` may succeed; 0 for now. */
  waitMs(kind: RequestKind): number {
    const atMs = this.#options.clock.monotonicMs();
    this.#endWindow(atMs);
    const readyAtMs =
      kind === "user"
        ? Math.max(this.#userReadyAtMs(atMs), this.#pausedUntilMs)
        : Math.max(this.#backgroundReadyAtMs(atMs), this.#pausedUntilMs + USERS_FIRST_MS);
    return Math.ceil(Math.max(0, readyAtMs - atMs));
  }

  /** Whether more than the users' share of the limit is left, whichever process used the rest. */
  hasSpare(): boolean {
    this.#endWindow(this.#options.clock.monotonicMs());
    if (this.#resetsAtMs === Infinity || this.#limit === Infinity) return true;
    return this.#remaining - this.#inFlight > (1 - BACKGROUND_SHARE) * this.#limit;
  }

  #update(status: number, headers: ResponseHeaders): void {
    const atMs = this.#options.clock.monotonicMs();
    this.#endWindow(atMs);
    this.#limit = readNumber(headers["x-ratelimit-limit"]) || this.#limit;
    const remaining = readNumber(headers["x-ratelimit-remaining"]) ?? this.#remaining;
    const resetInMs = this.#readResetMs(headers);
    const resetsAtMs = resetInMs === undefined ? this.#resetsAtMs : atMs + resetInMs + ROUNDING_MS;
    const laterByMs = resetsAtMs - this.#resetsAtMs;
    if (Math.abs(laterByMs) <= SAME_WINDOW_MS) {
      // Answers may overtake each other: within a window the lowest count is the newest.
      this.#remaining = Math.min(this.#remaining, remaining);
    } else {
      if (laterByMs > 0) this.#beginBackgroundWindow();
      this.#remaining = remaining;
      this.#resetsAtMs = resetsAtMs;
    }
    // The last gap may rest on a guess: what is known now shortens it.
    this.#nextBackgroundMs = Math.min(this.#nextBackgroundMs, atMs + 2 * this.#backgroundGapMs(atMs));
    if (status !== 429) return;
    // Retry-After wins over the reset, even if it is sooner: then the service is asked, whatever remained.
    const retryAfterMs = readRetryAfterMs(headers, this.#options.clock.now());
    const unnamedMs = this.#resetsAtMs === Infinity ? DEFAULT_PAUSE_MS : this.#resetsAtMs - atMs;
    const pauseMs = Math.min(MAX_PAUSE_MS, retryAfterMs ?? unnamedMs);
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, atMs + pauseMs);
    if (retryAfterMs !== undefined) this.#remaining = this.#limit;
  }

  /** Once a window has ended, the whole limit is free again until an answer says otherwise. */
  #endWindow(atMs: number): void {
    if (atMs < this.#resetsAtMs) return;
    this.#remaining = this.#limit;
    this.#resetsAtMs = Infinity;
    this.#beginBackgroundWindow();
  }

  #beginBackgroundWindow(): void {
    // The service may count requests in flight in this window or in the last one.
    this.#backgroundSent = this.#inFlight;
    this.#nextBackgroundMs = -Infinity;
  }

  #userReadyAtMs(atMs: number): number {
    if (this.#remaining > this.#inFlight) return atMs;
    if (this.#remaining <= 0 && this.#resetsAtMs < Infinity) return this.#resetsAtMs;
    // The wait is unknown without a reset: one request at a time asks the service, which may answer 429.
    return this.#inFlight === 0 ? atMs : Math.min(this.#resetsAtMs, atMs + RECHECK_MS);
  }

  #backgroundReadyAtMs(atMs: number): number {
    // A limit of one leaves nothing for polls.
    if (Math.floor(BACKGROUND_SHARE * this.#limit) < 1) return atMs + MINUTE_MS;
    if (this.#resetsAtMs < Infinity && this.#backgroundLeft() < 1) return this.#resetsAtMs;
    // One poll may come early: a list's news often needs a status request at once to confirm it.
    return this.#nextBackgroundMs - this.#backgroundGapMs(atMs);
  }

  /** Background requests left in this window: users keep their share of the limit and of what remains. */
  #backgroundLeft(): number {
    const ofLimit = Math.floor(BACKGROUND_SHARE * this.#limit) - this.#backgroundSent;
    return Math.min(ofLimit, Math.floor(BACKGROUND_SHARE * (this.#remaining - this.#inFlight)));
  }

  /** Spreads what is left evenly over the rest of the window, or over a minute if that is unknown. */
  #backgroundGapMs(atMs: number): number {
    const left = this.#backgroundLeft();
    if (this.#resetsAtMs < Infinity && left < Infinity)
      return (this.#resetsAtMs - atMs) / (Math.max(0, left) + 1);
    const ofLimit = Math.floor(BACKGROUND_SHARE * this.#limit);
    return MINUTE_MS / (ofLimit < Infinity ? ofLimit : (this.#options.backgroundPerMinute ?? 30));
  }

  /** X-RateLimit-Reset in milliseconds from now. Its unit is not documented: the magnitude tells it. */
  #readResetMs(headers: ResponseHeaders): number | undefined {
    const reset = headers["x-ratelimit-reset"];
    const count = readNumber(reset);
    if (count === undefined) return msUntil(readDate(reset), headers, this.#options.clock.now());
    if (count >= 1e9)
      return msUntil(count >= 1e11 ? count : 1000 * count, headers, this.#options.clock.now());
    // No window is over an hour of seconds: more are milliseconds, and lower numbers after that are too.
    this.#resetIsInMs ||= count > 3_600;
    return this.#resetIsInMs ? count : 1000 * count;
  }
}

/** Retry-After in milliseconds: seconds, or a date. `nowMs` is since the epoch. */
export function readRetryAfterMs(headers: ResponseHeaders, nowMs: number): number | undefined {
  const retryAfter = headers["retry-after"];
  const seconds = readNumber(retryAfter);
  return seconds === undefined
    ? msUntil(readDate(retryAfter), headers, nowMs)
    : Math.min(MAX_MS, 1000 * seconds);
}

/** Goes by the service's clock (Date) where the answer has it, as ours may be minutes off. */
function msUntil(timeMs: number | undefined, headers: ResponseHeaders, nowMs: number): number | undefined {
  if (timeMs === undefined) return undefined;
  return Math.min(MAX_MS, Math.max(0, timeMs - (readDate(headers["date"]) ?? nowMs)));
}

function readNumber(value: ResponseHeaders[string]): number | undefined {
  const text = textOf(value);
  return /^\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : undefined;
}

const DATE = /^(?:[A-Z][a-z]{2,8}, .{18,24} GMT|\d{4}-\d\d-\d\dT[\d:.]{5,18}(?:Z|[+-]\d\d:?\d\d))$/;

/** Milliseconds since the epoch of an HTTP or ISO date. Date.parse alone takes "unit 7" for a day in July. */
function readDate(value: ResponseHeaders[string]): number | undefined {
  const timeMs = DATE.test(textOf(value)) ? Date.parse(textOf(value)) : Number.NaN;
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

/** The first value of a repeated header; an empty text, which reads as malformed, for an absent one. */
function textOf(value: ResponseHeaders[string]): string {
  const first = typeof value === "string" ? value : value?.[0];
  return first?.trim() ?? "";
}
