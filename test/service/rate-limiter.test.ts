import {
  array,
  assert,
  boolean,
  constant,
  constantFrom,
  dictionary,
  integer,
  oneof,
  property,
  record,
  string,
} from "fast-check";
import { describe, expect, it } from "vitest";
import { createAllowance, type Allowance, type RequestKind } from "../../src/service/rate-limiter.ts";
import { createLimitedService, ENCODING_NAMES } from "../fixtures/rate-limit.ts";

const START = Date.UTC(2026, 10, 20, 5, 0, 0);

function setup() {
  const clock = { nowMs: START };
  return { clock, allowance: createAllowance({ now: () => clock.nowMs }) };
}

function told(limit: number, remaining: number, resetSeconds: number) {
  return {
    "x-ratelimit-limit": String(limit),
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset": `${resetSeconds}s`,
  };
}

const waits = (allowance: Allowance) => ({
  person: allowance.waitMs("person"),
  background: allowance.waitMs("background"),
});

/** Takes a slot whenever one is free, for so long; how many, and in which minute of the run. */
function pollGreedily({ clock, allowance }: ReturnType<typeof setup>, forMs: number, stepMs = 100): number[] {
  const takenAtMs: number[] = [];
  for (const untilMs = clock.nowMs + forMs; clock.nowMs < untilMs; clock.nowMs += stepMs) {
    if (allowance.waitMs("background") > 0) continue;
    allowance.take("background").settle({ headers: {}, status: 200 });
    takenAtMs.push(clock.nowMs);
  }
  return takenAtMs;
}

/** How long a second poll in a row has to wait once the one early poll is spent: tells the pace. */
function gapMs({ allowance }: ReturnType<typeof setup>): number {
  allowance.take("background");
  allowance.take("background");
  return allowance.waitMs("background");
}

function mostWithin(windowMs: number, timesMs: number[]): number {
  return Math.max(
    0,
    ...timesMs.map((from) => timesMs.filter((at) => at >= from && at < from + windowMs).length),
  );
}

describe("an allowance that nothing is known of", () => {
  it("lets people go at once and spaces polls to thirty a minute", () => {
    const it = setup();
    expect(waits(it.allowance)).toEqual({ person: 0, background: 0 });
    const polls = pollGreedily(it, 600_000);
    expect(mostWithin(60_000, polls)).toBeLessThanOrEqual(30);
    expect(polls.length).toBeGreaterThan(280);
    expect(it.allowance.waitMs("person")).toBe(0);
    expect(it.allowance.status()).toStrictEqual({ pausedMs: 0 });
  });

  it("never has a burst of polls", () => {
    const polls = pollGreedily(setup(), 60_000);
    expect(mostWithin(1_900, polls)).toBeLessThanOrEqual(2);
  });
});

