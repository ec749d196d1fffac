// The process-wide rate budget: learnt from the X-RateLimit-* headers of every answer, shared by people's calls and background
// polls. Says who may go now and who after how long; it neither sleeps nor sends.

import {
  type AnswerHeaders,
  createResetReader,
  headerValue,
  readRetryAfterMs,
  type ResetReading,
} from "./rate-limit-headers.ts";

/** A person waits for it, or nobody does. */
export type RequestKind = "person" | "background";

export interface Slot {
  /** Once, when the request is over: with its answer, or without one where none came. */
  settle(answer?: { headers: AnswerHeaders; status: number }): void;
}

export interface AllowanceStatus {
  limit?: number;
  /** What the service reported, less what is on its way. */
  remaining?: number;
  resetInMs?: number;
  /** 0 unless a 429 has stopped the whole process. */
  pausedMs: number;
}

export interface Allowance {
  /** 0: go now, and take() before the next await. Else ask again after that time, 60 s at most. */
  waitMs(kind: RequestKind): number;
  /** Counts a request that leaves now, so that others are weighed against it before its answer comes. */
  take(kind: RequestKind): Slot;
  /** From an answer that had no slot. */
  learn(headers: AnswerHeaders, status: number): void;
  status(): AllowanceStatus;
}

const MAX_WAIT_MS = 60_000;
const DEFAULT_WINDOW_MS = 60_000;
const UNKNOWN_POLLS = 30; // in a default window
const BACKGROUND_SHARE = 0.6;
const MIN_RESERVE = 3;
const MAX_LIMIT = 1_000_000;
// Reset and Date have whole seconds: a window may end that much later than it says.
const SLACK_MS = 1_000;
const SAME_WINDOW_MS = 2 * SLACK_MS;
// What is on its way will be answered shortly, and with it the question whether there is room.
const RECHECK_MS = 250;
const BACKOFF = { firstMs: 5_000, factor: 2 } as const;
const SLOWDOWN = { factor: 0.5, least: 1 / 16, recoveryPerMs: 0.5 / 300_000 } as const;

export interface AllowanceOptions {
  /** Epoch milliseconds; only ever compared with itself where the service sends a Date. */
  now: () => number;
  /** Polls a minute as long as the service has named no limit. */
  unknownPolls?: number | undefined;
}

