// Users and polls read the same jobs while the service's answers arrive in random order.

import * as fc from "fast-check";
import { expect, it } from "vitest";
import { JobReader } from "../../src/jobs/job-reader.ts";
import { JobStore } from "../../src/jobs/job-store.ts";
import type { Job } from "../../src/service/answers.ts";
import { job } from "./polled-service.ts";

const JOBS = ["a", "b", "c"] as const;
const SEED = Number(process.env["PROVE_SEED"] ?? 1);
const RUNS = Number(process.env["PROVE_RUNS"] ?? 300);
const CLOCK = { now: () => 0, monotonicMs: () => 0 };

const reads = fc.array(
  fc.record({ jobId: fc.constantFrom(...JOBS), background: fc.boolean(), ends: fc.boolean() }),
  { minLength: 1, maxLength: 30 },
);

it("sends one request per job at a time, answers every caller and emits every end once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), reads, async (scheduler, plan) => {
      const inFlight = new Map<string, number>();
      const ended = new Set<string>();
      const emitted: string[] = [];
      let maxInFlight = 0;
      const stateOf = (jobId: string): Job =>
        job(jobId, {
          status: ended.has(jobId) ? "completed" : "processing",
          finalVideoUrl: `https://media.example/${jobId}.mp4`,
        });
      const store = new JobStore(CLOCK);
      store.changes.on((jobId) => {
        if (store.get(jobId)?.job?.done === true) emitted.push(jobId);
      });
      const reader = new JobReader({
        store,
        clock: CLOCK,
        source: {
          async getJob(jobId) {
            const count = (inFlight.get(jobId) ?? 0) + 1;
            inFlight.set(jobId, count);
            maxInFlight = Math.max(maxInFlight, count);
            // The answer is the state at the time of the request, however long it takes to arrive.
            const state = stateOf(jobId);
            await scheduler.schedule(Promise.resolve(), `answer for ${jobId}: ${state.status}`);
            inFlight.set(jobId, (inFlight.get(jobId) ?? 1) - 1);
            return state;
          },
          listNewestVideos: async () => ({ videos: [] }),
          hasSpareRequests: () => true,
        },
      });

      const answers: Promise<Job>[] = [];
      const { task } = scheduler.scheduleSequence(
        plan.map(({ jobId, background, ends }) => async () => {
          if (ends) ended.add(jobId);
          answers.push(reader.read(jobId, { background }));
        }),
      );
      await scheduler.waitFor(task);
      await scheduler.waitFor(Promise.all(answers));
      const last = Promise.all(JOBS.map((jobId) => reader.read(jobId, { background: false })));

      expect((await scheduler.waitFor(last)).map(({ status }) => status)).toEqual(
        JOBS.map((jobId) => stateOf(jobId).status),
      );
      expect(maxInFlight).toBe(1);
      expect(emitted.toSorted()).toEqual([...ended].toSorted());
    }),
    { numRuns: RUNS, seed: SEED },
  );
});
