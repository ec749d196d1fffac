import { expect, test } from "vitest";
import { firstSpokenWords, spokenTextOf } from "../../src/service/spoken-words.ts";
import { countUnits } from "../../src/service/words.ts";

const SENTENCE =
  "A fox steals one sock a night, and on the ninth night it brings back one that is not ours at all.";

test.each([
  ["A fox. [a lawn] A sock.", "A fox.   A sock."],
  ["[a lawn at [blue] night] A fox.", "  A fox."],
  ["A fox [a lawn", "A fox [a lawn"],
  ["[ A fox. [a lawn] A sock.", "[ A fox.   A sock."],
  ["A fox] runs.", "A fox] runs."],
])("the topic %j is spoken as %j", (topic, spoken) => {
  expect(spokenTextOf(topic)).toBe(spoken);
});

test.each([
  ["[a lawn at night] A fox\n  steals socks. [a sock]", "A fox steals socks."],
  [SENTENCE, "A fox steals one sock a night, and on the ninth night it brings back one that…"],
  [`[${"a wide lawn ".repeat(10)}] A fox.`, "A fox."],
  ["[rain on a tin roof] … [thunder]", "[rain on a tin roof] … [thunder]"],
  ["猫は液体である。".repeat(20), `${"猫は液体である。".repeat(9)}猫は液体である…`],
  [`${"猫は液体である。".repeat(9)}fl_example and more`, `${"猫は液体である。".repeat(9)}…`],
  ["\u{1F98A}".repeat(90), `${"\u{1F98A}".repeat(79)}…`],
  [`It is ${"\u{1F98A}".repeat(90)}`, `It is ${"\u{1F98A}".repeat(73)}…`],
  ["x".repeat(100), `${"x".repeat(79)}…`],
  [`${"x".repeat(79)} y`, `${"x".repeat(79)}…`],
  ["x".repeat(80), "x".repeat(80)],
])("the video of %j is named %j", (topic, name) => {
  expect(firstSpokenWords(topic)).toBe(name);
});

test.each([
  ["It's 3 well-known words… 好的!", "words", 5],
  ["猫はAI です。", "characters", 5],
  ["สวัสดีครับ hello", "syllables", 5],
  ["[ … — ]", "words", 0],
] as const)("in %j, the number of %j is %i", (text, unit, count) => {
  expect(countUnits(text, unit)).toBe(count);
});

test("a topic may be as long as a message, and have brackets only", () => {
  for (const part of ["[", "]", "[]", "[a", "[[a]", "a ", "字"]) {
    const topic = part.repeat(400_000 / part.length);
    expect(firstSpokenWords(topic).length).toBeLessThanOrEqual(80);
    expect(countUnits(spokenTextOf(topic), "characters")).toBeGreaterThanOrEqual(0);
  }
});
