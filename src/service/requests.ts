// Makes a request of an operation: sends it through http.ts (loaded on first use), as often as retry.ts allows, within its
// deadline, and answers with parsed JSON or a BridgeError. Knows the wire's form, not what the operations mean.

import { setTimeout as sleep } from "node:timers/promises";
import type * as z from "zod";
import { type BridgeError, toBridgeError } from "../errors.ts";
import type { ServiceSettings } from "../settings.ts";
import { type Allowance, createAllowance } from "./rate-limiter.ts";
import {
  allowanceError,
  badAnswerError,
  cancelledError,
  type Operation,
  parseJson,
  statusError,
  transportError,
} from "./errors.ts";
import type { Answer, Exchange, Http } from "./http.ts";
import { readRetryAfterMs } from "./rate-limit-headers.ts";
import { type AttemptFailure, createRetryBudget, retryDelayMs } from "./retry.ts";
import { TransportFailure } from "./transport-failure.ts";

export interface CallOptions {
  /** Withdraws the call. A paid or public request that has left is seen through all the same. */
  readonly signal?: AbortSignal | undefined;
  /** Instead of the usual deadline of the operation. */
  readonly deadlineMs?: number | undefined;
  /** Nobody waits for it: it is made once, and counts as a poll. Ask `backgroundWaitMs` before. */
  readonly background?: boolean | undefined;
}

export interface Request {
  readonly url: URL;
  readonly body?: unknown;
}

export interface Requests {
  /** The service's URL of a path below its base, whose prefix is kept. */
  address(path: string, query?: Record<string, string | undefined>): URL;
  /** The headers that every request carries. Holds the key. */
  readonly headers: Readonly<Record<string, string>>;
  http(): Promise<Http>;
  /** The rate budget of the whole process. */
  readonly allowance: Allowance;
  /** The 2xx answer, after as many attempts as the policy allows. */
  perform(operation: Operation, request: Request, options: CallOptions): Promise<Answer>;
  /** The same, parsed by a schema. */
  ask<Schema extends z.ZodType>(
    operation: Operation,
    schema: Schema,
    request: Request,
    options: CallOptions,
  ): Promise<z.output<Schema>>;
  /** Ends every connection at once. */
  close(): void;
}

export interface RequestsOptions {
  readonly settings: ServiceSettings;
  /** Of this bridge, for the user-agent. */
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  /** Background requests a minute as long as the service has named no limit. */
  readonly unknownPolls?: number | undefined;
}

export const GET_DEADLINE_MS = 20_000;
// A call must end within 45 s of a service that never answers, and a client gives up at 60: so a POST has less than
// the minute that its headers may take, and what follows it (a look at the newest videos) has the rest.
const POST_DEADLINE_MS = 38_000;
export const GET_HEADERS_MS = 30_000;
const POST_HEADERS_MS = 60_000;
/** Too little time for a request to be worth making. */
const SHORTEST_ATTEMPT_MS = 1_000;

