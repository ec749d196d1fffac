// A service in memory on a virtual clock, so that the real poller, schedule and rate limiter run an hour in a second. Like a real one
// it counts requests in fixed windows and answers after a delay. Measures what watching costs.

import { BridgeError } from "../../../src/errors.ts";
import { JobReader, type RequestOptions } from "../../../src/jobs/job-reader.ts";
import { Schedule } from "../../../src/jobs/schedule.ts";
import { JobStore } from "../../../src/jobs/job-store.ts";
import { Poller } from "../../../src/jobs/poller.ts";
import { RateLimiter } from "../../../src/service/rate-limiter.ts";
import type { Job, Video } from "../../../src/service/answers.ts";
import { DURATIONS, type JobEnd, type Random, seededRandom } from "../../fixtures/durations.ts";
import { createLimitedService } from "../../fixtures/rate-limit.ts";
import { jobIdOf } from "../../fixtures/soak-service.ts";
import { createVirtualClock } from "./virtual-clock.ts";

interface WorldJob {
  readonly jobId: string;
  readonly createdMs: number;
  readonly endsMs: number;
  readonly failed: boolean;
  readonly clips: number;
}

export interface WorldOptions {
  readonly random: Random;
  readonly limitPerMinute: number;
  readonly fixedMs?: number;
  /** A webhook of each end arrives. */
  readonly webhooks?: boolean;
}

/** From the end of a job to its webhook. */
const DELIVERY_MS = 200;
const LATENCY_MS = 150;

export function createWorld({ random, limitPerMinute, fixedMs, webhooks = false }: WorldOptions) {
  const clock = createVirtualClock(Date.UTC(2026, 0, 1));
  const created = new Map<string, WorldJob>();
  const newestFirst: WorldJob[] = [];
  const service = createLimitedService({
    limit: limitPerMinute,
    windowMs: 60_000,
    encoding: "epoch seconds",
  });
  const rateLimiter = new RateLimiter(clock);
  const counts = { polls: 0, reads: 0, refused: 0 };

  const request = async <T>(background: boolean, answer: () => T): Promise<T> => {
    // The real client also counts a request a moment after the call.
    await Promise.resolve();
    let permit = rateLimiter.tryAcquire(background ? "background" : "user");
    while ("retryInMs" in permit) {
      const { retryInMs } = permit;
      await new Promise<void>((resolve) => void clock.after(retryInMs, resolve));
      permit = rateLimiter.tryAcquire(background ? "background" : "user");
    }
    counts[background ? "polls" : "reads"] += 1;
    await new Promise<void>((resolve) => void clock.after(LATENCY_MS, resolve));
    const { status, headers } = service.answer(clock.now());
    permit.release({ status, headers });
    if (status === 200) return answer();
    counts.refused += 1;
    throw new BridgeError({
      code: "rate_limited",
      message: "Refused.",
      nextStep: "",
      outcome: "rejected",
      retryable: true,
      status,
    });
  };

  const statusOf = (job: WorldJob) =>
    clock.now() < job.endsMs ? "processing" : job.failed ? "failed" : "completed";
  const stateOf = (job: WorldJob): Job => {
    const status = statusOf(job);
    const share = Math.min(1, (clock.now() - job.createdMs) / (job.endsMs - job.createdMs));
    return {
      jobId: job.jobId,
      status,
      done: status !== "processing",
      videoUrls: [],
      progress: { total: job.clips, completed: Math.floor(share * job.clips), failed: 0 },
    };
  };
  const known = (jobId: string): WorldJob => {
    const job = created.get(jobId);
    if (job === undefined) throw new Error("no such job");
    return job;
  };

  const store = new JobStore(clock);
  const source = {
    getJob: (jobId: string, { background }: RequestOptions) =>
      request(background, () => stateOf(known(jobId))),
    listNewestVideos: ({ background }: RequestOptions) =>
      request(background, () => {
        const videos: Video[] = newestFirst.slice(0, 100).map((job) => {
          const status = statusOf(job);
          // Only the list has the final video.
          return {
            jobId: job.jobId,
            status,
            ...(status === "completed" && { finalVideoUrl: `https://media.example/${job.jobId}` }),
          };
        });
        return { videos };
      }),
    backgroundWaitMs: () => rateLimiter.waitMs("background"),
    hasSpareRequests: () => rateLimiter.hasSpare(),
  };
  const reader = new JobReader({ source, store, clock });
  const poller = new Poller({
    source,
    reader,
    store,
    schedule: new Schedule({ fixedMs, random }),
    clock,
    log: { debug() {}, info() {}, warn() {}, error() {} },
  });

  return {
    clock,
    counts,
    store,
    reader,
    poller,
    /** Starts a job now and watches it. */
    start({ durationMs, failed }: JobEnd): WorldJob {
      const jobId = jobIdOf(created.size);
      const job = {
        jobId,
        createdMs: clock.now(),
        endsMs: clock.now() + durationMs,
        failed,
        clips: 3 + Math.floor(random() * 4),
      };
      created.set(jobId, job);
      newestFirst.unshift(job);
      store.addStarted(jobId, "topic");
      poller.watch(jobId);
      if (webhooks) clock.after(durationMs + DELIVERY_MS, () => poller.hint(jobId));
      return job;
    },
  };
}

