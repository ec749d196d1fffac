import { expect, test } from "vitest";
import { failure, job, PolledWorld } from "./polled-service.ts";

const KEY = "Watching ended: the service does not accept the API key.";
const UNKNOWN =
  "Watching ended. This computer started the video 20 seconds ago, and the service does not list it yet.";
const HOUR = "Watching ended after 60 minutes: ask with get_video_status how far the job is.";

/** Job a, watched and polled at this interval. */
function watchedWorld(fixedMs: number) {
  const world = new PolledWorld({ fixedMs });
  world.start("a");
  return { world, unwatch: world.poller.watch("a") };
}

test.each([
  failure("service_failed", { status: 503 }),
  failure("timeout"),
  failure("network"),
  failure("bad_answer"),
  failure("unauthorized", { status: 403 }),
  new Error("a fault of this bridge"),
])("polling that fails backs off up to a minute and continues: %s", async (error) => {
  const { world } = watchedWorld(5_000);
  world.failing.set("a", error);
  await world.until(225);
  expect(world.requests()).toEqual(["5 a", "10 a", "20 a", "40 a", "80 a", "140 a", "200 a"]);

  world.failing.clear();
  await world.until(270);
  expect(world.requests()).toEqual(["260 a", "265 a", "270 a"]);
  expect(world.changes).toEqual([]);
});

test("polling that fails waits as long as the service asks for, at most a minute", async () => {
  const { world } = watchedWorld(5_000);
  world.failing.set("a", failure("service_failed", { status: 503, retryAfterSeconds: 33 }));
  await world.until(11);
  world.failing.set("a", failure("service_failed", { status: 503, retryAfterSeconds: 3_600 }));
  await world.until(110);

  expect(world.requests()).toEqual(["5 a", "38 a", "98 a"]);
});

test("a rate-limited poll is repeated later and is no failure of the job", async () => {
  const { world } = watchedWorld(5_000);
  world.failing.set("a", failure("rate_limited", { status: 429, retryAfterSeconds: 7 }));
  await world.until(5);
  world.waitMs = 7_000;
  await world.until(11);
  world.failing.clear();
  world.waitMs = 0;
  await world.until(20);

  expect(world.requests()).toEqual(["5 a", "13 a", "18 a"]);
});

test("a rate-limited request is not sent again for a second if no time is named", async () => {
  const { world } = watchedWorld(5_000);
  world.failing.set("a", failure("rate_limited", { outcome: "not_sent" }));
  await world.until(7.5);
  world.failing.clear();
  await world.until(15);

  expect(world.requests()).toEqual(["5 a", "6 a", "7 a", "8 a", "13 a"]);
});

test("watching ends at the second 404 in a row", async () => {
  const { world, unwatch } = watchedWorld(10_000);
  world.jobs.delete("a");
  await world.until(300);
  unwatch();

  expect(world.requests()).toEqual(["10 a", "20 a"]);
  expect(world.changes).toEqual([`20 a ${UNKNOWN}`]);
  expect(world.clock.pending()).toBe(0);
});

test.each([
  [undefined, 35],
  [failure("service_failed", { status: 500 }), 45],
] as const)(
  "watching goes on after two 404s that are not in a row: %s in between",
  async (between, endSeconds) => {
    const { world } = watchedWorld(10_000);
    const unknown = failure("not_found", { status: 404 });
    for (const [until, error] of [
      [15, unknown],
      [25, between],
      [endSeconds, unknown],
    ] as const) {
      world.failing.clear();
      if (error !== undefined) world.failing.set("a", error);
      await world.until(until);
    }

    expect(world.changes).toEqual([]);
  },
);

test.each(["list", "a"])("watching ends for all jobs at a 401 for %s", async (what) => {
  const world = new PolledWorld();
  world.start("a", "b");
  world.watchAll(...(what === "a" ? ["a"] : ["a", "b"]));
  world.failing.set(what, failure("unauthorized", { status: 401 }));
  await world.until(300);

  expect(world.requests()).toEqual([`12 ${what}`]);
  expect(world.changes).toEqual(what === "a" ? [`12 a ${KEY}`] : [`12 a ${KEY}`, `12 b ${KEY}`]);
  expect(world.clock.pending()).toBe(0);
});

test("watching ends after an hour", async () => {
  const { world } = watchedWorld(600_000);
  await world.until(7_200);

  expect(world.requests()).toEqual(["600 a", "1200 a", "1800 a", "2400 a", "3000 a"]);
  expect(world.changes).toEqual([`3600 a ${HOUR}`]);
  expect(world.clock.pending()).toBe(0);
});

test("a job whose watching has ended can be watched again, which emits nothing", async () => {
  const { world, unwatch } = watchedWorld(10_000);
  world.jobs.delete("a");
  await world.until(30);
  world.jobs.set("a", job("a"));
  world.poller.watch("a");
  unwatch();

  expect(world.poller.watchEnded("a")).toBeUndefined();
  await world.until(41);
  expect(world.requests()).toEqual(["10 a", "20 a", "30 a", "40 a"]);
  expect(world.changes).toEqual([`20 a ${UNKNOWN}`]);
});
