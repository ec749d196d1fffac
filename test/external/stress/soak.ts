// 100,000 calls and 10,000 subscriptions with each protocol.

import { soak as callAndSubscribe } from "../../fixtures/soak.ts";

const MAX_HEAP_GROWTH_MB = 2;

export async function soak() {
  const rows = [];
  for (const protocol of ["legacy", "modern"] as const) {
    // More jobs than the server remembers, all of them read before the first measurement.
    const size = { calls: 100_000, cycles: 10_000, jobs: 3_000, warmUp: 0.1 };
    const long = await callAndSubscribe({ protocol, ...size });
    rows.push({
      test: `long use, ${protocol} client`,
      promised: `heap ≤ +${MAX_HEAP_GROWTH_MB} MB, no handle left`,
      measured: `${size.calls} calls, ${size.cycles} subscriptions: heap ${long.heapGrowthMb.toFixed(2)} MB, ${long.handlesLeft.length} handles`,
      met:
        long.heapGrowthMb <= MAX_HEAP_GROWTH_MB && long.handlesLeft.length === 0 && long.wrongAnswers === 0,
    });
  }
  return rows;
}
