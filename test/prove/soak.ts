// npm run prove: 100,000 calls and 10,000 subscriptions through the built file in each era, and a reader that stalls. Prints
// its figures as JSON, and fails where one is worse than promised.

import { soak, stallReader } from "../fixtures/soak.ts";

const MOST_HEAP_MB = 2;
const MOST_STALLED_MB = 20;

const eras = ["old", "new"] as const;
const rows = [];
for (const era of eras) {
  // More jobs than are remembered, and all of them asked for before the first look.
  const long = await soak({ era, calls: 100_000, cycles: 10_000, jobs: 3_000, warmUp: 0.1 });
  const stalled = await stallReader(era);
  const met =
    long.heapGrowthMb <= MOST_HEAP_MB &&
    long.handlesLeft.length === 0 &&
    long.wrongAnswers === 0 &&
    stalled.rssGrowthMb <= MOST_STALLED_MB &&
    stalled.answered === stalled.requests;
  rows.push({ era, met, long, stalled });
}
process.stdout.write(`${JSON.stringify(rows, undefined, 2)}\n`);
process.exitCode = rows.every(({ met }) => met) ? 0 : 1;
