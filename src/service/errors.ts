// What went wrong with a request, as a BridgeError that tells the reader what to do. Whether the call may be repeated and
// what became of the request is decided here and nowhere else. Loads no HTTP client.

import { BridgeError, type BridgeErrorFacts, type Outcome, type ServiceWords } from "../errors.ts";
import { cleanServiceText, quote } from "../text.ts";
import type { Answer } from "./http.ts";
import type { Method } from "./retry.ts";
import { errorEnvelopeSchema, tidied } from "./schemas.ts";

/** What the error texts need to know of the request that failed. */
export interface Operation {
  /** A verb phrase that follows "to": "start the video". */
  readonly verb: string;
  /** The same in general, for what a key may do: "start videos". */
  readonly activity: string;
  readonly method: Method;
  /** What to do after a POST that may have been carried out. Must not promise that waiting makes a repeat safe. */
  readonly whenUnknown?: string;
  /** What a 404 in the service's own words means here, and what to do. */
  readonly notFound?: { readonly message: string; readonly nextStep: string };
}

// Without an answer

export type FailureKind = "timeout" | "cancelled" | "unreadable" | "network";

/** What a failure of the network means, and how to fix it. */
export interface NetworkFailure {
  /** A clause that follows a colon, with the code where it helps to search for it. */
  readonly reason: string;
  /** One or two sentences for the user. */
  readonly fix: string;
}

const TRY_AGAIN = "Try again in a minute.";
const CHECK_URL = "Check FACELESS_BASE_URL: it is the service's address without /api/v1.";
const CHECK_NETWORK = "Check the network, the proxy settings and FACELESS_BASE_URL.";
const CHECK_PROXY_RULES =
  "Ask the operator of the proxy to allow this host, or name the host in NO_PROXY if it can be reached directly.";
const TRUST_ISSUER =
  "If the service or your company's network has a certificate authority of its own, set NODE_EXTRA_CA_CERTS to the path of its certificate (PEM) in the env of this server's entry.";
const CHECK_CLOCK =
  "Check the clock of this computer. If it is right, the service's operator has to renew the certificate.";
const CHECK_TLS_PORT =
  "Check the port in FACELESS_BASE_URL: something that does not speak TLS answers there. The usual port for https needs no number.";

