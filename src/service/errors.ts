// Turns the failure of a request into a BridgeError that says what became of it, what to do
// and whether the call may be repeated. Loads no HTTP client.

import {
  BridgeError,
  type BridgeErrorFacts,
  endWithAnswer,
  type ErrorCode,
  notSent,
  type Outcome,
  type ServiceMessage,
} from "../errors.ts";
import { inSentences, say, type Text } from "../sentences.ts";
import { cleanServiceText, quote } from "../text.ts";
import { IN_CLIENT } from "../settings/form.ts";
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
        : kind === "internal"
          ? `The request could not be sent to ${verb}`
          : `The service could not be reached to ${verb}`;
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

/** Explains an answer that is not 2xx. The service asks to wait for `retryAfterMs`. */
export function statusError(
  operation: Operation,
  answer: ParsedResponse,
  retryAfterMs?: number,
  isSandbox = false,
): BridgeError {
  const { method, platforms } = operation;
  const { status } = answer;
  // The service may have posted to the first platform and refused the second.
  const isPartial = platforms !== undefined && platforms > 1 && !isInconclusive(status);
  const isUnknown = isInconclusive(status) || isPartial || (method === "POST" && isRedirect(status));
  const mayBeDone = isUnknown && method === "POST";
  // No wait makes it safe to repeat a POST that may have been carried out.
  const waitSeconds = retryAfterMs === undefined || mayBeDone ? undefined : wholeSeconds(retryAfterMs);
  const envelope = readEnvelope(answer.json);
  const words = readWords(answer);
  // Only the documented envelope decides, not other words.
  const isInFront = envelope === undefined && [401, 402, 403, 511].includes(status);
  const [code, message, nextStep, isForUser] = isInFront
    ? refusalInFront(operation, status, words)
    : refusalOf(operation, answer, waitSeconds, isSandbox);
  const retryable = !mayBeDone && (code === "rate_limited" || code === "service_failed");
  // A refusal without words may come from a firewall, and a refused post may be about the job or an account.
  const failsAgain =
    code !== "out_of_credits" &&
    envelope?.message !== undefined &&
    platforms === undefined &&
    [400, 401, 403, 422].includes(status);
  return requestError(operation, {
    code,
    message: isPartial ? `${message}, but some of the platforms may already have the video` : message,
    nextStep,
    ...(isForUser && { isForUser }),
    outcome: isUnknown ? "unknown" : "rejected",
    retryable,
    ...(failsAgain && { failsAgain }),
    ...(retryable && waitSeconds !== undefined && { retryAfterSeconds: waitSeconds }),
    status,
    // Only the service itself can send the service's words.
    serviceMessage: isInFront ? undefined : words,
  });
}

/** The message has no full stop yet. */
type Refusal = readonly [code: ErrorCode, message: string, nextStep: Text, isForUser?: true];
const FOR_USER = true;

/** `message` has no full stop yet. */
interface Failed extends BridgeErrorFacts {
  readonly message: string;
}

/** What an answer of the service itself that is not 2xx means, and the next step. */
function refusalOf(
  { verb, platforms, notFound }: Operation,
  answer: ParsedResponse,
  waitSeconds: number | undefined,
  isSandbox: boolean,
): Refusal {
  const { status } = answer;
  const envelope = readEnvelope(answer.json);
  const refused = `The service refused to ${verb}`;
  if (envelope?.code === "out_of_credits" || status === 402) {
    const fix = isSandbox
      ? say`[For new credits, ${IN_CLIENT.restart} or, if the sandbox runs by itself, restart that|Restart the sandbox: it then has new credits].`
      : "Add credits to the account.";
    const nextStep = inSentences(fix, "Calling again is safe after that.");
    return ["out_of_credits", `${refused}: the account does not have enough credits`, nextStep, FOR_USER];
  }
  if (isRedirect(status))
    return [
      "redirected",
      `The service answered the request to ${verb} with a redirect${redirectTarget(answer)}, ` +
        "which was not followed: the API key goes to one origin only",
      "Set FACELESS_BASE_URL to the address at which the service itself answers.",
      FOR_USER,
    ];
  if (isInconclusive(status)) {
    const message = `The service, or a gateway in front of it, failed while handling the request to ${verb}`;
    return ["service_failed", message, waitStep(waitSeconds)];
  }
  // Job and accounts were read with this key a moment ago.
  if (platforms !== undefined && (status === 401 || status === 403)) {
    const reasons = "about the API key, or about an account on the platform";
    const advice = `Tell the user what the service says: it may be ${reasons}`;
    const nextStep = say`[${advice}|Check the API key, and the account on the platform].`;
    return ["unauthorized", refused, nextStep];
  }
  if (status === 401) {
    const place = "in the service's account settings, section API";
    const use = say`[${IN_CLIENT.restart} with it|set it here]`;
    const nextStep = say`Check FACELESS_API_KEY: create a key ${place}, and ${use}.`;
    return ["unauthorized", `${refused}: it did not accept the API key`, nextStep, FOR_USER];
  }
  if (status === 403) {
    const nextStep = "Check in the service's account settings, section API, what the key may do.";
    return ["unauthorized", `This API key is not allowed to ${verb}`, nextStep, FOR_USER];
  }
  // A 404 without the service's words is a gateway's. A 410 says that there was something at this address.
  if (notFound !== undefined && (status === 410 || (status === 404 && envelope !== undefined)))
    return ["not_found", notFound.message, notFound.nextStep];
  if (status === 404) {
    const message = `The request to ${verb} failed: the service has nothing at this address`;
    return ["not_found", message, CHECK_URL, FOR_USER];
  }
  if (status === 429)
    return ["rate_limited", `${refused}: too many requests were sent`, waitStep(waitSeconds)];
  const nextStep =
    readWords(answer)?.message === undefined
      ? "The service gave no reason. Check the arguments before you call again."
      : say`[Tell the user what the service says, and call again only with what they want|Change what the service names, then call again].`;
  return ["refused", refused, nextStep];
}

