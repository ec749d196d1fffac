// Stress test: how long the built file takes to end, for each event in each state and both kinds of client, with nothing else
// running. Prints the figures as JSON, and fails where a median is over the contract's limit: what else the machine does delays
// some rounds, a fault of ours delays all of them.

import { loadavg } from "node:os";
import { isDeepStrictEqual } from "node:util";
import { cells, end, expectedOutcome, limitMs } from "../fixtures/endings.ts";

const ROUNDS = 5;

const rows = [];
for (const cell of cells()) {
  const times: number[] = [];
  let clean = true;
  for (let round = 0; round < ROUNDS; round += 1) {
    const { ms, outcome } = await end(cell);
    times.push(Math.round(ms));
    clean &&= isDeepStrictEqual(outcome, expectedOutcome(cell));
  }
  times.sort((a, b) => a - b);
  const medianMs = times[Math.floor(ROUNDS / 2)] ?? Infinity;
  const maxMs = times.at(-1) ?? Infinity;
  rows.push({
    ...cell,
    medianMs,
    maxMs,
    limitMs: limitMs(cell),
    clean,
    met: clean && medianMs <= limitMs(cell),
  });
}
process.stdout.write(`${JSON.stringify({ loadAverage: loadavg()[0], rows }, undefined, 2)}\n`);
process.exitCode = rows.every(({ met }) => met) ? 0 : 1;
