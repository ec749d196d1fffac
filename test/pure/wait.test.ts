import { expect, test } from "vitest";
import { waitForEnd } from "../../src/jobs/wait.ts";
import type { Job } from "../../src/service/responses.ts";
import { failure, job, PolledWorld } from "../fixtures/polled-service.ts";

const FINAL = "https://cdn.example/final.mp4";
const CLIP = "https://cdn.example/1.mp4";

function runningWorld() {
  const world = new PolledWorld();
  world.start("a");
  return world;
}

/** A call that waits for job a, begun now. */
function waitFor(world: PolledWorld, forSeconds: number, from: Job = job("a")) {
  const controller = new AbortController();
  const changes: Job[] = [];
  let answeredAt: number | undefined;
  const answer = waitForEnd(world, {
    job: from,
    forMs: forSeconds * 1000,
    signal: controller.signal,
    onChange: (state) => changes.push(state),
  }).then((state) => {
    answeredAt = world.seconds();
    return state;
  });
  return { answer, changes, answeredAt: () => answeredAt, cancel: () => controller.abort() };
}

test("a call that waits for a job returns the final video although the status has none", async () => {
  const world = runningWorld();
  const wait = waitFor(world, 50);
  world.change("a", { status: "completed" });
  world.list = [{ jobId: "a", status: "completed", finalVideoUrl: FINAL }];
  await world.until(13);

  expect(await wait.answer).toEqual(job("a", { status: "completed", finalVideoUrl: FINAL }));
  expect(world.requests()).toEqual(["12 a", "12 list user"]);
  expect(world.clock.pending()).toBe(0);
});

test("a wait reads the job one last time a second before it runs out", async () => {
  const world = runningWorld();
  const wait = waitFor(world, 4);
  const ended = job("a", { status: "completed", videoUrls: [CLIP], finalVideoUrl: FINAL });
  await world.until(1.5);
  world.jobs.set("a", ended);
  await world.until(4);

  expect(await wait.answer).toEqual(ended);
  expect(wait.answeredAt()).toBe(3);
  expect(world.requests()).toEqual(["3 a user"]);
  expect(world.clock.pending()).toBe(0);
});

test("a wait that runs out returns the job as it is at that time", async () => {
  const world = runningWorld();
  const wait = waitFor(world, 20);
  await world.until(13);
  world.change("a", { videoUrls: [CLIP] });
  await world.until(19.9);
  expect(wait.answeredAt()).toBeUndefined();
  await world.until(20);

  expect(await wait.answer).toEqual(job("a", { videoUrls: [CLIP] }));
  expect(wait.answeredAt()).toBe(20);
  expect(world.requests()).toEqual(["12 a", "19 a user"]);
  expect(world.clock.pending()).toBe(0);
});

test("a wait that a sleep of the process has cut short still reads once, and returns what it finds", async () => {
  const world = runningWorld();
  const wait = waitFor(world, 50);
  await world.until(5);
  world.clock.sleep(1_800_000);
  world.change("a", { status: "completed", finalVideoUrl: FINAL });
  world.answerMs = 500;
  await world.until(1_900);

  expect(await wait.answer).toEqual(job("a", { status: "completed", finalVideoUrl: FINAL }));
  expect(wait.answeredAt()).toBe(1_805.5);
  expect(world.clock.pending()).toBe(0);
});

test.each([failure("service_failed", { status: 503 }), failure("unauthorized", { status: 401 })])(
  "a wait that runs out returns the last known state in time if that read fails: %s",
  async (error) => {
    const world = runningWorld();
    const wait = waitFor(world, 4);
    world.failing.set("a", error);
    await world.until(4);

    expect(await wait.answer).toEqual(job("a"));
    expect(wait.answeredAt()).toBe(4);
  },
);

test("a wait returns when the call is cancelled while the final video is looked up", async () => {
  const world = runningWorld();
  const wait = waitFor(world, 50);
  world.change("a", { status: "completed" });
  world.answerMs = 1_000;
  await world.until(13.5);
  wait.cancel();

  expect(await wait.answer).toEqual(job("a", { status: "completed" }));
  expect(wait.answeredAt()).toBe(13.5);
});
