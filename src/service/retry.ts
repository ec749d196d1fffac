// Decides what may be sent again, and when. Pure: time and randomness are arguments, nothing is sent here.
// A POST is sent again only if it was never sent: after any answer, even a 429, a part may be carried out.

import type { BridgeErrorFacts } from "../errors.ts";
import { MIN_POST_MS } from "./time-budget.ts";

export type Method = "GET" | "POST";

export interface FailedAttempt {
  readonly method: Method;
  /** 1 for the first. */
  readonly attempt: number;
  readonly failure: Pick<BridgeErrorFacts, "code" | "outcome" | "retryable" | "retryAfterSeconds">;
  /** The shortest pause before the next attempt. */
  readonly minPauseMs?: number | undefined;
  /** The time until the call's deadline. */
  readonly remainingMs: number;
}

const MAX_ATTEMPTS = { GET: 3, POST: 2 } as const;
const BACKOFF_BASE_MS = 500;
/** No attempt is begun with less time left: a POST that is cut short has an unknown outcome. */
export const MIN_ATTEMPT_MS = { GET: 250, POST: MIN_POST_MS } as const;

/** The longest attempt of a GET while another one is possible: its connection may be dead. */
const MAX_ATTEMPT_MS = 7_000;

/**
 * Plans an attempt. `isFresh`: it opens its own connection. Only a read's first attempt may use a kept one,
 * if there is time for a second attempt. `isOnly` is true for a poll, which is never retried.
 */
export function planAttempt(
  { method, attempt, remainingMs }: Pick<FailedAttempt, "method" | "attempt" | "remainingMs">,
  isOnly: boolean,
) {
  const leftMs = Math.max(1, Math.ceil(remainingMs));
  const isLast = isOnly || method === "POST" || attempt >= MAX_ATTEMPTS.GET;
  return {
    deadlineMs: isLast ? leftMs : Math.min(MAX_ATTEMPT_MS, leftMs),
    isFresh: isLast || attempt > 1 || leftMs < 2 * MAX_ATTEMPT_MS,
  };
}

/**
 * Milliseconds to wait before the next attempt; undefined to give up. Full jitter, unless the service sends
 * Retry-After. `random` gives numbers in [0, 1).
 */
export function retryDelayMs(
  { method, attempt, failure, minPauseMs = 0, remainingMs }: FailedAttempt,
  random: () => number,
): number | undefined {
  const { code, outcome, retryable, retryAfterSeconds } = failure;
  // The caller no longer wants the answer, or another answer would be just as unreadable.
  const isFinal = code === "cancelled" || code === "bad_answer" || attempt >= MAX_ATTEMPTS[method];
  const mayRepeat = method === "GET" ? retryable : outcome === "not_sent";
  if (isFinal || !mayRepeat) return undefined;
  const backoffMs = random() * BACKOFF_BASE_MS * 2 ** (attempt - 1);
  const delayMs = Math.max(
    minPauseMs,
    retryAfterSeconds === undefined ? backoffMs : 1000 * retryAfterSeconds,
  );
  return delayMs + MIN_ATTEMPT_MS[method] <= remainingMs ? delayMs : undefined;
}

/** Leaves open what became of the request; a 1xx is not an answer. 499: a gateway's client left. */
export function isInconclusive(status: number): boolean {
  return status < 200 || [408, 409, 423, 425, 499].includes(status) || status >= 500;
}
