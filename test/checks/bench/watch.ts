// npm run bench:watch: what watching costs and how soon an end is seen, with the real schedule, poller and
// rate limiter on a virtual clock: the machine makes no difference. Writes it to docs/PERFORMANCE.md.

import { table } from "../../../scripts/docs-parts.ts";
import { DURATIONS, seededRandom } from "../../fixtures/durations.ts";
import { report } from "../report.ts";
import {
  type Delays,
  delaysOf,
  measureManyJobs,
  WatchedWorld,
  type WatchedWorldOptions,
} from "./virtual-world.ts";

const JOBS = 2_000;
const MINUTE_MS = 60_000;
type Watching = Pick<WatchedWorldOptions, "fixedMs" | "webhooks">;
const WAYS: readonly (readonly [string, Watching])[] = [
  ["schedule", {}],
  ["schedule and webhooks", { webhooks: true }],
  ["fixed 2 s", { fixedMs: 2_000 }],
  ["fixed 10 s", { fixedMs: 10_000 }],
];

interface SingleJobFigures extends Delays {
  readonly polls: number;
}

async function measureSingleJobs(watching: Watching): Promise<SingleJobFigures> {
  const random = seededRandom(1);
  const seconds: number[] = [];
  let polls = 0;
  for (let index = 0; index < JOBS; index++) {
    const world = new WatchedWorld({ random, limit: 1_000, ...watching });
    const job = world.begin(DURATIONS.MIX(random));
    world.store.on("change", () => {
      if (world.store.get(job.jobId)?.job?.done !== true) return;
      seconds.push((world.clock.now() - job.endsMs) / 1000);
    });
    await world.clock.runUntil(job.endsMs + MINUTE_MS);
    polls += world.polls;
  }
  return { polls: polls / JOBS, ...delaysOf(seconds) };
}

const delay = (figures: Delays) => `${figures.mean.toFixed(1)} / ${figures.p95.toFixed(1)}`;
const ways: string[][] = [];
for (const [name, watching] of WAYS) {
  const figures = await measureSingleJobs(watching);
  ways.push([name, figures.polls.toFixed(1), delay(figures)]);
}
const counts: string[][] = [];
let refused = 0;
for (const count of [1, 30, 100, 200]) {
  const polled = await measureManyJobs(count);
  const hinted = await measureManyJobs(count, { webhooks: true });
  counts.push([
    String(count),
    polled.pollsPerMinute.toFixed(1),
    String(polled.unseen),
    delay(polled),
    delay(hinted),
  ]);
  refused += polled.refused + hinted.refused;
}
const text = [
  table(["one job", "polls", "delay s"], ways),
  table(["jobs at once", "polls per minute", "missed", "delay s", "with webhooks"], counts),
  `${refused} requests were refused with 429.`,
].join("\n\n");
await report("docs/PERFORMANCE.md", "watch", text);
