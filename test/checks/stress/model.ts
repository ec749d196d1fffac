// Explores every order of events of the guard's model within larger bounds than npm test does.

import { describeCounterexample, explore } from "../../idempotency/model/explore.ts";
import { FOURS, PAIRS } from "../../idempotency/model/scenarios.ts";

/** Four calls have more orders than can be seen in this time. */
const MAX_MS = 20 * 60_000;

/** Prints a counterexample, if there is one, as a list of steps. */
export async function model() {
  const rows = [];
  for (const scenario of [...PAIRS, ...FOURS]) {
    const preemptions = PAIRS.includes(scenario) ? Infinity : 2;
    const startMs = performance.now();
    const elapsedMs = () => performance.now() - startMs;
    const found = await explore(scenario, { faults: 1, preemptions }, () => elapsedMs() < MAX_MS);
    const met = found.counterexample === undefined;
    if (!met) process.stderr.write(`${scenario.name}:\n${describeCounterexample(found)}\n`);
    const extent = found.isWhole
      ? "all of them"
      : met
        ? "not all: its time was over"
        : "with a counterexample";
    rows.push({
      test: `every order of events: ${scenario.name}`,
      promised: `none with one fault and ${preemptions === Infinity ? "any" : preemptions} preemptions pays or posts twice`,
      measured: `${found.states} states in ${Math.round(elapsedMs() / 1000)} s, ${extent}`,
      met,
    });
  }
  return rows;
}