describe("what the headers say", () => {
  it("is what status reports, and time runs off it", () => {
    const { allowance, clock } = setup();
    allowance.learn(told(60, 42, 30), 200);
    clock.nowMs += 10_000;
    expect(allowance.status()).toEqual({ limit: 60, remaining: 42, resetInMs: 20_000, pausedMs: 0 });
  });

  it("takes the first of repeated headers", () => {
    const { allowance } = setup();
    allowance.learn(
      { "x-ratelimit-limit": [" 60 ", "9"], "x-ratelimit-remaining": ["42"], "x-ratelimit-reset": [] },
      200,
    );
    expect(allowance.status()).toMatchObject({ limit: 60, remaining: 42 });
  });

  it("counts requests on their way until they are answered", () => {
    const { allowance } = setup();
    allowance.learn(told(60, 2, 30), 200);
    const first = allowance.take("person");
    const second = allowance.take("person");
    expect(allowance.status().remaining).toBe(0);
    expect(allowance.waitMs("person")).toBe(250);
    first.settle({ headers: told(60, 1, 30), status: 200 });
    first.settle({ headers: told(60, 60, 30), status: 200 });
    expect(allowance.status().remaining).toBe(0);
    second.settle({ headers: told(60, 0, 30), status: 200 });
    expect(waits(allowance)).toEqual({ person: 31_000, background: 31_000 });
  });

  it("believes the later request's answer when an earlier one comes after it", () => {
    const { allowance } = setup();
    const [first, second] = [allowance.take("person"), allowance.take("person")];
    second.settle({ headers: told(60, 10, 30), status: 200 });
    first.settle({ headers: told(60, 11, 30), status: 200 });
    expect(allowance.status().remaining).toBe(10);
  });

  it("believes an overtaken answer that saw less left in this window, or a newer window", () => {
    const { allowance } = setup();
    const slots = Array.from({ length: 3 }, () => allowance.take("person"));
    slots[2]?.settle({ headers: told(60, 10, 5), status: 200 });
    slots[0]?.settle({ headers: told(60, 9, 5), status: 200 });
    expect(allowance.status().remaining).toBe(8);
    slots[1]?.settle({ headers: told(60, 59, 60), status: 200 });
    expect(allowance.status().remaining).toBe(59);
  });

  it.each([
    { name: "the window before", headers: told(60, 3, 0), remaining: 50 },
    { name: "this window, its end two seconds early", headers: told(60, 40, 28), remaining: 40 },
    { name: "this window, its end two seconds late", headers: told(60, 40, 32), remaining: 40 },
    { name: "a window of unknown end", headers: { "x-ratelimit-remaining": "40" }, remaining: 40 },
    { name: "nothing, so that it may have been counted since", headers: {}, remaining: 49 },
  ])("weighs an overtaken answer that tells of $name", ({ headers, remaining }) => {
    const { allowance } = setup();
    const [first, second] = [allowance.take("person"), allowance.take("person")];
    second.settle({ headers: told(60, 50, 30), status: 200 });
    first.settle({ headers, status: 200 });
    expect(allowance.status()).toEqual({ limit: 60, remaining, resetInMs: 30_000, pausedMs: 0 });
  });

  it("is believed of an earlier request when the later one's answer said nothing", () => {
    const { allowance } = setup();
    const [first, second] = [allowance.take("person"), allowance.take("person")];
    second.settle({ headers: {}, status: 502 });
    first.settle({ headers: told(60, 0, 30), status: 200 });
    expect(allowance.status()).toEqual({ limit: 60, remaining: 0, resetInMs: 30_000, pausedMs: 0 });
    expect(waits(allowance)).toEqual({ person: 31_000, background: 31_000 });
  });

  it.each([
    { name: "more, of an earlier moment", overtaking: [0, 2_998], overtaken: [1, 3_000] },
    { name: "less, of a later moment", overtaking: [1, 3_000], overtaken: [0, 2_997] },
  ] as const)(
    "does not take a few milliseconds for another window, when an overtaken answer saw $name",
    ({ overtaking, overtaken }) => {
      const { allowance, clock } = setup();
      const answer = ([remaining, reset]: readonly [number, number]) => ({
        headers: { ...told(3, remaining, 0), "x-ratelimit-reset": String(reset) },
        status: 200,
      });
      const [first, second] = [allowance.take("person"), allowance.take("person")];
      second.settle(answer(overtaking));
      clock.nowMs += 3;
      first.settle(answer(overtaken));
      expect(allowance.status().remaining).toBe(0);
    },
  );

  it("counts a request that brought no answer, but such ones alone never stop a person", () => {
    const { allowance } = setup();
    allowance.learn(told(60, 5, 30), 200);
    for (let each = 0; each < 3; each++) allowance.take("person").settle();
    expect(allowance.status().remaining).toBe(2);
    allowance.take("person").settle({ headers: {}, status: 200 });
    expect(allowance.status().remaining).toBe(1);
    for (let each = 0; each < 9; each++) allowance.take("person").settle();
    expect(allowance.waitMs("person")).toBe(0);
  });

  it("starts the next window by the clock, a second late to be sure", () => {
    const { allowance, clock } = setup();
    allowance.learn(told(60, 0, 10), 200);
    clock.nowMs += 10_999;
    expect(allowance.waitMs("person")).toBe(1);
    clock.nowMs += 1;
    expect(allowance.waitMs("person")).toBe(0);
    expect(allowance.status()).toEqual({ limit: 60, remaining: 60, resetInMs: 59_000, pausedMs: 0 });
  });

  it.each([
    { afterMs: 70_999, resetInMs: 0 },
    { afterMs: 71_000, resetInMs: 59_000 },
    { afterMs: 281_000, resetInMs: 29_000 },
  ])("counts the windows that nobody asked in, $afterMs ms later", ({ afterMs, resetInMs }) => {
    const { allowance, clock } = setup();
    allowance.learn(told(60, 0, 10), 200);
    clock.nowMs += afterMs;
    expect(allowance.status()).toEqual({ limit: 60, remaining: 60, resetInMs, pausedMs: 0 });
  });

  it("tells of the window that it came in, even without its end", () => {
    const { allowance, clock } = setup();
    allowance.learn(told(60, 0, 10), 200);
    clock.nowMs += 20_000;
    allowance.learn({ "x-ratelimit-remaining": "5" }, 200);
    expect(allowance.status()).toEqual({ limit: 60, remaining: 5, resetInMs: 50_000, pausedMs: 0 });
  });

  it.each([
    { given: { limit: "60", reset: "30s" }, person: 0, background: 0 },
    { given: { limit: "0", remaining: "3" }, person: 0, background: 60_000 },
    { given: { remaining: "4" }, person: 0, background: 0 },
    { given: { remaining: "3" }, person: 0, background: 60_000 },
    { given: { remaining: "3", reset: "30s" }, person: 0, background: 31_000 },
    { given: { remaining: "0" }, person: 60_000, background: 60_000 },
  ])("is enough where it is only $given", ({ given, person, background }) => {
    const { allowance, clock } = setup();
    allowance.learn(
      Object.fromEntries(Object.entries(given).map(([name, value]) => [`x-ratelimit-${name}`, value])),
      200,
    );
    expect(waits(allowance)).toEqual({ person, background });
    clock.nowMs += 60_000;
    expect(waits(allowance)).toEqual({ person: 0, background: 0 });
  });

  it("lets one request probe after the longest wait, then holds again", () => {
    const { allowance, clock } = setup();
    allowance.learn({ ...told(60, 0, 0), "x-ratelimit-reset": "5000" }, 200);
    expect(waits(allowance)).toEqual({ person: 60_000, background: 60_000 });
    clock.nowMs += 60_000;
    expect(waits(allowance)).toEqual({ person: 0, background: 0 });
    const probe = allowance.take("person");
    expect(waits(allowance)).toEqual({ person: 60_000, background: 60_000 });
    clock.nowMs += 60_000;
    expect(waits(allowance)).toEqual({ person: 250, background: 250 });
    probe.settle({ headers: told(60, 60, 60), status: 200 });
    expect(allowance.waitMs("person")).toBe(0);
  });

  it("lets polls probe a minute after it was heard, whoever has asked since", () => {
    const { allowance, clock } = setup();
    allowance.learn({ ...told(60, 4, 0), "x-ratelimit-reset": "5000" }, 200);
    clock.nowMs += 30_000;
    allowance.take("person");
    expect(allowance.waitMs("background")).toBe(30_000);
  });

  it("lets no poll probe a reset that is certain", () => {
    const { allowance, clock } = setup();
    allowance.learn(told(60, 0, 3_600), 200);
    clock.nowMs += 90_000;
    expect(waits(allowance)).toEqual({ person: 0, background: 60_000 });
  });

  it("changes nothing when malformed", () => {
    const junk = oneof(
      string(),
      constantFrom("-1", "1.5", "NaN", "60, 60", "99999999999999999999", "", "Infinity"),
    );
    const malformed = junk.filter(
      (text) => !/^\s*(\d{1,15}(\.\d+)?|.*(\d[hms]|GMT|T\d\d:).*)\s*$/.test(text),
    );
    const value = oneof(malformed, array(malformed, { maxLength: 2 }), constant(undefined));
    const header = constantFrom(
      "x-ratelimit-limit",
      "x-ratelimit-remaining",
      "x-ratelimit-reset",
      "retry-after",
      "date",
    );
    assert(
      property(dictionary(header, value), boolean(), (headers, known) => {
        const { allowance } = setup();
        if (known) allowance.learn(told(60, 30, 45), 200);
        const before = { ...waits(allowance), ...allowance.status() };
        allowance.learn(headers, 200);
        expect({ ...waits(allowance), ...allowance.status() }).toEqual(before);
      }),
    );
  });
});

