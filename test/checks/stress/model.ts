// Explores every order of events of the guard's model with more calls and more faults than npm test does.

import { describeCounterexample, explore } from "../../model/explore.ts";
import { FOURS, PAIRS, THREES } from "../../model/scenarios.ts";

const EXPLORED = [
  { scenarios: PAIRS, faults: 2, how: "with up to two faults" },
  { scenarios: THREES, faults: 1, how: "with one fault" },
  // With a fault they have about two million states.
  { scenarios: FOURS, faults: 0, how: "without a fault" },
];

/** Prints a counterexample, if there is one, as a list of steps. */
export async function model() {
  const rows = [];
  for (const { scenarios, faults, how } of EXPLORED)
    for (const scenario of scenarios) {
      const found = await explore(scenario, faults);
      const met = found.counterexample === undefined;
      if (!met) process.stderr.write(`${scenario.name}:\n${describeCounterexample(found)}\n`);
      rows.push({
        test: `every order of events: ${scenario.name}`,
        promised: `none ${how} breaks the law`,
        measured: `${met ? "all" : "a counterexample after"} ${found.states} states`,
        met,
      });
    }
  return rows;
}
