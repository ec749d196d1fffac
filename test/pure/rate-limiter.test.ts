import * as fc from "fast-check";
import { expect, test } from "vitest";
import { RateLimiter, readRetryAfterMs, type RequestKind } from "../../src/service/rate-limiter.ts";
import { createLimitedService, ENCODING_NAMES } from "../fixtures/rate-limit.ts";

const EPOCH_MS = Date.UTC(2026, 10, 20, 5, 0, 0);

/** A limiter on a clock that the test moves. The wall clock has another origin, as on a real computer. */
function setup() {
  const clock = { ms: 0 };
  const limiter = new RateLimiter({ monotonicMs: () => clock.ms, now: () => EPOCH_MS + clock.ms });
  return { clock, limiter, waits: () => [limiter.waitMs("user"), limiter.waitMs("background")] };
}

function acquire(limiter: RateLimiter, kind: RequestKind = "user"): RateLimiter {
  const waitMs = limiter.tryAcquire(kind);
  if (waitMs > 0) throw new Error(`It must wait for ${waitMs} ms`);
  return limiter;
}

function limitHeaders(limit: number, remaining: number, reset?: number | string) {
  return {
    "x-ratelimit-limit": String(limit),
    "x-ratelimit-remaining": String(remaining),
    ...(reset !== undefined && { "x-ratelimit-reset": String(reset) }),
  };
}

const ok = (headers: Record<string, string>) => ({ status: 200, headers });
const refused = (headers: Record<string, string> = {}) => ({ status: 429, headers });

test("sends everything at once while the service names no limit", () => {
  const { limiter, waits } = setup();
  acquire(limiter).release(ok({}));
  for (let each = 0; each < 50; each++) acquire(limiter, "background");

  expect(waits()).toEqual([0, 0]);
});

test("lets a call wait for the end of the window if nothing remains", () => {
  const { clock, limiter, waits } = setup();
  acquire(limiter).release(ok(limitHeaders(60, 0, 4)));

  expect(waits()).toEqual([5_000, 5_000]);
  clock.ms += 5_000;
  expect(waits()).toEqual([0, 0]);
});

test("has no more calls in flight than remain", () => {
  const { limiter } = setup();
  acquire(limiter).release(ok(limitHeaders(60, 2, 30)));
  const permits = [acquire(limiter), acquire(limiter)];
  expect(limiter.tryAcquire("user")).toBe(250);

  permits[0]?.release();
  expect(limiter.tryAcquire("user")).toBe(0);
});

test.each([["2026-13-45T99:00:00Z"], ["unknown"], [undefined]])(
  "sends one call at a time if nothing remains and the reset is %j",
  (reset) => {
    const { limiter } = setup();
    acquire(limiter).release(ok(limitHeaders(60, 0, reset)));

    acquire(limiter);
    expect(limiter.tryAcquire("user")).toBe(250);
  },
);

test.each([
  ["60", 60],
  ["3600", 3_600],
  ["3601", 3.601],
  ["60000", 60],
  ["1795150860", 60],
  ["1795150860000", 60],
  ["1795150799", 0],
  ["9999999999", 3_600],
  ["2026-11-20T05:01:00Z", 60],
  ["2026-11-20T06:01:00.500+01:00", 60.5],
])("reads the reset %j as %d s from now, plus a second for rounding", (reset, seconds) => {
  const { limiter } = setup();
  acquire(limiter).release(ok(limitHeaders(60, 0, reset)));

  expect(limiter.waitMs("user")).toBe(1000 * seconds + 1000);
});

test.each([
  ["a reset", { ...limitHeaders(60, 0, (EPOCH_MS + 3_620_000) / 1000) }, 21_000],
  ["Retry-After", { "retry-after": new Date(EPOCH_MS + 3_620_000).toUTCString() }, 20_000],
])("reads %s by the service's clock, which is an hour ahead of this computer's", (_, headers, waitMs) => {
  const { limiter } = setup();
  const date = new Date(EPOCH_MS + 3_600_000).toUTCString();
  acquire(limiter).release(refused({ ...headers, date }));

  expect(limiter.waitMs("user")).toBe(waitMs);
});

test("reads resets in milliseconds once the service has counted in them", () => {
  const { limiter } = setup();
  acquire(limiter).release(ok(limitHeaders(60, 1, 8_000)));
  acquire(limiter).release(ok(limitHeaders(60, 0, 2_000)));

  expect(limiter.waitMs("user")).toBeLessThanOrEqual(9_000);
});

