// Turns the failure of a request into a BridgeError that says what became of it, what to do
// and whether the call may be repeated. Loads no HTTP client.

import {
  BridgeError,
  type BridgeErrorFacts,
  endWithAnswer,
  notSent,
  type Outcome,
  type ServiceMessage,
} from "../errors.ts";
import { inSentences, say, type Text } from "../sentences.ts";
import { cleanServiceText, quote } from "../text.ts";
import type { ParsedResponse } from "./responses.ts";
import { isInconclusive, type Method } from "./retry.ts";
import { readEnvelope, readWords } from "./service-words.ts";
import { CHECK_URL, type TransportFailure, TRY_AGAIN } from "./transport-failure.ts";

/** The facts of the failed request that the error texts need. */
export interface Operation {
  /** A verb phrase that follows "to": "start the video". */
  readonly verb: string;
  readonly method: Method;
  /** How many platforms a post names; undefined for any other request. */
  readonly platforms?: number | undefined;
  /** The next step after a POST that may have been carried out. Must not call a repeat safe after a wait. */
  readonly whenUnknown?: Text;
  /** The meaning of a 404 in the service's own words, without its full stop, and the next step. */
  readonly notFound?: { readonly message: string; readonly nextStep: Text };
}

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
        : `The ${kind === "internal" ? "request could not be sent" : "service could not be reached"} to ${verb}`;
  return requestError(
    operation,
    {
      code: kind === "unreadable" ? "bad_answer" : kind,
      message: `${message}: ${reason}`,
      nextStep: fix,
      outcome,
      retryable: kind !== "internal" && (method === "GET" || (kind !== "unreadable" && !sent)),
      ...(fix !== TRY_AGAIN && { isForUser: true }),
      status,
    },
    failure,
  );
}

/** Facts for an error text, in addition to the operation and the answer. */
export interface Circumstances {
  /** How long the service asks to wait. */
  readonly retryAfterMs?: number | undefined;
  readonly isSandbox?: boolean | undefined;
}

/** Explains an answer that is not 2xx: why the service refused, what that proves and what to do. */
export function statusError(
  operation: Operation,
  answer: ParsedResponse,
  { retryAfterMs, isSandbox = false }: Circumstances = {},
): BridgeError {
  const { method, platforms } = operation;
  const { status } = answer;
  const envelope = readEnvelope(answer.json);
  const words = readWords(answer);
  const refusal = classify(operation, status, { envelope, words });
  // The service may have posted to the first platform and refused the second.
  const isPartial = platforms !== undefined && platforms > 1 && !isInconclusive(status);
  const isUnknown = isInconclusive(status) || isPartial || (method === "POST" && isRedirect(status));
  const mayBeDone = isUnknown && method === "POST";
  // No wait makes it safe to repeat a POST that may have been carried out.
  const waitSeconds = retryAfterMs === undefined || mayBeDone ? undefined : wholeSeconds(retryAfterMs);
  const { message, ...text } = REFUSALS[refusal]({ operation, answer, words, waitSeconds, isSandbox });
  const retryable = !mayBeDone && (text.code === "rate_limited" || text.code === "service_failed");
  // A refusal without words may be a firewall's, and one of a post may be about the job or an account.
  const failsAgain =
    refusal !== "no credits" &&
    envelope?.message !== undefined &&
    platforms === undefined &&
    [400, 401, 403, 422].includes(status);
  return requestError(operation, {
    ...text,
    message: isPartial ? `${message}, but some of the platforms may already have the video` : message,
    outcome: isUnknown ? "unknown" : "rejected",
    retryable,
    ...(failsAgain && { failsAgain }),
    ...(retryable && waitSeconds !== undefined && { retryAfterSeconds: waitSeconds }),
    status,
    // The message quotes what stands in front of the service: these are not the service's words.
    serviceMessage: refusal === "in front" ? undefined : words,
  });
}

type Refusal = ReturnType<typeof classify>;

