// Turns what went wrong with a request into a BridgeError that says what became of it, what to do
// and whether the call may be repeated. Loads no HTTP client.

import {
  BridgeError,
  type BridgeErrorFacts,
  type ErrorCode,
  type Outcome,
  type ServiceMessage,
} from "../errors.ts";
import { cleanServiceText, quote } from "../text.ts";
import { errorEnvelopeSchema, type ParsedResponse } from "./responses.ts";
import { isInconclusive, type Method } from "./retry.ts";
import { CHECK_URL, type TransportFailure, TRY_AGAIN } from "./transport-failure.ts";

/** The facts of the failed request that the error texts need. */
export interface Operation {
  /** A verb phrase that follows "to": "start the video". */
  readonly verb: string;
  readonly method: Method;
  /** The next step after a POST that may have been carried out. Must not call a repeat safe after a wait. */
  readonly whenUnknown?: string;
  /** The meaning of a 404 in the service's own words, and the next step. */
  readonly notFound?: { readonly message: string; readonly nextStep: string };
}

const NOT_SENT = { outcome: "not_sent", retryable: true } as const;
const REJECTED = { outcome: "rejected", retryable: false } as const;

/** Explains a request without a usable answer. */
export function transportError(operation: Operation, failure: TransportFailure): BridgeError {
  const { kind, sent, reason, fix, status } = failure.facts;
  const { verb, method } = operation;
  const outcome: Outcome = sent ? "unknown" : "not_sent";
  if (kind === "cancelled") return cancelledError(operation, outcome);
  const message =
    kind === "unreadable"
      ? `The answer to the request to ${verb} could not be read`
      : sent
        ? `The request to ${verb} was sent, but no complete answer came back`
        : `The service could not be reached to ${verb}`;
  return requestError(
    operation,
    {
      code: kind === "unreadable" ? "bad_answer" : kind,
      message: `${message}: ${reason}.`,
      nextStep: fix,
      outcome,
      retryable: method === "GET" || (kind !== "unreadable" && !sent),
      ...(fix !== TRY_AGAIN && { isForUser: true }),
      status,
    },
    failure,
  );
}

/** Facts for an error text beside the operation and the answer. */
export interface Circumstances {
  /** How long the service asks to wait. */
  readonly retryAfterMs?: number | undefined;
  /** How many platforms a publication names; undefined for any other request. */
  readonly platforms?: number | undefined;
  readonly isSandbox?: boolean | undefined;
}

/** If it applies, the error's code, its message and the next step, which is the user's if the last is true. */
type Row = readonly [boolean, ErrorCode, string, string, boolean?];

/** Explains an answer that is not 2xx: why the service refused, what that proves and what to do. */
export function statusError(
  operation: Operation,
  answer: ParsedResponse,
  { retryAfterMs, platforms, isSandbox = false }: Circumstances = {},
): BridgeError {
  const { verb, method, notFound } = operation;
  const { status } = answer;
  const said = readServiceMessage(answer.json);
  const isRedirect = status >= 300 && status < 400;
  const isPublication = platforms !== undefined;
  // The service may have posted to the first platform and refused the second.
  const isPartial = isPublication && platforms > 1 && !isInconclusive(status);
  const isUnknown = isInconclusive(status) || isPartial || (method === "POST" && isRedirect);
  const mayBeDone = isUnknown && method === "POST";
  // No wait makes it safe to repeat a POST that may have been carried out.
  const waitSeconds = retryAfterMs === undefined || mayBeDone ? undefined : wholeSeconds(retryAfterMs);
  const refused = `The service refused to ${verb}`;
  const rows: readonly Row[] = [
    [
      said?.code === "out_of_credits" || status === 402,
      "out_of_credits",
      `${refused}: the account does not have enough credits.`,
      `${isSandbox ? "Restart this server or, if it runs by itself, the sandbox: it then has new credits." : "Add credits to the account."} Calling again is safe after that.`,
      true,
    ],
    [
      isRedirect,
      "redirected",
      `The service answered the request to ${verb} with a redirect${redirectTarget(answer)}, which was not followed: the API key goes to one origin only.`,
      "Set FACELESS_BASE_URL to the address at which the service itself answers.",
      true,
    ],
    [
      isInconclusive(status),
      "service_failed",
      `The service, or a gateway in front of it, failed while handling the request to ${verb}.`,
      waitStep(waitSeconds),
    ],
    // Job and accounts were read with this key a moment ago.
    [
      isPublication && said !== undefined && [401, 403].includes(status),
      "unauthorized",
      `${refused}.`,
      "Tell the user what the service says: it may be about the API key, or about an account on the platform.",
    ],
    [
      status === 401,
      "unauthorized",
      `${refused}: it did not accept the API key.`,
      "Check FACELESS_API_KEY: create a key in the service's account settings, section API, and restart this server with it.",
      true,
    ],
    [
      status === 403,
      "unauthorized",
      `This API key is not allowed to ${verb}.`,
      "Check in the service's account settings, section API, what the key may do.",
      true,
    ],
    // A 404 without the service's words is a gateway's. A 410 says that there was something at this address.
    [
      notFound !== undefined && (status === 410 || (status === 404 && said !== undefined)),
      "not_found",
      notFound?.message ?? "",
      notFound?.nextStep ?? "",
    ],
    [
      status === 404,
      "not_found",
      `The request to ${verb} failed: the service has nothing at this address.`,
      CHECK_URL,
      true,
    ],
    [status === 429, "rate_limited", `${refused}: too many requests were sent.`, waitStep(waitSeconds)],
    [
      said?.message === undefined,
      "refused",
      `${refused}.`,
      "The service gave no reason. Check the arguments before you call again.",
    ],
  ];
  const otherwise = "Tell the user what the service says, and call again only with what they want.";
  const [, code, message, nextStep, isForUser] =
    rows.find(([applies]) => applies) ?? ([true, "refused", `${refused}.`, otherwise] as const);
  const retryable = !mayBeDone && (code === "rate_limited" || code === "service_failed");
  // A refusal without words may be a firewall's, and one of a post may be about the job or an account.
  const failsAgain = said?.message !== undefined && !isPublication && [400, 401, 403, 422].includes(status);
  return requestError(operation, {
    code,
    message: isPartial
      ? `${message.slice(0, -1)}, but some of the platforms may already have the video.`
      : message,
    nextStep,
    ...(isForUser === true && { isForUser }),
    outcome: isUnknown ? "unknown" : "rejected",
    retryable,
    ...(failsAgain && code !== "out_of_credits" && { failsAgain }),
    ...(retryable && waitSeconds !== undefined && { retryAfterSeconds: waitSeconds }),
    status,
    serviceMessage: said,
  });
}