export function createAllowance({ now, unknownPolls = UNKNOWN_POLLS }: AllowanceOptions): Allowance {
  const reader = createResetReader();
  let limit: number | undefined;
  let remaining = Infinity; // as the service sees it: without what is on its way; finite only beside a reset
  let reset: { atMs: number; certain: boolean } | undefined;
  let heardResetAtMs = Infinity;
  let windowMs = DEFAULT_WINDOW_MS;
  let inferredWindowMs = Infinity;
  let heardAtMs = 0; // when `remaining` was last reported, or put to the test

  let sent = 0;
  let newestHeard = 0;
  let onTheirWay = 0;

  let pausedUntilMs = -Infinity;
  let refusals = 0;
  let slowed = { to: 1, sinceMs: 0 };
  let nextPollMs = -Infinity;

  /** Starts the next window by the clock, when the last one told of is over. */
  function roll(atMs: number): void {
    if (reset === undefined || atMs < reset.atMs + SLACK_MS) return;
    remaining = limit ?? Infinity;
    const windows = Math.floor((atMs - SLACK_MS - reset.atMs) / windowMs) + 1;
    reset = { ...reset, atMs: reset.atMs + windows * windowMs };
  }

  const free = () => remaining - onTheirWay;

  /** What background polls leave alone: falls to a few as the window runs out, but always leaves a person one. */
  function reserve(resetInMs: number): number {
    if (limit === undefined) return MIN_RESERVE;
    const left = Math.min(1, Math.max(0, resetInMs / windowMs));
    return Math.max(1, Math.min(limit - 1, Math.max(MIN_RESERVE, (1 - BACKGROUND_SHARE) * limit * left)));
  }

  /** When the budget itself lets the next one through. */
  function budgetOpensMs(kind: RequestKind, atMs: number): number {
    if (reset === undefined) return atMs;
    const room = free();
    if (room > (kind === "person" ? 0 : reserve(reset.atMs - atMs))) return atMs;
    if (kind === "person" && remaining > 0) return atMs + RECHECK_MS;
    const endsMs = reset.atMs + SLACK_MS;
    if (kind === "background" && reset.certain) {
      if (limit === undefined || room <= MIN_RESERVE) return endsMs;
      return Math.min(endsMs, reset.atMs - (room * windowMs) / ((1 - BACKGROUND_SHARE) * limit) + 1);
    }
    // A reset that was misread must not lock anyone out: after the longest wait, one is sent to see.
    const probeMs =
      onTheirWay > 0 ? Math.max(atMs + RECHECK_MS, heardAtMs + MAX_WAIT_MS) : heardAtMs + MAX_WAIT_MS;
    return Math.min(endsMs, probeMs);
  }

  /** 1, or less for a while after a 429. */
  function slowedTo(atMs: number): number {
    return Math.min(1, slowed.to + Math.max(0, atMs - slowed.sinceMs) * SLOWDOWN.recoveryPerMs);
  }

  /** Even spacing, of which one poll may come early: a list often has to be confirmed by a status. */
  function pace(atMs: number): { gapMs: number; earlyMs: number } {
    const polls = limit === undefined ? unknownPolls : BACKGROUND_SHARE * limit;
    const early = polls >= 6 ? 1 : 0;
    const gapMs = (limit === undefined ? DEFAULT_WINDOW_MS : windowMs) / ((polls - early) * slowedTo(atMs));
    return { gapMs, earlyMs: early * gapMs };
  }

  function pause(headers: AnswerHeaders, atMs: number, resetInMs: number | undefined): void {
    // Requests that were on their way together are refused together: that is one refusal.
    const another = atMs >= pausedUntilMs;
    if (another) refusals++;
    const backoffMs = BACKOFF.firstMs * BACKOFF.factor ** (refusals - 1);
    const askedMs = readRetryAfterMs(headers, atMs);
    const guessedMs = resetInMs === undefined ? backoffMs : resetInMs + SLACK_MS;
    const untilMs = atMs + Math.min(MAX_WAIT_MS, askedMs ?? guessedMs);
    const to = another ? Math.max(SLOWDOWN.least, SLOWDOWN.factor * slowedTo(atMs)) : slowed.to;
    pausedUntilMs = Math.max(pausedUntilMs, untilMs);
    slowed = { to, sinceMs: pausedUntilMs };
    // After the pause people go first, polls a gap later.
    const { gapMs, earlyMs } = pace(pausedUntilMs);
    nextPollMs = Math.max(nextPollMs, pausedUntilMs + gapMs + earlyMs);
  }

  function learnReset(reading: ResetReading, atMs: number, laterMs: number): void {
    const resetAtMs = atMs + reading.inMs;
    if (atMs >= heardResetAtMs - SLACK_MS) {
      const stepMs = roundWindow(resetAtMs - heardResetAtMs);
      // The step over idle windows is a multiple: the smallest counts. One of a second or two may be rounding alone.
      if (stepMs >= 3_000) inferredWindowMs = Math.min(stepMs, inferredWindowMs);
    }
    if (reading.inMs > inferredWindowMs + SAME_WINDOW_MS) inferredWindowMs = Infinity;
    // Until then it is at least as long as what was left of it.
    const leastMs = reading.certain ? reading.inMs : 0;
    const knownMs = Math.abs(laterMs) <= SAME_WINDOW_MS ? windowMs : 0;
    windowMs = inferredWindowMs < Infinity ? inferredWindowMs : Math.max(DEFAULT_WINDOW_MS, leastMs, knownMs);
    heardResetAtMs = resetAtMs;
    reset = { atMs: resetAtMs, certain: reading.certain };
  }

  /** False when the answer did not say what remains. */
  function hear(headers: AnswerHeaders, status: number, order: number): boolean {
    const at = { nowMs: now(), date: headerValue(headers["date"]) };
    roll(at.nowMs);
    limit = count(headers["x-ratelimit-limit"], 1) ?? limit;
    const left = count(headers["x-ratelimit-remaining"], 0);
    const reading = reader.read(headerValue(headers["x-ratelimit-reset"]), at);
    // How much later its window ends than the one known of. A count whose unit is a guess does not tell: two milliseconds,
    // taken for seconds, are another window.
    const laterMs =
      reset?.certain === true && reading?.certain === true ? at.nowMs + reading.inMs - reset.atMs : 0;

    // An answer overtaken by that to a later request tells of the past, unless of a newer window.
    if (order >= newestHeard || laterMs > SAME_WINDOW_MS) {
      if (reading !== undefined) learnReset(reading, at.nowMs, laterMs);
      if (left !== undefined) {
        newestHeard = Math.max(newestHeard, order);
        remaining = left;
        heardAtMs = at.nowMs;
        reset ??= { atMs: at.nowMs + windowMs, certain: false };
      }
    } else if (left !== undefined && laterMs >= -SAME_WINDOW_MS) remaining = Math.min(left, remaining);

    if (status === 429) pause(headers, at.nowMs, reading?.inMs);
    else refusals = 0;
    return left !== undefined;
  }

  return {
    waitMs(kind) {
      const atMs = now();
      roll(atMs);
      // A clock that was set back must not hold anybody for as long as it was.
      heardAtMs = Math.min(heardAtMs, atMs);
      pausedUntilMs = Math.min(pausedUntilMs, atMs + MAX_WAIT_MS);
      nextPollMs = Math.min(nextPollMs, atMs + MAX_WAIT_MS + 2 * pace(atMs).gapMs);
      let goMs = Math.max(pausedUntilMs, budgetOpensMs(kind, atMs));
      if (kind === "background") goMs = Math.max(goMs, nextPollMs - pace(atMs).earlyMs);
      return Math.min(MAX_WAIT_MS, Math.max(0, Math.ceil(goMs - atMs)));
    },

    take(kind) {
      const atMs = now();
      roll(atMs);
      const order = ++sent;
      if (kind === "background") nextPollMs = Math.max(nextPollMs, atMs) + pace(atMs).gapMs;
      if (free() <= 0) heardAtMs = atMs;
      onTheirWay++;
      let open = true;
      return {
        settle(answer) {
          if (!open) return;
          open = false;
          onTheirWay--;
          const told = answer !== undefined && hear(answer.headers, answer.status, order);
          // It may have been counted; but a network that is down must not look like a spent allowance.
          if (!told && remaining > 1) remaining--;
        },
      };
    },

    learn: (headers, status) => void hear(headers, status, sent),

    status() {
      const atMs = now();
      roll(atMs);
      return {
        ...(limit !== undefined && { limit }),
        ...(remaining < Infinity && { remaining: Math.max(0, free()) }),
        ...(reset !== undefined && { resetInMs: Math.max(0, reset.atMs - atMs) }),
        pausedMs: Math.max(0, pausedUntilMs - atMs),
      };
    },
  };
}

/** A header's whole number; undefined when it is none, or less than `least`. */
function count(value: string | string[] | undefined, least: number): number | undefined {
  const text = headerValue(value).trim();
  if (!/^\d{1,15}$/.test(text) || Number(text) < least) return undefined;
  return Math.min(MAX_LIMIT, Number(text));
}

// Windows are round figures, readings a second off.
function roundWindow(ms: number): number {
  const grainMs = ms >= 8_000 ? 5_000 : 1_000;
  return Math.round(ms / grainMs) * grainMs;
}