/** Names the reason of an answer that is not 2xx. Only the documented envelope decides, not other words. */
function classify(
  { platforms, notFound }: Operation,
  status: number,
  { envelope, words }: Readonly<Record<"envelope" | "words", ServiceMessage | undefined>>,
) {
  if (envelope?.code === "out_of_credits") return "no credits";
  if (envelope === undefined && [401, 402, 403, 511].includes(status)) return "in front";
  if (status === 402) return "no credits";
  if (isRedirect(status)) return "redirect";
  if (isInconclusive(status)) return "failure";
  // Job and accounts were read with this key a moment ago.
  if (platforms !== undefined && (status === 401 || status === 403)) return "post refused";
  if (status === 401) return "key refused";
  if (status === 403) return "not allowed";
  // A 404 without the service's words is a gateway's. A 410 says that there was something at this address.
  if (notFound !== undefined && (status === 410 || (status === 404 && envelope !== undefined)))
    return "not found";
  if (status === 404) return "nothing there";
  if (status === 429) return "too many requests";
  return words?.message === undefined ? "without words" : "with words";
}

interface Refused {
  readonly operation: Operation;
  readonly answer: ParsedResponse;
  readonly words: ServiceMessage | undefined;
  readonly waitSeconds: number | undefined;
  readonly isSandbox: boolean;
}

/** `message` has no full stop yet. */
interface Failed extends BridgeErrorFacts {
  readonly message: string;
}

type Explain = (refused: Refused) => Pick<Failed, "code" | "message" | "nextStep" | "isForUser">;

/** What each reason means, and the next step. */
const REFUSALS: Readonly<Record<Refusal, Explain>> = {
  "no credits": ({ operation: { verb }, isSandbox }) => ({
    code: "out_of_credits",
    message: `The service refused to ${verb}: the account does not have enough credits`,
    nextStep: inSentences(
      isSandbox
        ? say`Restart [this server or, if it runs by itself, the sandbox|the sandbox]: it then has new credits.`
        : "Add credits to the account.",
      "Calling again is safe after that.",
    ),
    isForUser: true,
  }),
  "in front": ({ operation: { verb }, answer: { status }, words }) => {
    const quoted = words?.message ?? words?.code;
    const { fine, nextStep } = IN_FRONT[status === 402 || status === 511 ? status : "other"];
    return {
      // 5xx prove nothing of what was done.
      code: status === 511 ? "service_failed" : "refused",
      message: `A firewall, VPN or proxy in front of the service probably refused the request to ${verb}${quoted === undefined ? "" : `, with the words ${quote(quoted, 200)}`}; ${fine}`,
      nextStep,
      isForUser: true,
    };
  },
  redirect: ({ operation: { verb }, answer }) => ({
    code: "redirected",
    message: `The service answered the request to ${verb} with a redirect${redirectTarget(answer)}, which was not followed: the API key goes to one origin only`,
    nextStep: "Set FACELESS_BASE_URL to the address at which the service itself answers.",
    isForUser: true,
  }),
  failure: ({ operation: { verb }, waitSeconds }) => ({
    code: "service_failed",
    message: `The service, or a gateway in front of it, failed while handling the request to ${verb}`,
    nextStep: waitStep(waitSeconds),
  }),
  "post refused": ({ operation: { verb } }) => ({
    code: "unauthorized",
    message: `The service refused to ${verb}`,
    nextStep: say`[Tell the user what the service says: it|It] may be about the API key, or about an account on the platform.`,
  }),
  "key refused": ({ operation: { verb } }) => ({
    code: "unauthorized",
    message: `The service refused to ${verb}: it did not accept the API key`,
    nextStep: say`Check FACELESS_API_KEY: create a key in the service's account settings, section API, and [restart this server with it|set it here].`,
    isForUser: true,
  }),
  "not allowed": ({ operation: { verb } }) => ({
    code: "unauthorized",
    message: `This API key is not allowed to ${verb}`,
    nextStep: "Check in the service's account settings, section API, what the key may do.",
    isForUser: true,
  }),
  "not found": ({ operation: { notFound } }) => ({
    code: "not_found",
    message: notFound?.message ?? "",
    nextStep: notFound?.nextStep ?? "",
  }),
  "nothing there": ({ operation: { verb } }) => ({
    code: "not_found",
    message: `The request to ${verb} failed: the service has nothing at this address`,
    nextStep: CHECK_URL,
    isForUser: true,
  }),
  "too many requests": ({ operation: { verb }, waitSeconds }) => ({
    code: "rate_limited",
    message: `The service refused to ${verb}: too many requests were sent`,
    nextStep: waitStep(waitSeconds),
  }),
  "without words": ({ operation: { verb } }) => ({
    code: "refused",
    message: `The service refused to ${verb}`,
    nextStep: "The service gave no reason. Check the arguments before you call again.",
  }),
  "with words": ({ operation: { verb } }) => ({
    code: "refused",
    message: `The service refused to ${verb}`,
    nextStep: say`[Tell the user what the service says, and call again only with what they want|Change what the service names, then call again].`,
  }),
};