/** By the code of Node's or undici's error. It says nothing of whether the request was sent: the same codes occur before and after. */
export const NETWORK_FAILURES: Readonly<Record<string, NetworkFailure & { readonly kind: FailureKind }>> = {
  UND_ERR_CONNECT_TIMEOUT: {
    kind: "timeout",
    reason: "no connection within 5 s",
    fix: "Check the network. If the service is reached only through a proxy, set HTTPS_PROXY. A firewall may block the way.",
  },
  UND_ERR_HEADERS_TIMEOUT: { kind: "timeout", reason: "the answer took too long", fix: TRY_AGAIN },
  UND_ERR_BODY_TIMEOUT: { kind: "timeout", reason: "the answer stopped arriving", fix: TRY_AGAIN },
  UND_ERR_RES_EXCEEDED_MAX_SIZE: {
    kind: "unreadable",
    reason: "it is larger than 4 MB",
    fix: CHECK_URL,
  },
  UND_ERR_HEADERS_OVERFLOW: {
    kind: "unreadable",
    reason: "its headers are larger than 16 kB",
    fix: CHECK_URL,
  },
  UND_ERR_ABORTED: { kind: "network", reason: "the proxy refused the connection", fix: CHECK_PROXY_RULES },
  ERR_PROXY_AUTHENTICATION: {
    kind: "network",
    reason: "the proxy requires a user name and a password (HTTP 407)",
    fix: "Put them into the proxy's setting, as in http://user:password@proxy.example:8080.",
  },
  ERR_PROXY_DROPPED: {
    kind: "network",
    reason: "the proxy closed the connection",
    fix: "Check that HTTPS_PROXY or HTTP_PROXY names the port of an HTTP proxy.",
  },
  ECONNREFUSED: {
    kind: "network",
    reason: "connection refused (ECONNREFUSED)",
    fix: "Nothing listens there: check the host and the port in FACELESS_BASE_URL, and the proxy settings if you use a proxy.",
  },
  ECONNRESET: {
    kind: "network",
    reason: "the connection was closed (ECONNRESET)",
    fix: CHECK_NETWORK,
  },
  UND_ERR_SOCKET: {
    kind: "network",
    reason: "the connection was closed (UND_ERR_SOCKET)",
    fix: CHECK_NETWORK,
  },
  ENOTFOUND: {
    kind: "network",
    reason: "the host name could not be resolved (ENOTFOUND)",
    fix: "Check the spelling of the host in FACELESS_BASE_URL, and that this computer is online.",
  },
  EAI_AGAIN: {
    kind: "network",
    reason: "the host name could not be resolved (EAI_AGAIN)",
    fix: "Check that this computer is online and that its name server works.",
  },
  ...sameFor(["EHOSTUNREACH", "ENETUNREACH", "ENETDOWN"], (code) => ({
    reason: `there is no route to the service (${code})`,
    fix: "Check that this computer is online.",
  })),
  ...sameFor(
    [
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "SELF_SIGNED_CERT_IN_CHAIN",
      "UNABLE_TO_GET_ISSUER_CERT",
      "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    ],
    (code) => ({
      reason: `TLS failed: the issuer of the certificate is not trusted (${code})`,
      fix: TRUST_ISSUER,
    }),
  ),
  ...sameFor(["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID"], (code) => ({
    reason: `TLS failed: the certificate is not valid today (${code})`,
    fix: CHECK_CLOCK,
  })),
  ERR_TLS_CERT_ALTNAME_INVALID: {
    kind: "network",
    reason: "TLS failed: the certificate belongs to another host (ERR_TLS_CERT_ALTNAME_INVALID)",
    fix: "Check the spelling of the host in FACELESS_BASE_URL.",
  },
  ...sameFor(["EPROTO", "ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG"], (code) => ({
    reason: `TLS failed: the other side does not speak it (${code})`,
    fix: CHECK_TLS_PORT,
  })),
  HTTPParserError: {
    kind: "network",
    reason: "the answer is not HTTP",
    fix: "Check the port in FACELESS_BASE_URL, and whether the address should begin with https://.",
  },
};

function sameFor(codes: readonly string[], describe: (code: string) => NetworkFailure) {
  return Object.fromEntries(codes.map((code) => [code, { kind: "network" as const, ...describe(code) }]));
}

/** What an error of Node or undici means, and how to fix it. */
export function explainNetworkError(error: unknown): NetworkFailure & { readonly kind: FailureKind } {
  const code = networkCode(error);
  const known = Object.hasOwn(NETWORK_FAILURES, code) ? NETWORK_FAILURES[code] : undefined;
  if (known !== undefined) return known;
  if (/CERT|SSL|TLS|SIGNATURE/.test(code))
    return {
      kind: "network",
      reason: `TLS failed (${code})`,
      fix: "Check the host and the port in FACELESS_BASE_URL, and whether something inspects the connection.",
    };
  return { kind: "network", reason: `the connection failed (${code})`, fix: CHECK_NETWORK };
}

function networkCode(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  // Node's own errors and undici's carry a string; a DOMException carries a number, and a parser error a code of its own.
  const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
  if (code === "UND_ERR_ABORTED" && error.message.includes("(407)")) return "ERR_PROXY_AUTHENTICATION";
  return error.name === "HTTPParserError" ? error.name : code;
}

/** No usable answer. `sent` is false only where no byte of the request can have been sent. */
export class TransportFailure extends Error {
  override readonly name = "TransportFailure";
  readonly kind: FailureKind;
  readonly sent: boolean;
  /** The status line, where one had arrived before the body failed. */
  readonly status: number | undefined;
  /** A clause, such as "connection refused (ECONNREFUSED)". */
  readonly reason: string;
  readonly fix: string;

  constructor(
    facts: {
      kind: FailureKind;
      sent: boolean;
      reason: string;
      fix?: string | undefined;
      status?: number | undefined;
    },
    cause?: unknown,
  ) {
    super(`${facts.kind}: ${facts.reason}`, { cause });
    this.kind = facts.kind;
    this.sent = facts.sent;
    this.reason = facts.reason;
    this.fix = facts.fix ?? CHECK_NETWORK;
    this.status = facts.status;
  }
}

export function transportError(operation: Operation, failure: TransportFailure): BridgeError {
  const { kind, sent, reason, fix, status } = failure;
  const { verb, method } = operation;
  const outcome: Outcome = sent ? "unknown" : "not_sent";
  if (kind === "cancelled") return cancelledError(operation, outcome);
  const answered = status === undefined ? {} : { status };
  if (kind === "unreadable")
    return requestError(
      operation,
      {
        code: "bad_answer",
        message: `The answer to the request to ${verb} could not be read: ${reason}.`,
        nextStep: fix,
        outcome,
        retryable: method === "GET",
        ...answered,
      },
      failure,
    );
  return requestError(
    operation,
    {
      code: kind,
      message: sent
        ? `The request to ${verb} was sent, but no complete answer came back: ${reason}.`
        : `The service could not be reached to ${verb}: ${reason}.`,
      nextStep: sent ? TRY_AGAIN : fix,
      outcome,
      retryable: method === "GET" || !sent,
      ...answered,
    },
    failure,
  );
}

// With an answer

/** For an answer that is not 2xx. */
export function statusError(operation: Operation, answer: Answer, retryAfterMs?: number): BridgeError {
  const { status } = answer;
  const { verb, activity, method, notFound } = operation;
  const words = readServiceWords(answer.text);
  const error = (facts: Omit<BridgeErrorFacts, "status" | "serviceWords">) =>
    requestError(operation, { ...facts, status, ...(words !== undefined && { serviceWords: words }) });
  const rejected = { outcome: "rejected", retryable: false } as const;
  const retryAfter = retryAfterMs === undefined ? {} : { retryAfterSeconds: wholeSeconds(retryAfterMs) };

  if (words?.code === "out_of_credits" || status === 402)
    return error({
      code: "out_of_credits",
      message: `The service refused to ${verb}: the account has no credits left.`,
      nextStep: "Add credits to the account, then call again.",
      ...rejected,
    });
  if (status >= 300 && status < 400)
    return error({
      code: "redirected",
      message: `The service answered the request to ${verb} with a redirect${redirectTarget(answer)}, which was not followed: the API key goes to one origin only.`,
      nextStep: "Set FACELESS_BASE_URL to the address at which the service itself answers.",
      outcome: method === "GET" ? "rejected" : "unknown",
      retryable: false,
    });
  if (status === 401)
    return error({
      code: "unauthorized",
      message: `The service refused to ${verb}: it did not accept the API key.`,
      nextStep:
        "Check FACELESS_API_KEY: create a key in the service's account settings, section API, and restart this server with it.",
      ...rejected,
    });
  if (status === 403)
    return error({
      code: "unauthorized",
      message: `This API key is not allowed to ${activity}.`,
      nextStep: "Check in the service's account settings, section API, what the key may do.",
      ...rejected,
    });
  if (status === 404 && words !== undefined && notFound !== undefined)
    return error({ code: "not_found", ...notFound, ...rejected });
  if (status === 404)
    return error({
      code: "not_found",
      message: `The request to ${verb} failed: the service has nothing at this address.`,
      nextStep: CHECK_URL,
      ...rejected,
    });
  if (status === 429)
    return error({
      code: "rate_limited",
      message: `The service refused to ${verb}: too many requests were sent.`,
      nextStep: waitStep(retryAfter.retryAfterSeconds),
      outcome: "rejected",
      retryable: true,
      ...retryAfter,
    });
  if (status === 408 || status >= 500 || status < 200)
    return error({
      code: "service_failed",
      message: `The service, or a gateway in front of it, failed while handling the request to ${verb}.`,
      nextStep: waitStep(method === "GET" ? retryAfter.retryAfterSeconds : undefined),
      outcome: "unknown",
      retryable: method === "GET",
      ...(method === "GET" && retryAfter),
    });
  return error({
    code: "refused",
    message: `The service refused to ${verb}.`,
    nextStep:
      words?.message === undefined
        ? "The service gave no reason. Check the arguments before you call again."
        : "Tell the user what the service says, and correct the call before you make it again.",
    ...rejected,
  });
}

/** For a 2xx answer that is not what the documentation promises. `problem` is a clause that follows a colon. */
export function badAnswerError(operation: Operation, answer: Answer, problem: string): BridgeError {
  return requestError(operation, {
    code: "bad_answer",
    message: `The answer to the request to ${operation.verb} is not as documented: ${problem}.`,
    nextStep: CHECK_URL,
    outcome: "unknown",
    retryable: operation.method === "GET",
    status: answer.status,
  });
}

/** After a POST that may have been carried out there is one next step, whatever went wrong: to look first. */
function requestError(operation: Operation, facts: BridgeErrorFacts, cause?: unknown): BridgeError {
  const { method, whenUnknown } = operation;
  const isUnknownPost = facts.outcome === "unknown" && method === "POST";
  return new BridgeError(
    isUnknownPost && whenUnknown !== undefined ? { ...facts, nextStep: whenUnknown } : facts,
    cause,
  );
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

/** The JSON without its nulls; undefined for text that is not JSON, or nested too deeply to be walked. */
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
  // "null" is the origin of a URL without a host.
  return origin === "null" ? "" : ` to ${cleanServiceText(origin, 200)}`;
}

// Without a request

/** The rate limit is used up, so the service would only refuse. */
export function rateLimitedError(operation: Operation, waitMs: number): BridgeError {
  const seconds = wholeSeconds(waitMs);
  return new BridgeError({
    code: "rate_limited",
    message: `The service's rate limit is used up, so the request to ${operation.verb} was not sent.`,
    nextStep: waitStep(seconds),
    outcome: "not_sent",
    retryable: true,
    retryAfterSeconds: seconds,
  });
}

/** Too little of a call's time is left to begin a POST, which could end with an unknown outcome. */
export function outOfTimeError(operation: Operation): BridgeError {
  return new BridgeError({
    code: "timeout",
    message: `Too little time was left to ${operation.verb}, so the request was not sent.`,
    nextStep: "Make the same call again.",
    outcome: "not_sent",
    retryable: true,
  });
}

/** The caller cancelled the call. */
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

// Of one operation

export function pagingLoopError(parameter: string): BridgeError {
  return new BridgeError({
    code: "paging_loop",
    message: `The service returned the cursor that was sent to it, so the list would never end. It probably does not know the paging parameter ${quote(parameter, 60)}.`,
    nextStep: "Call list_videos without cursor and with a larger limit, to see more videos on one page.",
    outcome: "rejected",
    retryable: false,
  });
}

export function mcpToolError(text: string): BridgeError {
  return new BridgeError({
    code: "refused",
    message: "The service's MCP endpoint did not list the connected platforms.",
    nextStep: "Look at the service's website to see which accounts are connected.",
    outcome: "rejected",
    retryable: false,
    serviceWords: { message: cleanServiceText(text) },
  });
}

export function mcpAnswerError(problem: string, cause?: unknown): BridgeError {
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