/** Explains an answer that is not as documented. `problem` is a clause that follows a colon. */
export function badResponseError(operation: Operation, answer: ParsedResponse, problem: string): BridgeError {
  return requestError(operation, {
    code: "bad_answer",
    message: `The answer to the request to ${operation.verb} is not as documented: ${problem}.`,
    nextStep: CHECK_URL,
    isForUser: true,
    outcome: "unknown",
    retryable: operation.method === "GET",
    status: answer.status,
  });
}

/** The next step after a POST that may have been carried out is to look first, whatever went wrong. */
function requestError(operation: Operation, facts: BridgeErrorFacts, cause?: unknown): BridgeError {
  const { method, whenUnknown } = operation;
  const isUnknownPost = facts.outcome === "unknown" && method === "POST";
  const { isForUser: _, ...others } = facts;
  return new BridgeError(
    isUnknownPost && whenUnknown !== undefined ? { ...others, nextStep: whenUnknown } : facts,
    cause,
  );
}

/** The documented error envelope, cleaned; undefined where the body is none. */
function readServiceMessage(json: unknown): ServiceMessage | undefined {
  const parsed = errorEnvelopeSchema.safeParse(json);
  if (!parsed.success) return undefined;
  const { code, message } = parsed.data.error;
  return { code: code && cleanServiceText(code, 60), message: message && cleanServiceText(message) };
}

function redirectTarget(answer: ParsedResponse): string {
  const location = answer.headers["location"];
  const origin = typeof location === "string" && URL.canParse(location) ? new URL(location).origin : "null";
  // "null" is the origin of a URL without a host.
  return origin === "null" ? "" : ` to ${quote(origin, 200)}`;
}

/** The rate limit is used up, so the service would only refuse. */
export function rateLimitedError({ verb }: Operation, waitMs: number): BridgeError {
  const retryAfterSeconds = wholeSeconds(waitMs);
  return new BridgeError({
    code: "rate_limited",
    message: `The service's rate limit is used up, so the request to ${verb} was not sent.`,
    nextStep: waitStep(retryAfterSeconds),
    ...NOT_SENT,
    retryAfterSeconds,
  });
}

/** Too little of a call's time is left to begin a POST, which could end with an unknown outcome. */
export function outOfTimeError({ verb }: Operation): BridgeError {
  return new BridgeError({
    code: "timeout",
    message: `Too little time was left to ${verb}, so the request was not sent.`,
    nextStep: "Make the same call again.",
    ...NOT_SENT,
  });
}

export function cancelledError(operation: Operation, outcome: Outcome = "not_sent"): BridgeError {
  const when = { not_sent: " before it was sent", rejected: "", unknown: " after it was sent" }[outcome];
  return requestError(operation, {
    code: "cancelled",
    message: `The request to ${operation.verb} was cancelled${when}.`,
    nextStep: "Call again if the result is still wanted.",
    outcome,
    retryable: outcome !== "unknown" || operation.method === "GET",
  });
}

export function pagingLoopError(parameter: string): BridgeError {
  return new BridgeError({
    code: "paging_loop",
    message: `The service returned the cursor that was sent to it, so the list would never end. It probably does not know the paging parameter ${quote(parameter, 60)}.`,
    nextStep: "Call list_videos without cursor and with a larger limit, to see more videos on one page.",
    ...REJECTED,
    failsAgain: true,
  });
}

export function mcpToolError(text: string): BridgeError {
  return new BridgeError({
    code: "refused",
    message: "The service's MCP endpoint did not list the connected platforms.",
    nextStep: "Look at the service's website to see which accounts are connected.",
    ...REJECTED,
    isForUser: true,
    serviceMessage: { message: cleanServiceText(text) },
  });
}

export function mcpResponseError(problem: string, cause?: unknown): BridgeError {
  return new BridgeError(
    {
      code: "bad_answer",
      message: `The answer of the service's MCP endpoint could not be used: ${problem}.`,
      nextStep: "Try again in a minute, or look at the service's website.",
      outcome: "unknown",
      retryable: true,
    },
    cause,
  );
}

function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

function waitStep(seconds: number | undefined): string {
  return seconds === undefined ? TRY_AGAIN : `Wait ${seconds} s before the next call.`;
}