test("reads a limit of 0 on good answers as no limit", () => {
  const { limiter, waits } = setup();
  acquire(limiter).release(ok(limitHeaders(60, 1, 50)));
  acquire(limiter).release(ok(limitHeaders(0, 0, 50)));

  expect(waits()).toEqual([0, 0]);
  acquire(limiter).release(refused({ ...limitHeaders(0, 0), "retry-after": "7" }));
  expect(waits()).toEqual([7_000, 7_000]);
});

test.each<[string | undefined, number | undefined]>([
  ["7", 7_000],
  ["1.5", 1_500],
  ["Fri, 20 Nov 2026 05:00:30 GMT", 30_000],
  ["Fri, 20 Nov 2026 04:00:00 GMT", 0],
  ["999999999", 3_600_000],
  [String(EPOCH_MS / 1000 + 20), 20_000],
  [String(EPOCH_MS + 20_000), 20_000],
  [String(EPOCH_MS / 1000 - 5), 0],
  [undefined, undefined],
  ["soon", undefined],
])("reads Retry-After %j as %d ms", (raw, ms) => {
  expect(readRetryAfterMs({ "retry-after": raw }, EPOCH_MS)).toBe(ms);
});

test.each([
  ["Retry-After, whatever the reset is", { ...limitHeaders(60, 0, 50), "retry-after": "20" }, 20_000],
  ["the reset, if there is no Retry-After", { "x-ratelimit-reset": "8" }, 9_000],
  ["5 s, if there is neither", {}, 5_000],
])("pauses all requests after a 429 by %s", (_, headers, pauseMs) => {
  const { clock, limiter, waits } = setup();
  acquire(limiter).release(refused(headers));
  expect(waits()).toEqual([pauseMs, pauseMs]);

  clock.ms += pauseMs;
  expect(waits()).toEqual([0, 0]);
});

test("pauses once after several 429s, for the longest time", () => {
  const { limiter } = setup();
  const permits = ["5", "7", "1"].map((seconds) => ({ seconds, permit: acquire(limiter) }));
  for (const { seconds, permit } of permits) permit.release(refused({ "retry-after": seconds }));

  expect(limiter.tryAcquire("user")).toBe(7_000);
});

test("leaves 40 % of the limit to calls, and polls again in the next window", () => {
  const { clock, limiter, waits } = setup();
  acquire(limiter).release(ok(limitHeaders(100, 41, 30)));
  expect(waits()).toEqual([0, 0]);

  acquire(limiter, "background").release(ok(limitHeaders(100, 40, 30)));
  expect(waits()).toEqual([0, 31_000]);
  clock.ms += 31_000;
  expect(waits()).toEqual([0, 0]);
});

test("keeps polls within 60 % of any limit, and causes no refusal", () => {
  const worlds = fc.record({
    limit: fc.integer({ min: 2, max: 100 }),
    windowMs: fc.constantFrom(10_000, 60_000, 3_600_000),
    encoding: fc.constantFrom(...ENCODING_NAMES),
    kinds: fc.array(fc.constantFrom<RequestKind>("user", "background", "background"), {
      minLength: 50,
      maxLength: 300,
    }),
  });
  fc.assert(
    fc.property(worlds, ({ kinds, ...options }) => {
      const { clock, limiter } = setup();
      const service = createLimitedService(options);
      const windowOf = () => Math.floor((EPOCH_MS + clock.ms) / options.windowMs);
      const polls = new Map<number, number>();
      // The first answer makes the limit known.
      acquire(limiter).release(service.answer(EPOCH_MS + clock.ms));
      const windowBefore = windowOf();
      for (const kind of kinds) {
        clock.ms += options.windowMs / 25;
        if (limiter.tryAcquire(kind) > 0) continue;
        const answer = service.answer(EPOCH_MS + clock.ms);
        limiter.release(answer);
        expect(answer.status).toBe(200);
        if (kind === "background" && windowOf() !== windowBefore)
          polls.set(windowOf(), (polls.get(windowOf()) ?? 0) + 1);
      }
      for (const count of polls.values()) expect(count).toBeLessThanOrEqual(0.6 * options.limit);
    }),
    { seed: 1, numRuns: 100 },
  );
});