export function createRequests({ settings, version, now, random, unknownPolls }: RequestsOptions): Requests {
  const { apiKey, baseUrl, proxies } = settings;
  const budget = createRetryBudget();
  const allowance = createAllowance({ now, unknownPolls });
  const headers = {
    accept: "application/json",
    authorization: `Bearer ${apiKey}`,
    "user-agent": `faceless-video-mcp/${version}`,
  };
  let loading: Promise<Http> | undefined;
  let closed = false;

  const loadHttp = () =>
    (loading ??= import("./http.ts").then(
      ({ createHttp }) => {
        const http = createHttp({ origin: baseUrl.origin, proxies });
        if (closed) http.destroy();
        return http;
      },
      (error: unknown) => {
        // This server's files are gone, as after an update: nothing can have left.
        throw toBridgeError(error, "not_sent");
      },
    ));

  /** The 2xx answer, after as many attempts as the policy allows. */
  const perform = async (
    operation: Operation,
    { url, body }: Request,
    options: CallOptions,
  ): Promise<Answer> => {
    const { method } = operation;
    const end = now() + (options.deadlineMs ?? (method === "GET" ? GET_DEADLINE_MS : POST_DEADLINE_MS));
    const exchange: Omit<Exchange, "deadlineMs"> = {
      method,
      url,
      headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      headersTimeoutMs: method === "GET" ? GET_HEADERS_MS : POST_HEADERS_MS,
      signal: options.signal,
      seenThrough: method === "POST",
    };
    const http = await loadHttp();
    const kind = options.background === true ? "background" : "person";
    for (let attempt = 1; ; attempt++) {
      if (kind === "person") await waitForTurn(operation, end, options.signal);
      if (options.signal?.aborted === true) throw cancelledError(operation);
      const slot = allowance.take(kind);
      const tried = await attemptOnce(http, { ...exchange, deadlineMs: Math.max(1, end - now()) });
      slot.settle(tried.answer);
      if (tried.ok) {
        budget.succeed();
        return tried.answer;
      }
      const { error, failure } = judge(operation, tried, now(), allowance.waitMs(kind));
      const delayMs =
        // No credits are no credits, whichever status says so. A poll that failed is the watcher's to repeat.
        error.facts.code === "out_of_credits" || kind === "background"
          ? undefined
          : retryDelayMs({ method, attempt, failure, remainingMs: end - now() }, random);
      if (delayMs === undefined || !budget.take()) throw error;
      await sleep(delayMs, undefined, { ref: false, signal: options.signal }).catch(() => {
        throw cancelledError(operation, error.facts.outcome);
      });
    }
  };

  /** A person's call goes before every poll, but when nothing is left it waits as long as it can, or says how long. */
  const waitForTurn = async (operation: Operation, end: number, signal: AbortSignal | undefined) => {
    for (let waitMs = allowance.waitMs("person"); waitMs > 0; waitMs = allowance.waitMs("person")) {
      if (waitMs > end - now() - SHORTEST_ATTEMPT_MS) throw allowanceError(waitMs);
      await sleep(waitMs, undefined, { ref: false, signal }).catch(() => {
        throw cancelledError(operation);
      });
    }
  };

  const ask = async <Schema extends z.ZodType>(
    operation: Operation,
    schema: Schema,
    request: Request,
    options: CallOptions,
  ): Promise<z.output<Schema>> => {
    const answer = await perform(operation, request, options);
    const parsed = schema.safeParse(readJson(operation, answer));
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0];
    const where = issue === undefined || issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
    throw badAnswerError(operation, answer, `${where}${issue?.message ?? "unexpected shape"}`);
  };

  return {
    address(path, query = {}) {
      const url = new URL(`${baseUrl.href.replace(/\/$/, "")}${path}`);
      for (const [name, value] of Object.entries(query))
        if (value !== undefined) url.searchParams.set(name, value);
      return url;
    },
    headers,
    allowance,
    http: loadHttp,
    perform,
    ask,
    close() {
      closed = true;
      void loading?.then(
        (http) => http.destroy(),
        () => {},
      );
    },
  };
}

type Attempt =
  | { readonly ok: true; readonly answer: Answer }
  | { readonly ok: false; readonly answer: Answer; readonly failure?: undefined }
  | { readonly ok: false; readonly answer?: undefined; readonly failure: TransportFailure };

/** What a failed attempt means for the caller, and for the policy that may try again. */
function judge(
  operation: Operation,
  tried: Extract<Attempt, { ok: false }>,
  nowMs: number,
  /** What the rate budget says where the answer says nothing. */
  pauseMs: number,
): { error: BridgeError; failure: AttemptFailure } {
  if (tried.answer === undefined) {
    const { sent, kind } = tried.failure;
    return {
      error: transportError(operation, tried.failure),
      failure: { kind: "transport", sent, final: kind === "cancelled" || kind === "too_large" },
    };
  }
  const retryAfterMs =
    readRetryAfterMs(tried.answer.headers, nowMs) ??
    (tried.answer.status === 429 && pauseMs > 0 ? pauseMs : undefined);
  return {
    error: statusError(operation, tried.answer, retryAfterMs),
    failure: { kind: "status", status: tried.answer.status, retryAfterMs },
  };
}

async function attemptOnce(http: Http, exchange: Exchange): Promise<Attempt> {
  try {
    const answer = await http.send(exchange);
    return { ok: answer.status >= 200 && answer.status < 300, answer };
  } catch (error) {
    // `send` throws nothing else unless it is broken, and a broken one must not look like a request that never left.
    if (error instanceof TransportFailure) return { ok: false, failure: error };
    throw error;
  }
}

/** The JSON of an answer, without its nulls. Throws a BridgeError. */
export function readJson(operation: Operation, answer: Answer): unknown {
  const encoding = answer.headers["content-encoding"];
  if (encoding !== undefined && !/^(identity)?$/i.test(String(encoding)))
    throw badAnswerError(operation, answer, "it is compressed, which was not asked for");
  const json = parseJson(answer.text);
  if (json === undefined) throw badAnswerError(operation, answer, "it is no JSON");
  return json;
}
