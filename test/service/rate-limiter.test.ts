import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Permit, RateLimiter, type RequestKind } from "../../src/service/rate-limiter.ts";
import { seededRandom } from "../fixtures/durations.ts";
import { createLimitedService, ENCODING_NAMES } from "../fixtures/rate-limit.ts";

const EPOCH_MS = Date.UTC(2026, 10, 20, 5, 0, 0);

/** A limiter on a clock that the test moves. The wall clock has another origin, as on a real computer. */
function setup(options: { backgroundPerMinute?: number } = {}) {
  const clock = { ms: 1_000 };
  const limiter = new RateLimiter({
    monotonicMs: () => clock.ms,
    now: () => EPOCH_MS + clock.ms,
    ...options,
  });
  return { clock, limiter };
}

function acquire(limiter: RateLimiter, kind: RequestKind = "user"): Permit {
  const permit = limiter.tryAcquire(kind);
  if ("retryInMs" in permit) throw new Error(`It must wait for ${permit.retryInMs} ms`);
  return permit;
}

/** Headers with a reset of unambiguous unit. */
function limitHeaders(limit: number, remaining: number, resetSeconds: number) {
  return {
    "x-ratelimit-limit": String(limit),
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset": `${resetSeconds}s`,
  };
}

const ok = (headers: Record<string, string>) => ({ status: 200, headers });
const refused = (headers: Record<string, string> = {}) => ({ status: 429, headers });
const waits = (limiter: RateLimiter) => ({
  user: limiter.waitMs("user"),
  background: limiter.waitMs("background"),
});

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

describe("requests to spare", () => {
  test.each([
    [41, true],
    [40, false],
    [0, false],
  ])("with %i of 100 left in this window: %s", (remaining, hasSpare) => {
    const { limiter } = setup();
    limiter.update(ok(limitHeaders(100, remaining, 30)));

    expect(limiter.hasSpare()).toBe(hasSpare);
  });

  test("are there where the service does not say when the window ends", () => {
    const { limiter } = setup();
    limiter.update(ok({ "x-ratelimit-limit": "100", "x-ratelimit-remaining": "0" }));

    expect(limiter.hasSpare()).toBe(true);
  });

  test("are there before the service has named a limit, less those in flight, and again in the next window", () => {
    const { clock, limiter } = setup();
    expect(limiter.hasSpare()).toBe(true);

    limiter.update(ok(limitHeaders(100, 41, 30)));
    acquire(limiter);
    expect(limiter.hasSpare()).toBe(false);

    clock.ms += 31_000;
    expect(limiter.hasSpare()).toBe(true);
  });
});

describe("before the service has named a limit", () => {
  test("users' calls are sent immediately and polls 30 times per minute", () => {
    const it = setup();

    const polls = poll(it, 600_000);

    expect(polls.length).toBeGreaterThan(290);
    expect(polls.length).toBeLessThanOrEqual(301);
    expect(it.limiter.waitMs("user")).toBe(0);
    expect(it.limiter.status()).toEqual({ pausedMs: 0 });
  });

  test("polls are sent as often as the user has set", () => {
    expect(poll(setup({ backgroundPerMinute: Infinity }), 1_000)).toHaveLength(20);
  });

  test("one poll may be early, to confirm what the previous one showed", () => {
    const { limiter } = setup();

    acquire(limiter, "background");
    acquire(limiter, "background");

    expect(limiter.tryAcquire("background")).toEqual({ retryInMs: 2_000 });
  });
});

