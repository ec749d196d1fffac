// Tracks the service's rate limit from response headers and decides when the next request may be sent.
// Knows nothing about HTTP, retries or jobs.

import { type AnswerHeaders, headerValue, readRetryAfterMs, ResetReader } from "./rate-limit-headers.ts";

/** `user`: somebody waits for the answer. `background`: a poll. */
export type RequestKind = "user" | "background";

export interface RateLimitedResponse {
  readonly status: number;
  readonly headers: AnswerHeaders;
}

/** One reserved request. Release it exactly once, with the response if there was one. */
export interface Permit {
  release(response?: RateLimitedResponse): void;
}

export interface RateLimitStatus {
  readonly limit?: number;
  /** As last reported, less the requests in flight. */
  readonly remaining?: number;
  readonly resetInMs?: number;
  /** 0 unless a 429 has paused all requests. */
  readonly pausedMs: number;
}

export interface RateLimiterOptions {
  /** Measures every duration. */
  readonly monotonicMs: () => number;
  /** Milliseconds since the epoch; only for absolute times in answers that have no Date header. */
  readonly now: () => number;
  /** Background requests per minute while the service names no limit. */
  readonly backgroundPerMinute?: number | undefined;
}

const BACKGROUND_SHARE = 0.6;
const MINUTE_MS = 60_000;
/** Reset and Date have whole seconds, so a window may end that much later than they say. */
const ROUNDING_MS = 1_000;
/** Two readings of one window's end differ by less. */
const SAME_WINDOW_MS = 2_000;
/** How soon to look again when only the requests in flight stand in the way. */
const RECHECK_MS = 250;
/** After a pause the users' calls that have waited for its end go before the polls. */
const USERS_FIRST_MS = 1_000;
/** A bare number beyond this might be milliseconds, and a wrong guess would refuse calls for long. */
const MAX_GUESSED_RESET_MS = 60_000;
const PAUSE = { firstMs: 5_000, factor: 2, maxUnnamedMs: 60_000, maxMs: 3_600_000 } as const;

/** Rate limit state of one account, shared by the whole process. Times are of the monotonic clock, in milliseconds. */
export class RateLimiter {
  readonly #monotonicMs: () => number;
  readonly #now: () => number;
  readonly #backgroundPerMinute: number;
  readonly #resetReader = new ResetReader();
  #limit: number | undefined; // requests per window; undefined until the service has named one
  #remaining = Infinity; // as last reported, not counting what is in flight
  #resetsAtMs: number | undefined; // end of the window; undefined when the service does not say, or it is over
  #pausedUntilMs = -Infinity; // set by a 429; nothing is sent before
  #refusals = 0; // 429s in a row, those in flight together counting as one
  #inFlight = 0;
  #acquired = 0; // numbers the requests, so that overtaken answers are recognised
  #newestAnswered = 0;
  #backgroundInFlight = 0;
  #backgroundSent = 0; // in this window
  #nextBackgroundMs = -Infinity; // when the next one is due at an even pace

  constructor({ monotonicMs, now, backgroundPerMinute = 30 }: RateLimiterOptions) {
    this.#monotonicMs = monotonicMs;
    this.#now = now;
    this.#backgroundPerMinute = backgroundPerMinute;
  }

  /** Reserves a request, or says how long to wait before trying again. */
  tryAcquire(kind: RequestKind): Permit | { readonly retryInMs: number } {
    const retryInMs = this.waitMs(kind);
    if (retryInMs > 0) return { retryInMs };
    if (kind === "background") {
      const atMs = this.#monotonicMs();
      this.#nextBackgroundMs = Math.max(this.#nextBackgroundMs, atMs) + this.#backgroundGapMs(atMs);
      this.#backgroundSent += 1;
      this.#backgroundInFlight += 1;
    }
    this.#inFlight += 1;
    this.#acquired += 1;
    const order = this.#acquired;
    let released = false;
    return {
      release: (response) => {
        if (released) return;
        released = true;
        this.#inFlight -= 1;
        if (response !== undefined) this.update(response, order);
        if (kind === "background") this.#backgroundInFlight -= 1;
      },
    };
  }

