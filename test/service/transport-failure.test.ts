import { expect, test } from "vitest";
import { describeNetworkError, TransportFailure } from "../../src/service/transport-failure.ts";

const coded = (code: unknown, name = "Error") => Object.assign(new Error("secret detail"), { code, name });

test.each<[unknown, ReturnType<typeof describeNetworkError>]>([
  [coded("UND_ERR_CONNECT_TIMEOUT"), ["timeout", "no connection within 5 s"]],
  [coded("UND_ERR_HEADERS_TIMEOUT"), ["timeout", "no answer in time"]],
  [coded("UND_ERR_BODY_TIMEOUT"), ["timeout", "the answer stopped arriving"]],
  [coded("UND_ERR_RES_EXCEEDED_MAX_SIZE"), ["too_large", "the answer is larger than 4 MB"]],
  [coded("UND_ERR_HEADERS_OVERFLOW"), ["too_large", "the headers of the answer are larger than 16 kB"]],
  [coded("UND_ERR_ABORTED"), ["network", "the proxy refused the connection"]],
  [coded("ECONNREFUSED"), ["network", "connection refused (ECONNREFUSED)"]],
  [coded("ECONNRESET"), ["network", "the connection was broken off (ECONNRESET)"]],
  [coded("EAI_AGAIN"), ["network", "the host name could not be resolved (EAI_AGAIN)"]],
  [coded("ERR_TLS_CERT_ALTNAME_INVALID"), ["network", "TLS failed (ERR_TLS_CERT_ALTNAME_INVALID)"]],
  [coded("UNABLE_TO_VERIFY_LEAF_SIGNATURE"), ["network", "TLS failed (UNABLE_TO_VERIFY_LEAF_SIGNATURE)"]],
  [coded("EHOSTUNREACH"), ["network", "the connection failed (EHOSTUNREACH)"]],
  [coded(undefined, "HTTPParserError"), ["network", "the answer is no HTTP"]],
  [coded("HPE_INVALID_CONSTANT", "HTTPParserError"), ["network", "the answer is no HTTP"]],
  [coded(23, "TimeoutError"), ["network", "the connection failed (TimeoutError)"]],
  ["a string", ["network", "unknown failure"]],
])("%s is described by its code alone: %j", (error, described) => {
  expect(describeNetworkError(error)).toEqual(described);
});

test("A transport failure says its kind and reason, and keeps its cause for logs", () => {
  const cause = new Error("why");
  const failure = new TransportFailure({ kind: "network", sent: true, reason: "gone", status: 200 }, cause);

  const { name, kind, sent, status, reason, message } = failure;
  expect({ name, kind, sent, status, reason, message, cause: failure.cause }).toEqual({
    name: "TransportFailure",
    kind: "network",
    sent: true,
    status: 200,
    reason: "gone",
    message: "network: gone",
    cause,
  });
});
