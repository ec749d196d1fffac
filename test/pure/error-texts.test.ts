// Every text of a failed request, for every operation, in one file for review: test/contract/errors.txt.

import { expect, test } from "vitest";
import { type BridgeError, describeFailure, type Effect } from "../../src/errors.ts";
import { textFor } from "../../src/sentences.ts";
import { OPERATIONS } from "../../src/service/client.ts";
import {
  badResponseError,
  cancelledError,
  mcpToolError,
  type Operation,
  outOfTimeError,
  pagingLoopError,
  rateLimitedError,
  statusError,
  transportError,
} from "../../src/service/errors.ts";
import { explainNetworkError, TransportFailure } from "../../src/service/transport-failure.ts";

function effectOf(operation: Operation): Effect {
  if (operation === OPERATIONS.generate) return "spends";
  return operation === OPERATIONS.publish ? "publishes" : "reads";
}

/** Local time, as the texts have it. */
const NOW_MS = new Date(2026, 10, 23, 14, 30, 10).getTime();
const words = { error: { code: "the_code", message: "The service's message." } };
const answer = (status: number, json: unknown = words, headers = {}) => ({ status, headers, text: "", json });
const page = (status: number, title: string) => ({
  ...answer(status, undefined),
  json: undefined,
  page: title,
});
const failure = (sent: boolean, code: string, status?: number) =>
  new TransportFailure({ ...explainNetworkError(Object.assign(new Error(), { code })), sent, status });

/** An operation whose post goes to this many platforms. */
function withPlatforms(operation: Operation, platforms: number): Operation {
  return operation === OPERATIONS.publish ? { ...operation, platforms } : operation;
}

/** A publication to one platform, or another request. */
function refusal(operation: Operation, status: number, json: unknown = words, retryAfterMs?: number) {
  return statusError(withPlatforms(operation, 1), answer(status, json), retryAfterMs);
}

const SITUATIONS: Record<string, (operation: Operation) => BridgeError> = {
  "HTTP 400": (operation) => refusal(operation, 400),
  "HTTP 400 without a message": (operation) => refusal(operation, 400, ""),
  "HTTP 400 in another form": (operation) =>
    refusal(operation, 400, { detail: [{ loc: ["body", "topic"], msg: "It has over 500 characters." }] }),
  "HTTP 401": (operation) => refusal(operation, 401),
  "HTTP 401 without the envelope": (operation) => refusal(operation, 401, { message: "Unauthorized" }),
  "HTTP 402": (operation) => refusal(operation, 402),
  "HTTP 402 of a page": (operation) => statusError(withPlatforms(operation, 1), page(402, "Paused")),
  "HTTP 403": (operation) => refusal(operation, 403),
  "HTTP 403 of a page": (operation) =>
    statusError(withPlatforms(operation, 1), page(403, "Just a moment...")),
  "HTTP 404": (operation) => refusal(operation, 404),
  "HTTP 404 of something else": (operation) =>
    statusError(withPlatforms(operation, 1), page(404, "404 Not Found")),
  "HTTP 409": (operation) => refusal(operation, 409),
  "HTTP 429": (operation) => refusal(operation, 429, words, 7_000),
  "HTTP 500": (operation) => refusal(operation, 500),
  "HTTP 511 of a page": (operation) => statusError(withPlatforms(operation, 1), page(511, "Sign in")),
  "HTTP 503 with Retry-After": (operation) => refusal(operation, 503, words, 30_000),
  redirect: (operation) => statusError(operation, answer(307, "", { location: "https://moved.example/x" })),
  "not as documented": (operation) =>
    badResponseError(operation, answer(200), "jobId is missing or has another form"),
  "a page instead of JSON": (operation) =>
    badResponseError(operation, page(200, "Sign in"), 'it is not readable JSON but says "Sign in"'),
  "too large": (operation) => transportError(operation, failure(true, "UND_ERR_RES_EXCEEDED_MAX_SIZE", 200)),
  "not reached": (operation) => transportError(operation, failure(false, "ECONNREFUSED")),
  "no connection in time": (operation) =>
    transportError(operation, failure(false, "UND_ERR_CONNECT_TIMEOUT")),
  "broken off": (operation) => transportError(operation, failure(true, "ECONNRESET")),
  "no answer in time": (operation) => transportError(operation, failure(true, "UND_ERR_HEADERS_TIMEOUT")),
  "rate limit used up": (operation) => rateLimitedError(operation, 12_345),
  "too little time left": (operation) => outOfTimeError(operation),
  "cancelled before it was sent": (operation) => cancelledError(operation),
  "cancelled after a refusal": (operation) => cancelledError(operation, "rejected"),
  "cancelled after it was sent": (operation) => cancelledError(operation, "unknown"),
};