describe("the reserve for people", () => {
  it.each([
    { remaining: 25, resetSeconds: 60, passes: true },
    { remaining: 24, resetSeconds: 60, passes: false },
    { remaining: 13, resetSeconds: 30, passes: true },
    { remaining: 12, resetSeconds: 30, passes: false },
    { remaining: 4, resetSeconds: 1, passes: true },
    { remaining: 3, resetSeconds: 1, passes: false },
  ])(
    "with $remaining left and $resetSeconds s to go, a poll passes: $passes",
    ({ remaining, resetSeconds, passes }) => {
      for (const reset of [`${resetSeconds}s`, `${resetSeconds}`]) {
        const { allowance } = setup();
        allowance.learn({ ...told(60, remaining, 0), "x-ratelimit-reset": reset }, 200);
        expect(allowance.waitMs("background") === 0).toBe(passes);
        expect(allowance.waitMs("person")).toBe(0);
      }
    },
  );

  it("tells polls when it will have fallen far enough", () => {
    const { allowance, clock } = setup();
    allowance.learn(told(60, 12, 60), 200);
    const waitMs = allowance.waitMs("background");
    expect(waitMs).toBe(30_001);
    clock.nowMs += waitMs;
    expect(allowance.waitMs("background")).toBe(0);
  });

  it.each([1, 2, 3, 5, 10])(
    "of a limit of %d leaves a person one request, and starves no watcher above 1",
    (limit) => {
      const it = setup();
      const service = createLimitedService({ limit, windowMs: 60_000, encoding: "epoch seconds" });
      const ask = (kind: RequestKind) => it.allowance.take(kind).settle(service.answer(it.clock.nowMs));
      ask("person");
      const personWaits = new Set<number>();
      let polls = 0;
      for (const untilMs = START + 600_000; it.clock.nowMs < untilMs; it.clock.nowMs += 500) {
        if (it.clock.nowMs >= START + 61_000) personWaits.add(it.allowance.waitMs("person"));
        if (it.allowance.waitMs("background") > 0) continue;
        polls++;
        ask("background");
      }
      expect(polls).toBeLessThanOrEqual(Math.max(1, 0.6 * limit) * 10);
      expect(polls > 0).toBe(limit > 1);
      expect([...personWaits]).toEqual([0]);
    },
  );
});

