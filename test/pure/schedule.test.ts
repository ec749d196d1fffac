import { expect, test } from "vitest";
import { firstDelayMs, nextDelayMs, type Schedule } from "../../src/jobs/poller.ts";
import { randomEnd, seededRandom } from "../fixtures/durations.ts";

/** The number of polls for a job of this duration, and the ms from its end to the last of them. */
function follow(schedule: Schedule, durationMs: number) {
  let polls = 1;
  let ageMs = firstDelayMs(schedule, 0);
  for (; ageMs < durationMs; polls++) ageMs += nextDelayMs(schedule, ageMs);
  return { polls, lateMs: ageMs - durationMs };
}

test("an ordinary job costs at most 15.5 requests, and its end is noticed within 7 s (p95)", () => {
  const random = seededRandom(1);
  const schedule = { random };
  const jobs = Array.from({ length: 5_000 }, () => follow(schedule, randomEnd(random).durationMs));
  const lateMs = jobs.map((job) => job.lateMs).toSorted((a, b) => a - b);

  expect(jobs.reduce((sum, { polls }) => sum + polls, 0) / jobs.length).toBeLessThanOrEqual(15.5);
  expect(lateMs[0.95 * jobs.length]).toBeLessThanOrEqual(7_000);
});

test("polls of a job begin at 12 s of age, or at once if it is older or its age is not known", () => {
  const schedule = { random: () => 0 };
  expect([0, 5_000, 90_000, undefined].map((ageMs) => firstDelayMs(schedule, ageMs))).toEqual([
    12_000, 7_000, 0, 0,
  ]);
});

test("a job of any age is polled at least every 33 s and at most every 5 s", () => {
  const schedule = { random: seededRandom(2) };
  for (let ageMs = 0; ageMs < 3_600_000; ageMs += 900) {
    expect(nextDelayMs(schedule, ageMs)).toBeGreaterThan(5_000);
    expect(nextDelayMs(schedule, ageMs)).toBeLessThanOrEqual(33_000);
  }
});

test("a configured interval applies at any age and without jitter", () => {
  const schedule = { fixedMs: 2_500, random: () => 0 };
  const delays = [firstDelayMs(schedule, 0), nextDelayMs(schedule, 500_000), nextDelayMs(schedule)];
  expect(delays).toEqual([2_500, 2_500, 2_500]);
});
