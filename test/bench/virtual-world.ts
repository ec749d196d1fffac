// A service and a clock that exist only in memory, so that the real watcher, schedule and allowance live through an hour in a
// second. The service counts requests in fixed windows and answers after a moment, as a real one does.

import { BridgeError } from "../../src/errors.ts";
import type { Clock } from "../../src/jobs/clock.ts";
import { createJobReader } from "../../src/jobs/job-reader.ts";
import { createSchedule } from "../../src/jobs/schedule.ts";
import { createJobStore } from "../../src/jobs/store.ts";
import { createWatcher } from "../../src/jobs/watcher.ts";
import { createAllowance } from "../../src/service/allowance.ts";
import type { Job, Video } from "../../src/service/schemas.ts";
import type { JobEnd, Random } from "../fixtures/durations.ts";
import { createLimitedService } from "../fixtures/rate-limit.ts";

export interface VirtualClock extends Clock {
  /** Runs everything that is due until then. */
  runUntil(untilMs: number): Promise<void>;
}

export function createVirtualClock(startMs: number): VirtualClock {
  let nowMs = startMs;
  let order = 0;
  const timers = new Map<number, { atMs: number; action: () => void }>();
  const next = () => {
    let first: readonly [number, { atMs: number; action: () => void }] | undefined;
    for (const timer of timers) if (first === undefined || timer[1].atMs < first[1].atMs) first = timer;
    return first;
  };
  return {
    now: () => nowMs,
    after(delayMs, action) {
      const id = order++;
      timers.set(id, { atMs: nowMs + delayMs, action });
      return () => void timers.delete(id);
    },
    async runUntil(untilMs) {
      for (;;) {
        const timer = next();
        if (timer === undefined || timer[1].atMs > untilMs) break;
        timers.delete(timer[0]);
        nowMs = Math.max(nowMs, timer[1].atMs);
        timer[1].action();
        // What follows from it may take several turns of promises.
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
      nowMs = untilMs;
    },
  };
}

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
  const allowance = createAllowance({ now: clock.now });
  const counts = { polls: 0, refused: 0 };

  const request = async <T>(answer: () => T): Promise<T> => {
    const slot = allowance.take("background");
    counts.polls += 1;
    await new Promise<void>((resolve) => void clock.after(LATENCY_MS, resolve));
    const { status, headers } = service.answer(clock.now());
    slot.settle({ status, headers });
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
      ...(status === "completed" && { finalVideoUrl: `https://media.example/${job.jobId}` }),
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
    getJob: (jobId: string) => request(() => stateOf(known(jobId))),
    listVideos: ({ limit = 20, cursor }: { limit?: number; cursor?: string }) =>
      request(() => {
        const from = cursor === undefined ? 0 : Number(cursor);
        const page = newestFirst.slice(from, from + limit);
        const videos: Video[] = page.map((job) => ({ jobId: job.jobId, status: statusOf(job) }));
        return { videos, ...(from + limit < newestFirst.length && { nextCursor: String(from + limit) }) };
      }),
    listing: () => ({ maxLimit: 100, canPage }),
    backgroundWaitMs: () => allowance.waitMs("background"),
  };
  const watcher = createWatcher({
    source,
    reader: createJobReader({ source, store, now: clock.now }),
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
