// Carries out one operation within a deadline: waits for the rate limiter, sends through http.ts as often as
// retry.ts allows, and returns parsed JSON or throws a BridgeError. Knows nothing of what operations mean.

import type * as z from "zod";
import { type Clock, pause } from "../clock.ts";
import { BridgeError, DeadlineError } from "../errors.ts";
import { createRedact } from "../redact.ts";
import type { ServiceConfig } from "../config.ts";
import {
  badResponseError,
  cancelledError,
  type Operation,
  outOfTimeError,
  rateLimitedError,
  statusError,
  transportError,
} from "./errors.ts";
import {
  type ServiceResponse,
  isRefusal,
  type JsonReader,
  jsonReader,
  type ParsedResponse,
} from "./responses.ts";
import type { Http, HttpRequest } from "./http.ts";
import {
  type Permit,
  RateLimiter,
  type RateLimiterOptions,
  readRetryAfterMs,
  type RequestKind,
} from "./rate-limiter.ts";
import { type Method, MIN_ATTEMPT_MS, retryDelayMs } from "./retry.ts";
import { TransportFailure } from "./transport-failure.ts";

export interface CallOptions {
  /** Cancels the call, but not a paid or public request that was already sent. */
  readonly signal?: AbortSignal | undefined;
  /** Replaces DEADLINE_MS for the whole call. A POST needs 10 s of it to begin. */
  readonly deadlineMs?: number | undefined;
  /** A poll: tried once, with a smaller share of the rate limit. Ask `backgroundWaitMs` before. */
  readonly background?: boolean | undefined;
}

export interface RequestParts {
  readonly url: URL;
  readonly body?: unknown;
  /** Whether an answer that is not 2xx counts as if it were, judged by its JSON. */
  readonly isAnswer?: (json: unknown) => boolean;
  /** Finds what counts as the JSON of an answer that can't be read, in its text. */
  readonly salvage?: (text: string) => unknown;
}

/** One request, which a user or a poll waits for until `endsAtMs`, a time on the monotonic clock. */
export interface Exchange extends Omit<HttpRequest, "deadlineMs"> {
  readonly kind: RequestKind;
  readonly endsAtMs: number;
}

export interface SenderOptions extends RateLimiterOptions {
  readonly config: ServiceConfig;
  /** This bridge's, for the user-agent. */
  readonly version: string;
  readonly clock: Clock;
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
  readonly #http: Http;
  readonly #options: SenderOptions;
  readonly #clock: Clock;
  readonly #minAttemptMs: Readonly<Record<Method, number>>;

  /** Loads the HTTP client first. */
  static async open(options: SenderOptions): Promise<RequestSender> {
    const { Http } = await import("./http.ts");
    return new RequestSender(options, new Http(options.config.baseUrl.origin, options.config.proxies));
  }

