// The law of paid and public requests, in every order of events of two calls. The stress tests explore more.

import { expect, test } from "vitest";
import { describeCounterexample, explore } from "./explore.ts";
import { PAIRS } from "./scenarios.ts";

test.each(PAIRS)("No order of events with one fault makes $name pay or post twice", async (scenario) => {
  const exploration = await explore(scenario, 1);

  expect(describeCounterexample(exploration)).toBe("none");
  // Fewer would mean that the model explores less than it should.
  expect(exploration.states).toBeGreaterThan(200);
});
