// What went wrong with a request, as a BridgeError that tells the reader what to do. Whether it is retryable and what
// became of the request is decided here and nowhere else.

import { BridgeError, type BridgeErrorFacts, type Outcome, type ServiceWords } from "../errors.ts";
import { cleanServiceText } from "../text.ts";
import type { Answer } from "./http.ts";
import { errorEnvelopeSchema, tidied } from "./schemas.ts";
import type { TransportFailure } from "./transport-failure.ts";

/** What the error texts need to know of the request that failed. */
export interface Operation {
  /** As a noun phrase: "the video list". */
  readonly what: string;
  readonly method: "GET" | "POST";
  /** How to look before calling again, for a POST whose outcome is unknown. */
  readonly check?: string;
  /** What a 404 means here, and what to do. */
  readonly notFound?: { readonly message: string; readonly nextStep: string };
}

const TOP_UP = "Add credits to the account, then call again.";
const CHECK_KEY =
  "Check FACELESS_API_KEY: create a key in the service's account settings, section API, and restart this server with it.";
const CHECK_URL = "Check FACELESS_BASE_URL: it is the service's address without /api/v1.";

export function transportError(operation: Operation, failure: TransportFailure): BridgeError {
  const outcome: Outcome = failure.sent ? "unknown" : "not_sent";
  const repeatable = operation.method === "GET" || !failure.sent;
  if (failure.kind === "cancelled") return cancelledError(operation, outcome);
  if (failure.kind === "too_large")
    return bridgeError(
      operation,
      {
        code: "bad_answer",
        message: `The service's answer to ${operation.what} could not be read: ${failure.reason}.`,
        nextStep: CHECK_URL,
        outcome,
        retryable: operation.method === "GET",
        ...(failure.status !== undefined && { status: failure.status }),
      },
      failure,
    );
  return bridgeError(
    operation,
    {
      code: failure.kind === "timeout" ? "timeout" : "network",
      message: failure.sent
        ? `The service gave no usable answer to ${operation.what}: ${failure.reason}.`
        : `The service could not be reached for ${operation.what}: ${failure.reason}.`,
      nextStep: failure.sent
        ? "Try again in a minute."
        : "Check the network, the proxy settings and FACELESS_BASE_URL.",
      outcome,
      retryable: repeatable,
      ...(failure.status !== undefined && { status: failure.status }),
    },
    failure,
  );
}

/** For an answer that is not 2xx. */
export function statusError(operation: Operation, answer: Answer, retryAfterMs?: number): BridgeError {
  const { status } = answer;
  const words = readServiceWords(answer.text);
  const of = (facts: Omit<BridgeErrorFacts, "status" | "serviceWords">) =>
    bridgeError(operation, { ...facts, status, ...(words !== undefined && { serviceWords: words }) });
  const rejected = { outcome: "rejected", retryable: false } as const;

  if (words?.code === "out_of_credits" || status === 402)
    return of({
      code: "out_of_credits",
      message: "The account has no credits left.",
      nextStep: TOP_UP,
      ...rejected,
    });
  if (status >= 300 && status < 400)
    return of({
      code: "redirected",
      message: `The service answered ${operation.what} with a redirect${redirectTarget(answer)}, which is never followed: the key goes to one origin only.`,
      nextStep: "Set FACELESS_BASE_URL to the address that the service really answers at.",
      outcome: operation.method === "GET" ? "rejected" : "unknown",
      retryable: false,
    });
  if (status === 401)
    return of({
      code: "unauthorized",
      message: "The service did not accept the API key.",
      nextStep: CHECK_KEY,
      ...rejected,
    });
  if (status === 403)
    return of({
      code: "unauthorized",
      message: `The service does not allow this key ${operation.what}.`,
      nextStep: "Check in the service's account settings, section API, what the key may do.",
      ...rejected,
    });
  if (status === 404 && words !== undefined && operation.notFound !== undefined)
    return of({ code: "not_found", ...operation.notFound, ...rejected });
  if (status === 404)
    return of({
      code: "not_found",
      message: `The service has nothing at the address of ${operation.what}.`,
      nextStep: CHECK_URL,
      ...rejected,
    });
  if (status === 429) {
    const seconds = retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(retryAfterMs / 1000));
    return of({
      code: "rate_limited",
      message: "The service allows no more requests for now.",
      nextStep:
        seconds === undefined
          ? "Wait a minute before the next call."
          : `Wait ${seconds} s before the next call.`,
      outcome: "rejected",
      retryable: true,
      ...(seconds !== undefined && { retryAfterSeconds: seconds }),
    });
  }
  if (status === 408 || status >= 500 || status < 200) {
    const seconds = retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(retryAfterMs / 1000));
    return of({
      code: "service_failed",
      message: `The service, or a gateway before it, failed on ${operation.what}.`,
      nextStep: "Try again in a minute.",
      outcome: "unknown",
      retryable: operation.method === "GET",
      ...(operation.method === "GET" && seconds !== undefined && { retryAfterSeconds: seconds }),
    });
  }
  return of({
    code: "refused",
    message: `The service refused ${operation.what}.`,
    nextStep: "Change what the service's words object to, then call again.",
    ...rejected,
  });
}