  private constructor(options: SenderOptions, http: Http) {
    const { config, version, clock, minAttemptMs = MIN_ATTEMPT_MS } = options;
    this.#options = options;
    this.#http = http;
    this.#clock = clock;
    this.#minAttemptMs = minAttemptMs;
    this.json = jsonReader(createRedact(config.apiKey));
    this.limiter = new RateLimiter(options);
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

  /** Sends a request as soon as the rate limiter allows. Returns the answer, or throws a TransportFailure. */
  async exchange(operation: Operation, request: Exchange): Promise<ParsedResponse> {
    const permit = await this.#acquire(operation, request);
    let answer: ServiceResponse | undefined;
    try {
      const deadlineMs = Math.max(1, Math.ceil(request.endsAtMs - this.#clock.monotonicMs()));
      answer = await this.#http.send({ ...request, deadlineMs });
    } finally {
      permit.release(answer);
    }
    return this.#read(answer);
  }

  /** The 2xx answer, or another that counts as one, after as many attempts as retry.ts allows. */
  perform(operation: Operation, parts: RequestParts, options: CallOptions = {}): Promise<ParsedResponse> {
    return this.#perform(operation, parts, options, (answer) => answer);
  }

  /** The same, parsed by a schema. A POST without an answer in time throws a DeadlineError of the result. */
  ask<Schema extends z.ZodType>(
    operation: Operation,
    schema: Schema,
    parts: RequestParts,
    options: CallOptions,
  ): Promise<z.output<Schema>> {
    return this.#perform(operation, parts, options, (answer): z.output<Schema> => {
      const parsed = schema.safeParse(answer.json);
      if (parsed.success) return parsed.data;
      const salvaged = schema.safeParse(this.json.clean(parts.salvage?.(answer.text)));
      if (salvaged.success) return salvaged.data;
      throw badResponseError(operation, answer, describeProblem(answer, parsed.error));
    });
  }

  /** How long an answer asks to wait. After a 429 the limiter's pause includes its Retry-After. */
  retryAfterMs({ status, headers }: Pick<ServiceResponse, "status" | "headers">): number | undefined {
    return status === 429 ? this.limiter.waitMs("user") : readRetryAfterMs(headers, this.#clock.now());
  }

  /** Closes every connection at once. */
  close(): void {
    this.#http.destroy();
  }

  async #perform<Result>(
    operation: Operation,
    parts: RequestParts,
    { signal, deadlineMs = DEADLINE_MS[operation.method], background = false }: CallOptions,
    read: (answer: ParsedResponse) => Result,
  ): Promise<Result> {
    const { method } = operation;
    const { url, body } = parts;
    const endsAtMs = this.#clock.monotonicMs() + deadlineMs;
    const request: Exchange = {
      method,
      url,
      headers: body === undefined ? this.headers : { ...this.headers, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      finishOnceSent: method === "POST",
      kind: background ? "background" : "user",
      endsAtMs,
      signal,
    };
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#judge(operation, parts, this.exchange(operation, request), read);
      } catch (error) {
        // A failed poll is the poller's to repeat.
        if (!(error instanceof BridgeError) || background) throw error;
        const failure = error.facts;
        const remainingMs = endsAtMs - this.#clock.monotonicMs();
        const failed = { method, attempt, failure, remainingMs };
        const delayMs = retryDelayMs(failed, this.#options.random, this.#minAttemptMs);
        if (delayMs === undefined) throw error;
        await pause(this.#clock, delayMs, signal);
        if (signal?.aborted === true) throw cancelledError(operation, failure.outcome);
      }
    }
  }

  /** The result of an answer that counts as good. Anything else is thrown as a BridgeError. */
  async #judge<Result>(
    operation: Operation,
    parts: RequestParts,
    exchange: Promise<ParsedResponse>,
    read: (answer: ParsedResponse) => Result,
  ): Promise<Result> {
    const answer = await exchange.catch((error: unknown) => {
      // Anything else is explained already or a bug of ours, which must not look like a request not sent.
      if (!(error instanceof TransportFailure)) throw error;
      const explained = transportError(operation, error);
      const late = error.facts.late?.then((received) => this.#read(received));
      throw late === undefined
        ? explained
        : new DeadlineError(explained, this.#judge(operation, parts, late, read));
    });
    const { status, json } = answer;
    const isGood = status >= 200 && status < 300 && !isRefusal(json, operation.method);
    if (isGood || parts.isAnswer?.(json) === true) return read(answer);
    throw statusError(operation, answer, this.retryAfterMs(answer));
  }

  #read(answer: ServiceResponse): ParsedResponse {
    return { ...answer, json: this.json.parse(answer.text) };
  }

  /** Waits for the rate limiter, at most until `endsAtMs`. Throws a BridgeError: nothing was sent. */
  async #acquire(operation: Operation, { kind, endsAtMs, signal }: Exchange): Promise<Permit> {
    const { method } = operation;
    const neededMs = this.#minAttemptMs[method];
    for (let hasWaited = false; ; hasWaited = true) {
      if (signal?.aborted === true) throw cancelledError(operation);
      const leftMs = endsAtMs - this.#clock.monotonicMs();
      // A GET that is cut short loses nothing, so it needs this time only after a wait.
      if ((method === "POST" || hasWaited) && leftMs < neededMs) throw outOfTimeError(operation);
      const permit = this.limiter.tryAcquire(kind);
      if ("release" in permit) return permit;
      const { retryInMs } = permit;
      if (retryInMs + neededMs > leftMs) throw rateLimitedError(operation, retryInMs);
      // The next turn checks the signal.
      await pause(this.#clock, retryInMs, signal);
    }
  }
}

/** What is wrong with an answer, as a clause. Zod's own words are no help to a user. */
function describeProblem({ json }: ParsedResponse, { issues: [issue] }: z.ZodError): string {
  if (json === undefined) return "it is not readable JSON";
  const path = issue?.path.join(".") ?? "";
  return path === "" ? "it is not an object" : `${path} is missing or has another form`;
}
