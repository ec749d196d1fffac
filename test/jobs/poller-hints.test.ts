// Hints that a job may have news, which anybody may send.

import { expect, test } from "vitest";
import { failure, PolledWorld } from "./polled-service.ts";

function watchedWorld(...jobIds: string[]) {
  const world = new PolledWorld();
  world.start(...jobIds);
  world.watchAll(...jobIds);
  return world;
}

test("a hint brings the end of a job to its watchers at once", async () => {
  const world = watchedWorld("a");
  await world.until(100);
  world.change("a", { status: "completed" });
  world.requests();
  world.poller.hint("a");
  await world.until(600);

  expect(world.requests()).toEqual(["100 a"]);
  expect(world.changes).toEqual(["100 a completed"]);
  expect(world.clock.pending()).toBe(0);
});

test("a hint that is forged costs one request, and no later poll comes later", async () => {
  const world = watchedWorld("a");
  for (const second of [3, 94]) {
    await world.until(second);
    world.poller.hint("a");
  }
  await world.until(119);

  expect(world.requests()).toEqual(["3 a", "12 a", "42 a", "72 a", "94 a", "102 a", "110 a", "118 a"]);
});

test("a hint is worth one request in 5 s, and the last of many is not lost", async () => {
  const world = watchedWorld("a");
  for (let time = 0; time < 1_000; time++) {
    await world.clock.runFor(10);
    world.poller.hint("a");
  }
  await world.until(11.9);
  expect(world.requests()).toEqual(["0 a", "5 a", "10 a"]);

  world.change("a", { status: "completed" });
  world.poller.hint("a");
  await world.until(60);
  expect(world.requests()).toEqual(["12 a"]);
  expect(world.changes).toEqual(["12 a completed"]);
});

test("a hint after an answer that may be older than it causes another request", async () => {
  const world = watchedWorld("a");
  world.answerMs = 2_000;
  await world.until(13);
  world.poller.hint("a");
  await world.until(20);

  expect(world.requests()).toEqual(["12 a", "14 a"]);
});

test.each(["of a job that is not watched", "of a job that has ended", "of anything at all"])(
  "a hint %s does nothing",
  async (about) => {
    const world = watchedWorld("ended");
    world.change("ended", { status: "completed" });
    await world.until(13);
    world.start("unwatched");
    const name = about.includes("ended") ? "ended" : about.includes("not") ? "unwatched" : "constructor";
    world.requests();
    world.poller.hint(name);
    await world.until(600);

    expect(world.requests()).toEqual([]);
    expect(world.clock.pending()).toBe(0);
  },
);

test("a hint waits for the pause that a service in trouble needs", async () => {
  const world = watchedWorld("a");
  world.failing.set("a", failure("service_failed", { status: 503, retryAfterSeconds: 40 }));
  await world.until(13);
  world.poller.hint("a");
  await world.until(51.9);

  expect(world.requests()).toEqual(["12 a"]);
});

test("a hint is not forgotten when its request is refused for the rate", async () => {
  const world = watchedWorld("a");
  world.failing.set("a", failure("rate_limited", { status: 429 }));
  world.poller.hint("a");
  await world.until(0.5);
  world.failing.clear();
  await world.until(8);

  expect(world.requests()).toEqual(["0 a", "1 a"]);
});
