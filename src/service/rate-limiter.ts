// Tracks the service's rate limit from response headers and decides when the next request may be sent.
// Knows nothing about HTTP, retries or jobs.

import type { Clock } from "../clock.ts";

/** `user`: a user's call waits for the answer. `background`: a poll. */
export type RequestKind = "user" | "background";

/** Names in lower case. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The share of the limit that polls leave to calls. */
const RESERVE = 0.4;
/** A reset has whole seconds, so a window may end up to a second later than it says. */
const ROUNDING_MS = 1_000;
/** The wait before checking again while requests in flight use up the limit. */
const RECHECK_MS = 250;
/** Follows a 429 with neither Retry-After nor reset. */
const DEFAULT_PAUSE_MS = 5_000;
/** Times in headers that are further away count as this far away. */
const MAX_WAIT_MS = 3_600_000;

/** Numbers from this on (the year 2001) are times since the epoch, not durations. */
const MIN_EPOCH_SECONDS = 1e9;
/** A larger reset counts milliseconds, and so do all later ones: few windows last longer than an hour. */
const MAX_RESET_SECONDS = 3_600;

/** One account's rate limit, shared by the whole process. Times: milliseconds of the monotonic clock. */
export class RateLimiter {
  readonly #clock: Pick<Clock, "now" | "monotonicMs">;
  #limit = Infinity; // requests per window; Infinity until the service has named one
  #remaining = Infinity; // as last reported, not counting what is in flight
  #resetsAtMs = Infinity; // end of the window; Infinity if the service does not say, or it is over
  #resetUnitMs: 1 | 1000 = 1000; // of a reset that counts from now
  #pausedUntilMs = -Infinity; // set by a 429; nothing is sent before
  #inFlight = 0;

  constructor(clock: Pick<Clock, "now" | "monotonicMs">) {
    this.#clock = clock;
  }

  /** Reserves a request and returns 0, or returns the milliseconds to wait before trying again. */
  tryAcquire(kind: RequestKind): number {
    const retryInMs = this.waitMs(kind);
    if (retryInMs === 0) this.#inFlight += 1;
    return retryInMs;
  }

  /** Ends a reserved request, with its response if there was one. */
  release(response?: { readonly status: number; readonly headers: ResponseHeaders }): void {
    this.#inFlight -= 1;
    if (response !== undefined) this.#update(response.status, response.headers);
  }

  /** Milliseconds until `tryAcquire` may succeed; 0 for now. */
  waitMs(kind: RequestKind): number {
    const nowMs = this.#clock.monotonicMs();
    // Once a window has ended, the whole limit is free again until an answer says otherwise.
    if (nowMs >= this.#resetsAtMs) {
      this.#remaining = this.#limit;
      this.#resetsAtMs = Infinity;
    }
    return Math.ceil(Math.max(0, this.#pausedUntilMs - nowMs, this.#limitedMs(kind, nowMs)));
  }

  #limitedMs(kind: RequestKind, nowMs: number): number {
    const reserve = kind === "background" && this.#limit < Infinity ? RESERVE * this.#limit : 0;
    const left = Math.floor(this.#remaining - reserve);
    if (left > this.#inFlight) return 0;
    if (left <= 0 && this.#resetsAtMs < Infinity) return this.#resetsAtMs - nowMs;
    // The wait is unknown without a reset: one request at a time asks the service, which may answer 429.
    return this.#inFlight === 0 ? 0 : RECHECK_MS;
  }

  #update(status: number, headers: ResponseHeaders): void {
    const nowMs = this.#clock.monotonicMs();
    const limit = readNumber(headers["x-ratelimit-limit"]);
    if (limit === 0) {
      // A service with a limit of 0 would not answer, so 0 means that this account has no limit.
      this.#limit = this.#remaining = this.#resetsAtMs = Infinity;
    } else {
      const resetInMs = this.#readResetMs(headers);
      this.#limit = limit ?? this.#limit;
      this.#remaining = readNumber(headers["x-ratelimit-remaining"]) ?? this.#remaining;
      if (resetInMs !== undefined) this.#resetsAtMs = nowMs + resetInMs + ROUNDING_MS;
    }
    if (status !== 429) return;
    const retryAfterMs = readRetryAfterMs(headers, this.#clock.now());
    const unnamedMs = this.#resetsAtMs < Infinity ? this.#resetsAtMs - nowMs : DEFAULT_PAUSE_MS;
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + (retryAfterMs ?? unnamedMs));
    // Retry-After wins even if it is sooner than the reset: a request is then sent, whatever remained.
    if (retryAfterMs !== undefined) this.#remaining = this.#limit;
  }

  /** The reset in milliseconds from now. Its unit is not documented: its magnitude tells it. */
  #readResetMs(headers: ResponseHeaders): number | undefined {
    const header = headers["x-ratelimit-reset"];
    if (header === undefined) return undefined;
    const count = readNumber(header);
    if (count === undefined || count >= MIN_EPOCH_SECONDS)
      return msUntil(header, serviceNowMs(headers, this.#clock.now()));
    // After a wrong guess the service says that a request came too soon.
    if (count > MAX_RESET_SECONDS) this.#resetUnitMs = 1;
    return Math.min(MAX_WAIT_MS, this.#resetUnitMs * count);
  }
}

/** Reads Retry-After (seconds, a date or a time) as milliseconds. `nowMs` is since the epoch. */
export function readRetryAfterMs(headers: ResponseHeaders, nowMs: number): number | undefined {
  const value = headers["retry-after"];
  const count = readNumber(value);
  return count !== undefined && count < MIN_EPOCH_SECONDS
    ? Math.min(MAX_WAIT_MS, 1000 * count)
    : msUntil(value, serviceNowMs(headers, nowMs));
}

/** The time of the service's clock: this computer's may be hours off, as after a sleep. */
function serviceNowMs(headers: ResponseHeaders, nowMs: number): number {
  return Date.parse(String(headers["date"])) || nowMs;
}

/** The time until a date, or until a time since the epoch in seconds or, by its magnitude, milliseconds. */
function msUntil(value: ResponseHeaders[string], nowMs: number): number | undefined {
  const time = readNumber(value);
  const timeMs =
    time === undefined ? Date.parse(String(value)) : time * (time >= 100 * MIN_EPOCH_SECONDS ? 1 : 1000);
  return Number.isNaN(timeMs) ? undefined : Math.min(MAX_WAIT_MS, Math.max(0, timeMs - nowMs));
}

export function readNumber(value: ResponseHeaders[string]): number | undefined {
  return /^\d+(?:\.\d+)?$/.test(String(value)) ? Number(value) : undefined;
}