describe("a window's length", () => {
  it.each([
    { windowSeconds: 10, limit: 20 },
    { windowSeconds: 60, limit: 60 },
    { windowSeconds: 300, limit: 300 },
    { windowSeconds: 3_600, limit: 1_000 },
  ])(
    "of $windowSeconds s is learnt, so that polls get most of their 60 % of $limit",
    ({ windowSeconds, limit }) => {
      const it = setup();
      it.clock.nowMs += 3_333;
      const service = createLimitedService({
        limit,
        windowMs: 1000 * windowSeconds,
        encoding: "seconds left",
      });
      const polls: number[] = [];
      const fromMs = START + 4_000 * windowSeconds;
      for (; it.clock.nowMs < START + 8_000 * windowSeconds; it.clock.nowMs += 100) {
        if (it.allowance.waitMs("background") > 0) continue;
        it.allowance.take("background").settle(service.answer(it.clock.nowMs));
        if (it.clock.nowMs >= fromMs) polls.push(it.clock.nowMs);
      }
      expect(polls.length / 4).toBeGreaterThan(0.5 * limit);
      expect(polls.length / 4).toBeLessThanOrEqual(0.6 * limit);
    },
  );

  it.each([
    {
      name: "is the shortest step between resets, since idle windows make multiples",
      resetSecondsAt: { 0: 100, 250_000: 50 /* one reset missed */, 300_000: 100 },
      windowMs: 100_000,
    },
    {
      name: "is held to be no shorter while its end draws near, two seconds off",
      resetSecondsAt: { 0: 300, 250_000: 52 },
      windowMs: 300_000,
    },
    {
      name: "is held to be no longer than what is left of one that ends elsewhere",
      resetSecondsAt: { 0: 300, 100_000: 100 },
      windowMs: 100_000,
    },
    {
      name: "is forgotten when a longer one shows",
      resetSecondsAt: { 0: 10, 10_000: 10, 20_000: 300 },
      windowMs: 300_000,
    },
    {
      name: "is a round figure, which a reading two seconds off confirms",
      resetSecondsAt: { 0: 10, 10_000: 12 },
      windowMs: 10_000,
    },
    {
      name: "may be three seconds, told a second early",
      resetSecondsAt: { 0: 3, 2_000: 4 },
      windowMs: 3_000,
    },
    {
      name: "is not learnt from a step of two seconds, which rounding makes",
      resetSecondsAt: { 0: 2, 2_000: 2 },
      windowMs: 60_000,
    },
    {
      name: "is not learnt anew from a reset that moves before its time",
      resetSecondsAt: { 0: 100, 100_000: 100, 130_000: 80 },
      windowMs: 100_000,
    },
  ])("$name", ({ resetSecondsAt, windowMs }) => {
    const it = setup();
    for (const [atMs, resetSeconds] of Object.entries(resetSecondsAt)) {
      it.clock.nowMs = START + Number(atMs);
      it.allowance.learn(told(60, 60, resetSeconds), 200);
    }
    expect(gapMs(it)).toBe(Math.ceil(windowMs / 35));
  });

  it("makes polls no rarer than thirty a minute while no limit is known", () => {
    const it = setup();
    it.allowance.learn({ "x-ratelimit-reset": "3600s" }, 200);
    expect(gapMs(it)).toBe(Math.ceil(60_000 / 29));
  });

  it.each([
    { limit: 10, waitMs: 0 },
    { limit: 9, waitMs: Math.ceil(60_000 / 5.4) },
  ])("of a limit of $limit holds a second poll in a row for $waitMs ms", ({ limit, waitMs }) => {
    const { allowance } = setup();
    allowance.learn(told(limit, limit, 60), 200);
    allowance.take("background");
    expect(allowance.waitMs("background")).toBe(waitMs);
  });

  it("is not taken from a count whose unit is still a guess", () => {
    const it = setup();
    it.allowance.learn({ ...told(60, 60, 0), "x-ratelimit-reset": "5000" }, 200);
    expect(gapMs(it)).toBe(Math.ceil(60_000 / 35));
  });
});

