// A fault at every point of an exchange × GET and POST × direct and through a proxy, over real sockets and
// TLS: the outcome, how often the request was sent, the reason given, the journal, and no trace of the key.

import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { inVirtualTime } from "../virtual-time.ts";
import { expectedOf, type FaultCase, faultCases, observe } from "./fault-case.ts";
import type { Failure, Method } from "./fault-points.ts";
import { trustCertificate } from "./tools-under-test.ts";

// A POST needs 10 s to begin, which a test can't wait for. The disk doesn't know of virtual time.
vi.mock("../../../src/service/time-budget.ts", async (load) => ({
  ...(await load<object>()),
  MIN_POST_MS: 50,
  MAX_DISK_MS: 3_600_000,
}));

// Modules that are loaded on first use would take virtual time.
beforeAll(() =>
  Promise.all([
    import("../../../src/service/http.ts"),
    import("../../../src/tools/check-order/check-order.ts"),
  ]),
);
let restoreTrust = () => {};
beforeAll(() => {
  restoreTrust = trustCertificate();
});
afterAll(() => restoreTrust());

const SUCCEEDED = { GET: "Still rendering: 0 clips so far.", POST: "The video was started: " } as const;

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
  const { received, code, outcome, retryable, reason } = failure;
  return {
    received,
    error: expect.objectContaining({ code, outcome, retryable }),
    text: expect.stringMatching(reason),
    outcomes: method === "GET" ? [] : [outcome],
    traces: [],
  };
}

const nameOf = ({ point, method, via }: FaultCase) => `${method}, ${via}: ${point.name}`;

function expectedCall(faultCase: FaultCase) {
  const { method } = faultCase;
  const expected = expectedOf(faultCase);
  return expected === "none" ? successfulCall(method) : failedCall(method, expected[method]);
}

const CASES = faultCases().map((faultCase) => [nameOf(faultCase), faultCase] as const);

test.concurrent.each(CASES.filter(([, { point }]) => point.deadlineMs === undefined))(
  "a fault is reported and recorded as it is, and the request repeated only if it may be: %s",
  async (_, faultCase) => {
    expect(await observe(faultCase)).toEqual(expectedCall(faultCase));
  },
);

test.each(CASES.filter(([, { point }]) => point.deadlineMs !== undefined))(
  "a fault that lasts until the deadline is reported and recorded as it is: %s",
  async (_, faultCase) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    onTestFinished(() => void vi.useRealTimers());

    const observed = await observe(
      faultCase,
      async (calling, waiting) => (await inVirtualTime(calling, waiting)).result,
    );

    expect(observed).toEqual(expectedCall(faultCase));
  },
);
