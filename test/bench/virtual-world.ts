// A service that exists only in memory, on a virtual clock, so that the real watcher, schedule and allowance live through an hour in a
// second. The service counts requests in fixed windows and answers after a moment, as a real one does.

import { BridgeError } from "../../src/errors.ts";
import { createJobReader, type RequestOptions } from "../../src/jobs/job-reader.ts";
import { createSchedule } from "../../src/jobs/schedule.ts";
import { createJobStore } from "../../src/jobs/store.ts";
import { createWatcher } from "../../src/jobs/watcher.ts";
import { RateLimiter } from "../../src/service/rate-limiter.ts";
import type { Job, Video } from "../../src/service/schemas.ts";
import type { JobEnd, Random } from "../fixtures/durations.ts";
import { createLimitedService } from "../fixtures/rate-limit.ts";
import { createVirtualClock } from "./virtual-clock.ts";

interface Made {
  readonly jobId: string;
  readonly createdMs: number;
  readonly endsMs: number;
  readonly failed: boolean;
  readonly clips: number;
}

export interface WorldOptions {
  readonly random: Random;
  readonly limitPerMinute: number;
  readonly canPage: boolean;
  readonly fixedMs?: number;
}

const LATENCY_MS = 150;

export function createWorld({ random, limitPerMinute, canPage, fixedMs }: WorldOptions) {
  const clock = createVirtualClock(Date.UTC(2026, 0, 1));
  const made = new Map<string, Made>();
  const newestFirst: Made[] = [];
  const service = createLimitedService({
    limit: limitPerMinute,
    windowMs: 60_000,
    encoding: "epoch seconds",
  });
  const allowance = new RateLimiter({ monotonicMs: clock.now, now: clock.now });
  const counts = { polls: 0, reads: 0, refused: 0 };

  const request = async <T>(background: boolean, answer: () => T): Promise<T> => {
    // As the real client, which takes its slot a few turns after it was asked.
    await Promise.resolve();
    let slot = allowance.tryAcquire(background ? "background" : "user");
    while ("retryInMs" in slot) {
      const { retryInMs } = slot;
      await new Promise<void>((resolve) => void clock.after(retryInMs, resolve));
      slot = allowance.tryAcquire(background ? "background" : "user");
    }
    counts[background ? "polls" : "reads"] += 1;
    await new Promise<void>((resolve) => void clock.after(LATENCY_MS, resolve));
    const { status, headers } = service.answer(clock.now());
    slot.release({ status, headers });
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

  const statusOf = (job: Made) =>
    clock.now() < job.endsMs ? "processing" : job.failed ? "failed" : "completed";
  const stateOf = (job: Made): Job => {
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
  const known = (jobId: string): Made => {
    const job = made.get(jobId);
    if (job === undefined) throw new Error("no such job");
    return job;
  };

  const store = createJobStore(clock.now);
  const source = {
    getJob: (jobId: string, { background }: RequestOptions) =>
      request(background, () => stateOf(known(jobId))),
    listVideos: (
      { limit = 20, cursor }: { limit?: number; cursor?: string },
      { background }: RequestOptions,
    ) =>
      request(background, () => {
        const from = cursor === undefined ? 0 : Number(cursor);
        const page = newestFirst.slice(from, from + limit);
        const videos: Video[] = page.map((job) => {
          const status = statusOf(job);
          // A final video is in the list alone.
          return {
            jobId: job.jobId,
            status,
            ...(status === "completed" && { finalVideoUrl: `https://media.example/${job.jobId}` }),
          };
        });
        return { videos, ...(from + limit < newestFirst.length && { nextCursor: String(from + limit) }) };
      }),
    listing: () => ({ maxLimit: 100, canPage }),
    backgroundWaitMs: () => allowance.waitMs("background"),
  };
  const reader = createJobReader({ source, store, now: clock.now });
  const watcher = createWatcher({
    source,
    reader,
    store,
    schedule: createSchedule({ fixedMs, random }),
    clock,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    maxWatched: Infinity,
  });

  return {
    clock,
    counts,
    store,
    reader,
    watcher,
    /** Starts a job now and watches it. */
    start({ durationMs, failed }: JobEnd): Made {
      const jobId = `job-${made.size}`;
      const job = {
        jobId,
        createdMs: clock.now(),
        endsMs: clock.now() + durationMs,
        failed,
        clips: 3 + Math.floor(random() * 4),
      };
      made.set(jobId, job);
      newestFirst.unshift(job);
      store.start(jobId, "topic");
      watcher.watch(jobId, { awaited: false });
      return job;
    },
  };
}
