// Carries out one operation within a deadline: waits for the rate limiter, sends through http.ts as often as
// retry.ts allows, and returns the answer or throws a BridgeError. Knows nothing of what operations mean.

import type * as z from "zod";
import { type Clock, pause } from "../clock.ts";
import { type BridgeError, DeadlineError, toBridgeError } from "../errors.ts";
import { createRedact, type Redact } from "../redact.ts";
import { quote } from "../text.ts";
import { VERSION } from "../version.ts";
import { PAID_REQUEST_MS, READ_MS } from "./time-budget.ts";
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
import { type ServiceResponse, type JsonReader, jsonReader, type ParsedResponse } from "./responses.ts";
import type { Http } from "./http.ts";
import { objectOf } from "./openapi.ts";
import { RateLimiter, readRetryAfterMs, type RequestKind } from "./rate-limiter.ts";
import { type Method, MIN_ATTEMPT_MS, planAttempt, retryDelayMs } from "./retry.ts";
import { TransportFailure } from "./transport-failure.ts";

export interface CallOptions {
  /** Cancels the call, but not a paid or public request that was already sent. */
  readonly signal?: AbortSignal | undefined;
  /** Replaces DEADLINE_MS for the whole call. A POST needs 10 s of it to begin. */
  readonly deadlineMs?: number | undefined;
  /** The shortest pause between two attempts. */
  readonly minPauseMs?: number | undefined;
  /** A poll: tried once, with a smaller share of the rate limit. Ask `backgroundWaitMs` before. */
  readonly background?: boolean | undefined;
  /** True if it uses no kept connection, which may be dead: a late answer would be useless. */
  readonly isFresh?: boolean | undefined;
  /**
   * The journal's entry of a paid or public request, recorded at this time by this computer's clock. Its id is
   * the Idempotency-Key, which shows that a request repeated on its way is the same one.
   */
  readonly entry?: { readonly id: string; readonly begunAtMs: number } | undefined;
}

export interface RequestParts {
  readonly url: URL;
  /** JSON. */
  readonly body?: string;
  /** Set if it differs from the operation's method: the MCP endpoint is read by POST. */
  readonly method?: Method;
  /** Added to those that every request carries. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SenderOptions {
  readonly config: ServiceConfig;
  readonly clock: Clock;
  /** Gives numbers in [0, 1). */
  readonly random: () => number;
}

/** The maximum number of characters of a page that a sentence quotes. */
const MAX_QUOTED_CHARS = 200;

/** Milliseconds that a request has by default, with all its attempts. */
const DEADLINE_MS = { GET: READ_MS, POST: PAID_REQUEST_MS } as const;

export class RequestSender {
  /** Every request carries them. They hold the key. */
  readonly #headers: Readonly<Record<string, string>>;
  /** Reads every answer of the service. */
  readonly json: JsonReader;
  /** The rate limit of the whole process. */
  readonly limiter: RateLimiter;
  readonly #redact: Redact;
  readonly #http: Http;
  readonly #options: SenderOptions;

  /** Loads the HTTP client first. */
  static async open(options: SenderOptions): Promise<RequestSender> {
    const { Http } = await import("./http.ts");
    return new RequestSender(options, new Http(options.config.baseUrl.origin, options.config.proxies));
  }

  private constructor(options: SenderOptions, http: Http) {
    const { config, clock } = options;
    this.#options = options;
    this.#http = http;
    this.#redact = createRedact(config.apiKey);
    this.json = jsonReader(this.#redact, config.baseUrl);
    this.limiter = new RateLimiter(clock);
    this.#headers = {
      accept: "application/json",
      "accept-encoding": "identity",
      authorization: `Bearer ${config.apiKey}`,
      "user-agent": `faceless-video-mcp/${VERSION}`,
    };
  }

