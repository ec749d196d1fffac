// Answers to the next call for a video while an earlier request for it is under way.

import { expect, test } from "vitest";
import { DeadlineError } from "../../src/errors.ts";
import { Computer, errorOf, fails, failure, MINUTE_MS, NOW, resolvers, TIDES } from "../fixtures/computer.ts";

test("a call whose time is over while it waits gets an error without a code, and the next one the job", async () => {
  const computer = new Computer();
  const answer = resolvers();
  computer.onGenerate = () => answer.promise;
  const first = computer.process().generate(TIDES);
  await expect.poll(() => computer.orders).toHaveLength(1);
  computer.listed = [
    { jobId: "job-8", status: "processing" },
    { jobId: "completed within a minute", status: "completed" },
    { jobId: "days old", status: "processing", createdAt: "2026-11-18T12:00:00Z" },
  ];

  expect(await errorOf(computer.process().generate(TIDES))).toEqual({
    code: "in_progress",
    message:
      "Not sent: a video of the same words was ordered 38 seconds ago, and its outcome is not known yet.",
    nextStep:
      "The newest jobs that could be it: \"job-8\" (processing). Check list_videos for it, and follow it with get_video_status if it is there. If it isn't, tell the user that it may still be starting. Don't order it again, not even in other words or with other settings.",
    outcome: "not_sent",
    retryable: false,
  });
  answer.resolve({ jobId: "job-1", status: "processing" });
  await first;
  expect(await computer.process().generate(TIDES)).toMatchObject({ alreadyStarted: true, jobId: "job-1" });
});

/** The ways in which the first request lost its process or its answer. */
const LOST = {
  "its answer was lost": fails("unknown"),
  "its process awaits or awaited the answer": () => new Promise<never>(() => {}),
};

test.each(Object.entries(LOST))(
  "A request is under way for six minutes in every process, and unknown after that, if %s",
  async (_, onGenerate) => {
    const computer = new Computer();
    computer.onGenerate = onGenerate;
    computer
      .process()
      .generate(TIDES)
      .catch(() => {});
    await expect.poll(() => computer.orders).toHaveLength(1);
    const again = () => errorOf(computer.process().generate(TIDES));
    expect(await again()).toMatchObject({ code: "in_progress" });
    computer.clock.epochMs = NOW + 5 * MINUTE_MS;
    expect(await again()).toMatchObject({ code: "in_progress" });
    computer.clock.epochMs = NOW + 6 * MINUTE_MS;

    expect(await again()).toMatchObject({ code: "duplicate" });
    expect(computer.orders).toHaveLength(1);
  },
);

test("a request stays under way for its own process until its late answer has come, which the next call gets", async () => {
  const computer = new Computer();
  const late = resolvers();
  computer.onGenerate = () => Promise.reject(new DeadlineError(failure("unknown"), late.promise));
  const process = computer.process();
  await errorOf(process.generate(TIDES));
  computer.pass(2 * MINUTE_MS);
  expect(await errorOf(process.generate(TIDES))).toMatchObject({ code: "in_progress" });
  late.resolve({ jobId: "job-1", status: "processing" });

  expect(await process.generate(TIDES)).toMatchObject({ alreadyStarted: true, jobId: "job-1" });
  expect(computer.started).toEqual(["job-1"]);
  await process.guard.close();
});

test("a request whose late answer is a refusal can be made again", async () => {
  const computer = new Computer();
  const process = computer.process();
  computer.onGenerate = () =>
    Promise.reject(new DeadlineError(failure("unknown"), Promise.reject(failure("rejected"))));
  await errorOf(process.generate(TIDES));
  computer.onGenerate = async () => ({ jobId: "job-2", status: "processing" });

  expect(await process.generate(TIDES)).toMatchObject({ startedJob: { jobId: "job-2" } });
  await process.guard.close();
});