const LOOK_THERE =
  "Open the address in FACELESS_BASE_URL in a browser to see what answers there, and check VPN, proxy and the network's sign-in page.";

/** If something in front of the service has refused a request: what may still be fine, and the next step. */
const IN_FRONT = {
  402: {
    fine: "the account may have credits",
    nextStep: `${LOOK_THERE} If the service itself answers there, add credits.`,
  },
  511: {
    fine: "it wants a sign-in to this network",
    nextStep: "Sign in to this network in a browser first. Then call again.",
  },
  other: {
    fine: "the API key may be fine",
    nextStep: `${LOOK_THERE} If the service itself answers there, check FACELESS_API_KEY.`,
  },
} as const;

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

/** The documentation leaves much open, and nobody but the user can see how the service really answers. */
const SHOW_SHAPES =
  "If it does, this server's command doctor --shapes shows how the answers look, without their values: report that.";

/** Explains an answer that is not as documented. `problem` is a clause that follows a colon. */
export function badResponseError(operation: Operation, answer: ParsedResponse, problem: string): BridgeError {
  return requestError(operation, {
    code: "bad_answer",
    message: `The answer to the request to ${operation.verb} is not as documented: ${problem}`,
    nextStep: answer.json === undefined ? CHECK_URL : `${CHECK_URL} ${SHOW_SHAPES}`,
    isForUser: true,
    outcome: "unknown",
    retryable: operation.method === "GET",
    status: answer.status,
    serviceMessage: readWords({ ...answer, page: undefined }),
  });
}

/** After a POST that may have been carried out, the next step is to look first, whatever went wrong. */
function requestError(operation: Operation, failed: Failed, cause?: unknown): BridgeError {
  const { method, whenUnknown } = operation;
  const isUnknownPost = failed.outcome === "unknown" && method === "POST";
  const facts = { ...failed, message: endWithAnswer(failed.message, failed) };
  const { isForUser: _, ...others } = facts;
  return new BridgeError(
    isUnknownPost && whenUnknown !== undefined ? { ...others, nextStep: whenUnknown } : facts,
    cause,
  );
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
  const message = `The service's rate limit is used up, so the request to ${verb} was not sent.`;
  return notSent("rate_limited", message, waitStep(retryAfterSeconds), {
    retryable: true,
    retryAfterSeconds,
  });
}

/** Too little of a call's time is left to begin a POST, which could end with an unknown outcome. */
export function outOfTimeError({ verb }: Operation): BridgeError {
  const message = `Too little time was left to ${verb}, so the request was not sent.`;
  const nextStep = say`Make the same call once more.[ If that fails too, tell the user.|]`;
  return notSent("timeout", message, nextStep, { retryable: true });
}

export function cancelledError(operation: Operation, outcome: Outcome = "not_sent"): BridgeError {
  const when = { not_sent: " before it was sent", rejected: "", unknown: " after it was sent" }[outcome];
  return requestError(operation, {
    code: "cancelled",
    message: `The request to ${operation.verb} was cancelled${when}`,
    nextStep: "Call again if the result is still wanted.",
    outcome,
    retryable: outcome !== "unknown" || operation.method === "GET",
  });
}

export function pagingLoopError(parameter: string): BridgeError {
  return new BridgeError({
    code: "paging_loop",
    message: `The service returned the cursor that was sent to it, so the list would never end. It probably does not know the paging parameter ${quote(parameter, 60)}.`,
    nextStep: say`[Call list_videos without cursor and with a larger limit|Repeat the call without --cursor and with a larger --limit], to see more videos on one page.`,
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
      nextStep: say`Try again once, in a minute. If that fails too, [tell the user to |]look at the service's website.`,
      outcome: "unknown",
      retryable: true,
    },
    cause,
  );
}

function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

function waitStep(seconds: number | undefined): Text {
  return seconds === undefined ? TRY_AGAIN : `Wait ${seconds} s before the next call.`;
}
