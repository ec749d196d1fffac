// Long use, in short: test/prove/soak.ts does the same a hundred times as long.

import { expect, test } from "vitest";
import { soak, stallReader } from "./fixtures/soak.ts";

test.each(["old", "new"] as const)(
  "nothing is kept of calls and subscriptions that are over: %s era",
  async (era) => {
    const figures = await soak({ era, calls: 1_000, cycles: 100, jobs: 50, warmUp: 0.4 });

    expect(figures).toMatchObject({ calls: 1_000, cycles: 100, wrongAnswers: 0, handlesLeft: [] });
    expect(figures.updates).toBeGreaterThan(0);
    expect(figures.heapGrowthMb).toBeLessThan(2);
  },
);

test("little is held back for a reader that stalls, who gets every answer in the end", async () => {
  const figures = await stallReader("old");

  expect(figures.answered).toBe(figures.requests);
  expect(figures.rssGrowthMb).toBeLessThan(20);
});
