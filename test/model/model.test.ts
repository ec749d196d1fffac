// The law of paid and public requests (law.ts), in every order of events of two calls with one fault. The
// stress tests explore more calls and more faults.

import { expect, test } from "vitest";
import { describeCounterexample, explore } from "./explore.ts";
import { PAIRS } from "./scenarios.ts";

test.each(PAIRS)("No order of events with one fault breaks the law for $name", async (scenario) => {
  const exploration = await explore(scenario, 1);

  expect(describeCounterexample(exploration)).toBe("none");
  // Fewer would mean that the model explores less than it should.
  expect(exploration.states).toBeGreaterThan(500);
});
