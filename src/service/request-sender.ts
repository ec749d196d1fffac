// Carries out one operation within a deadline: waits for the rate limiter, sends through http.ts as often as
// retry.ts allows, and returns parsed JSON or throws a BridgeError. Knows nothing of what operations mean.

import { setTimeout as sleepFor } from "node:timers/promises";
import type * as z from "zod";
import { type BridgeError, toBridgeError } from "../errors.ts";
import { lazy } from "../lazy.ts";
import { createRedact } from "../redact.ts";
import type { ServiceConfig } from "../config.ts";
import {
  badAnswerError,
  cancelledError,
  type Operation,
  outOfTimeError,
  rateLimitedError,
  statusError,
  transportError,
} from "./errors.ts";
import { isRefusal } from "./answers.ts";
import type { Answer, Http, HttpRequest } from "./http.ts";
import { type JsonReader, jsonReader, type ReadAnswer } from "./json.ts";
import {
  type Permit,
  RateLimiter,
  type RateLimiterOptions,
  readRetryAfterMs,
  type RequestKind,
} from "./rate-limiter.ts";
import { type AttemptFailure, type Method, MIN_ATTEMPT_MS, retryDelayMs } from "./retry.ts";
import { TransportFailure } from "./transport-failure.ts";

export interface CallOptions {
  /** Cancels the call, but not a paid or public request that was already sent. */
  readonly signal?: AbortSignal | undefined;
  /** Replaces DEADLINE_MS for the whole call. A POST needs 10 s of it to begin. */
  readonly deadlineMs?: number | undefined;
  /** A poll: tried once, with a smaller share of the rate limit. Ask `backgroundWaitMs` before. */
  readonly background?: boolean | undefined;
}

/** Options of a request that costs or publishes something. */
export interface PostOptions<Result> extends CallOptions {
  /**
   * Called once, before the call fails at its deadline, with the answer that may come within five minutes.
   * It rejects with a BridgeError, outcome `unknown` if none comes. The rejection need not be handled.
   */
  readonly onLate?: ((answer: Promise<Result>) => void) | undefined;
}

export interface RequestParts {
  readonly url: URL;
  readonly body?: unknown;
  /** Whether an answer that is not 2xx counts as if it were, judged by its JSON. */
  readonly isAnswer?: (json: unknown) => boolean;
  /** What counts as the JSON of an answer that can't be read, found in its text. */
  readonly salvage?: (text: string) => unknown;
}

export interface SenderOptions extends Omit<RateLimiterOptions, "monotonicMs"> {
  readonly config: ServiceConfig;
  /** This bridge's, for the user-agent. */
  readonly version: string;
  /** Milliseconds of a clock that never jumps; measures every deadline. Default: performance.now. */
  readonly monotonicMs?: (() => number) | undefined;
  /** Waits on that clock, and rejects when the signal aborts. Default: a timer. */
  readonly sleep?: ((ms: number, signal?: AbortSignal) => Promise<unknown>) | undefined;
  /** Gives numbers in [0, 1). */
  readonly random: () => number;
  /** The time that must be left to begin an attempt. Default: 250 ms for a GET, 10 s for a POST. */
  readonly minAttemptMs?: Readonly<Record<Method, number>> | undefined;
}

/**
 * Milliseconds that a call has by default. If the service never answers, a tool call must end within 45 s
 * (clients give up at 60): after a POST the rest is for looking at the newest videos.
 */
export const DEADLINE_MS = { GET: 20_000, POST: 38_000 } as const;

export class RequestSender {
  /** The headers that every request carries. They hold the key. */
  readonly headers: Readonly<Record<string, string>>;
  /** Reads all that the service says. */
  readonly json: JsonReader;
  /** The rate limit of the whole process. */
  readonly limiter: RateLimiter;
  /** Milliseconds of the clock that all deadlines go by. */
  readonly monotonicMs: () => number;
  readonly #options: SenderOptions;
  readonly #sleep: (ms: number, signal?: AbortSignal) => Promise<unknown>;
  readonly #minAttemptMs: Readonly<Record<Method, number>>;
  readonly #closing = new AbortController(); // aborted by `close`, before or after http.ts is loaded

