import { assert, integer, property } from "fast-check";
import { expect, test } from "vitest";
import { type PollState, Schedule } from "../../src/jobs/schedule.ts";
import { seededRandom } from "../fixtures/durations.ts";

/** No jitter. */
const middle = () => 0.5;

function known(ageSeconds: number, more: Partial<PollState> = {}): PollState {
  return { ageMs: 1000 * ageSeconds, observedMs: 0, ...more };
}

function unknown(observedSeconds: number): PollState {
  return { ageMs: undefined, observedMs: 1000 * observedSeconds };
}

function scheduleAfter(seconds: number[]): Schedule {
  const schedule = new Schedule({ random: middle });
  for (const each of seconds) schedule.recordCompletion(1000 * each);
  return schedule;
}

const clips = (completed: number, total: number, failed = 0) => ({ progress: { completed, total, failed } });

test.each([
  [94.999, 30_000],
  [95, 8_000],
  [134.999, 8_000],
  [135, 6_000],
  [299.999, 6_000],
  [300, 12_000],
  [500, 20_000],
  [750, 30_000],
  [3600, 30_000],
])("the schedule of a watched job waits at age %d s for %d ms", (ageSeconds, intervalMs) => {
  expect(new Schedule({ random: middle }).nextDelayMs(known(ageSeconds))).toBe(intervalMs);
});

test("polls of a job begin at 12 s of age, or immediately if it is older", () => {
  const schedule = new Schedule({ random: middle });
  expect([0, 5_000, 12_000, 90_000, -3_000].map((age) => schedule.firstDelayMs(age))).toEqual([
    12_000, 7_000, 0, 0, 12_000,
  ]);
});

test("a job of unknown age is polled at once, then every 10 s for five minutes", () => {
  const schedule = new Schedule({ random: middle });
  expect(schedule.firstDelayMs(undefined)).toBe(0);
  expect([0, 150, 299.999, 300, 600].map((seconds) => schedule.nextDelayMs(unknown(seconds)))).toEqual([
    10_000, 10_000, 10_000, 12_000, 24_000,
  ]);
});

test("the schedule of a watched job varies every delay by up to a tenth of its interval", () => {
  expect(new Schedule({ random: () => 0 }).nextDelayMs(known(20))).toBeCloseTo(27_000);
  expect(new Schedule({ random: () => 0.999_999 }).nextDelayMs(known(20))).toBeCloseTo(33_000, -1);
  expect(new Schedule({ random: () => 0 }).firstDelayMs(0)).toBeCloseTo(10_800);
});

test("a configured interval applies at any age and without jitter", () => {
  const schedule = new Schedule({ fixedMs: 2_500, random: () => 0 });
  for (let each = 0; each < 6; each++) schedule.recordCompletion(20_000);
  expect(schedule.firstDelayMs(0)).toBe(2_500);
  expect([known(500), unknown(1), unknown(999)].map((job) => schedule.nextDelayMs(job))).toEqual([
    2_500, 2_500, 2_500,
  ]);
  expect(schedule.firstDelayMs(undefined)).toBe(0);
});

const fifty = (seconds: number) => Array.from({ length: 50 }, () => seconds);

test.each([
  ["is 1 before the first completion", [], 1],
  ["is 1 until five completions are known", [330, 330, 330, 330], 1],
  ["is 2 after five jobs that took twice as long as usual", [330, 330, 330, 330, 330], 2],
  ["follows the median, not an outlier", [165, 165, 3_000, 165, 1], 1],
  ["is at least 0.3", [5, 5, 5, 5, 5], 0.3],
  ["is at most 4", [9_000, 9_000, 9_000, 9_000, 9_000], 4],
  ["counts the last fifty completions", [...fifty(50), ...fifty(330)], 2],
  ["ignores durations that can't be", [330, 330, 330, 330, Number.NaN, Infinity, 0, -5], 1],
])("the scale of the schedule %s", (_, completions, scale) => {
  expect(scheduleAfter(completions).firstDelayMs(0)).toBe(12_000 * scale);
});

test("the scale of the schedule stretches ages and intervals alike", () => {
  const schedule = scheduleAfter([330, 330, 330, 330, 330]);
  expect(schedule.firstDelayMs(0)).toBe(24_000);
  expect([24, 189, 190, 270, 600, 2_000].map((age) => schedule.nextDelayMs(known(age)))).toEqual([
    60_000, 60_000, 16_000, 12_000, 24_000, 60_000,
  ]);
});

test("the clips of a job make the next poll earlier if they show a short job", () => {
  const schedule = new Schedule({ random: middle });
  expect(schedule.nextDelayMs(known(12, clips(3, 5)))).toBe(6_000);
  expect(schedule.nextDelayMs(known(14, clips(1, 3)))).toBeCloseTo(10_000);
  expect(schedule.nextDelayMs(known(14, clips(0, 3, 1)))).toBeCloseTo(10_000);
  expect(schedule.nextDelayMs(known(60, clips(5, 5)))).toBe(15_000);
});

test("the clips of a job never delay a poll and change nothing until one is finished", () => {
  const schedule = new Schedule({ random: middle });
  expect(schedule.nextDelayMs(known(12, clips(0, 5)))).toBe(30_000);
  expect(schedule.nextDelayMs(known(12, clips(0, 0)))).toBe(30_000);
  expect(schedule.nextDelayMs(known(150, clips(1, 5)))).toBe(6_000);
});

test("the clips of a job show the end of a 20 s job within 7 s", () => {
  assert(
    property(integer(), integer({ min: 2, max: 8 }), (seed, total) => {
      const schedule = new Schedule({ random: seededRandom(seed) });
      let ageMs = schedule.firstDelayMs(0);
      while (ageMs < 20_000) {
        const completed = Math.floor((total * ageMs) / 20_000);
        ageMs += schedule.nextDelayMs({ ...known(ageMs / 1000), ...clips(completed, total) });
      }
      expect(ageMs - 20_000).toBeLessThanOrEqual(7_000);
    }),
    { numRuns: 200, seed: 20 },
  );
});
