import { expect, test } from "vitest";
import type { Job } from "../../src/service/responses.ts";
import { getVideoStatus } from "../../src/tools/get-video-status.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { JOB_ID } from "../fixtures/constants.ts";
import { createHarness, readerOf } from "../fixtures/tool-harness.ts";

const LINK = "https://media.example/final.mp4";
const RUNNING: Job = { jobId: JOB_ID, status: "processing", done: false, videoUrls: [] };
const READY: Job = { ...RUNNING, status: "completed", done: true, finalVideoUrl: LINK };
const ASKS = "Show the user the link. If they want it posted and have not said where, ask.";

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

test("publishing is suggested once for each video, and never by a server that can't", async () => {
  const { call, jobs } = harnessOf(READY);
  await jobs.readJournal();
  const steps = [await call({ jobId: JOB_ID }), await call({ jobId: JOB_ID })].map(
    ({ nextStep }) => nextStep,
  );
  const hidden = await harnessOf(READY, { noPublish: true }).call({ jobId: JOB_ID });

  expect(steps).toEqual([ASKS, "Show the user the link."]);
  expect(hidden["nextStep"]).toBe("Show the user the link.");
});

test("the hint that videos can be saved comes once, with this computer's first video, if no folder is set and the service is real", async () => {
  const order = { arguments: { topic: "Tides" }, atMs: 0, jobId: JOB_ID };
  const said = async (config: Partial<ToolContext["config"]>, orders = [order]) => {
    const { call, jobs } = harnessOf(READY, config);
    jobs.readJournal = async () => orders;
    const texts = [await call({ jobId: JOB_ID }), await call({ jobId: JOB_ID })];
    return texts.map(({ summary }) => String(summary).includes("The user can set FACELESS_SAVE_DIR"));
  };

  expect(await said({ saveDir: undefined })).toEqual([true, false]);
  expect(await said({ saveDir: undefined }, [order, order])).toEqual([false, false]);
  expect(await said({ saveDir: undefined }, [])).toEqual([false, false]);
  expect(await said({ saveDir: "/videos" })).toEqual([false, false]);
  expect(await said({ saveDir: undefined, sandbox: true })).toEqual([false, false]);
});

test("a wait may begin with a five-second-old answer, but other calls send a request", async () => {
  const { call, reads } = harnessOf(RUNNING);
  await call({ jobId: JOB_ID, waitSeconds: 50 });
  await call({ jobId: JOB_ID });

  expect(reads).toEqual(["at most 5000 ms old", "the job"]);
});