const NETWORK_CODES = [
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_RES_EXCEEDED_MAX_SIZE",
  "UND_ERR_HEADERS_OVERFLOW",
  "UND_ERR_ABORTED",
  "PROXY_WANTS_PASSWORD",
  "PROXY_REFUSES_PASSWORD",
  "PROXY_WANTS_OTHER_SIGN_IN",
  "ECONNREFUSED",
  "ECONNRESET",
  "UND_ERR_SOCKET",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "EPROTO",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
  "ERR_ASSERTION",
  "HPE_INVALID_HEADER_TOKEN",
  "HTTPParserError",
  "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED",
  "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION",
  "ECONNABORTED",
  "BAD_ENCODING",
  "NO_WEB_ASSEMBLY",
  "EMFILE",
  "TypeError",
];

function rendered(name: string, error: BridgeError, effect: Effect): string {
  const { code, outcome, retryable } = error.facts;
  return `${name} [${code}, ${outcome}${retryable ? ", retryable" : ""}]\n  ${textFor("model", describeFailure(error, effect, NOW_MS))}\n`;
}

test("every failure of an operation says what failed and what to do", async () => {
  const operations: readonly Operation[] = Object.values(OPERATIONS);
  // The others fail like listVideos, with another verb.
  const distinct = operations.filter(
    (operation) =>
      operation === OPERATIONS.listVideos ||
      operation.whenUnknown !== undefined ||
      operation.notFound !== undefined,
  );
  const chapters = distinct.map((operation) => {
    const effect = effectOf(operation);
    const texts = Object.entries(SITUATIONS).map(([situation, make]) =>
      rendered(situation, make(operation), effect),
    );
    return `# ${operation.verb}\n\n${texts.join("\n")}`;
  });
  const several = (status: number, retryAfterMs?: number) =>
    statusError(withPlatforms(OPERATIONS.publish, 2), answer(status), retryAfterMs);
  const single = [
    rendered("HTTP 400 for two platforms", several(400), "publishes"),
    rendered("HTTP 429 for two platforms", several(429, 7_000), "publishes"),
    rendered(
      "HTTP 402 in the sandbox",
      statusError(OPERATIONS.generate, answer(402), undefined, true),
      "spends",
    ),
    rendered("paging loop", pagingLoopError("cursor"), "reads"),
    rendered("the MCP endpoint's tool failed", mcpToolError("No accounts."), "reads"),
  ];
  const network = NETWORK_CODES.map((code) => {
    const { kind, reason, fix } = explainNetworkError(Object.assign(new Error(), { code }));
    return `${code} [${kind}]\n  ${reason}\n  ${textFor("model", fix)}\n`;
  });

  await expect(
    [
      ...chapters,
      `# single operations\n\n${single.join("\n")}`,
      `# the network\n\n${network.join("\n")}`,
    ].join("\n"),
  ).toMatchFileSnapshot("../contract/errors.txt");
});

test("no text promises that waiting makes it safe to publish or pay again", () => {
  for (const operation of [OPERATIONS.generate, OPERATIONS.publish])
    for (const [situation, make] of Object.entries(SITUATIONS)) {
      const { facts } = make(operation);
      if (facts.outcome !== "unknown") continue;
      expect(facts, situation).toMatchObject({ retryable: false, nextStep: operation.whenUnknown });
      expect(facts, situation).not.toHaveProperty("retryAfterSeconds");
    }
});
