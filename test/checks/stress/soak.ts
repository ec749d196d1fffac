// 100,000 calls and 10,000 subscriptions with each protocol, a client that stops reading, and a flood of
// 100,000 calls that the service never answers.

import { flood, soak as callAndSubscribe, stallReader } from "../../fixtures/soak.ts";

const MAX_HEAP_GROWTH_MB = 2;
const MAX_RSS_GROWTH_MB = 30;

export async function soak() {
  const rows = [];
  for (const protocol of ["legacy", "modern"] as const) {
    // More jobs than the server remembers, all of them read before the first measurement.
    const size = { calls: 100_000, cycles: 10_000, jobs: 3_000, warmUp: 0.1 };
    const long = await callAndSubscribe({ protocol, ...size });
    const stalled = await stallReader(protocol);
    const flooded = await flood(protocol);
    rows.push({
      test: `long use, ${protocol} client`,
      promised: `heap ≤ +${MAX_HEAP_GROWTH_MB} MB, no handle left; ≤ +${MAX_RSS_GROWTH_MB} MB for a client that stalls or floods`,
      measured: `${size.calls} calls, ${size.cycles} subscriptions: heap ${long.heapGrowthMb.toFixed(2)} MB, ${long.handlesLeft.length} handles; stalled ${stalled.rssGrowthMb.toFixed(1)} MB, ${stalled.answered} of ${stalled.requests} answered; flood of ${flooded.calls} calls ${flooded.rssGrowthMb.toFixed(1)} MB`,
      met:
        long.heapGrowthMb <= MAX_HEAP_GROWTH_MB &&
        long.handlesLeft.length === 0 &&
        long.wrongAnswers === 0 &&
        stalled.rssGrowthMb <= MAX_RSS_GROWTH_MB &&
        stalled.answered === stalled.requests &&
        flooded.rssGrowthMb <= MAX_RSS_GROWTH_MB,
    });
  }
  return rows;
}