  /** The service's URL of a path below its base, whose prefix is kept. */
  address(path: string, query: Readonly<Record<string, string | undefined>> = {}): URL {
    const url = new URL(`${this.#options.config.baseUrl.href.replace(/\/$/, "")}${path}`);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, value);
    return url;
  }

  /** Sends a request as `request` does, and returns the documented fields of its answer. */
  fetch<Schema extends z.ZodType>(
    operation: Operation,
    parts: RequestParts,
    schema: Schema,
    options: CallOptions,
  ): Promise<z.output<Schema>> {
    const read = (answer: ParsedResponse) => {
      const { success, data, error } = schema.safeParse(this.accept(operation, answer));
      if (success) return data;
      throw badResponseError(operation, answer, describeProblem(answer, error));
    };
    return this.request(operation, parts, read, options);
  }

  /**
   * Sends a request as soon as the rate limiter allows, and as often as retry.ts does. `read` makes the
   * result of an answer or throws a BridgeError. Throws BridgeErrors alone; for a POST without an answer in
   * time a DeadlineError of the result.
   */
  async request<Result>(
    operation: Operation,
    parts: RequestParts,
    read: (answer: ParsedResponse) => Result,
    options: CallOptions = {},
  ): Promise<Result> {
    const { method } = operation;
    const { url, body } = parts;
    const { signal, deadlineMs = DEADLINE_MS[method], minPauseMs, background = false, entry } = options;
    const { clock, random } = this.#options;
    const endsAtMs = clock.monotonicMs() + deadlineMs;
    const { begunAtMs = clock.now() } = entry ?? {};
    // While the process sleeps, only the wall clock goes on, and others may take the outcome for unknown.
    const ageMs = () => (method === "POST" ? Math.abs(clock.now() - begunAtMs) : 0);
    const leftMs = () => Math.min(endsAtMs - clock.monotonicMs(), PAID_REQUEST_MS - ageMs());
    const readResponse = (response: ServiceResponse) => read(this.#parseBody(response));
    for (let attempt = 1; ; attempt++) {
      let failure: BridgeError;
      try {
        const kind = background ? "background" : "user";
        await this.#acquire(operation, kind, leftMs, signal);
        let response: ServiceResponse | undefined;
        const plan = planAttempt({ method, attempt, remainingMs: leftMs() }, background);
        const headers: Record<string, string> = { ...this.#headers, ...parts.headers };
        if (body !== undefined) headers["content-type"] = "application/json";
        if (entry !== undefined) headers["idempotency-key"] = `"${entry.id}"`;
        try {
          response = await this.#http.send({
            method: parts.method ?? method,
            url,
            headers,
            body,
            deadlineMs: plan.deadlineMs,
            // A failed read has used all its attempts, and with them the call's time.
            toldMs: method === "GET" ? deadlineMs : plan.deadlineMs,
            isFresh: options.isFresh === true || plan.isFresh,
            signal,
            mayBegin: method === "POST" ? () => leftMs() >= MIN_ATTEMPT_MS.POST : undefined,
          });
        } finally {
          this.limiter.release(response);
        }
        return readResponse(response);
      } catch (error) {
        failure = explain(operation, error, readResponse);
      }
      // The poller itself repeats a failed poll.
      if (background) throw failure;
      const failed = { method, attempt, failure: failure.facts, minPauseMs, remainingMs: leftMs() };
      const delayMs = retryDelayMs(failed, random);
      if (delayMs === undefined) throw failure;
      await pause(clock, delayMs, signal);
      if (signal?.aborted === true) throw cancelledError(operation, failure.facts.outcome);
    }
  }

  /** Waits until a request is reserved. Throws if too little time is left. */
  async #acquire(operation: Operation, kind: RequestKind, leftMs: () => number, signal?: AbortSignal) {
    const neededMs = MIN_ATTEMPT_MS[operation.method];
    for (let waited = 0; ; waited++) {
      if (signal?.aborted === true) throw cancelledError(operation);
      // A GET that is cut short loses nothing, so it needs this time only after a wait.
      const isLate = (operation.method === "POST" || waited > 0) && leftMs() < neededMs;
      if (isLate) throw outOfTimeError(operation);
      const waitMs = this.limiter.tryAcquire(kind);
      if (waitMs === 0) return;
      if (waitMs + neededMs > leftMs()) throw rateLimitedError(operation, waitMs);
      await pause(this.#options.clock, waitMs, signal);
    }
  }

  #parseBody({ status, headers, text }: ServiceResponse): ParsedResponse {
    const json = this.json.parse(text);
    return { status, headers, text, json, page: json === undefined ? this.json.readPage(text) : undefined };
  }

  /** The JSON of a 2xx answer. Throws a BridgeError for any other one. */
  accept(operation: Operation, answer: ParsedResponse): unknown {
    const { status, json } = answer;
    if (status >= 200 && status < 300) return json;
    // The results of a post count whatever its status is. In another form they prove nothing.
    const { results = [] } = objectOf(json);
    if (Array.isArray(results) && results.length === 0) throw this.refusal(operation, answer);
    return json;
  }

  /** Explains an answer that is not 2xx. */
  refusal(operation: Operation, answer: ParsedResponse): BridgeError {
    const { status, headers } = answer;
    const { clock, config } = this.#options;
    // After a 429 the limiter's pause includes its Retry-After.
    const retryAfterMs =
      status === 429 ? this.limiter.waitMs("user") : readRetryAfterMs(headers, clock.now());
    // The key is removed before the address is cut, since most of it could stay.
    const location = this.#redact(String(headers["location"] ?? ""));
    const shown = { ...answer, headers: { ...headers, location } };
    return statusError(operation, shown, retryAfterMs, config.isSandbox);
  }

  /** Closes every connection at once. */
  close(): void {
    this.#http.destroy();
  }
}

/** Turns a failure without an answer into a BridgeError. `read` reads the answer that may still come. */
function explain(
  operation: Operation,
  error: unknown,
  read: (response: ServiceResponse) => unknown,
): BridgeError {
  // Explained already, or a bug of ours, which must not look like a request that was not sent.
  if (!(error instanceof TransportFailure))
    return toBridgeError(error, operation.method === "GET" ? "rejected" : "unknown");
  const explained = transportError(operation, error);
  const late = error.facts.late?.then(read).catch((failure: unknown) => {
    throw explain(operation, failure, read);
  });
  return late === undefined ? explained : new DeadlineError(explained, late);
}

/** Describes the fault of an answer in a clause. Zod's own words don't help a user. */
function describeProblem({ json, page = "" }: ParsedResponse, { issues: [issue] }: z.ZodError): string {
  if (json === undefined)
    return `it is not readable JSON${page.trim() === "" ? "" : ` but says ${quote(page, MAX_QUOTED_CHARS)}`}`;
  const path = issue?.path.join(".") ?? "";
  return path === "" ? "it is not an object" : `${path} is missing or has another form`;
}
