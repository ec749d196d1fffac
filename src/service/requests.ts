// Carries out one operation: acquires a permit from the rate limiter, sends through http.ts (loaded on first use) as often as
// retry.ts allows, within a deadline, and returns parsed JSON or throws a BridgeError. Knows nothing of what operations mean.

import { setTimeout as sleepFor } from "node:timers/promises";
import type * as z from "zod";
import { type BridgeError, toBridgeError } from "../errors.ts";
import { lazy } from "../lazy.ts";
import type { ServiceConfig } from "../config.ts";
import {
  badAnswerError,
  cancelledError,
  type Operation,
  outOfTimeError,
  parseJson,
  rateLimitedError,
  statusError,
  TransportFailure,
  transportError,
} from "./errors.ts";
import type { Answer, Http, HttpRequest } from "./http.ts";
import { type Permit, RateLimiter, readRetryAfterMs, type RequestKind } from "./rate-limiter.ts";
import { type AttemptFailure, type Method, MIN_ATTEMPT_MS, retryDelayMs, RetryThrottle } from "./retry.ts";

export interface CallOptions {
  /** Cancels the call. A paid or public request that was sent is seen through all the same. */
  readonly signal?: AbortSignal | undefined;
  /** For the whole call, instead of the usual 20 s of a GET and 38 s of a POST. A POST is not begun with less than 10 s left. */
  readonly deadlineMs?: number | undefined;
  /** A poll: it is tried once, and gets a smaller share of the rate limit. Ask `backgroundWaitMs` before. */
  readonly background?: boolean | undefined;
}

/** What is asked of the service. */
export interface RequestParts {
  readonly url: URL;
  readonly body?: unknown;
}