/** What a refusal by something in front of the service means, and the next step. */
function refusalInFront({ verb }: Operation, status: number, words: ServiceMessage | undefined): Refusal {
  const said = words?.message === undefined ? "" : `, with the words ${quote(words.message, 200)}`;
  const nextStep =
    "Open the address in FACELESS_BASE_URL in a browser to see what answers there, and check VPN, " +
    "proxy and the network's sign-in page. " +
    `If the service itself answers there, check ${status === 402 ? "the credits" : "FACELESS_API_KEY"}.`;
  return [
    isInconclusive(status) ? "service_failed" : "refused",
    `A firewall, VPN or proxy in front of the service probably refused the request to ${verb}${said}`,
    nextStep,
    FOR_USER,
  ];
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

/** The documentation leaves much open, and nobody but the user can see how the service really answers. */
const SHOW_SHAPES =
  "If it does, this server's command doctor --shapes shows how the answers look, without their values: " +
  "report that.";

/** Explains an answer that is not as documented. `problem` is a clause that follows a colon. */
export function badResponseError(
  operation: Operation,
  answer: Partial<ParsedResponse>,
  problem: string,
  cause?: unknown,
): BridgeError {
  const facts = {
    code: "bad_answer",
    message: `The answer to the request to ${operation.verb} is not as documented: ${problem}`,
    nextStep: answer.json === undefined ? CHECK_URL : `${CHECK_URL} ${SHOW_SHAPES}`,
    isForUser: true,
    outcome: "unknown",
    retryable: operation.method === "GET",
    status: answer.status,
    serviceMessage: readWords({ ...answer, page: undefined }),
  } as const;
  return requestError(operation, facts, cause);
}

/** After a POST that may have been carried out, the next step is to look first, whatever went wrong. */
function requestError(operation: Operation, failed: Failed, cause?: unknown): BridgeError {
  const { method, whenUnknown } = operation;
  const isUnknownPost = failed.outcome === "unknown" && method === "POST";
  const facts = { ...failed, message: endWithAnswer(failed.message, failed) };
  if (!isUnknownPost || whenUnknown === undefined) return new BridgeError(facts, cause);
  const { isForUser: _, ...others } = facts;
  return new BridgeError({ ...others, nextStep: whenUnknown }, cause);
}

function redirectTarget(answer: ParsedResponse): string {
  const location = String(answer.headers["location"]);
  return URL.canParse(location) ? ` to ${quote(new URL(location).origin, 200)}` : "";
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
    message:
      "The service returned the cursor that was sent to it, so the list would never end. " +
      `It probably does not know the paging parameter ${quote(parameter, 60)}.`,
    nextStep: say`[Call list_videos without cursor and with a larger limit|Repeat the call without --cursor and with a larger --limit], to see more videos on one page.`,
    outcome: "rejected",
    retryable: false,
    failsAgain: true,
  });
}

export function mcpToolError(text: string): BridgeError {
  return new BridgeError({
    code: "refused",
    message: "The service's MCP endpoint did not list the connected platforms.",
    nextStep: "Look at the service's website to see which accounts are connected.",
    outcome: "rejected",
    retryable: false,
    isForUser: true,
    serviceMessage: { message: cleanServiceText(text) },
  });
}

function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

function waitStep(seconds: number | undefined): Text {
  return seconds === undefined ? TRY_AGAIN : `Wait ${seconds} s before the next call.`;
}