/** For a 2xx answer that is not what the documentation promises. */
export function badAnswerError(operation: Operation, answer: Answer, problem: string): BridgeError {
  return bridgeError(operation, {
    code: "bad_answer",
    message: `The service's answer to ${operation.what} is not as documented: ${problem}.`,
    nextStep: CHECK_URL,
    outcome: "unknown",
    retryable: operation.method === "GET",
    status: answer.status,
  });
}

/** A POST that may have been carried out has one next step, whatever went wrong: look first. */
function bridgeError(operation: Operation, facts: BridgeErrorFacts, cause?: unknown): BridgeError {
  const look = facts.outcome === "unknown" && operation.method === "POST" ? operation.check : undefined;
  return new BridgeError(look === undefined ? facts : { ...facts, nextStep: look }, cause);
}

/** The documented error envelope, cleaned; undefined where the body is none. */
function readServiceWords(text: string): ServiceWords | undefined {
  const parsed = errorEnvelopeSchema.safeParse(parseJson(text));
  if (!parsed.success) return undefined;
  const { code, message } = parsed.data.error;
  return {
    ...(code !== undefined && { code: cleanServiceText(code, 100) }),
    ...(message !== undefined && { message: cleanServiceText(message) }),
  };
}

/** The JSON without its nulls. undefined stands for text that is no JSON, or nested deeper than anyone means. */
export function parseJson(text: string): unknown {
  try {
    return tidied(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function redirectTarget(answer: Answer): string {
  const location = answer.headers["location"];
  const origin = typeof location === "string" && URL.canParse(location) ? new URL(location).origin : "null";
  // "null" is the origin of what leads to no host.
  return origin === "null" ? "" : ` to ${cleanServiceText(origin, 200)}`;
}

/** The allowance is spent, so that the service would only refuse. */
export function allowanceError(waitMs: number): BridgeError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new BridgeError({
    code: "rate_limited",
    message: "The service's allowance of requests is used up, so nothing was sent.",
    nextStep: `Wait ${seconds} s before the next call.`,
    outcome: "not_sent",
    retryable: true,
    retryAfterSeconds: seconds,
  });
}

/** A call that its caller withdrew. */
export function cancelledError(operation: Operation, outcome: Outcome = "not_sent"): BridgeError {
  return new BridgeError({
    code: "cancelled",
    message: `Asking the service for ${operation.what} was cancelled.`,
    nextStep: "Call again if it is still wanted.",
    outcome,
    retryable: outcome !== "unknown" || operation.method === "GET",
  });
}

export function limitError(limit: number, min?: number, max?: number): BridgeError {
  const allowed =
    min === undefined ? `at most ${max}` : max === undefined ? `at least ${min}` : `${min} to ${max}`;
  return new BridgeError({
    code: "invalid_input",
    message: `limit is ${limit}, but the service allows ${allowed}.`,
    nextStep: `Call again with a limit of ${allowed}.`,
    outcome: "not_sent",
    retryable: false,
  });
}

export function pagingLoopError(parameter: string): BridgeError {
  return new BridgeError({
    code: "paging_loop",
    message: `The service gave back the cursor that was sent, so this page would be continued by itself for ever. The likely cause: the service does not know the paging parameter "${parameter}".`,
    nextStep: "Call list_videos without cursor, with a larger limit, to see more videos on one page.",
    outcome: "rejected",
    retryable: false,
  });
}

export function mcpToolError(text: string): BridgeError {
  return new BridgeError({
    code: "refused",
    message: "The service's MCP endpoint did not list the connected platforms.",
    nextStep: "Change what the service's words object to, or look at the service's website.",
    outcome: "rejected",
    retryable: false,
    serviceWords: { message: cleanServiceText(text) },
  });
}

export function mcpAnswerError(problem: string, cause?: unknown): BridgeError {
  return new BridgeError(
    {
      code: "bad_answer",
      message: `The service's MCP endpoint gave no usable answer: ${problem}.`,
      nextStep: "Try again in a minute, or look at the service's website.",
      outcome: "unknown",
      retryable: true,
    },
    cause,
  );
}
