import { describe, expect, it } from "vitest";
import { createSchedule } from "../../src/jobs/schedule.ts";
import { createJobStore } from "../../src/jobs/job-store.ts";
import { createWatchedJobs } from "../../src/jobs/watched-job.ts";
import { createVirtualClock } from "../bench/virtual-clock.ts";
import { job, START_MS } from "./polled-service.ts";

/** Job a, started now and seen running at 100 s. */
async function seenRunning() {
  const clock = createVirtualClock(START_MS);
  const store = createJobStore(clock.now);
  const recorded: number[] = [];
  const schedule = {
    ...createSchedule({ random: () => 0.5 }),
    recordCompletion: (durationMs: number) => void recorded.push(durationMs),
  };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const jobs = createWatchedJobs({ store, schedule, clock, log, maxWatched: 9 });
  store.start("a", "topic");
  const watched = jobs.hold("a", false);
  const until = (seconds: number) => clock.runUntil(START_MS + seconds * 1000);
  await until(100);
  jobs.running(watched);
  const end = (status: "completed" | "failed") => {
    store.put(job("a", { status }));
    jobs.ended("a");
    return recorded;
  };
  return { jobs, watched, until, end };
}

describe("how long a job took", () => {
  it("is learnt as the middle between when it was last seen running and first seen done", async () => {
    const { until, end } = await seenRunning();
    await until(108);

    expect(end("completed")).toEqual([104_000]);
  });

  it("is learnt from when the list had it as done, however late that is confirmed", async () => {
    const { jobs, watched, until, end } = await seenRunning();
    await until(108);
    jobs.endListed(watched);
    await until(168);
    jobs.endListed(watched);

    expect(end("completed")).toEqual([104_000]);
  });

  it("is not learnt from one that failed, or that has gone", async () => {
    const { until, end } = await seenRunning();
    await until(108);

    expect(end("failed")).toEqual([]);
    expect(end("completed")).toEqual([]);
  });

  it("is not learnt from one that nobody has seen running", async () => {
    const { watched, end } = await seenRunning();
    watched.seenMs = undefined;

    expect(end("completed")).toEqual([]);
  });
});
