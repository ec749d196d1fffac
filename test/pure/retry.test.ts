import { expect, test } from "vitest";
import { type FailedAttempt, planAttempt, retryDelayMs } from "../../src/service/retry.ts";

type Failure = FailedAttempt["failure"];

const AMPLE = 60_000;
const half = () => 0.5;
const NOT_SENT: Failure = { code: "network", outcome: "not_sent", retryable: true };
const busy = (retryAfterSeconds?: number): Failure => ({
  code: "rate_limited",
  outcome: "rejected",
  retryable: true,
  ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
});

const first = (method: "GET" | "POST", failure: Failure, remainingMs = AMPLE) =>
  retryDelayMs({ method, attempt: 1, failure, remainingMs }, half);

test.each<[string, Failure, number | undefined, number | undefined]>([
  ["was not sent", NOT_SENT, 250, 250],
  ["was cancelled before it was sent", { ...NOT_SENT, code: "cancelled" }, undefined, undefined],
  ["has an unknown outcome", { code: "network", outcome: "unknown", retryable: true }, 250, undefined],
  ["can't be read", { code: "bad_answer", outcome: "unknown", retryable: true }, undefined, undefined],
  ["came too early", busy(), 250, undefined],
  ["is to come again later", busy(4), 4_000, undefined],
  ["was refused", { code: "refused", outcome: "rejected", retryable: false }, undefined, undefined],
])("another attempt after a request that %s depends on what may have been done", (_, failure, get, post) => {
  expect({ get: first("GET", failure), post: first("POST", failure) }).toEqual({ get, post });
});

test.each([
  ["GET", 1, 250],
  ["GET", 2, 500],
  ["GET", 3, undefined],
  ["POST", 1, 250],
  ["POST", 2, undefined],
] as const)("a %s waits after attempt %i for %s ms", (method, attempt, delay) => {
  expect(retryDelayMs({ method, attempt, failure: NOT_SENT, remainingMs: AMPLE }, half)).toBe(delay);
});

// A POST that is cut off has an unknown outcome, so it gets more time.
test.each([
  ["GET", busy(1), 1_250, 1_000],
  ["GET", busy(1), 1_249, undefined],
  ["GET", NOT_SENT, 500, 250],
  ["GET", NOT_SENT, 499, undefined],
  ["POST", NOT_SENT, 10_250, 250],
  ["POST", NOT_SENT, 10_249, undefined],
] as const)(
  "a %s that failed as %j, with %i ms left, waits for %s ms",
  (method, failure, remainingMs, delay) => {
    expect(first(method, failure, remainingMs)).toBe(delay);
  },
);

// Only a connection that was kept can be dead without a sign.
test.each([
  ["the first attempt of a read", "GET", 1, 20_000, false, { deadlineMs: 7_000, isFresh: false }],
  ["the second", "GET", 2, 12_900, false, { deadlineMs: 7_000, isFresh: true }],
  ["the last", "GET", 3, 5_600, false, { deadlineMs: 5_600, isFresh: true }],
  [
    "a look that has too little time for a second one",
    "GET",
    1,
    13_999,
    false,
    { deadlineMs: 7_000, isFresh: true },
  ],
  ["a short look", "GET", 1, 3_000, false, { deadlineMs: 3_000, isFresh: true }],
  ["a poll", "GET", 1, 20_000, true, { deadlineMs: 20_000, isFresh: true }],
  ["a paid request", "POST", 1, 38_000, false, { deadlineMs: 38_000, isFresh: true }],
  ["an attempt without time", "GET", 3, -4, false, { deadlineMs: 1, isFresh: true }],
] as const)(
  "%s uses a kept connection only if another attempt can follow",
  (_, method, attempt, remainingMs, isOnly, plan) => {
    expect(planAttempt({ method, attempt, remainingMs }, isOnly)).toEqual(plan);
  },
);
