// A fault at every point of an exchange × GET and POST × direct and through a proxy, over real sockets and real TLS: is the
// verdict right, was anything sent twice, did it end in time, does the text say all that is needed, is the key nowhere.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Cell, cells, observe, verdictOf } from "./fault-case.ts";
import type { Failure, Method } from "./fault-points.ts";
import { trustCertificate } from "./tools-under-test.ts";

let distrust = () => {};
beforeAll(() => {
  distrust = trustCertificate();
});
afterAll(() => distrust());

const VERBS = { GET: "read the job's status", POST: "start the video" } as const;
const SPENT = {
  GET: {
    not_sent: "Nothing was spent or published.",
    rejected: "Nothing was spent or published.",
    unknown: "Nothing was spent or published.",
  },
  POST: {
    not_sent: "This call started no video and spent no credits.",
    rejected: "This call started no video and spent no credits.",
    unknown: "It is not known whether a video was started and credits were spent.",
  },
} as const;
const GOOD = {
  GET: "The video is still rendering: 0 clips so far.",
  POST: "The video was started.",
} as const;

/** What failed, what was spent, whether again, what next. */
function textOf(method: Method, { says, outcome, retryable, afterSeconds, next }: Failure): string {
  const again = retryable
    ? `Calling again is safe${afterSeconds === undefined ? "" : ` after ${afterSeconds} s`}.`
    : outcome === "unknown"
      ? "Don't call again before you have checked."
      : "The same call would fail again.";
  return `${says.replace("{verb}", VERBS[method])} ${SPENT[method][outcome]} ${again} ${next}`;
}

/** Where the system's own word is one of several: it depends on the resolver, on OpenSSL, on what the proxy had read. */
function withoutSystemWords(text: string, isEither = false): string {
  return text
    .replace(isEither ? /the proxy refused the connection|the connection was closed \(\w+\)/ : "", (words) =>
      words === "" ? "" : "{refused or broken}",
    )
    .replace(/resolved \((ENOTFOUND|EAI_AGAIN)\)/, "resolved ({dns})")
    .replace(/ERR_SSL_\w+/, "{ssl}")
    .replace(/(?<= could not be reached to .* Calling again is safe\. ).+$/, "{fix}")
    .replace(/closed \((ECONNRESET|UND_ERR_SOCKET)\)/, "closed ({broken})");
}

/** All that can be said of a call that nothing happened to, */
function goodCall(method: Method) {
  const outcomes = method === "GET" ? [] : ["done"];
  return { seen: 1, error: undefined, text: expect.stringContaining(GOOD[method]), outcomes, traces: [] };
}

/** and of one that failed. */
function failedCall(method: Method, failure: Failure) {
  const { seen, code, outcome, retryable } = failure;
  return {
    seen,
    error: expect.objectContaining({ code, outcome, retryable }),
    text: withoutSystemWords(textOf(method, failure)),
    outcomes: method === "GET" ? [] : [outcome],
    traces: [],
  };
}

const nameOf = ({ point, method, via }: Cell) => `${method}, ${via}: ${point.name}`;

describe("the matrix of faults", () => {
  test.each(cells().map((cell) => [nameOf(cell), cell] as const))("%s", async (_, cell) => {
    const { method, point } = cell;
    const verdict = verdictOf(cell);
    const isEither = verdict !== "good" && verdict[method].says.includes("{refused or broken}");

    const { ms, text, ...observed } = await observe(cell);

    expect({ ...observed, text: withoutSystemWords(text, isEither) }).toEqual(
      verdict === "good" ? goodCall(method) : failedCall(method, verdict[method]),
    );
    // The newest jobs are looked for after it, with the same deadline.
    expect(ms).toBeLessThan(2 * (point.deadlineMs ?? 2_000) + 5_000);
  });
});
