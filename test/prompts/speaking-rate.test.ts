import { describe, expect, test } from "vitest";
import { speakingRate } from "../../src/prompts/speaking-rate.ts";
import { HOOK_SECONDS, planTiming } from "../../src/prompts/timing.ts";
import { PACINGS, type Pacing } from "../../src/service/options.ts";

const DURATIONS = [10, 12.5, 15, 20, 30, 45, 60, 77, 90];
const LANGUAGES = ["en", "de", "fi", "ar", "ja", "zh-Hant", "th", "vi", "qaa"];

function spoken(duration: number, pacing: Pacing): number {
  return planTiming({ duration, pacing, language: "en", spokenShare: 1 }).spoken;
}

describe("the speaking rate", () => {
  test("rises with the pacing in every language", () => {
    for (const language of LANGUAGES) {
      const [slow = 0, normal = 0, fast = 0] = PACINGS.map(
        (pacing) => speakingRate(language, pacing).perMinute,
      );
      expect([language, 0 < slow && slow < normal && normal < fast]).toEqual([language, true]);
    }
  });

  test.each([
    ["en", { unit: "words", perMinute: 150 }],
    ["en-GB", { unit: "words", perMinute: 150 }],
    ["es", { unit: "words", perMinute: 135 }],
    ["de", { unit: "words", perMinute: 120 }],
    ["fi", { unit: "words", perMinute: 105 }],
    ["ja", { unit: "characters", perMinute: 300 }],
    ["zh-Hant-TW", { unit: "characters", perMinute: 240 }],
    ["cmn", { unit: "characters", perMinute: 240 }],
    ["th", { unit: "syllables", perMinute: 180 }],
    ["qaa", { unit: "words", perMinute: 120 }],
  ] as const)("of %s is counted in what that language is written in", (language, rate) => {
    expect(speakingRate(language, "normal")).toEqual(rate);
  });
});

describe("the timing", () => {
  test("of thirty seconds of normal English is a hook, three beats and an ending", () => {
    expect(planTiming({ duration: 30, pacing: "normal", language: "en", spokenShare: 1 })).toEqual({
      rate: { unit: "words", perMinute: 150 },
      hook: { seconds: 2, spoken: 5 },
      beat: { seconds: 8, spoken: 20, count: 3, pictures: 2 },
      ending: { seconds: 4, spoken: 10 },
      spoken: 75,
    });
  });

  const plans = LANGUAGES.flatMap((language) =>
    PACINGS.flatMap((pacing) =>
      DURATIONS.flatMap((duration) =>
        [0.5, 0.9, 1].map((spokenShare) => ({ duration, pacing, language, spokenShare })),
      ),
    ),
  );

  test("fills the duration exactly and never holds more than can be spoken in it", () => {
    for (const plan of plans) {
      const { rate, hook, beat, ending, spoken } = planTiming(plan);
      expect(hook.seconds + beat.count * beat.seconds + ending.seconds).toBeCloseTo(plan.duration);
      expect(spoken).toBe(hook.spoken + beat.count * beat.spoken + ending.spoken);
      // The hook alone is rounded to the nearest, and may take from the beat after it.
      expect(spoken).toBeLessThanOrEqual((rate.perMinute / 60) * plan.duration + 1);
      expect(Math.min(hook.spoken, beat.spoken, ending.spoken)).toBeGreaterThanOrEqual(1);
    }
  });

  test("gives the hook two seconds, and every beat and ending room for a sentence", () => {
    for (const plan of plans) {
      const { hook, beat, ending } = planTiming(plan);
      expect(hook.seconds).toBe(HOOK_SECONDS);
      expect(beat.seconds).toBeGreaterThanOrEqual(3.5);
      expect(beat.seconds).toBeLessThanOrEqual(15);
      expect(ending.seconds).toBeGreaterThanOrEqual(3);
    }
  });

  test("has room for one beat at ten seconds and for no more than ten at ninety", () => {
    for (const pacing of PACINGS) {
      const beats = (duration: number) =>
        planTiming({ duration, pacing, language: "en", spokenShare: 1 }).beat.count;
      expect(beats(10)).toBe(1);
      expect(beats(90)).toBeGreaterThanOrEqual(6);
      expect(beats(90)).toBeLessThanOrEqual(10);
    }
  });

  test("grows with the duration and the pacing", () => {
    for (const pacing of PACINGS) {
      const totals = DURATIONS.map((duration) => spoken(duration, pacing));
      expect(totals).toEqual(totals.toSorted((a, b) => a - b));
      expect(new Set(totals).size).toBe(DURATIONS.length);
    }
    for (const duration of DURATIONS) {
      expect(spoken(duration, "slow")).toBeLessThan(spoken(duration, "normal"));
      expect(spoken(duration, "normal")).toBeLessThan(spoken(duration, "fast"));
    }
  });
});
