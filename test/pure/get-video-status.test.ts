import { expect, test } from "vitest";
import type { Job } from "../../src/service/responses.ts";
import { getVideoStatus } from "../../src/tools/get-video-status.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { JOB_ID } from "../fixtures/constants.ts";
import { createHarness, readerOf } from "../fixtures/tool-harness.ts";

const RUNNING: Job = { jobId: JOB_ID, status: "processing", done: false, videoUrls: [] };

/** A tool whose reads find this job. */
function harnessOf(job: Job, config: Partial<ToolContext["config"]> = {}) {
  const reads: string[] = [];
  const harness = createHarness(getVideoStatus);
  const found = async () => (harness.jobs.update(job), job);
  const context = {
    ...harness.context,
    config: { ...harness.context.config, ...config },
    reader: {
      ...readerOf(found),
      read: async () => (reads.push("the job"), found()),
      readRecent: async (_: string, maxAgeMs: number) => (reads.push(`at most ${maxAgeMs} ms old`), found()),
    },
    waitForEnd: async (waited: Job) => waited,
  };
  return { ...createHarness(getVideoStatus, context), jobs: harness.jobs, reads };
}

test("a wait may begin with a five-second-old answer, but other calls send a request", async () => {
  const { call, reads } = harnessOf(RUNNING);
  await call({ jobId: JOB_ID, waitSeconds: 50 });
  await call({ jobId: JOB_ID });

  expect(reads).toEqual(["at most 5000 ms old", "the job"]);
});
