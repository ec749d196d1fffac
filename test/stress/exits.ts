// Stress test: how long the built file takes to end, for each event, state and protocol, with nothing else running. Prints the
// figures as JSON, and fails if a median exceeds the limit: other load delays some rounds, a defect delays all of them.

import { loadavg } from "node:os";
import { isDeepStrictEqual } from "node:util";
import { exitCases, expectedOutcome, limitMs, runExitCase } from "../fixtures/exit-cases.ts";

const ROUNDS = 5;

const rows = [];
for (const exitCase of exitCases()) {
  const times: number[] = [];
  let clean = true;
  for (let round = 0; round < ROUNDS; round += 1) {
    const { ms, outcome } = await runExitCase(exitCase);
    times.push(Math.round(ms));
    clean &&= isDeepStrictEqual(outcome, expectedOutcome(exitCase));
  }
  times.sort((a, b) => a - b);
  const medianMs = times[Math.floor(ROUNDS / 2)] ?? Infinity;
  const maxMs = times.at(-1) ?? Infinity;
  rows.push({
    ...exitCase,
    medianMs,
    maxMs,
    limitMs: limitMs(exitCase),
    clean,
    met: clean && medianMs <= limitMs(exitCase),
  });
}
process.stdout.write(`${JSON.stringify({ loadAverage: loadavg()[0], rows }, undefined, 2)}\n`);
process.exitCode = rows.every(({ met }) => met) ? 0 : 1;
