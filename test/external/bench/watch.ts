// npm run bench:watch: what watching costs and how soon an end is seen, with the real schedule, poller and
// rate limiter on a virtual clock: the machine makes no difference. Writes it to docs/PERFORMANCE.md.

import { table } from "../../../scripts/markdown.ts";
import { RateLimiter } from "../../../src/service/rate-limiter.ts";
import type { CallOptions } from "../../../src/service/request-sender.ts";
import { type JobEnd, type Random, randomEnd, seededRandom } from "../../fixtures/durations.ts";
import { createLimitedService } from "../../fixtures/rate-limit.ts";
import { failure, PolledWorld } from "../../fixtures/polled-service.ts";
import { report } from "../report.ts";

const JOBS = 2_000;
const MEASURED_MINUTES = 30;
const MINUTE_MS = 60_000;
/** The time from the end of a job to its webhook. */
const DELIVERY_MS = 200;
const LATENCY_MS = 150;

interface Watching {
  readonly fixedMs?: number;
  /** A webhook of each end arrives. */
  readonly webhooks?: boolean;
}
const WAYS: readonly (readonly [string, Watching])[] = [
  ["schedule", {}],
  ["schedule and webhooks", { webhooks: true }],
  ["fixed 2 s", { fixedMs: 2_000 }],
  ["fixed 10 s", { fixedMs: 10_000 }],
];

/** The service answers after a delay, and counts requests in fixed windows. */
class WatchedWorld extends PolledWorld {
  polls = 0;
  /** 429s that the rate limiter should have prevented. */
  refused = 0;
  readonly #random: Random;
  readonly #hasWebhooks: boolean;
  readonly #rateLimiter = new RateLimiter(this.clock);
  readonly #service;

  /** `limit` is that of requests per minute. */
  constructor(random: Random, limit: number, { webhooks = false, ...pace }: Watching = {}) {
    super({ random, ...pace });
    this.#service = createLimitedService({ limit, windowMs: MINUTE_MS, encoding: "remaining seconds" });
    this.#random = random;
    this.#hasWebhooks = webhooks;
  }

  /** Starts a job now, watches it and says when it ends. */
  begin({ durationMs, failed }: JobEnd) {
    const jobId = `job${this.jobs.size}`;
    const endsMs = this.clock.now() + durationMs;
    const total = 3 + Math.floor(this.#random() * 4);
    this.start(jobId);
    this.change(jobId, { progress: { total, completed: 0, failed: 0 } });
    for (let completed = 1; completed <= total; completed++) {
      const progress = { total, completed, failed: 0 };
      this.clock.after((durationMs * completed) / total, () => this.change(jobId, { progress }));
    }
    const status = failed ? "failed" : "completed";
    this.clock.after(durationMs, () => {
      this.change(jobId, { status });
      // Only the list has the final video.
      this.listAs(jobId, status, failed ? {} : { finalVideoUrl: `https://media.example/${jobId}` });
    });
    this.poller.follow(jobId);
    if (this.#hasWebhooks) this.clock.after(durationMs + DELIVERY_MS, () => this.poller.hint(jobId));
    return { jobId, endsMs };
  }

  protected override backgroundWaitMs(): number {
    return this.#rateLimiter.waitMs("background");
  }

  protected override async send<T>(
    _: string,
    { background = false }: CallOptions,
    answer: () => T,
  ): Promise<T> {
    // The real client also counts a request a moment after the call.
    await Promise.resolve();
    const priority = background ? "background" : "user";
    let waitMs = this.#rateLimiter.tryAcquire(priority);
    for (; waitMs > 0; waitMs = this.#rateLimiter.tryAcquire(priority)) await this.pass(waitMs);
    if (background) this.polls += 1;
    await this.pass(LATENCY_MS);
    const { status, headers } = this.#service.answer(this.clock.now());
    this.#rateLimiter.release({ status, headers });
    if (status === 200) return answer();
    this.refused += 1;
    throw failure("rate_limited", { status });
  }
}

function delaysOf(seconds: readonly number[]) {
  const sorted = seconds.toSorted((a, b) => a - b);
  const sum = sorted.reduce((total, value) => total + value, 0);
  return { mean: sum / sorted.length, p95: sorted[Math.floor(0.95 * sorted.length)] ?? Number.NaN };
}

/** Keeps `count` jobs watched at a rate limit of 60 per minute and measures 30 minutes of it. */
async function measureManyJobs(count: number, watching: Watching = {}) {
  const random = seededRandom(count);
  const world = new WatchedWorld(random, 60, watching);
  const { clock } = world;
  const measureFromMs = clock.now() + 10 * MINUTE_MS;
  const endMs = measureFromMs + MEASURED_MINUTES * MINUTE_MS;
  const ends = new Map<string, number>();
  const seconds: number[] = [];
  const startOne = () => {
    const { jobId, endsMs } = world.begin(randomEnd(random));
    ends.set(jobId, endsMs);
  };
  world.book.on("change", (jobId) => {
    const endedMs = ends.get(jobId);
    if (endedMs === undefined || world.book.get(jobId).state?.done !== true) return;
    ends.delete(jobId);
    // Another job replaces it.
    startOne();
    if (endedMs >= measureFromMs) seconds.push((clock.now() - endedMs) / 1000);
  });
  for (let index = 0; index < count; index++) clock.after((index / count) * 170_000, startOne);
  await clock.runUntil(measureFromMs);
  const before = world.polls;
  await clock.runUntil(endMs);
  // Ends that were not seen within a minute.
  const unseen = [...ends.values()].filter(
    (endedMs) => endedMs < endMs - MINUTE_MS && endedMs >= measureFromMs,
  );
  return {
    pollsPerMinute: (world.polls - before) / MEASURED_MINUTES,
    refused: world.refused,
    unseen: unseen.length,
    ...delaysOf(seconds),
  };
}

async function measureSingleJobs(watching: Watching) {
  const random = seededRandom(1);
  const seconds: number[] = [];
  let polls = 0;
  for (let index = 0; index < JOBS; index++) {
    const world = new WatchedWorld(random, 1_000, watching);
    const job = world.begin(randomEnd(random));
    world.book.on("change", () => {
      if (world.book.get(job.jobId).state?.done !== true) return;
      seconds.push((world.clock.now() - job.endsMs) / 1000);
    });
    await world.clock.runUntil(job.endsMs + MINUTE_MS);
    polls += world.polls;
  }
  return { polls: polls / JOBS, ...delaysOf(seconds) };
}

const delay = ({ mean, p95 }: ReturnType<typeof delaysOf>) => `${mean.toFixed(1)} / ${p95.toFixed(1)}`;
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
  const polls = polled.pollsPerMinute.toFixed(1);
  counts.push([`${count}`, polls, `${polled.unseen}`, delay(polled), delay(hinted)]);
  refused += polled.refused + hinted.refused;
}
const text = [
  table(["one job", "polls", "delay s"], ways),
  table(["jobs at once", "polls per minute", "missed", "delay s", "with webhooks"], counts),
  `${refused} requests were refused with 429.`,
].join("\n\n");
await report("docs/PERFORMANCE.md", "watch", text);