/** Until when, and for whom, a request may wait for the rate limiter. */
export interface Turn {
  readonly kind: RequestKind;
  /** By `monotonicMs`. */
  readonly endsAtMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Requests {
  /** The service's URL of a path below its base, whose prefix is kept. */
  address(path: string, query?: Record<string, string | undefined>): URL;
  /** The headers that every request carries. They hold the key. */
  readonly headers: Readonly<Record<string, string>>;
  http(): Promise<Http>;
  /** The rate limit of the whole process. */
  readonly limiter: RateLimiter;
  /** Milliseconds of the clock that all deadlines go by. */
  readonly monotonicMs: () => number;
  /** Waits for the rate limiter as long as the deadline allows. Throws a BridgeError: nothing was sent. */
  acquire(operation: Operation, turn: Turn): Promise<Permit>;
  /** The 2xx answer, after as many attempts as the policy allows. */
  perform(operation: Operation, request: RequestParts, options: CallOptions): Promise<Answer>;
  /** The same, parsed by a schema. */
  ask<Schema extends z.ZodType>(
    operation: Operation,
    schema: Schema,
    request: RequestParts,
    options: CallOptions,
  ): Promise<z.output<Schema>>;
  /** Closes every connection at once. */
  close(): void;
}

export interface RequestsOptions {
  readonly config: ServiceConfig;
  /** Of this bridge, for the user-agent. */
  readonly version: string;
  /** Milliseconds since the epoch, only to read absolute times in headers. */
  readonly now: () => number;
  /** Milliseconds of a clock that never jumps; measures every deadline. performance.now unless given. */
  readonly monotonicMs?: (() => number) | undefined;
  /** Waits on that clock, and rejects when the signal aborts. A timer unless given. */
  readonly sleep?: ((ms: number, signal?: AbortSignal) => Promise<unknown>) | undefined;
  /** In [0, 1). */
  readonly random: () => number;
  /** Background requests per minute while the service names no limit. */
  readonly backgroundPerMinute?: number | undefined;
  /** What must be left of a deadline to begin an attempt. 250 ms for a GET and 10 s for a POST unless given. */
  readonly minAttemptMs?: Readonly<Record<Method, number>> | undefined;
}

export const GET_DEADLINE_MS = 20_000;
// A call must end within 45 s of a service that never answers, and a client gives up at 60. What follows a POST (a look at the
// newest videos) has the rest.
const POST_DEADLINE_MS = 38_000;
/** Until the first byte of an answer. A shorter time would only make a POST end with an unknown outcome: its deadline counts. */
export const HEADERS_TIMEOUT_MS = 60_000;

export function createRequests(options: RequestsOptions): Requests {
  const { config, version, now, random, minAttemptMs = MIN_ATTEMPT_MS } = options;
  const { monotonicMs = () => performance.now(), sleep = sleepUnreferenced } = options;
  const { apiKey, baseUrl, proxies } = config;
  const throttle = new RetryThrottle();
  const limiter = new RateLimiter({
    monotonicMs,
    now,
    backgroundPerMinute: options.backgroundPerMinute,
  });
  const headers = {
    accept: "application/json",
    "accept-encoding": "identity",
    authorization: `Bearer ${apiKey}`,
    "user-agent": `faceless-video-mcp/${version}`,
  };
  const closing = new AbortController();

  const http = lazy(async () => {
    try {
      const { createHttp } = await import("./http.ts");
      const loaded = createHttp({ origin: baseUrl.origin, proxies });
      if (closing.signal.aborted) loaded.destroy();
      closing.signal.addEventListener("abort", () => loaded.destroy(), { once: true });
      return loaded;
    } catch (error) {
      // This server's files are gone, as after an update: nothing can have been sent.
      throw toBridgeError(error, "not_sent");
    }
  });

  const acquire = async (operation: Operation, { kind, endsAtMs, signal }: Turn): Promise<Permit> => {
    const { method } = operation;
    for (let hasWaited = false; ; hasWaited = true) {
      if (signal?.aborted === true) throw cancelledError(operation);
      const leftMs = endsAtMs - monotonicMs();
      // A GET that is cut short loses nothing: it needs no time unless it was held back here.
      if ((method === "POST" || hasWaited) && leftMs < minAttemptMs[method]) throw outOfTimeError(operation);
      const permit = limiter.tryAcquire(kind);
      if ("release" in permit) return permit;
      const { retryInMs } = permit;
      if (retryInMs + minAttemptMs[method] > leftMs) throw rateLimitedError(operation, retryInMs);
      // Aborted or not, the next turn looks.
      await sleep(retryInMs, signal).catch(() => {});
    }
  };

  const perform = async (
    operation: Operation,
    { url, body }: RequestParts,
    { signal, deadlineMs, background = false }: CallOptions,
  ): Promise<Answer> => {
    const { method } = operation;
    const endsAtMs = monotonicMs() + (deadlineMs ?? (method === "GET" ? GET_DEADLINE_MS : POST_DEADLINE_MS));
    const request: Omit<HttpRequest, "deadlineMs"> = {
      method,
      url,
      headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      headersTimeoutMs: HEADERS_TIMEOUT_MS,
      signal,
      finishOnceSent: method === "POST",
    };
    const { send } = await http();
    for (let attempt = 1; ; attempt++) {
      const kind = background ? "background" : "user";
      const permit = await acquire(operation, { kind, endsAtMs, signal });
      const leftMs = Math.max(1, endsAtMs - monotonicMs());
      const tried = await attemptOnce(send, { ...request, deadlineMs: leftMs }, permit);
      if (tried.ok) {
        throttle.recordSuccess();
        return tried.answer;
      }
      const { error, failure } = judge(operation, tried, now(), limiter.waitMs("user"));
      const remainingMs = endsAtMs - monotonicMs();
      const delayMs =
        // No credits are no credits, whichever status says so. A failed poll is repeated by the poller, if at all.
        error.facts.code === "out_of_credits" || background
          ? undefined
          : retryDelayMs({ method, attempt, failure, remainingMs }, random, minAttemptMs);
      if (delayMs === undefined || !throttle.tryRetry(failure)) throw error;
      await sleep(delayMs, signal).catch(() => {});
      if (signal?.aborted === true) throw cancelledError(operation, error.facts.outcome);
    }
  };

  return {
    address(path, query = {}) {
      const url = new URL(`${baseUrl.href.replace(/\/$/, "")}${path}`);
      for (const [name, value] of Object.entries(query))
        if (value !== undefined) url.searchParams.set(name, value);
      return url;
    },
    headers,
    limiter,
    monotonicMs,
    http,
    acquire,
    perform,
    async ask(operation, schema, request, options) {
      const answer = await perform(operation, request, options);
      const parsed = schema.safeParse(readJson(operation, answer));
      if (parsed.success) return parsed.data;
      const issue = parsed.error.issues[0];
      const where = issue === undefined || issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
      throw badAnswerError(operation, answer, `${where}${issue?.message ?? "unexpected shape"}`);
    },
    close: () => closing.abort(),
  };
}

function sleepUnreferenced(ms: number, signal?: AbortSignal): Promise<unknown> {
  return sleepFor(ms, undefined, { ref: false, signal });
}

type Attempt =
  | { readonly ok: true; readonly answer: Answer }
  | { readonly ok: false; readonly answer: Answer; readonly failure?: undefined }
  | { readonly ok: false; readonly answer?: undefined; readonly failure: TransportFailure };

async function attemptOnce(send: Http["send"], request: HttpRequest, permit: Permit): Promise<Attempt> {
  try {
    const answer = await send(request);
    permit.release(answer);
    return { ok: answer.status >= 200 && answer.status < 300, answer };
  } catch (error) {
    permit.release();
    // Anything else is a fault of ours, and must not look like a request that was never sent.
    if (error instanceof TransportFailure) return { ok: false, failure: error };
    throw error;
  }
}

/** What a failed attempt means for the caller, and for the policy that may try again. */
function judge(
  operation: Operation,
  tried: Extract<Attempt, { ok: false }>,
  nowMs: number,
  /** The pause that a 429 has brought about; it includes Retry-After. */
  pauseMs: number,
): { readonly error: BridgeError; readonly failure: AttemptFailure } {
  if (tried.answer === undefined) {
    const { sent, kind } = tried.failure;
    return {
      error: transportError(operation, tried.failure),
      failure: { kind: "transport", sent, final: kind === "cancelled" || kind === "unreadable" },
    };
  }
  const { status, headers } = tried.answer;
  const retryAfterMs = status === 429 ? pauseMs : readRetryAfterMs(headers, nowMs);
  return {
    error: statusError(operation, tried.answer, retryAfterMs),
    failure: { kind: "status", status, retryAfterMs },
  };
}

/** The JSON of an answer, without its nulls. Throws a BridgeError. */
export function readJson(operation: Operation, answer: Answer): unknown {
  const json = parseJson(answer.text);
  if (json === undefined) throw badAnswerError(operation, answer, "it is not JSON");
  return json;
}
