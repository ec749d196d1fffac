import { expect, test } from "vitest";
import { spokenRange } from "../../src/prompts/prompt-parts.ts";
import { PACINGS } from "../../src/service/options.ts";

test.each([
  ["en", { unit: "words", min: 64, max: 71 }],
  ["en-GB", { unit: "words", min: 64, max: 71 }],
  ["de", { unit: "words", min: 57, max: 62 }],
  ["fi", { unit: "words", min: 41, max: 45 }],
  ["ja", { unit: "characters", min: 128, max: 142 }],
  ["zh-Hant-TW", { unit: "characters", min: 102, max: 114 }],
  ["th", { unit: "syllables", min: 77, max: 85 }],
  ["qaa", { unit: "words", min: 51, max: 57 }],
])("thirty seconds of %s are counted in what the language is written in", (language, range) => {
  expect(spokenRange(language, "normal", 30)).toEqual(range);
});

test("a faster pacing holds more words", () => {
  const ranges = PACINGS.map((pacing) => spokenRange("en", pacing, 30));

  expect(ranges.map(({ min, max }) => [min, max])).toEqual([
    [55, 60],
    [64, 71],
    [71, 78],
  ]);
});
