// A fault at every point of an exchange × GET and POST × direct and through a proxy, over real sockets and
// TLS: the outcome, how often the request was sent, the error's text, the journal, and no trace of the key.

import { afterAll, beforeAll, expect, test } from "vitest";
import { expectedOf, type FaultCase, faultCases, observe } from "./fault-case.ts";
import type { Failure, Method } from "./fault-points.ts";
import { trustCertificate } from "./tools-under-test.ts";

let restoreTrust = () => {};
beforeAll(() => {
  restoreTrust = trustCertificate();
});
afterAll(() => restoreTrust());

const VERBS = { GET: "read the job's status", POST: "start the video" } as const;
const SPENT = {
  GET: "Nothing was spent or published.",
  POST: "This call started no video and spent no credits.",
} as const;
const UNKNOWN = "It is not known whether a video was started and credits were spent.";
const SUCCEEDED = {
  GET: "Still rendering: 0 clips so far.",
  POST: "The video was started: ",
} as const;

/** What failed, what was spent, whether calling again is safe, what to do next. */
function textOf(method: Method, { what, outcome, retryable, afterSeconds, next }: Failure): string {
  const again = retryable
    ? ` Calling again is safe${afterSeconds === undefined ? "" : ` after ${afterSeconds} s`}.`
    : outcome === "unknown"
      ? " Don't call again before you have checked."
      : "";
  const spent = method === "POST" && outcome === "unknown" ? UNKNOWN : SPENT[method];
  return `${what.replace("{verb}", VERBS[method])} ${spent}${again} ${next}`;
}

/** Replaces the words that depend on the resolver, on OpenSSL, or on how much the proxy had read. */
function withoutSystemWords(text: string, isEither = false): string {
  return text
    .replace(isEither ? /the proxy refused the connection|the connection was closed \(\w+\)/ : "", (words) =>
      words === "" ? "" : "{refused or broken}",
    )
    .replace(/resolved \((ENOTFOUND|EAI_AGAIN)\)/, "resolved ({dns})")
    .replace(/proxy at 127\.0\.0\.1:\d+/, "proxy at {proxy}")
    .replace(/ERR_SSL_\w+/, "{ssl}")
    .replace(/(?<= could not be reached to .* Calling again is safe\. ).+$/, "{fix}")
    .replace(/closed \((ECONNRESET|UND_ERR_SOCKET)\)/, "closed ({broken})");
}

function successfulCall(method: Method) {
  const outcomes = method === "GET" ? [] : ["done"];
  return {
    received: 1,
    error: undefined,
    text: expect.stringContaining(SUCCEEDED[method]),
    outcomes,
    traces: [],
  };
}

function failedCall(method: Method, failure: Failure) {
  const { received, code, outcome, retryable } = failure;
  return {
    received,
    error: expect.objectContaining({ code, outcome, retryable }),
    text: withoutSystemWords(textOf(method, failure)),
    outcomes: method === "GET" ? [] : [outcome],
    traces: [],
  };
}

const nameOf = ({ point, method, via }: FaultCase) => `${method}, ${via}: ${point.name}`;

test.concurrent.each(faultCases().map((faultCase) => [nameOf(faultCase), faultCase] as const))(
  "a fault is told and recorded as it is, and the request repeated only if it may be: %s",
  async (_, faultCase) => {
    const { method } = faultCase;
    const expected = expectedOf(faultCase);
    const isEither = expected !== "none" && expected[method].what.includes("{refused or broken}");

    const { text, ...observed } = await observe(faultCase);

    expect({ ...observed, text: withoutSystemWords(text, isEither) }).toEqual(
      expected === "none" ? successfulCall(method) : failedCall(method, expected[method]),
    );
  },
);
