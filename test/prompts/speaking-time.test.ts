import { describe, expect, test } from "vitest";
import { planSpeakingTime, speakingRate } from "../../src/prompts/speaking-time.ts";
import { PACINGS } from "../../src/service/options.ts";

describe("the speaking rate", () => {
  test.each([
    ["en", { unit: "words", perSecond: 2.5 }],
    ["en-GB", { unit: "words", perSecond: 2.5 }],
    ["de", { unit: "words", perSecond: 2 }],
    ["fi", { unit: "words", perSecond: 1.6 }],
    ["ja", { unit: "characters", perSecond: 5 }],
    ["zh-Hant-TW", { unit: "characters", perSecond: 4 }],
    ["th", { unit: "syllables", perSecond: 3 }],
    ["qaa", { unit: "words", perSecond: 2 }],
  ])("of %s counts what the language is written in", (language, rate) => {
    expect(speakingRate(language, "normal")).toEqual(rate);
  });

  test("rises with the pacing", () => {
    expect(PACINGS.map((pacing) => speakingRate("en", pacing).perSecond)).toEqual([2, 2.5, 2.9]);
  });
});

describe("the speaking time", () => {
  test("of thirty seconds of English is a hook of five words, three beats and an ending", () => {
    const request = { language: "en", pacing: "normal", durationSeconds: 30, spokenShare: 1 } as const;

    expect(planSpeakingTime(request)).toEqual({
      rate: { unit: "words", perSecond: 2.5 },
      hook: 5,
      beatCount: 3,
      beat: 20,
      ending: 9,
      total: 75,
    });
  });

  const requests = ["en", "fi", "ja", "th"].flatMap((language) =>
    PACINGS.flatMap((pacing) =>
      [10, 12.5, 20, 45, 90].flatMap((durationSeconds) =>
        [0.5, 1].map((spokenShare) => ({ language, pacing, durationSeconds, spokenShare })),
      ),
    ),
  );

  test.each(requests)("has two to four beats, and no part exceeds the total: %j", (request) => {
    const { hook, beat, beatCount, ending, total, rate } = planSpeakingTime(request);

    expect([2, 3, 4]).toContain(beatCount);
    expect(Math.min(hook, beat, ending)).toBeGreaterThanOrEqual(1);
    expect(hook + beatCount * beat + ending).toBeLessThanOrEqual(total);
    expect(total).toBeLessThanOrEqual(rate.perSecond * request.durationSeconds * request.spokenShare);
  });
});
