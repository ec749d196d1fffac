// Memory and handles after long use of the built file; external/stress/soak.ts runs much longer.

import { expect, test } from "vitest";
import { soak } from "../fixtures/soak.ts";

/** Ends the wait for a server that hangs. */
const HANG_MS = 120_000;

test.each(["legacy", "modern"] as const)(
  "finished calls and subscriptions leak no memory and no handle: %s client",
  async (protocol) => {
    const figures = await soak({ protocol, calls: 600, cycles: 60, jobs: 50, warmUp: 0.4 });

    expect(figures).toMatchObject({ wrongAnswers: 0, handlesLeft: [] });
    expect(figures.updates).toBeGreaterThan(0);
    expect(figures.heapGrowthMb).toBeLessThan(2);
  },
  HANG_MS,
);
