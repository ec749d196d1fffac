import { expect, test } from "vitest";
import { waitForEnd } from "../../src/jobs/wait.ts";
import type { Job } from "../../src/service/responses.ts";
import { getVideoStatus } from "../../src/tools/get-video-status.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { JOB_ID } from "../fixtures/constants.ts";
import { failure, job, PolledWorld } from "../fixtures/polled-service.ts";
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

const LINK = "https://cdn.example/final.mp4";
const READY = job(JOB_ID, { status: "completed", finalVideoUrl: LINK });

/** A job that this computer has just ordered, and the tool with the real reader and poller. */
function startedWorld() {
  const world = new PolledWorld({ fixedMs: 100 });
  const { book, reader, clock } = world;
  world.start(JOB_ID);
  const ask = (waitSeconds: number) => {
    const { signal } = new AbortController();
    const { call } = createHarness(getVideoStatus, {
      jobs: book,
      reader,
      clock,
      signal,
      waitForEnd: (waited, forMs) => waitForEnd(world, { job: waited, forMs, signal, onChange() {} }),
    });
    return call({ jobId: JOB_ID, waitSeconds }).catch((error: unknown) => error);
  };
  return { world, ask };
}

const FAILURES = [
  failure("not_found", { status: 404 }),
  failure("bad_answer", { status: 200 }),
  failure("rate_limited", { status: 429 }),
  failure("unauthorized", { status: 401 }),
];

test.each(
  FAILURES.flatMap((error) => [
    { error, known: "its own status" },
    { error, known: "the list" },
  ]),
)(
  "a wait for a job whose end is known from $known answers by that if its read fails: $error",
  async ({ error, known }) => {
    const { world, ask } = startedWorld();
    if (known === "the list") world.book.updateFromPage([READY], { isFirstPage: true });
    else world.book.update(READY);
    world.failing.set(JOB_ID, error);
    await world.until(10);

    const answer = ask(50);
    await world.until(11);

    expect(await answer).toMatchObject({ done: true, status: "completed", finalVideoUrl: LINK });
    expect(world.requests()).toEqual([`10 ${JOB_ID} user`]);
  },
);

test.each(FAILURES)(
  "however reads fail, waits and subscriptions send one request a second for a job: %s",
  async (error) => {
    const { world, ask } = startedWorld();
    world.failing.set(JOB_ID, error);
    world.followAll(JOB_ID, JOB_ID);
    for (let second = 0; second < 30; second += 0.7) {
      await world.until(second);
      void ask(50);
      void ask(1);
    }
    await world.until(60);

    const seconds = world.requests().map((line) => Number.parseFloat(line));
    const pauses = seconds.slice(1).map((at, index) => at - (seconds[index] ?? 0));
    expect(seconds.length).toBeGreaterThan(2);
    expect(pauses.filter((pause) => pause < 0.95)).toEqual([]);
  },
);
