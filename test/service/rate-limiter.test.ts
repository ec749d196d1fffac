import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Permit,
  RateLimiter,
  readRetryAfterMs,
  type RequestKind,
} from "../../src/service/rate-limiter.ts";
import { createLimitedService, ENCODING_NAMES } from "../fixtures/rate-limit.ts";

const EPOCH_MS = Date.UTC(2026, 10, 20, 5, 0, 0);

/** A limiter on a clock that the test moves. The wall clock has another origin, as on a real computer. */
function setup(options: { backgroundPerMinute?: number } = {}) {
  const clock = { ms: 0 };
  const limiter = new RateLimiter({
    clock: { monotonicMs: () => clock.ms, now: () => EPOCH_MS + clock.ms },
    ...options,
  });
  return { clock, limiter, waits: () => [limiter.waitMs("user"), limiter.waitMs("background")] };
}

function acquire(limiter: RateLimiter, kind: RequestKind = "user"): Permit {
  const permit = limiter.tryAcquire(kind);
  if ("retryInMs" in permit) throw new Error(`It must wait for ${permit.retryInMs} ms`);
  return permit;
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

/** Sends background requests as soon as they are allowed, and returns when each was sent. */
function poll(
  { clock, limiter }: ReturnType<typeof setup>,
  forMs: number,
  answer: () => Parameters<Permit["release"]>[0] = () => ok({}),
): number[] {
  const sentAtMs: number[] = [];
  for (const endMs = clock.ms + forMs; clock.ms < endMs; clock.ms += 50) {
    const permit = limiter.tryAcquire("background");
    if ("retryInMs" in permit) continue;
    sentAtMs.push(clock.ms);
    permit.release(answer());
  }
  return sentAtMs;
}

test.each([
  [Infinity, 5, true],
  [100, 41, true],
  [100, 40, false],
  [100, 0, false],
])(
  "with a limit of %d, %i requests left are more than the users' share: %s",
  (limit, remaining, hasSpare) => {
    const { limiter } = setup();
    acquire(limiter).release(ok(limitHeaders(limit, remaining, 30)));

    expect(limiter.hasSpare()).toBe(hasSpare);
  },
);

test("requests in flight are not to spare, and the next window's are", () => {
  const { clock, limiter } = setup();
  const before = limiter.hasSpare();
  acquire(limiter).release(ok(limitHeaders(100, 41, 30)));
  acquire(limiter);
  const during = limiter.hasSpare();
  clock.ms += 31_000;

  expect([before, during, limiter.hasSpare()]).toEqual([true, false, true]);
});

test("a service that names no limit gets users' calls at once and 30 polls per minute", () => {
  const it = setup();
  const polls = poll(it, 600_000).length;

  expect({ polls, userWaitMs: it.limiter.waitMs("user") }).toEqual({ polls: 301, userWaitMs: 0 });
});

test("a service that names no limit gets polls as often as the user has set", () => {
  expect(poll(setup({ backgroundPerMinute: Infinity }), 1_000)).toHaveLength(20);
});

test("a service that names no limit gets one early poll", () => {
  const { limiter } = setup();
  acquire(limiter, "background");
  acquire(limiter, "background");

  expect(limiter.tryAcquire("background")).toEqual({ retryInMs: 2_000 });
});

test("a user's call waits for the end of the window if nothing remains, and is then sent", () => {
  const { clock, limiter } = setup();
  acquire(limiter).release(ok(limitHeaders(60, 0, 4)));

  expect(limiter.tryAcquire("user")).toEqual({ retryInMs: 5_000 });
  clock.ms += 5_000;
  expect(limiter.tryAcquire("user")).toHaveProperty("release");
});

test("users' calls share the next window as far as the limit allows", () => {
  const { clock, limiter } = setup();
  acquire(limiter).release(ok(limitHeaders(3, 0, 1)));
  clock.ms += 2_000;
  for (let each = 0; each < 3; each++) acquire(limiter);

  expect(limiter.tryAcquire("user")).toEqual({ retryInMs: 250 });
});

test("a user's call counts when it is sent, so that no more are in flight than remain", () => {
  const { limiter } = setup();
  acquire(limiter).release(ok(limitHeaders(60, 2, 30)));
  const permits = [acquire(limiter), acquire(limiter)];
  expect(limiter.tryAcquire("user")).toEqual({ retryInMs: 250 });

  permits[0]?.release();
  expect(limiter.tryAcquire("user")).toHaveProperty("release");
});

test.each([["unit 7"], ["-5"], ["2026-13-45T99:00:00Z"], [undefined]])(
  "a user's call is sent, one at a time, if nothing remains and the reset is %j",
  (reset) => {
    const { limiter } = setup();
    acquire(limiter).release(ok(limitHeaders(60, 0, reset)));

    acquire(limiter);
    expect(limiter.tryAcquire("user")).toEqual({ retryInMs: 250 });
  },
);

test.each([
  ["later", limitHeaders(60, 7, 30), limitHeaders(60, 0, 30)],
  ["earlier", limitHeaders(60, 0, 30), limitHeaders(60, 7, 30)],
])("a user's call waits if the answer with nothing left came %s than another", (_, first, second) => {
  const { limiter } = setup();
  const permits = [acquire(limiter), acquire(limiter)];
  permits[1]?.release(ok(first));
  permits[0]?.release(ok(second));

  expect(limiter.waitMs("user")).toBe(31_000);
});

const DATE = new Date(EPOCH_MS - 120_000).toUTCString();

test.each([
  ["60", 60],
  [" 60 ", 60],
  ["3600", 3_600],
  ["3601", 3.601],
  ["60000", 60],
  ["1795150860", 60],
  ["1795150860000", 60],
  ["1795150799", 0],
  ["9999999999", 86_400],
  ["2026-11-20T05:01:00Z", 60],
  ["2026-11-20T06:01:00.500+01:00", 60.5],
  ["Fri, 20 Nov 2026 05:01:00 GMT", 60],
])(
  "the end of the window is read from the reset %j as %d s from now, and a second for rounding",
  (reset, seconds) => {
    const { limiter } = setup();
    acquire(limiter).release(ok(limitHeaders(60, 0, reset)));

    expect(limiter.waitMs("user")).toBe(1000 * seconds + 1000);
  },
);

test("the end of the window goes by the service's clock if it differs from ours", () => {
  const { limiter } = setup();
  acquire(limiter).release(ok({ ...limitHeaders(60, 0, "1795150700"), date: DATE }));

  expect(limiter.waitMs("user")).toBe(21_000);
});

test("the end of the window stays in milliseconds once the service has counted in them", () => {
  const { limiter } = setup();
  acquire(limiter).release(ok(limitHeaders(60, 1, 8_000)));
  acquire(limiter).release(ok(limitHeaders(60, 0, 2_000)));

  expect(limiter.waitMs("user")).toBeLessThanOrEqual(9_000);
});

test.each<[string | string[] | undefined, number | undefined]>([
  ["7", 7_000],
  [" 7 ", 7_000],
  ["1.5", 1_500],
  [["3", "60"], 3_000],
  ["Fri, 20 Nov 2026 05:00:30 GMT", 30_000],
  ["2026-11-20T05:00:30Z", 30_000],
  ["Fri, 20 Nov 2026 04:00:00 GMT", 0],
  ["999999999", 86_400_000],
  [undefined, undefined],
  ["", undefined],
  ["-1", undefined],
  ["soon", undefined],
  ["0x10", undefined],
  ["Sun, 99 Foo 2026", undefined],
])("Retry-After of %j means %d ms", (raw, ms) => {
  expect(readRetryAfterMs({ "retry-after": raw }, EPOCH_MS)).toBe(ms);
});

test.each([
  ["Retry-After, whatever the reset is", { ...limitHeaders(60, 0, 50), "retry-after": "20" }, 20_000],
  ["the reset, where there is no Retry-After", { "x-ratelimit-reset": "8" }, 9_000],
  ["5 s, where there is neither", {}, 5_000],
  ["an hour at most", { "retry-after": "86400" }, 3_600_000],
])(
  "a 429 pauses all requests for the time of %s, and lets users' calls go first after it",
  (_, headers, pauseMs) => {
    const { clock, limiter, waits } = setup();
    acquire(limiter).release(refused(headers));
    expect(waits()).toEqual([pauseMs, pauseMs + 1_000]);

    clock.ms += pauseMs;
    expect(waits()).toEqual([0, 1_000]);
  },
);

test("a 429 of several requests in flight causes one pause, the longest", () => {
  const { limiter } = setup();
  const permits = ["5", "7", "1"].map((seconds) => ({ seconds, permit: acquire(limiter) }));
  for (const { seconds, permit } of permits) permit.release(refused({ "retry-after": seconds }));

  expect(limiter.tryAcquire("user")).toEqual({ retryInMs: 7_000 });
});

test("polls get 60 % of the limit, spread evenly over the window", () => {
  const it = setup();
  let remaining = 60;
  const polls = poll(it, 60_000, () =>
    ok(limitHeaders(60, --remaining, Math.ceil((60_000 - it.clock.ms) / 1000))),
  );

  expect(polls).toHaveLength(36);
  expect(polls.filter((ms) => ms < 30_000).length).toBeOneOf([17, 18, 19]);
});

test("polls get 60 % of what remains if others have used the rest", () => {
  const it = setup();
  let remaining = 10;
  const answer = () => ok(limitHeaders(60, remaining--, Math.ceil((30_000 - it.clock.ms) / 1000)));
  acquire(it.limiter).release(answer());
  poll(it, 30_000, answer);

  expect(remaining).toBeOneOf([1, 2, 3]);
});

test("polls leave the last request to the user and continue with the next window", () => {
  const { clock, limiter, waits } = setup();
  acquire(limiter).release(ok(limitHeaders(60, 1, 30)));
  expect(waits()).toEqual([0, 31_000]);

  clock.ms += 31_000;
  expect(waits()).toEqual([0, 0]);
});

test("polls are not sent if the limit is a single request", () => {
  const { limiter, waits } = setup();
  acquire(limiter).release(ok(limitHeaders(1, 1, 30)));

  expect(waits()).toEqual([0, 60_000]);
});

test("an answer that shows a new window gives polls their full share", () => {
  const { limiter } = setup();
  acquire(limiter).release(ok(limitHeaders(4, 4, 30)));
  acquire(limiter, "background").release(ok(limitHeaders(4, 3, 30)));
  acquire(limiter, "background").release(ok(limitHeaders(4, 2, 30)));
  const waitMs = limiter.waitMs("background");
  acquire(limiter).release(ok(limitHeaders(4, 4, 60)));

  expect([waitMs, limiter.waitMs("background")]).toEqual([31_000, 0]);
});

test("polls are not held back for long by one answer that named another, longer window", () => {
  const { limiter } = setup();
  acquire(limiter).release(ok(limitHeaders(10, 9, 3_000)));
  acquire(limiter, "background").release(ok(limitHeaders(60, 50, 30)));

  expect(limiter.waitMs("background")).toBeLessThan(3_000);
});

test("polls continue while users' calls keep moving the end of the window", () => {
  const { clock, limiter } = setup();
  const service = createLimitedService({ limit: 20, windowMs: 2_000, encoding: "epoch seconds" });
  let polls = 0;
  for (let turn = 0; turn < 240; turn++) {
    clock.ms += 250;
    acquire(limiter).release(service.answer(EPOCH_MS + clock.ms));
    const permit = limiter.tryAcquire("background");
    if ("retryInMs" in permit) continue;
    permit.release(service.answer(EPOCH_MS + clock.ms));
    polls += 1;
  }

  expect(polls).toBeGreaterThan(60);
});

test("Polls stay within 60 % of any limit, and the service refuses nothing", () => {
  const worlds = fc.record({
    limit: fc.integer({ min: 1, max: 100 }),
    windowMs: fc.constantFrom(10_000, 60_000, 3_600_000),
    encoding: fc.constantFrom(...ENCODING_NAMES),
    skewMs: fc.constantFrom(0, -120_000, 120_000),
    kinds: fc.array(fc.constantFrom<RequestKind>("user", "background", "background"), {
      minLength: 50,
      maxLength: 300,
    }),
  });
  fc.assert(
    fc.property(worlds, ({ kinds, ...options }) => {
      const { clock, limiter } = setup();
      const service = createLimitedService(options);
      const windowOf = () => Math.floor((EPOCH_MS + clock.ms + options.skewMs) / options.windowMs);
      const polls = new Map<number, number>();
      // The first answer makes the limit known.
      acquire(limiter).release(service.answer(EPOCH_MS + clock.ms));
      const windowBefore = windowOf();
      for (const kind of kinds) {
        clock.ms += options.windowMs / 25;
        const permit = limiter.tryAcquire(kind);
        if ("retryInMs" in permit) continue;
        const answer = service.answer(EPOCH_MS + clock.ms);
        permit.release(answer);
        expect(answer.status).toBe(200);
        if (kind === "background" && windowOf() !== windowBefore)
          polls.set(windowOf(), (polls.get(windowOf()) ?? 0) + 1);
      }
      for (const count of polls.values()) expect(count).toBeLessThanOrEqual(0.6 * options.limit);
    }),
    { seed: 1, numRuns: 100 },
  );
});
