import { isMainThread } from "node:worker_threads";
import { assert, constantFrom, property, string, integer, oneof } from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { ResetReader, readRetryAfterMs } from "../../src/service/rate-limit-headers.ts";
import { ENCODINGS, ENCODING_NAMES } from "../fixtures/rate-limit.ts";
import { seededRandom } from "../fixtures/durations.ts";

const NOW = Date.UTC(2026, 10, 20, 5, 0, 0);
const DATE = new Date(NOW).toUTCString();

const read = (raw: string) => new ResetReader().read(raw, { nowMs: NOW, monotonicMs: 0, date: DATE });

/** How the last of several samples is read. */
function reading(samples: [atMs: number, raw: string][]) {
  const reader = new ResetReader();
  return samples.map(([atMs, raw]) => reader.read(raw, { nowMs: NOW, monotonicMs: atMs, date: "" })).at(-1);
}

describe("the unit of X-RateLimit-Reset", () => {
  describe.each([0, -120_000, 120_000])("with our clock %d ms behind the service's", (skewMs) => {
    it.each(ENCODING_NAMES)("is read right from two samples: %s", (name) => {
      const random = seededRandom(7);
      const misread: unknown[] = [];
      for (let run = 0; run < 3_000; run++) {
        const windowMs = 1_000 * 3_600 ** random();
        const resetAtMs = NOW + run * 7_777_777 + windowMs;
        const reader = new ResetReader();
        const readAt = (leftMs: number) => {
          const serverMs = resetAtMs - leftMs;
          const raw = ENCODINGS[name](resetAtMs, serverMs);
          return reader.read(raw, {
            nowMs: serverMs - skewMs,
            monotonicMs: serverMs,
            date: new Date(serverMs).toUTCString(),
          });
        };
        // Two samples of one window, at least 100 ms apart.
        const firstLeftMs = windowMs * (0.3 + 0.7 * random());
        const secondLeftMs = (firstLeftMs - 100) * random();
        readAt(firstLeftMs);
        const got = readAt(secondLeftMs);
        if (got === undefined || Math.abs(got.inMs - secondLeftMs) > 2_000)
          misread.push({ windowMs, secondLeftMs, got });
      }
      expect(misread).toEqual([]);
    });
  });

  it.each([
    ["1795150860", 60_000, true],
    ["1795150860000", 60_000, true],
    ["1795150799", 0, true],
    ["60", 60_000, false],
    ["7200", 7_200_000, false],
    ["7201", 7_201, false],
    ["0", 0, false],
    ["12.25", 12_250, false],
    ["1000000000", 0, true],
    ["100000000000", 0, true],
    [" 60 ", 60_000, false],
    ["2026-11-20T05:01:00Z", 60_000, true],
    ["2026-11-20T06:01:00.500+01:00", 60_500, true],
    ["2026-11-20T06:01:00+0100", 60_000, true],
    ["2026-11-20T05:01Z", 60_000, true],
    ["2026-11-20T05:01:00", 60_000, true],
    ["Fri, 20 Nov 2026 05:01:00 GMT", 60_000, true],
    ["6m0s", 360_000, true],
    ["1h2m3.5s", 3_723_500, true],
    ["850ms", 850, true],
    ["1ms500us", 1.5, true],
    ["250µs", 0.25, true],
    ["500000ns", 0.5, true],
    ["9999999999", 86_400_000, true],
  ])("reads one sample of %j as %d ms", (raw, inMs, certain) => {
    expect(read(raw)).toEqual({ inMs, certain });
  });

  it.each([
    "",
    "soon",
    "unit 7",
    "-5",
    "-5s",
    "5s left",
    "1e3",
    "0x10",
    "NaN",
    "60, 60",
    "60;w=60",
    "5 s",
    "s",
    "1795150860Z",
    "20 Nov 2026",
    "on Fri, 20 Nov 2026 05:01:00 GMT",
    "Fri, 20 Nov 2026 05:01:00 GMT+0100",
    "at 2026-11-20 05:01:00Z",
    "2026-11-20 05:01:00 -0800",
    "2026-13-45T99:00:00Z",
    "99999999999999999999",
  ])("ignores %j", (raw) => {
    expect(read(raw)).toBeUndefined();
  });

  it("never throws and stays within a day, for any values", () => {
    const reader = new ResetReader();
    assert(
      property(
        oneof(string(), string({ unit: constantFrom(...Array.from("0123456789.hmsTZ:-+ GMT,")) })),
        integer(),
        (raw, nowMs) => {
          const inMs = reader.read(raw, { nowMs, monotonicMs: nowMs, date: raw })?.inMs ?? 0;
          expect(inMs >= 0 && inMs <= 86_400_000).toBe(true);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  // The zone of a process can't be changed from one of its worker threads.
  it.runIf(isMainThread)("takes a date without a zone for UTC wherever we run", () => {
    vi.stubEnv("TZ", "America/New_York");
    expect(new Date(NOW).getTimezoneOffset()).toBe(300);
    expect(read("2026-11-20T05:01:00")?.inMs).toBe(60_000);
    vi.unstubAllEnvs();
  });

  it("falls back to our clock if the answer has no usable Date", () => {
    for (const date of ["", "yesterday"]) {
      expect(new ResetReader().read("1795150860", { nowMs: NOW, monotonicMs: 0, date })?.inMs).toBe(60_000);
    }
  });

  it("keeps the unit in later windows", () => {
    expect(
      reading([
        [0, "5000"],
        [1_000, "4000"],
        [300_000, "5800"],
      ]),
    ).toEqual({ inMs: 5_800, certain: true });
    expect(
      reading([
        [0, "50"],
        [2_000, "48"],
        [300_000, "55"],
      ]),
    ).toEqual({ inMs: 55_000, certain: true });
  });

  it("corrects its first guess for a daily limit in seconds", () => {
    expect(
      reading([
        [0, "40000"],
        [5_000, "39995"],
      ]),
    ).toEqual({ inMs: 39_995_000, certain: true });
  });

  it("uses answers in close succession by keeping the older sample", () => {
    const samples = [0, 60, 120].map((atMs): [number, string] => [atMs, String(6_000 - atMs)]);
    expect(reading(samples)).toEqual({ inMs: 5_880, certain: true });
  });

  it.each([
    {
      name: "a second that passed is enough to tell seconds",
      samples: { 0: "60", 1_000: "59" },
      expected: { inMs: 59_000, certain: true },
    },
    {
      name: "a second's step between close answers tells nothing",
      samples: { 0: "60", 600: "59" },
      expected: { inMs: 59_000, certain: false },
    },
    {
      name: "a fall at neither unit's pace tells nothing",
      samples: { 0: "6000", 1_000: "5900" },
      expected: { inMs: 5_900_000, certain: false },
    },
    {
      name: "a repeated count does not take the older one's place",
      samples: { 0: "60", 600: "60", 1_000: "59" },
      expected: { inMs: 59_000, certain: true },
    },
    {
      name: "a new window's first count takes the place of the old window's last at once",
      samples: { 0: "100", 200: "5900", 400: "5700" },
      expected: { inMs: 5_700, certain: true },
    },
  ])("is compared between answers: $name", ({ samples, expected }) => {
    expect(reading(Object.entries(samples).map(([atMs, raw]) => [Number(atMs), raw]))).toEqual(expected);
  });

  it("concludes nothing from a constant count or across windows", () => {
    expect(
      reading([
        [0, "60"],
        [30_000, "60"],
      ]),
    ).toEqual({ inMs: 60_000, certain: false });
    expect(
      reading([
        [0, "10"],
        [20_000, "50"],
      ]),
    ).toEqual({ inMs: 50_000, certain: false });
  });

  it("does not conclude seconds from a count that is constant for a moment", () => {
    expect(
      reading([
        [0, "6000"],
        [1_000, "6000"],
      ]),
    ).toEqual({ inMs: 6_000_000, certain: false });
  });

  it("corrects seconds to milliseconds after misleading answers", () => {
    expect(
      reading([
        [0, "6000"],
        [1_000, "5998"],
      ]),
    ).toEqual({ inMs: 5_998_000, certain: true });
    expect(
      reading([
        [0, "6000"],
        [1_000, "5998"],
        [2_500, "4498"],
      ]),
    ).toEqual({ inMs: 4_498, certain: true });
  });
});

describe("Retry-After", () => {
  const ask = (raw: string | string[] | undefined, date?: string) =>
    readRetryAfterMs({ "retry-after": raw, date }, NOW);

  it.each([
    ["7", 7_000],
    [" 7 ", 7_000],
    ["0", 0],
    ["1.5", 1_500],
    [["3", "60"], 3_000],
    ["Fri, 20 Nov 2026 05:00:30 GMT", 30_000],
    ["Friday, 20-Nov-26 05:00:30 GMT", 30_000],
    ["2026-11-20T05:00:30Z", 30_000],
    ["Fri, 20 Nov 2026 04:00:00 GMT", 0],
    ["999999999", 86_400_000],
  ])("of %j means %d ms", (raw, ms) => {
    expect(ask(raw)).toBe(ms);
  });

  it.each([undefined, "", "-1", "soon", "6m0s", "1e3", "Infinity", "0x10", "in 5", "Sun, 99 Foo 2026"])(
    "of %j means nothing",
    (raw) => {
      expect(ask(raw)).toBeUndefined();
    },
  );

  it("compares a date with the Date of the answer, or with our clock if that is unreadable", () => {
    const until = "Fri, 20 Nov 2026 05:02:30 GMT";
    expect([ask(until, "Fri, 20 Nov 2026 05:02:00 GMT"), ask(until, "today"), ask(until)]).toEqual([
      30_000, 150_000, 150_000,
    ]);
  });
});
