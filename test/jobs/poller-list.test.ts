// What two or more watched jobs cost and tell, which share the requests for the video list.

import { expect, test } from "vitest";
import { failure, ids, job, PolledWorld } from "./polled-service.ts";

const CLIP = "https://cdn.example/1.mp4";

/** Jobs that are started and watched now, and polled every 10 s. */
function watchedWorld(...jobIds: string[]) {
  const world = new PolledWorld({ fixedMs: 10_000 });
  world.start(...jobIds);
  world.watchAll(...jobIds);
  return world;
}

test("jobs that are due together share one request for the video list", async () => {
  const world = watchedWorld(...ids("j", 30));
  await world.until(25);

  expect(world.requests()).toEqual(["10 list", "20 list"]);
});

test.each([
  [2, ["10 list"]],
  [5, ["10 a", "15 b"]],
])("two jobs share the list if they are due within two seconds: %d s, %j", async (laterSeconds, requests) => {
  const world = watchedWorld("a");
  await world.until(laterSeconds);
  world.start("b");
  world.watchAll("b");
  await world.until(19);

  expect(world.requests()).toEqual(requests);
});

test("jobs that the list doesn't show are polled by their own status", async () => {
  const world = watchedWorld("old", "new", "newer");
  world.pageSize = 2;
  await world.until(15);
  expect(world.requests()).toEqual(["10 list", "10 old"]);

  world.pageSize = 3;
  await world.until(29);
  expect(world.requests()).toEqual(["20 old", "20 list"]);
});

test("jobs that are due together all end, even if the list lacks them", async () => {
  const world = new PolledWorld();
  const [fresh, old] = [ids("new", 40), ids("old", 40)];
  world.found(...fresh, ...old);
  world.pageSize = 20;
  world.paceMs = 1_700;
  world.watchAll(...fresh, ...old);
  await world.until(120);
  for (const jobId of fresh) world.change(jobId, { status: "completed" });
  await world.until(500);
  for (const jobId of old) world.change(jobId, { status: "completed" });
  await world.until(900);

  const ended = world.changes.map((line) => line.replace(/^\S+ /, ""));
  expect(ended.toSorted()).toEqual([...fresh, ...old].map((jobId) => `${jobId} completed`).toSorted());
  expect(world.clock.pending()).toBe(0);
});

test.each([failure("service_failed"), failure("not_found", { status: 404 })])(
  "jobs that are due together are asked one by one for a minute after the list fails: %s",
  async (error) => {
    const world = watchedWorld("a", "b");
    world.failing.set("list", error);
    await world.until(25);
    expect(world.requests()).toEqual(["10 list", "10 a", "10 b", "20 a", "20 b"]);

    await world.until(65);
    world.requests();
    world.failing.clear();
    await world.until(85);
    expect(world.requests()).toEqual(["70 list", "80 list"]);
    expect(world.changes).toEqual([]);
  },
);

test("an end that the list shows first is told when the job's own status confirms it", async () => {
  const world = watchedWorld("a", "b");
  world.answerMs = 500;
  const ended = { status: "completed", videoUrls: [CLIP] };
  for (const jobId of ["a", "b"]) world.change(jobId, ended);
  await world.until(15);

  expect(world.requests()).toEqual(["10 list", "10.5 a", "10.5 b"]);
  expect(world.changes).toEqual(["11 a completed", "11 b completed"]);
  expect(["a", "b"].map((jobId) => world.store.get(jobId)?.job)).toEqual([job("a", ended), job("b", ended)]);
});

test("an end that the list shows first is not told if the job's own status denies it", async () => {
  const world = watchedWorld("a", "b", "c");
  world.listAs("a", "failed");
  await world.until(25);
  expect(world.requests()).toEqual(["10 list", "10 a", "20 a", "20 list"]);
  expect(world.changes).toEqual([]);

  world.jobs.set("a", job("a", { status: "failed" }));
  await world.until(35);
  expect(world.changes).toEqual(["30 a failed"]);
});

test("the first poll of an unread job asks for its own status", async () => {
  const world = new PolledWorld();
  world.found("a", "b");
  world.watchAll("a", "b");
  await world.until(5);
  for (const jobId of ["a", "b"]) world.change(jobId, { videoUrls: [CLIP] });
  await world.until(36);

  expect(world.requests()).toEqual(["0 a", "0 b", "10 list", "20 list", "30 list", "30 a", "30 b"]);
  expect(world.changes).toEqual(["30 a processing", "30 b processing"]);
});

test("no status of the list but an end is believed", async () => {
  const world = watchedWorld("a", "b");
  world.listAs("a", "queued");
  world.listAs("b", "rendering");
  await world.until(25);

  expect(world.requests()).toEqual(["10 list", "20 list"]);
  expect(world.changes).toEqual([]);
});

const statusReads = (world: PolledWorld) => world.requests().filter((line) => !line.endsWith(" list"));

test("finished clips of jobs that share the list are told within about 30 s", async () => {
  const world = watchedWorld("a", "b", "c");
  await world.until(31);
  for (const jobId of ["a", "b", "c"]) world.change(jobId, { videoUrls: [CLIP] });
  await world.until(61);

  expect(world.changes).toEqual(["60 a processing", "60 b processing", "60 c processing"]);
});

test("finished clips are not read beside the polls of a single job, which show them", async () => {
  const world = new PolledWorld({ fixedMs: 60_000 });
  world.start("a");
  world.watchAll("a");
  await world.until(179);

  expect(world.requests()).toEqual(["60 a", "120 a"]);
});

test("clips are not read while little of the rate limit is left", async () => {
  const world = watchedWorld("a", "b");
  world.hasSpareRequests = false;
  await world.until(49);
  expect(statusReads(world)).toEqual([]);

  world.hasSpareRequests = true;
  await world.until(51);
  expect(statusReads(world)).toEqual(["50 a", "50 b"]);
});