describe("a 429", () => {
  it.each([
    { name: "Retry-After in seconds", headers: { "retry-after": "7", ...told(60, 0, 30) }, pausedMs: 7_000 },
    {
      name: "Retry-After as a date",
      headers: { "retry-after": new Date(START + 9_000).toUTCString(), date: new Date(START).toUTCString() },
      pausedMs: 9_000,
    },
    { name: "the reset", headers: told(60, 0, 30), pausedMs: 31_000 },
    { name: "a reset far away", headers: told(60, 0, 3_600), pausedMs: 60_000 },
    { name: "an absurd Retry-After", headers: { "retry-after": "86400" }, pausedMs: 60_000 },
    { name: "nothing", headers: {}, pausedMs: 5_000 },
  ])("pauses everyone for as long as $name says", ({ headers, pausedMs }) => {
    const { allowance } = setup();
    allowance.learn(headers, 429);
    expect(allowance.status().pausedMs).toBe(pausedMs);
    const { person, background } = waits(allowance);
    expect(person).toBeGreaterThanOrEqual(pausedMs);
    expect(background).toBeGreaterThanOrEqual(person);
  });

  it.each([7, 60])("lets people go first when the pause of %d s is over", (seconds) => {
    const { allowance, clock } = setup();
    allowance.learn({ "retry-after": String(seconds) }, 429);
    expect(waits(allowance)).toEqual({
      person: 1000 * seconds,
      background: Math.min(60_000, 1000 * seconds + 4_138),
    });
    clock.nowMs += 1000 * seconds;
    expect(waits(allowance)).toEqual({ person: 0, background: 4_138 });
  });

  it("holds nobody for an hour when the clock is set back by one", () => {
    const { allowance, clock } = setup();
    allowance.learn({ "x-ratelimit-remaining": "0", "retry-after": "30" }, 429);
    clock.nowMs -= 3_600_000;
    expect(waits(allowance)).toEqual({ person: 60_000, background: 60_000 });
    clock.nowMs += 60_000;
    expect(waits(allowance)).toEqual({ person: 0, background: 4_138 });
  });

  it("backs off further with each refusal in a row, to a minute at most, and anew after a success", () => {
    const { allowance, clock } = setup();
    const pauses = [429, 429, 429, 429, 429, 429, 200, 429].map((status) => {
      allowance.learn({}, status);
      const { pausedMs } = allowance.status();
      clock.nowMs += pausedMs;
      return pausedMs / 1000;
    });
    expect(pauses).toEqual([5, 10, 20, 40, 60, 60, 0, 5]);
  });

  it("halves the poll rate, which recovers evenly within five minutes", () => {
    const it = setup();
    it.allowance.learn({ "retry-after": "0" }, 429);
    const perMinute = Array.from({ length: 7 }, () => pollGreedily(it, 60_000, 10).length);
    expect(perMinute[0]).toBeGreaterThanOrEqual(14);
    expect(perMinute[0]).toBeLessThanOrEqual(17);
    expect(perMinute).toEqual(perMinute.toSorted((a, b) => a - b));
    expect(perMinute[2]).toBeLessThan(25);
    expect(perMinute[6]).toBe(29);
  });

  it("halves it again with each refusal in a row, to a sixteenth at least", () => {
    const { allowance } = setup();
    const waitsMs = Array.from({ length: 5 }, () => {
      allowance.learn({ "retry-after": "0" }, 429);
      return allowance.waitMs("background");
    });
    expect(waitsMs).toEqual([2, 4, 8, 16, 16].map((times) => Math.ceil((times * 60_000) / 29)));
  });

  it("backs off once for requests that were refused together", () => {
    const { allowance, clock } = setup();
    const pauses = [4, 4, 1].map((together) => {
      for (let each = 0; each < together; each++) allowance.learn({}, 429);
      const { pausedMs } = allowance.status();
      clock.nowMs += pausedMs;
      return pausedMs;
    });
    expect(pauses).toEqual([5_000, 10_000, 20_000]);
  });

  it("halves once for requests that were refused together", () => {
    const alone = setup();
    alone.allowance.learn({ "retry-after": "5" }, 429);
    const together = setup();
    for (let each = 0; each < 4; each++) together.allowance.learn({ "retry-after": "5" }, 429);
    expect(pollGreedily(together, 300_000)).toEqual(pollGreedily(alone, 300_000));
  });

  it("never shortens a pause that is under way", () => {
    const { allowance } = setup();
    allowance.learn({ "retry-after": "30" }, 429);
    allowance.learn({ "retry-after": "1" }, 429);
    expect(allowance.waitMs("person")).toBe(30_000);
  });
});

