// How long the built file takes to end, for each event, state and protocol, with nothing else running. The
// median counts: other load delays some rounds, a defect delays all of them.

import { isDeepStrictEqual } from "node:util";
import { type ExitCase, exitCases, expectedOutcome, runExitCase } from "../../fixtures/exit-cases.ts";

const ROUNDS = 5;

export async function exits() {
  const results: { state: string; limit: number; medianMs: number; maxMs: number; met: boolean }[] = [];
  for (const exitCase of exitCases()) {
    const times: number[] = [];
    let clean = true;
    for (let round = 0; round < ROUNDS; round += 1) {
      const { ms, outcome } = await runExitCase(exitCase);
      times.push(Math.round(ms));
      clean &&= isDeepStrictEqual(outcome, expectedOutcome(exitCase));
    }
    times.sort((a, b) => a - b);
    const [medianMs = Infinity, maxMs = Infinity] = [times[Math.floor(ROUNDS / 2)], times.at(-1)];
    const limit = limitMs(exitCase);
    const met = clean && medianMs <= limit;
    if (!met) process.stderr.write(`${JSON.stringify({ ...exitCase, times, clean })}\n`);
    results.push({ state: exitCase.state, limit, medianMs, maxMs, met });
  }
  return [...new Set(results.map(({ limit }) => limit))].map((limit) => {
    const cases = results.filter((result) => result.limit === limit);
    const slowestMs = Math.max(...cases.map(({ medianMs }) => medianMs));
    const maxMs = Math.max(...cases.map((one) => one.maxMs));
    return {
      test: `end of the process: ${[...new Set(cases.map(({ state }) => state))].join(", ")}`,
      promised: `within ${limit} ms, exit 0, no stack trace, no orphan`,
      measured: `${cases.length} cases, slowest median ${slowestMs} ms, slowest of all ${maxMs} ms`,
      met: cases.every(({ met }) => met),
    };
  });
}

/** The limit of the contract. */
function limitMs({ state }: ExitCase): number {
  return state.startsWith("a paid request") ? 2_000 : 250;
}
