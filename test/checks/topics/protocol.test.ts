import { expect, test } from "vitest";
import { countWins, dealLetters, pairsOf } from "./protocol.ts";

const ARMS = ["prompt", "description", "bare"];
const numbers = Array.from({ length: 300 }, (_, number) => number);

test("the letters of a wish's topics are the same again for the same seed, and each topic has one", () => {
  const deal = { seed: 7, judge: "1", wish: "salt" };
  const letters = dealLetters(ARMS, deal);

  expect([...letters.keys()]).toEqual(["A", "B", "C"]);
  expect([...letters.values()].sort()).toEqual([...ARMS].sort());
  expect(dealLetters([...ARMS].reverse(), deal)).toEqual(letters);
});

test.each(["seed", "judge", "wish"])(
  "another %s deals the letters anew, and favours no writer",
  (changed) => {
    const firsts = numbers.map((number) =>
      dealLetters(ARMS, {
        seed: changed === "seed" ? number : 7,
        judge: changed === "judge" ? String(number) : "1",
        wish: changed === "wish" ? `wish ${number}` : "salt",
      }).get("A"),
    );

    for (const arm of ARMS) expect(firsts.filter((first) => first === arm).length).toBeGreaterThan(70);
  },
);

test("a writer wins against another where it is ranked before it, whatever stands between them", () => {
  const verdicts = [
    { ranks: ["prompt", "bare", "description"] },
    { ranks: ["description", "prompt", "bare"] },
    { ranks: ["bare", "description", "prompt"] },
  ];

  expect(pairsOf(ARMS).map((pair) => [...pair, countWins(verdicts, pair)])).toEqual([
    ["prompt", "description", "1 of 3"],
    ["prompt", "bare", "2 of 3"],
    ["description", "bare", "1 of 3"],
  ]);
});