export interface Delays {
  readonly mean: number;
  readonly p95: number;
}

export function delaysOf(seconds: readonly number[]): Delays {
  const sorted = seconds.toSorted((a, b) => a - b);
  const sum = sorted.reduce((total, value) => total + value, 0);
  return { mean: sum / sorted.length, p95: sorted[Math.floor(0.95 * sorted.length)] ?? Number.NaN };
}

export interface ManyJobsFigures extends Delays {
  readonly pollsPerMinute: number;
  readonly pollsPerJob: number;
  /** Ends that were not seen within a minute. */
  readonly unseen: number;
  /** 429s that the rate limiter should have prevented. */
  readonly refused: number;
}

const MINUTE_MS = 60_000;
const MEASURED_MINUTES = 30;

/** Keeps `count` jobs watched at a rate limit of 60 per minute and measures 30 minutes of it. */
export async function measureManyJobs(
  count: number,
  { webhooks = false }: Pick<WorldOptions, "webhooks"> = {},
): Promise<ManyJobsFigures> {
  const random = seededRandom(count);
  const world = createWorld({ random, limitPerMinute: 60, webhooks });
  const { clock } = world;
  const startMs = clock.now();
  const measureFromMs = startMs + 10 * MINUTE_MS;
  const endMs = measureFromMs + MEASURED_MINUTES * MINUTE_MS;
  const ends = new Map<string, number>();
  const seconds: number[] = [];
  const startOne = () => {
    const job = world.start(DURATIONS.MIX(random));
    ends.set(job.jobId, job.endsMs);
  };
  world.store.on("change", (jobId) => {
    const endedMs = ends.get(jobId);
    if (endedMs === undefined || world.store.get(jobId)?.job?.done !== true) return;
    ends.delete(jobId);
    // Another job replaces it.
    startOne();
    if (endedMs >= measureFromMs) seconds.push((clock.now() - endedMs) / 1000);
  });
  for (let index = 0; index < count; index++) clock.after((index / count) * 170_000, startOne);
  await clock.runUntil(measureFromMs);
  const before = world.counts.polls;
  await clock.runUntil(endMs);
  const unseen = [...ends.values()].filter(
    (endedMs) => endedMs < endMs - MINUTE_MS && endedMs >= measureFromMs,
  );
  const polls = world.counts.polls - before;
  return {
    pollsPerMinute: polls / MEASURED_MINUTES,
    pollsPerJob: polls / seconds.length,
    refused: world.counts.refused,
    unseen: unseen.length,
    ...delaysOf(seconds),
  };
}
