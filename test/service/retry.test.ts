import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type AttemptFailure, retryDelayMs } from "../../src/service/retry.ts";

const AMPLE = 60_000;
const half = () => 0.5;
const status = (code: number, retryAfterMs?: number): AttemptFailure => ({
  kind: "status",
  status: code,
  retryAfterMs,
});
const transport = (sent: boolean, final = false): AttemptFailure => ({ kind: "transport", sent, final });

const first = (method: "GET" | "POST", failure: AttemptFailure, remainingMs = AMPLE) =>
  retryDelayMs({ method, attempt: 1, failure, remainingMs }, half);

test.each([
  ["was not sent", transport(false), 250, 250],
  ["was sent and not answered", transport(true), 250, undefined],
  ["was cancelled or can't be read", transport(false, true), undefined, undefined],
  ["was sent, and cancelled or can't be read", transport(true, true), undefined, undefined],
  ["was answered 408", status(408), 250, undefined],
  ["was answered 499", status(499), 250, undefined],
  ["was answered 429", status(429), 250, undefined],
  ["was answered 429 with a wait", status(429, 4_000), 4_000, undefined],
  ["was answered 429 with no wait at all", status(429, 0), 0, undefined],
  ["was answered 500", status(500), 250, undefined],
  ["was answered 503 with a wait", status(503, 1_000), 1_000, undefined],
  ["was answered 504", status(504), 250, undefined],
  ["was redirected", status(307), undefined, undefined],
  ["was answered 400", status(400), undefined, undefined],
  ["was answered 404", status(404, 1_000), undefined, undefined],
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
  expect(retryDelayMs({ method, attempt, failure: transport(false), remainingMs: AMPLE }, half)).toBe(delay);
});

test.each([
  ["GET", 1_250, 1_000],
  ["GET", 1_249, undefined],
] as const)(
  "a %s with %i ms left that is asked to wait for 1 s waits for %s ms",
  (method, remainingMs, delay) => {
    expect(first(method, status(429, 1_000), remainingMs)).toBe(delay);
  },
);

// A POST that is cut off has an unknown outcome, so it gets more time.
test.each([
  ["GET", 500, 250],
  ["GET", 499, undefined],
  ["POST", 10_250, 250],
  ["POST", 10_249, undefined],
] as const)("a %s that was not sent, with %i ms left, waits for %s ms", (method, remainingMs, delay) => {
  expect(first(method, transport(false), remainingMs)).toBe(delay);
});

const failures = fc.oneof(
  fc.record({
    kind: fc.constant("transport" as const),
    sent: fc.boolean(),
    final: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("status" as const),
    status: fc.constantFrom(307, 404, 408, 429, 499, 500, 503),
    retryAfterMs: fc.option(fc.integer({ min: 0, max: 30_000 }), { nil: undefined }),
  }),
);
const attempted = fc.record({
  method: fc.constantFrom("GET" as const, "POST" as const),
  attempt: fc.integer({ min: 1, max: 3 }),
  failure: failures,
  remainingMs: fc.integer({ min: -1_000, max: 40_000 }),
});
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test("a wait between attempts never exceeds the deadline and is never shorter than Retry-After", () => {
  fc.assert(
    fc.property(attempted, random, (input, number) => {
      const delay = retryDelayMs(input, () => number);
      fc.pre(delay !== undefined);
      const asked = input.failure.kind === "status" ? input.failure.retryAfterMs : undefined;
      expect(delay).toBeLessThan(input.remainingMs);
      expect(delay).toBeGreaterThanOrEqual(asked ?? 0);
      expect(delay).toBeLessThanOrEqual(asked ?? 8_000);
    }),
    { seed: 1 },
  );
});

test("a POST that may have been carried out is never repeated", () => {
  fc.assert(
    fc.property(attempted, random, (input, number) => {
      const { failure } = input;
      fc.pre(failure.kind === "status" || failure.sent);
      expect(retryDelayMs({ ...input, method: "POST" }, () => number)).toBeUndefined();
    }),
    { seed: 1 },
  );
});

test("a caller can change how much time an attempt needs", () => {
  const failed = { method: "POST", attempt: 1, failure: transport(false), remainingMs: 350 } as const;

  expect(retryDelayMs(failed, half, { GET: 0, POST: 100 })).toBe(250);
  expect(retryDelayMs(failed, half, { GET: 0, POST: 101 })).toBeUndefined();
});