describe("any sequence of requests", () => {
  const step = record({
    afterMs: oneof(integer({ min: 0, max: 300 }), integer({ min: 0, max: 20_000 })),
    kind: constantFrom<RequestKind>("person", "background"),
    settle: integer({ min: 0, max: 9 }),
  });
  const world = record({
    limit: integer({ min: 2, max: 40 }),
    windowSeconds: integer({ min: 3, max: 60 }),
    encoding: constantFrom(...ENCODING_NAMES),
    skewMs: integer({ min: -120_000, max: 120_000 }),
    offsetMs: integer({ min: 0, max: 60_000 }),
    whenCounted: constantFrom("sent", "answered"),
  });

  it("never exceeds the budget, never waits over a minute, never keeps a person behind polls", () => {
    assert(
      property(world, array(step, { minLength: 20, maxLength: 150 }), (of, steps) => {
        const { clock, allowance } = setup();
        clock.nowMs += of.offsetMs;
        const service = createLimitedService({ ...of, windowMs: 1000 * of.windowSeconds });
        const first = service.answer(clock.nowMs);
        allowance.learn(first.headers, first.status);
        type Flight = { finish: () => void; deadlineMs: number };
        const flights: Flight[] = [];
        let people = 0;

        for (const { afterMs, kind, settle } of steps) {
          // An answer takes a second at most: nothing sent in one window is told of deep in the next.
          const untilMs = clock.nowMs + afterMs;
          for (let late = flights[0]; late !== undefined && late.deadlineMs <= untilMs; late = flights[0]) {
            clock.nowMs = Math.max(clock.nowMs, late.deadlineMs);
            flights.shift();
            late.finish();
          }
          clock.nowMs = untilMs;
          const early = flights[settle];
          if (early !== undefined) {
            flights.splice(settle, 1);
            early.finish();
          }
          const waitMs = allowance.waitMs(kind);
          expect(waitMs).toBeGreaterThanOrEqual(0);
          expect(waitMs).toBeLessThanOrEqual(60_000);
          const heldByPolls = people === 0 && flights.length === 0 && allowance.waitMs("person") > 0;
          expect(heldByPolls).toBe(false);
          if (waitMs > 0) continue;
          const slot = allowance.take(kind);
          if (kind === "person") people++;
          const atOnce = of.whenCounted === "sent" ? service.answer(clock.nowMs) : undefined;
          flights.push({
            deadlineMs: clock.nowMs + 1_000,
            finish() {
              const answer = atOnce ?? service.answer(clock.nowMs);
              expect(answer.status).toBe(200);
              slot.settle(answer);
            },
          });
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("a thousand greedy pollers against 60 requests a minute", () => {
  it.each(ENCODING_NAMES)(
    "get no 429 and at most 36 a minute, and people beside them never wait: %s",
    (encoding) => {
      const { clock, allowance } = setup();
      clock.nowMs += 12_345;
      const service = createLimitedService({ limit: 60, windowMs: 60_000, encoding, skewMs: 90_000 });
      const dueMs = Array.from({ length: 1_000 }, () => clock.nowMs);
      const polls: number[] = [];
      const statuses = new Set<number>();
      let nextPersonMs = clock.nowMs;
      const personWaits: number[] = [];

      for (const untilMs = clock.nowMs + 20 * 60_000; clock.nowMs < untilMs; clock.nowMs += 50) {
        if (clock.nowMs >= nextPersonMs) {
          nextPersonMs += 3_000;
          personWaits.push(allowance.waitMs("person"));
          const answer = service.answer(clock.nowMs);
          statuses.add(answer.status);
          allowance.take("person").settle(answer);
        }
        for (const [poller, atMs] of dueMs.entries()) {
          if (atMs > clock.nowMs) continue;
          const waitMs = allowance.waitMs("background");
          dueMs[poller] = clock.nowMs + waitMs;
          if (waitMs > 0) continue;
          const answer = service.answer(clock.nowMs);
          statuses.add(answer.status);
          allowance.take("background").settle(answer);
          polls.push(clock.nowMs);
        }
      }
      expect([...statuses]).toEqual([200]);
      expect(new Set(personWaits)).toEqual(new Set([0]));
      expect(mostWithin(60_000, polls)).toBeLessThanOrEqual(36);
      expect(polls.length / 20).toBeGreaterThan(32);
    },
  );
});
