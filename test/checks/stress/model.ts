// Explores every order of events of the guard's model with more calls and more faults than npm test does.

import { describeCounterexample, explore } from "../../idempotency/model/explore.ts";
import { FOURS, PAIRS } from "../../idempotency/model/scenarios.ts";

/** Prints a counterexample, if there is one, as a list of steps. */
export async function model() {
  const rows = [];
  const explored = [...PAIRS.map((pair) => [pair, 2] as const), ...FOURS.map((four) => [four, 1] as const)];
  for (const [scenario, faults] of explored) {
    const startMs = performance.now();
    const found = await explore(scenario, faults);
    const met = found.counterexample === undefined;
    if (!met) process.stderr.write(`${scenario.name}:\n${describeCounterexample(found)}\n`);
    rows.push({
      test: `every order of events: ${scenario.name}`,
      promised: `none with ${faults === 1 ? "one fault" : `up to ${faults} faults`} breaks the law`,
      measured: `${met ? "all" : "a counterexample after"} ${found.states} states, in ${Math.round((performance.now() - startMs) / 1000)} s`,
      met,
    });
  }
  return rows;
}
