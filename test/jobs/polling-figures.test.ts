// The promised cost of watching at a rate limit of 60 per minute, with the real poller, schedule and rate limiter on a virtual clock.
// npm run bench:watch prints the figures.

import { expect, test } from "vitest";
import { measureManyJobs } from "../checks/bench/virtual-world.ts";

test.each([
  [2, { p95: 20, pollsPerJob: 16.5 }],
  [30, { p95: 6.5, pollsPerJob: 16.5 }],
])("%s watched jobs stay within %j, cause no 429 and miss no end", async (count, most) => {
  const figures = await measureManyJobs(count);

  expect(figures.p95).toBeLessThanOrEqual(most.p95);
  expect(figures.pollsPerJob).toBeLessThanOrEqual(most.pollsPerJob);
  expect(figures).toMatchObject({ refused: 0, unseen: 0 });
});
