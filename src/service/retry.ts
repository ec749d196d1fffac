// Policy: what may be sent again, and when. Pure; time and randomness come in, nothing is sent from here.
// A POST is sent again only if nothing can have been done: it never left, or it was refused with 429. A gateway's 503
// proves nothing, so it is not among them.

/** Why an attempt brought no good answer. */
export type AttemptFailure =
  /** `final`: trying again can't help, as it was cancelled or the answer is too large. */
  | { readonly kind: "transport"; readonly sent: boolean; readonly final: boolean }
  | { readonly kind: "status"; readonly status: number; readonly retryAfterMs?: number | undefined };

export interface Attempted {
  readonly method: "GET" | "POST";
  /** 1 for the first. */
  readonly attempt: number;
  readonly failure: AttemptFailure;
  /** Until the operation must have ended. */
  readonly remainingMs: number;
}

/** Milliseconds to wait before the next attempt, or undefined: give up. */
export type RetryDelayMs = number | undefined;

const ATTEMPTS = { GET: 3, POST: 2 } as const;
const BACKOFF_BASE_MS = 500;
const BACKOFF_CAP_MS = 8_000;
/** With less time than this left an attempt is not worth making: a POST that is cut short has an unknown outcome. */
const SHORTEST_ATTEMPT_MS = { GET: 250, POST: 10_000 } as const;
/** A call ends within 20 s of an answer that refuses it: a GET has no longer anyway, a POST's next attempt needs its half. */
const LONGEST_WAIT_MS = { GET: 20_000, POST: 10_000 } as const;

/** `random` is in [0, 1). Full jitter; the service's Retry-After wins over it. */
export function retryDelayMs(attempted: Attempted, random: () => number): RetryDelayMs {
  const { method, attempt, failure, remainingMs } = attempted;
  if (attempt >= ATTEMPTS[method]) return undefined;
  if (!mayRepeat(method, failure)) return undefined;
  const backoffMs = random() * Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** (attempt - 1));
  const delayMs = (failure.kind === "status" ? failure.retryAfterMs : undefined) ?? backoffMs;
  const fits = delayMs <= LONGEST_WAIT_MS[method] && delayMs + SHORTEST_ATTEMPT_MS[method] <= remainingMs;
  return fits ? delayMs : undefined;
}

function mayRepeat(method: "GET" | "POST", failure: AttemptFailure): boolean {
  if (failure.kind === "transport") return !failure.final && (method === "GET" || !failure.sent);
  if (failure.status === 429) return true;
  return method === "GET" && (failure.status === 408 || failure.status >= 500);
}

export interface RetryBudget {
  /** Whether a retry may be made now; one that may be is counted. */
  take(): boolean;
  /** An attempt went well. */
  succeed(): void;
}

/** gRPC's retry throttle: a service that fails most of the time is not asked again on top of it. */
export function createRetryBudget(maxTokens = 10, perSuccess = 0.1): RetryBudget {
  let tokens = maxTokens;
  return {
    take() {
      if (tokens <= maxTokens / 2) return false;
      tokens -= 1;
      return true;
    },
    succeed() {
      tokens = Math.min(maxTokens, tokens + perSuccess);
    },
  };
}