  /** Milliseconds until `tryAcquire` may succeed; 0 for now. */
  waitMs(kind: RequestKind): number {
    const atMs = this.#monotonicMs();
    this.#endWindow(atMs);
    const [readyAtMs, resumesAtMs] =
      kind === "user"
        ? [this.#userReadyAtMs(atMs), this.#pausedUntilMs]
        : [this.#backgroundReadyAtMs(atMs), this.#pausedUntilMs + USERS_FIRST_MS];
    return Math.ceil(Math.max(0, readyAtMs - atMs, resumesAtMs - atMs));
  }

  /** Whether more than the users' share of the limit is left, be the rest used by this process or by others with the same key. */
  hasSpare(): boolean {
    this.#endWindow(this.#monotonicMs());
    return this.#resetsAtMs === undefined || this.#free() > (1 - BACKGROUND_SHARE) * (this.#limit ?? 0);
  }

  /** Takes in a response; `order` is the number of its request, by default one that was sent without a permit. */
  update({ status, headers }: RateLimitedResponse, order = this.#acquired): void {
    const atMs = this.#monotonicMs();
    this.#endWindow(atMs);
    this.#limit = readCount(headers["x-ratelimit-limit"], 1) ?? this.#limit;
    const remaining = readCount(headers["x-ratelimit-remaining"], 0);
    const resetsAtMs = this.#readResetsAtMs(headers, atMs);
    const isLaterWindow = this.#isAfterKnownWindow(resetsAtMs);
    const isRefilled = this.#isRefilled(remaining, atMs);
    if (isLaterWindow || isRefilled) this.#beginBackgroundWindow();
    if (isLaterWindow || order >= this.#newestAnswered) this.#believe(remaining, resetsAtMs, order);
    else this.#believeOvertaken(remaining, resetsAtMs);
    // What was spaced by a guess is spaced by what is known now.
    this.#nextBackgroundMs = Math.min(this.#nextBackgroundMs, atMs + 2 * this.#backgroundGapMs(atMs));
    if (status === 429) this.#pause(headers, atMs);
    else this.#refusals = 0;
  }

  status(): RateLimitStatus {
    const atMs = this.#monotonicMs();
    this.#endWindow(atMs);
    return {
      ...(this.#limit !== undefined && { limit: this.#limit }),
      ...(this.#remaining < Infinity && { remaining: Math.max(0, this.#free()) }),
      ...(this.#resetsAtMs !== undefined && {
        resetInMs: Math.max(0, this.#resetsAtMs - ROUNDING_MS - atMs),
      }),
      pausedMs: Math.max(0, this.#pausedUntilMs - atMs),
    };
  }

  #free(): number {
    return this.#remaining - this.#inFlight;
  }

  /** After the end of a window everything is allowed anew, until an answer says more. */
  #endWindow(atMs: number): void {
    if (this.#resetsAtMs === undefined || atMs < this.#resetsAtMs) return;
    this.#remaining = this.#limit ?? Infinity;
    this.#resetsAtMs = undefined;
    this.#beginBackgroundWindow();
  }

  #beginBackgroundWindow(): void {
    // Those in flight may be counted by the service in this window or in the last.
    this.#backgroundSent = this.#backgroundInFlight;
    this.#nextBackgroundMs = -Infinity;
  }

  #userReadyAtMs(atMs: number): number {
    if (this.#free() > 0) return atMs;
    const isKnownUsedUp = this.#remaining <= 0 && this.#resetsAtMs !== undefined;
    if (this.#inFlight > 0 && !isKnownUsedUp)
      return Math.min(this.#resetsAtMs ?? Infinity, atMs + RECHECK_MS);
    // Without a reset nobody knows how long to wait: the service is asked, which answers 429 if it must.
    return this.#resetsAtMs ?? atMs;
  }

  #backgroundReadyAtMs(atMs: number): number {
    // Of a limit of one nothing is left for polls.
    if (Math.floor(BACKGROUND_SHARE * (this.#limit ?? Infinity)) < 1) return atMs + MINUTE_MS;
    if (this.#resetsAtMs !== undefined && this.#backgroundLeft() < 1) return this.#resetsAtMs;
    // One may come early: what a list shows often has to be confirmed by a status at once.
    return this.#nextBackgroundMs - this.#backgroundGapMs(atMs);
  }

  /** Background requests that may still be sent in this window: users keep their share of the limit and of what remains. */
  #backgroundLeft(): number {
    const ofLimit = Math.floor(BACKGROUND_SHARE * (this.#limit ?? Infinity)) - this.#backgroundSent;
    return Math.min(ofLimit, Math.floor(BACKGROUND_SHARE * this.#free()));
  }

  /** Spreads what is left evenly over the rest of the window, or over a minute where the window is not known. */
  #backgroundGapMs(atMs: number): number {
    const left = this.#backgroundLeft();
    if (this.#resetsAtMs !== undefined && left < Infinity)
      return (this.#resetsAtMs - atMs) / (Math.max(0, left) + 1);
    const perMinute =
      this.#limit === undefined ? this.#backgroundPerMinute : Math.floor(BACKGROUND_SHARE * this.#limit);
    return MINUTE_MS / perMinute;
  }

  #readResetsAtMs(headers: AnswerHeaders, atMs: number): number | undefined {
    const reading = this.#resetReader.read(headerValue(headers["x-ratelimit-reset"]), {
      date: headerValue(headers["date"]),
      nowMs: this.#now(),
      monotonicMs: atMs,
    });
    if (reading === undefined || (!reading.certain && reading.inMs > MAX_GUESSED_RESET_MS)) return undefined;
    return atMs + reading.inMs + ROUNDING_MS;
  }

  #isAfterKnownWindow(resetsAtMs: number | undefined): boolean {
    if (resetsAtMs === undefined || this.#resetsAtMs === undefined) return false;
    return resetsAtMs > this.#resetsAtMs + SAME_WINDOW_MS;
  }

  /** Tells a window of a second or two from the one before, whose end differs by no more than two readings of the same. */
  #isRefilled(remaining: number | undefined, atMs: number): boolean {
    if (remaining === undefined || this.#resetsAtMs === undefined) return false;
    // Answers out of order show a few more, as many as were in flight together.
    const isMore = remaining > this.#remaining + this.#inFlight + 1;
    return isMore && atMs >= this.#resetsAtMs - SAME_WINDOW_MS;
  }

  #believe(remaining: number | undefined, resetsAtMs: number | undefined, order: number): void {
    this.#resetsAtMs = resetsAtMs ?? this.#resetsAtMs;
    if (remaining === undefined) return;
    this.#newestAnswered = Math.max(this.#newestAnswered, order);
    this.#remaining = remaining;
  }

  /** An answer that a later request's answer has overtaken tells of the past, but of the same window it may know of less. */
  #believeOvertaken(remaining: number | undefined, resetsAtMs: number | undefined): void {
    if (remaining === undefined || resetsAtMs === undefined || this.#resetsAtMs === undefined) return;
    if (Math.abs(resetsAtMs - this.#resetsAtMs) > SAME_WINDOW_MS) return;
    this.#remaining = Math.min(this.#remaining, remaining);
  }

  #pause(headers: AnswerHeaders, atMs: number): void {
    if (atMs >= this.#pausedUntilMs) this.#refusals += 1;
    const retryAfterMs = readRetryAfterMs(headers, this.#now());
    const resetInMs = this.#resetsAtMs === undefined ? undefined : this.#resetsAtMs - atMs;
    const unnamedMs = Math.min(PAUSE.maxUnnamedMs, PAUSE.firstMs * PAUSE.factor ** (this.#refusals - 1));
    const pauseMs = Math.min(PAUSE.maxMs, retryAfterMs ?? resetInMs ?? unnamedMs);
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, atMs + pauseMs);
    // Retry-After takes precedence over the reset, also when it is sooner: after it the service is asked, whatever remained.
    if (retryAfterMs !== undefined) this.#remaining = this.#limit ?? Infinity;
  }
}

/** A header's whole number; undefined when it is none, or less than `min`. */
function readCount(value: string | string[] | undefined, min: number): number | undefined {
  const text = headerValue(value).trim();
  return /^\d{1,15}$/.test(text) && Number(text) >= min ? Number(text) : undefined;
}