describe("a user's call", () => {
  test("waits for the end of the window if nothing remains, and is then sent", () => {
    const { clock, limiter } = setup();
    acquire(limiter).release(ok(limitHeaders(60, 0, 4)));

    expect(limiter.tryAcquire("user")).toEqual({ retryInMs: 5_000 });
    clock.ms += 4_999;
    expect(limiter.tryAcquire("user")).toEqual({ retryInMs: 1 });
    clock.ms += 1;
    expect(limiter.tryAcquire("user")).toHaveProperty("release");
  });

  test("counts when it is acquired, so that no more are sent than remain", () => {
    const { limiter } = setup();
    acquire(limiter).release(ok(limitHeaders(60, 2, 30)));
    acquire(limiter);
    const second = acquire(limiter);

    // The answers will show whether more remain.
    expect(limiter.tryAcquire("user")).toEqual({ retryInMs: 250 });
    expect(limiter.status()).toEqual({ limit: 60, remaining: 0, resetInMs: 30_000, pausedMs: 0 });

    second.release(ok(limitHeaders(60, 5, 30)));
    expect(limiter.tryAcquire("user")).toHaveProperty("release");
  });

  test("without an answer is subtracted once", () => {
    const { limiter } = setup();
    acquire(limiter).release(ok(limitHeaders(60, 1, 30)));
    const permit = acquire(limiter);

    permit.release();
    permit.release();

    expect(limiter.status()).toMatchObject({ remaining: 1 });
  });

  test.each([
    ["absent", undefined],
    ["empty", ""],
    ["junk", "soon"],
    ["a number that could be seconds or milliseconds", "5000"],
  ])("is not refused if nothing remains and the reset is %s", (_, reset) => {
    const { limiter } = setup();
    acquire(limiter).release(
      ok({
        "x-ratelimit-limit": "60",
        "x-ratelimit-remaining": "0",
        ...(reset !== undefined && { "x-ratelimit-reset": reset }),
      }),
    );

    const permit = acquire(limiter);
    // One at a time: its answer may show more.
    expect(limiter.tryAcquire("user")).toEqual({ retryInMs: 250 });
    permit.release(ok({ "x-ratelimit-remaining": "0" }));
    expect(limiter.tryAcquire("user")).toHaveProperty("release");
  });

  test("after the end of a window is sent together with others as far as the limit allows", () => {
    const { clock, limiter } = setup();
    acquire(limiter).release(ok(limitHeaders(3, 0, 1)));
    clock.ms += 2_000;

    for (let each = 0; each < 3; each++) acquire(limiter);

    expect(limiter.tryAcquire("user")).toEqual({ retryInMs: 250 });
  });

  test("is tried again when the window ends at the latest", () => {
    const { clock, limiter } = setup();
    acquire(limiter).release(ok(limitHeaders(60, 1, 0)));
    acquire(limiter);
    clock.ms += 900;

    expect(limiter.tryAcquire("user")).toEqual({ retryInMs: 100 });
  });
});

