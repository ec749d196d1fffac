// Stress test: 100,000 calls and 10,000 subscriptions with each protocol, a client that stops reading, and a flood of 100,000 calls
// that the service never answers. Prints the figures as JSON, and fails if one exceeds its limit.

import { flood, soak, stallReader } from "../fixtures/soak.ts";

const MAX_HEAP_GROWTH_MB = 2;
const MAX_RSS_GROWTH_MB = 20;

const rows = [];
for (const protocol of ["legacy", "modern"] as const) {
  // More jobs than the server remembers, all of them read before the first measurement.
  const long = await soak({ protocol, calls: 100_000, cycles: 10_000, jobs: 3_000, warmUp: 0.1 });
  const stalled = await stallReader(protocol);
  const flooded = await flood(protocol);
  const met =
    long.heapGrowthMb <= MAX_HEAP_GROWTH_MB &&
    long.handlesLeft.length === 0 &&
    long.wrongAnswers === 0 &&
    stalled.rssGrowthMb <= MAX_RSS_GROWTH_MB &&
    stalled.answered === stalled.requests &&
    flooded.rssGrowthMb <= MAX_RSS_GROWTH_MB;
  rows.push({ protocol, met, long, stalled, flooded });
}
process.stdout.write(`${JSON.stringify(rows, undefined, 2)}\n`);
process.exitCode = rows.every(({ met }) => met) ? 0 : 1;
