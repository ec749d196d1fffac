// The law of paid and public requests (law.ts), in every order of events of two calls with one fault.
// `MODEL=deep npx vitest run --project model` explores more calls and more faults, in about twelve minutes.

import { expect, test } from "vitest";
import { describeCounterexample, explore } from "./explore.ts";
import { FOURS, PAIRS, THREES } from "./scenarios.ts";

const DEEP = [
  ...PAIRS.map((scenario) => ({ scenario, faults: 2, name: `${scenario.name}, with two faults` })),
  ...THREES.map((scenario) => ({ scenario, faults: 1, name: `${scenario.name}, with one fault` })),
  // With a fault they have about two million states.
  ...FOURS.map((scenario) => ({ scenario, faults: 0, name: `${scenario.name}, without a fault` })),
];
const QUICK = PAIRS.map((scenario) => ({ scenario, faults: 1, name: `${scenario.name}, with one fault` }));

test.each(process.env["MODEL"] === "deep" ? DEEP : QUICK)(
  "No order of events breaks the law: $name",
  { timeout: 1_200_000 },
  async ({ scenario, faults }) => {
    const exploration = await explore(scenario, faults);

    expect(describeCounterexample(exploration)).toBe("none");
    // Fewer would mean that the model explores less than it should.
    expect(exploration.states).toBeGreaterThan(500);
  },
);