describe("the headers of an answer", () => {
  test("are reported by status as time passes", () => {
    const { clock, limiter } = setup();
    limiter.update(ok(limitHeaders(60, 42, 30)));

    clock.ms += 10_000;
    expect(limiter.status()).toEqual({ limit: 60, remaining: 42, resetInMs: 20_000, pausedMs: 0 });
    clock.ms += 20_500;
    expect(limiter.status()).toEqual({ limit: 60, remaining: 42, resetInMs: 0, pausedMs: 0 });
    clock.ms += 500;
    expect(limiter.status()).toEqual({ limit: 60, remaining: 60, pausedMs: 0 });
  });

  test("without a limit make the remaining count unknown after the window", () => {
    const { clock, limiter } = setup();
    limiter.update(ok({ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1s" }));

    clock.ms += 2_000;

    expect(limiter.status()).toEqual({ pausedMs: 0 });
    expect(limiter.waitMs("user")).toBe(0);
  });

  test.each(["-1", "1.5", "NaN", "60, 60", "9999999999999999", "", "Infinity", "x60"])(
    "change nothing if they are malformed: %j",
    (junk) => {
      const { limiter } = setup();
      limiter.update(ok(limitHeaders(60, 30, 45)));

      limiter.update(
        ok({
          "x-ratelimit-limit": junk,
          "x-ratelimit-remaining": junk,
          "x-ratelimit-reset": "x",
          date: junk,
        }),
      );
      limiter.update(ok({ "x-ratelimit-limit": "0" }));

      expect(limiter.status()).toEqual({ limit: 60, remaining: 30, resetInMs: 45_000, pausedMs: 0 });
    },
  );

  test("may have spaces around them", () => {
    const { limiter } = setup();
    limiter.update(ok({ "x-ratelimit-limit": " 60 ", "x-ratelimit-remaining": " 7 " }));

    expect(limiter.status()).toEqual({ limit: 60, remaining: 7, pausedMs: 0 });
  });

  test("of a later request win over those of an earlier one that arrive after them", () => {
    const { limiter } = setup();
    const [first, second] = [acquire(limiter), acquire(limiter)];

    second.release(ok(limitHeaders(60, 10, 30)));
    first.release(ok(limitHeaders(60, 11, 30)));

    expect(limiter.status()).toMatchObject({ remaining: 10 });
  });

  test("of an earlier request count if the later one had none", () => {
    const { limiter } = setup();
    const [first, second] = [acquire(limiter), acquire(limiter)];

    second.release({ status: 502, headers: {} });
    first.release(ok(limitHeaders(60, 0, 30)));

    expect(limiter.status()).toEqual({ limit: 60, remaining: 0, resetInMs: 30_000, pausedMs: 0 });
  });

  test.each([
    ["fewer left in the same window", limitHeaders(60, 9, 31), 9],
    ["fewer left, 2 s from its end as known", limitHeaders(60, 9, 32), 9],
    ["the window before", limitHeaders(60, 3, 0), 10],
    ["fewer left, more than 2 s before its end as known", limitHeaders(60, 9, 27), 10],
    ["nothing of a window", { "x-ratelimit-remaining": "3" }, 10],
    ["nothing", {}, 10],
  ])("that were overtaken count only if they show less of this window: %s", (_, headers, remaining) => {
    const { limiter } = setup();
    const [first, second] = [acquire(limiter), acquire(limiter)];

    second.release(ok(limitHeaders(60, 10, 30)));
    first.release(ok(headers));

    expect(limiter.status()).toEqual({ limit: 60, remaining, resetInMs: 30_000, pausedMs: 0 });
  });

  test("that were overtaken count if they show a later window", () => {
    const { limiter } = setup();
    const [first, second] = [acquire(limiter), acquire(limiter)];

    second.release(ok(limitHeaders(60, 10, 1)));
    first.release(ok(limitHeaders(60, 59, 60)));

    expect(limiter.status()).toEqual({ limit: 60, remaining: 59, resetInMs: 60_000, pausedMs: 0 });
  });
});

describe("a 429", () => {
  test("pauses all requests as long as Retry-After says, whatever the reset is", () => {
    const { clock, limiter } = setup();
    acquire(limiter).release(refused({ ...limitHeaders(60, 0, 50), "retry-after": "20" }));

    expect(limiter.tryAcquire("user")).toEqual({ retryInMs: 20_000 });
    expect(limiter.status()).toMatchObject({ pausedMs: 20_000 });
    clock.ms += 20_000;
    expect(limiter.status()).toMatchObject({ remaining: 60, pausedMs: 0 });
    expect(limiter.tryAcquire("user")).toHaveProperty("release");
  });

  test("without Retry-After pauses until the reset", () => {
    const { limiter } = setup();
    acquire(limiter).release(refused({ "x-ratelimit-reset": "8s" }));

    expect(limiter.tryAcquire("user")).toEqual({ retryInMs: 9_000 });
  });

  test("without Retry-After keeps the remaining count", () => {
    const { limiter } = setup();
    acquire(limiter).release(refused(limitHeaders(60, 7, 8)));

    expect(limiter.status()).toEqual({ limit: 60, remaining: 7, resetInMs: 8_000, pausedMs: 9_000 });
  });

  test("with Retry-After from a service without a limit keeps the remaining count unknown", () => {
    const { limiter } = setup();
    acquire(limiter).release(refused({ "x-ratelimit-remaining": "0", "retry-after": "2" }));

    expect(limiter.status()).toEqual({ pausedMs: 2_000 });
  });

  test("counts once for the length of the next pause if several come together", () => {
    const { clock, limiter } = setup();
    const [first, second] = [acquire(limiter), acquire(limiter)];
    first.release(refused());
    second.release(refused());
    clock.ms += 5_000;

    acquire(limiter).release(refused());

    expect(limiter.status().pausedMs).toBe(10_000);
  });

  test("without either pauses for 5 s, doubling up to a minute, and starts at 5 s again after a success", () => {
    const { clock, limiter } = setup();
    const pauses = Array.from({ length: 6 }, () => {
      acquire(limiter).release(refused());
      const { pausedMs } = limiter.status();
      clock.ms += pausedMs;
      return pausedMs;
    });

    acquire(limiter).release(ok({}));
    acquire(limiter).release(refused());

    expect(pauses).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
    expect(limiter.status()).toEqual({ pausedMs: 5_000 });
  });

  test("of several requests in flight counts once with the longest pause", () => {
    const { limiter } = setup();
    const [first, second, third] = [acquire(limiter), acquire(limiter), acquire(limiter)];

    first.release(refused());
    second.release(refused({ "retry-after": "7" }));
    third.release(refused({ "retry-after": "1" }));

    expect(limiter.status().pausedMs).toBe(7_000);
    acquireAfter(limiter, 7_000);
  });

  test("never pauses for more than an hour", () => {
    const { limiter } = setup();
    acquire(limiter).release(refused({ "retry-after": "86400" }));

    expect(limiter.status().pausedMs).toBe(3_600_000);
  });

  test("lets waiting users' calls be sent before polls", () => {
    const { clock, limiter } = setup();
    acquire(limiter).release(refused({ "retry-after": "3" }));
    clock.ms += 3_000;

    expect(waits(limiter)).toEqual({ user: 0, background: 1_000 });
  });

  function acquireAfter(limiter: RateLimiter, ms: number) {
    expect(limiter.tryAcquire("user")).toEqual({ retryInMs: ms });
  }
});

describe("polls", () => {
  test("get 60 % of the limit, spread evenly over the window", () => {
    const it = setup();
    const startMs = it.clock.ms;
    let remaining = 60;
    const polls = poll(it, 60_000, () => {
      remaining -= 1;
      return ok(limitHeaders(60, remaining, Math.ceil((startMs + 60_000 - it.clock.ms) / 1000)));
    });

    expect(polls).toHaveLength(36);
    const halves = [
      polls.filter((ms) => ms < startMs + 30_000),
      polls.filter((ms) => ms >= startMs + 30_000),
    ];
    for (const half of halves) expect(half.length).toBeGreaterThan(14);
  });

  test("get 60 % of what remains if others have used the rest", () => {
    const it = setup();
    const endMs = it.clock.ms + 30_000;
    let remaining = 10;
    const answer = () => ok(limitHeaders(60, remaining--, Math.ceil((endMs - it.clock.ms) / 1000)));
    it.limiter.update(answer());

    const polls = poll(it, 30_000, answer);

    expect(polls.length).toBeGreaterThanOrEqual(6);
    expect(it.limiter.status()).toMatchObject({ limit: 60, remaining: expect.any(Number) });
    expect(it.limiter.status().remaining).toBeGreaterThan(0);
  });

  test("leave the last request to the user and wait for the next window", () => {
    const { limiter } = setup();
    limiter.update(ok(limitHeaders(60, 1, 30)));

    expect(waits(limiter)).toEqual({ user: 0, background: 31_000 });
  });

  test("are not sent if the limit is a single request", () => {
    const { limiter } = setup();
    limiter.update(ok(limitHeaders(1, 1, 30)));

    expect(waits(limiter)).toEqual({ user: 0, background: 60_000 });
  });

  test("are paced per minute if the service names a limit without a reset", () => {
    expect(poll(withLimit(setup(), "20"), 60_000)).toHaveLength(13);

    function withLimit(it: ReturnType<typeof setup>, limit: string) {
      it.limiter.update(ok({ "x-ratelimit-limit": limit }));
      return it;
    }
  });

  test("continue with the next window", () => {
    const { clock, limiter } = setup();
    limiter.update(ok(limitHeaders(10, 0, 5)));
    expect(limiter.waitMs("background")).toBe(6_000);

    clock.ms += 6_000;

    expect(limiter.waitMs("background")).toBe(0);
  });

  test("have their full share again when an answer shows a new window before the clock does", () => {
    const { limiter } = setup();
    limiter.update(ok(limitHeaders(2, 2, 30)));
    acquire(limiter, "background").release(ok(limitHeaders(2, 1, 30)));
    expect(limiter.waitMs("background")).toBe(31_000);

    limiter.update(ok(limitHeaders(2, 2, 60)));

    expect(limiter.waitMs("background")).toBe(0);
  });

  test("in a window of 2 s are not paced as in a minute", () => {
    const it = setup();
    const service = createLimitedService({ limit: 10, windowMs: 2_000, encoding: "epoch milliseconds" });

    const polls = poll(it, 60_000, () => service.answer(EPOCH_MS + it.clock.ms));

    expect(polls.length).toBeGreaterThan(60);
  });

  test("continue in windows of 2 s between users' calls whose answers move the end of the window", () => {
    const it = setup();
    const service = createLimitedService({ limit: 20, windowMs: 2_000, encoding: "epoch milliseconds" });
    const answer = () => service.answer(EPOCH_MS + it.clock.ms);
    const perWindow = new Map<number, number>();
    for (let turn = 0; turn < 240; turn++) {
      it.clock.ms += 250;
      acquire(it.limiter).release(answer());
      const permit = it.limiter.tryAcquire("background");
      if ("retryInMs" in permit) continue;
      permit.release(answer());
      const window = Math.floor((EPOCH_MS + it.clock.ms) / 2_000);
      perWindow.set(window, (perWindow.get(window) ?? 0) + 1);
    }

    expect(perWindow.size).toBeGreaterThanOrEqual(30);
    expect(Math.max(...perWindow.values())).toBeLessThanOrEqual(12);
  });

  test("get no new share from an answer that shows a higher count within the window", () => {
    const { limiter } = setup();
    limiter.update(ok(limitHeaders(2, 2, 30)));
    acquire(limiter, "background").release(ok(limitHeaders(2, 1, 30)));

    limiter.update(ok(limitHeaders(2, 2, 30)));

    expect(limiter.waitMs("background")).toBe(31_000);
  });
});

test("Polls stay within their 60 % even if answers take seconds and overtake each other", () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const random = seededRandom(seed);
      const { clock, limiter } = setup();
      clock.ms = Math.floor(60_000 * random());
      const service = createLimitedService({ limit: 60, windowMs: 60_000, encoding: "remaining seconds" });
      const busyFromMs = 150_000 * random();
      const counts = new Map<number, number>();
      let inFlight: { readonly answeredMs: number; readonly permit: Permit }[] = [];
      for (let turn = 0; turn < 3_000; turn++) {
        clock.ms += 100;
        for (const { permit } of inFlight.filter(({ answeredMs }) => answeredMs <= clock.ms)) {
          const minute = Math.floor(clock.ms / 60_000);
          counts.set(minute, (counts.get(minute) ?? 0) + 1);
          permit.release(service.answer(clock.ms));
        }
        inFlight = inFlight.filter(({ answeredMs }) => answeredMs > clock.ms);
        if (inFlight.length >= 4 || (clock.ms < busyFromMs && random() < 0.9)) continue;
        const permit = limiter.tryAcquire("background");
        if ("release" in permit) inFlight.push({ answeredMs: clock.ms + 3_000 * random() ** 3, permit });
      }
      for (const count of counts.values()) expect(count).toBeLessThanOrEqual(36);
    }),
    { seed: 1, numRuns: 200 },
  );
});

test("The service refuses nothing and polls stay within their 60 %, for any limit, window and header unit", () => {
  const worlds = fc.record({
    limit: fc.integer({ min: 1, max: 100 }),
    windowMs: fc.constantFrom(2_000, 10_000, 60_000, 3_600_000),
    encoding: fc.constantFrom(...ENCODING_NAMES),
    skewMs: fc.constantFrom(0, -120_000, 120_000),
    kinds: fc.array(fc.constantFrom<RequestKind>("user", "background", "background"), {
      minLength: 50,
      maxLength: 300,
    }),
  });
  // Without numbers that could have either unit, which other tests cover.
  const isCertain = ({ encoding, windowMs }: { encoding: string; windowMs: number }) =>
    encoding !== "remaining milliseconds" && (encoding !== "remaining seconds" || windowMs <= 60_000);
  fc.assert(
    fc.property(worlds.filter(isCertain), ({ kinds, ...options }) => {
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
    { seed: 1, numRuns: 300 },
  );
});
