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

/** The share of the limit that polls leave to calls. */
const RESERVE = 0.4;
/** Reset and Date have whole seconds, so a window may end up to a second later than they say. */
const ROUNDING_MS = 1_000;
/** Two readings of one window's end differ by less. */
const SAME_WINDOW_MS = 2_000;
/** How soon to look again while requests in flight use up the limit. */
const RECHECK_MS = 250;
/** Follows a 429 with neither Retry-After nor reset. */
const DEFAULT_PAUSE_MS = 5_000;
/** Times in headers that are further away count as this far away. */
const MAX_WAIT_MS = 3_600_000;

/** One account's rate limit, shared by the whole process. Times: milliseconds of the monotonic clock. */
export class RateLimiter {
  readonly #clock: Pick<Clock, "now" | "monotonicMs">;
  #limit = Infinity; // requests per window; Infinity until the service has named one
  #remaining = Infinity; // as last reported, not counting what is in flight
  #resetsAtMs = Infinity; // end of the window; Infinity if the service does not say, or it is over
  #resetIsInMs = false; // whether a reset has shown that it counts milliseconds from now
  #pausedUntilMs = -Infinity; // set by a 429; nothing is sent before
  #inFlight = 0;

  constructor(clock: Pick<Clock, "now" | "monotonicMs">) {
    this.#clock = clock;
  }

  /** Reserves a request, or says how long to wait before trying again. */
  tryAcquire(kind: RequestKind): Permit | { readonly retryInMs: number } {
    const retryInMs = this.waitMs(kind);
    if (retryInMs > 0) return { retryInMs };
    this.#inFlight += 1;
    return {
      release: (response) => {
        this.#inFlight -= 1;
        if (response !== undefined) this.#update(response.status, response.headers);
      },
    };
  }

  /** Milliseconds until `tryAcquire` may succeed; 0 for now. */
  waitMs(kind: RequestKind): number {
    const nowMs = this.#clock.monotonicMs();
    return Math.ceil(Math.max(0, this.#pausedUntilMs - nowMs, this.#readyAtMs(kind, nowMs) - nowMs));
  }

  /** True if more than the calls' share of the limit is left, whichever process used the rest. */
  isAboveReserve(): boolean {
    return this.#left("background", this.#clock.monotonicMs()) > this.#inFlight;
  }

  #readyAtMs(kind: RequestKind, nowMs: number): number {
    const left = this.#left(kind, nowMs);
    if (left > this.#inFlight) return nowMs;
    if (left <= 0 && this.#resetsAtMs < Infinity) return this.#resetsAtMs;
    // The wait is unknown without a reset: one request at a time asks the service, which may answer 429.
    return this.#inFlight === 0 ? nowMs : nowMs + RECHECK_MS;
  }

  /** Requests left in this window for such requests, with those in flight. */
  #left(kind: RequestKind, nowMs: number): number {
    // Once a window has ended, the whole limit is free again until an answer says otherwise.
    if (nowMs >= this.#resetsAtMs) {
      this.#remaining = this.#limit;
      this.#resetsAtMs = Infinity;
    }
    const isLimited = kind === "background" && this.#limit < Infinity;
    return isLimited ? Math.floor(this.#remaining - RESERVE * this.#limit) : this.#remaining;
  }

  #update(status: number, headers: ResponseHeaders): void {
    const nowMs = this.#clock.monotonicMs();
    this.#limit = readNumber(headers["x-ratelimit-limit"]) || this.#limit;
    const remaining = readNumber(headers["x-ratelimit-remaining"]) ?? this.#remaining;
    const resetInMs = this.#readResetMs(headers);
    const resetsAtMs = resetInMs === undefined ? this.#resetsAtMs : nowMs + resetInMs + ROUNDING_MS;
    // Answers may overtake each other: within a window the lowest count is the newest.
    const isSameWindow = Math.abs(resetsAtMs - this.#resetsAtMs) <= SAME_WINDOW_MS;
    this.#remaining = isSameWindow ? Math.min(this.#remaining, remaining) : remaining;
    if (!isSameWindow) this.#resetsAtMs = resetsAtMs;
    if (status !== 429) return;
    const retryAfterMs = readRetryAfterMs(headers, this.#clock.now());
    const unnamedMs = this.#resetsAtMs < Infinity ? this.#resetsAtMs - nowMs : DEFAULT_PAUSE_MS;
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + (retryAfterMs ?? unnamedMs));
    // Retry-After wins even if it is sooner than the reset: then the service is asked, whatever remained.
    if (retryAfterMs !== undefined) this.#remaining = this.#limit;
  }

  /** X-RateLimit-Reset in milliseconds from now. Its unit is not documented: the magnitude tells it. */
  #readResetMs(headers: ResponseHeaders): number | undefined {
    const count = readNumber(headers["x-ratelimit-reset"]);
    const nowMs = this.#clock.now();
    if (count === undefined) return msUntil(readDate(headers["x-ratelimit-reset"]), headers, nowMs);
    if (count >= 1e9) return msUntil(count >= 1e11 ? count : 1000 * count, headers, nowMs);
    // No window is over an hour of seconds: more are milliseconds, and lower numbers after that are too.
    this.#resetIsInMs ||= count > 3_600;
    return this.#resetIsInMs ? count : 1000 * count;
  }
}

/** Retry-After in milliseconds: seconds, or a date. `nowMs` is since the epoch. */
export function readRetryAfterMs(headers: ResponseHeaders, nowMs: number): number | undefined {
  const seconds = readNumber(headers["retry-after"]);
  return seconds === undefined
    ? msUntil(readDate(headers["retry-after"]), headers, nowMs)
    : Math.min(MAX_WAIT_MS, 1000 * seconds);
}

/** Goes by the service's clock (Date) if the answer has it, as ours may be minutes off. */
function msUntil(timeMs: number | undefined, headers: ResponseHeaders, nowMs: number): number | undefined {
  if (timeMs === undefined) return undefined;
  return Math.min(MAX_WAIT_MS, Math.max(0, timeMs - (readDate(headers["date"]) ?? nowMs)));
}

function readNumber(value: ResponseHeaders[string]): number | undefined {
  const text = String(value).trim();
  return /^\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : undefined;
}

/** Milliseconds since the epoch of an HTTP or ISO date. Date.parse alone takes "unit 7" for a day in July. */
function readDate(value: ResponseHeaders[string]): number | undefined {
  const text = String(value).trim();
  const timeMs = /^\d{4}-\d\d-\d\dT|, .* GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(timeMs) ? undefined : timeMs;
}
