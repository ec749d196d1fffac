// Memory and handles after long use of the built file; checks/stress/soak.ts runs a hundred times as long.

import { expect, test } from "vitest";
import { soak, stallReader } from "../fixtures/soak.ts";

/** Ends the wait for a server that hangs. */
const HANG_MS = 120_000;

test.each(["legacy", "modern"] as const)(
  "finished calls and subscriptions keep no memory and no handle: %s client",
  async (protocol) => {
    const figures = await soak({ protocol, calls: 1_000, cycles: 100, jobs: 50, warmUp: 0.4 });

    expect(figures).toMatchObject({ wrongAnswers: 0, handlesLeft: [] });
    expect(figures.updates).toBeGreaterThan(0);
    expect(figures.heapGrowthMb).toBeLessThan(2);
  },
  HANG_MS,
);

test(
  "a client that stops reading costs little memory and gets every answer when it reads again",
  async () => {
    const figures = await stallReader("legacy");

    expect(figures.answered).toBe(figures.requests);
    expect(figures.rssGrowthMb).toBeLessThan(20);
  },
  HANG_MS,
);
