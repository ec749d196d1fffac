// The service's answers arrive in any order that fast-check's scheduler comes up with, while people and polls ask for the same
// jobs: whatever the order, one flight a job, every reader answered, every end told once.

import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createJobReader } from "../../src/jobs/job-reader.ts";
import { createJobStore } from "../../src/jobs/job-store.ts";
import type { Job } from "../../src/service/schemas.ts";

const JOBS = ["a", "b", "c"] as const;
const RUNS = 300;

const reads = fc.array(
  fc.record({ jobId: fc.constantFrom(...JOBS), background: fc.boolean(), ends: fc.boolean() }),
  { minLength: 1, maxLength: 30 },
);

it("keeps one flight a job, answers every reader and tells every end once, whatever arrives first", async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), reads, async (scheduler, plan) => {
      const flying = new Map<string, number>();
      const ended = new Set<string>();
      const told: string[] = [];
      let mostFlying = 0;
      const stateOf = (jobId: string): Job => ({
        jobId,
        status: ended.has(jobId) ? "completed" : "processing",
        done: ended.has(jobId),
        videoUrls: [],
        finalVideoUrl: `https://media.example/${jobId}.mp4`,
      });
      const store = createJobStore(() => 0);
      store.changes.listen((jobId) => {
        if (store.get(jobId)?.job?.done === true) told.push(jobId);
      });
      const reader = createJobReader({
        store,
        now: () => 0,
        source: {
          async getJob(jobId) {
            const count = (flying.get(jobId) ?? 0) + 1;
            flying.set(jobId, count);
            mostFlying = Math.max(mostFlying, count);
            // What the service says is what holds when it says so; its answer may take any time.
            const state = stateOf(jobId);
            await scheduler.schedule(Promise.resolve(), `answer for ${jobId}: ${state.status}`);
            flying.set(jobId, (flying.get(jobId) ?? 1) - 1);
            return state;
          },
          listVideos: async () => ({ videos: [] }),
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
      // One more look at each job: nobody is left behind what the service says.
      const last = Promise.all(JOBS.map((jobId) => reader.read(jobId, { background: false })));
      expect((await scheduler.waitFor(last)).map(({ status }) => status)).toEqual(
        JOBS.map((jobId) => stateOf(jobId).status),
      );

      expect(mostFlying).toBe(1);
      expect([...told].sort()).toEqual([...ended].sort());
    }),
    { numRuns: RUNS },
  );
});