  constructor(options: SenderOptions) {
    const { config, version, now, backgroundPerMinute } = options;
    this.#options = options;
    this.#sleep = options.sleep ?? ((ms, signal) => sleepFor(ms, undefined, { ref: false, signal }));
    this.#minAttemptMs = options.minAttemptMs ?? MIN_ATTEMPT_MS;
    this.monotonicMs = options.monotonicMs ?? (() => performance.now());
    this.json = jsonReader(createRedact(config.apiKey));
    this.limiter = new RateLimiter({ monotonicMs: this.monotonicMs, now, backgroundPerMinute });
    this.headers = {
      accept: "application/json",
      "accept-encoding": "identity",
      authorization: `Bearer ${config.apiKey}`,
      "user-agent": `faceless-video-mcp/${version}`,
    };
  }

  /** The service's URL of a path below its base, whose prefix is kept. */
  address(path: string, query: Readonly<Record<string, string | undefined>> = {}): URL {
    const url = new URL(`${this.#options.config.baseUrl.href.replace(/\/$/, "")}${path}`);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, value);
    return url;
  }

  readonly http = lazy(async (): Promise<Http> => {
    const { baseUrl, proxies } = this.#options.config;
    const { signal } = this.#closing;
    try {
      const { Http } = await import("./http.ts");
      const loaded = new Http(baseUrl.origin, proxies);
      if (signal.aborted) loaded.destroy();
      signal.addEventListener("abort", () => loaded.destroy(), { once: true });
      return loaded;
    } catch (error) {
      // This server's files are gone, for example after an update: nothing was sent.
      throw toBridgeError(error, "not_sent");
    }
  });

  /** Waits for the rate limiter until `endsAtMs` of `monotonicMs`. Throws a BridgeError: nothing was sent. */
  async acquire(
    operation: Operation,
    { kind, endsAtMs, signal }: { kind: RequestKind; endsAtMs: number; signal?: AbortSignal | undefined },
  ): Promise<Permit> {
    const { method } = operation;
    const neededMs = this.#minAttemptMs[method];
    for (let hasWaited = false; ; hasWaited = true) {
      if (signal?.aborted === true) throw cancelledError(operation);
      const leftMs = endsAtMs - this.monotonicMs();
      // A GET that is cut short loses nothing, so it needs this time only after a wait.
      if ((method === "POST" || hasWaited) && leftMs < neededMs) throw outOfTimeError(operation);
      const permit = this.limiter.tryAcquire(kind);
      if ("release" in permit) return permit;
      const { retryInMs } = permit;
      if (retryInMs + neededMs > leftMs) throw rateLimitedError(operation, retryInMs);
      // The next turn checks the signal.
      await this.#sleep(retryInMs, signal).catch(() => {});
    }
  }

  /** The 2xx answer, or another that counts as one, after as many attempts as retry.ts allows. */
  async perform(
    operation: Operation,
    parts: RequestParts,
    options: PostOptions<ReadAnswer> = {},
  ): Promise<ReadAnswer> {
    const { method } = operation;
    const { url, body } = parts;
    const { signal, deadlineMs = DEADLINE_MS[method], background = false, onLate } = options;
    const endsAtMs = this.monotonicMs() + deadlineMs;
    const request: Omit<HttpRequest, "deadlineMs"> = {
      method,
      url,
      headers: body === undefined ? this.headers : { ...this.headers, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal,
      finishOnceSent: method === "POST",
    };
    const http = await this.http();
    for (let attempt = 1; ; attempt++) {
      const permit = await this.acquire(operation, {
        kind: background ? "background" : "user",
        endsAtMs,
        signal,
      });
      const sending = http.send({
        ...request,
        deadlineMs: Math.max(1, endsAtMs - this.monotonicMs()),
        onLate: onLate && ((late) => onLate(this.#attempt(operation, parts, late, permit).then(answerOf))),
      });
      const tried = await this.#attempt(operation, parts, sending, permit);
      if (tried.answer !== undefined) return tried.answer;
      const { error, failure } = tried;
      const remainingMs = endsAtMs - this.monotonicMs();
      const delayMs =
        // Missing credits are final, whatever the status. A failed poll is the poller's to repeat.
        error.facts.code === "out_of_credits" || background
          ? undefined
          : retryDelayMs({ method, attempt, failure, remainingMs }, this.#options.random, this.#minAttemptMs);
      if (delayMs === undefined) throw error;
      await this.#sleep(delayMs, signal).catch(() => {});
      if (signal?.aborted === true) throw cancelledError(operation, error.facts.outcome);
    }
  }

  /** The same, parsed by a schema. */
  async ask<Schema extends z.ZodType>(
    operation: Operation,
    schema: Schema,
    request: RequestParts,
    { onLate, ...options }: PostOptions<z.output<Schema>>,
  ): Promise<z.output<Schema>> {
    const read = (answer: ReadAnswer) => {
      const parsed = schema.safeParse(answer.json);
      if (parsed.success) return parsed.data;
      const salvaged = schema.safeParse(this.json.clean(request.salvage?.(answer.text)));
      if (salvaged.success) return salvaged.data;
      throw badAnswerError(operation, answer, describeProblem(answer, parsed.error));
    };
    const readLate =
      onLate &&
      ((late: Promise<ReadAnswer>) => {
        const result = late.then(read).catch((error: unknown) => {
          throw toBridgeError(error, "unknown");
        });
        // The caller may not handle it.
        result.catch(() => {});
        onLate(result);
      });
    return read(await this.perform(operation, request, { ...options, onLate: readLate }));
  }

  /** How long an answer asks to wait. After a 429 the limiter's pause includes its Retry-After. */
  retryAfterMs({ status, headers }: Pick<Answer, "status" | "headers">): number | undefined {
    return status === 429 ? this.limiter.waitMs("user") : readRetryAfterMs(headers, this.#options.now());
  }

  /** Closes every connection at once. */
  close(): void {
    this.#closing.abort();
  }

  async #attempt(
    operation: Operation,
    { isAnswer }: RequestParts,
    sending: Promise<Answer>,
    permit: Permit,
  ): Promise<Attempt> {
    try {
      const received = await sending;
      permit.release(received);
      const answer = { ...received, json: this.json.parse(received.text) };
      const { status, json } = answer;
      const isGood = status >= 200 && status < 300 && !isRefusal(json, operation.method);
      if (isGood || isAnswer?.(json) === true) return { answer };
      const retryAfterMs = this.retryAfterMs(answer);
      return {
        error: statusError(operation, answer, retryAfterMs),
        failure: { kind: "status", status, retryAfterMs },
      };
    } catch (error) {
      permit.release();
      // Anything else is a bug of ours, and must not look like a request that was never sent.
      if (!(error instanceof TransportFailure)) throw error;
      const { sent, kind } = error;
      return {
        error: transportError(operation, error),
        failure: { kind: "transport", sent, final: kind === "cancelled" || kind === "unreadable" },
      };
    }
  }
}

/** One attempt's answer; or its error for the caller, and its failure for the retry policy. */
type Attempt =
  | { readonly answer: ReadAnswer }
  | { readonly answer?: undefined; readonly error: BridgeError; readonly failure: AttemptFailure };

function answerOf(tried: Attempt): ReadAnswer {
  if (tried.answer === undefined) throw tried.error;
  return tried.answer;
}

/** What is wrong with an answer, as a clause. Zod's own words are no help to a user. */
function describeProblem({ json }: ReadAnswer, { issues: [issue] }: z.ZodError): string {
  if (json === undefined) return "it is not readable JSON";
  const path = issue?.path.join(".") ?? "";
  return path === "" ? "it is no object" : `${path} is missing or has another form`;
}
