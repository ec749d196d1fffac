import { describe, expect, it } from "vitest";
import { createWatching, failure, found, job } from "./polled-service.ts";

describe("polling that fails", () => {
  it.each([
    failure("service_failed", { status: 503 }),
    failure("timeout"),
    failure("network"),
    failure("bad_answer"),
    failure("unauthorized", { status: 403 }),
    new Error("a fault of this bridge"),
  ])("backs off to a minute and goes on: %s", async (error) => {
    const world = createWatching({ fixedMs: 5_000 });
    world.start("a");
    world.watch("a");
    world.service.failing.set("a", error);
    await world.until(225);
    expect(world.asked()).toEqual(["5 a", "10 a", "20 a", "40 a", "80 a", "140 a", "200 a"]);

    world.service.failing.clear();
    await world.until(270);
    expect(world.asked()).toEqual(["260 a", "265 a", "270 a"]);
    expect(world.heard).toEqual([]);
  });

  it("waits as long as the service asks for, but no longer than a minute, even if somebody begins to wait", async () => {
    const world = createWatching({ fixedMs: 5_000 });
    world.start("a");
    world.watch("a");
    await world.until(5);
    world.service.failing.set("a", failure("rate_limited", { status: 429, retryAfterSeconds: 33 }));
    await world.until(11);
    world.await("a");
    world.service.failing.set("a", failure("service_failed", { status: 503, retryAfterSeconds: 3_600 }));
    await world.until(110);

    expect(world.asked()).toEqual(["5 a", "10 a", "43 a", "103 a"]);
  });

  it("of the list has the jobs asked for by themselves for a while, twice as long each time", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    found(world, "a", "b");
    world.watch("a");
    world.watch("b");
    world.service.failing.set("videos", failure("service_failed"));
    await world.until(71);

    expect(world.asked()).toEqual([
      "0 videos?limit=20",
      "10 a",
      "10 b",
      "20 videos?limit=20",
      "30 a",
      "30 b",
      "40 a",
      "40 b",
      "50 videos?limit=20",
      "60 a",
      "60 b",
      "70 a",
      "70 b",
    ]);
    expect(world.heard).toEqual([]);
  });

  it("of the list for the rate is no fault of the list", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    found(world, "a", "b");
    world.watch("a");
    world.watch("b");
    world.service.failing.set("videos", failure("rate_limited", { status: 429, retryAfterSeconds: 12 }));
    await world.until(5);
    world.service.failing.clear();
    await world.until(21);

    expect(world.asked()).toEqual(["0 videos?limit=20", "12 videos?limit=20"]);
  });

  it("of the list is forgotten when the list is well again", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    found(world, "a", "b");
    world.watch("a");
    world.watch("b");
    for (const until of [5, 35]) {
      world.service.failing.set("videos", failure("service_failed"));
      await world.until(until);
      world.service.failing.clear();
      await world.until(until + 20);
    }

    // Twice the first rest, of 15 s.
    expect(world.asked()).toEqual([
      "0 videos?limit=20",
      "10 a",
      "10 b",
      "20 videos?limit=20",
      "30 videos?limit=20",
      "40 a",
      "40 b",
      "50 videos?limit=20",
    ]);
  });

  it("of the list with a 404 says nothing of the jobs", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    found(world, "a", "b");
    world.watch("a");
    world.watch("b");
    for (const what of ["videos", "a", "b"])
      world.service.failing.set(what, failure("not_found", { status: 404 }));
    await world.until(15);

    expect(world.asked()).toEqual(["0 videos?limit=20", "10 a", "10 b"]);
    expect({ heard: world.heard, watched: world.watcher.size() }).toEqual({ heard: [], watched: 2 });
  });

  it("of a list that is not there ends no watch", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    found(world, "a", "b");
    world.watch("a");
    world.watch("b");
    world.service.failing.set("videos", failure("not_found", { status: 404 }));
    await world.until(200);

    expect({ heard: world.heard, watched: world.watcher.size() }).toEqual({ heard: [], watched: 2 });
  });
});

describe("a watch is ended", () => {
  const KEY = "Watching ended: the service does not accept the API key.";
  const UNKNOWN = "Watching ended: the service says that it knows no such job.";
  const LONG = "Watching ended after 60 minutes: ask with get_video_status how far the job is.";

  it("by two answers in a row that the service knows no such job", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    world.start("a");
    world.service.jobs.delete("a");
    const leave = world.watch("a");
    await world.until(300);
    leave();

    expect(world.asked()).toEqual(["10 a", "20 a"]);
    expect(world.heard).toEqual([`20 a ${UNKNOWN}`]);
    expect(world.store.get("a")?.watchEnded).toBe(UNKNOWN);
    expect({ watched: world.watcher.size(), timers: world.clock.pending() }).toEqual({
      watched: 0,
      timers: 0,
    });
  });

  it("not by two that were not in a row", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    world.start("a");
    world.watch("a");
    for (const [until, error] of [
      [15, failure("not_found", { status: 404 })],
      [25, failure("service_failed", { status: 500 })],
      [45, failure("not_found", { status: 404 })],
    ] as const) {
      world.service.failing.set("a", error);
      await world.until(until);
    }

    expect({ heard: world.heard, watched: world.watcher.size() }).toEqual({ heard: [], watched: 1 });
  });

  it("by a key that is not accepted, for all jobs", async () => {
    const world = createWatching();
    world.start("a", "b");
    world.watch("a");
    await world.until(11);
    world.watch("b");
    world.service.failing.set("videos", failure("unauthorized", { status: 401 }));
    await world.until(300);

    expect(world.asked()).toEqual(["12 videos?limit=20"]);
    expect(world.heard).toEqual([`12 a ${KEY}`, `12 b ${KEY}`]);
    expect({ watched: world.watcher.size(), timers: world.clock.pending() }).toEqual({
      watched: 0,
      timers: 0,
    });
  });

  it("after an hour", async () => {
    const world = createWatching({ fixedMs: 600_000 });
    world.start("a");
    world.watch("a");
    await world.until(7_200);

    expect(world.asked()).toEqual(["600 a", "1200 a", "1800 a", "2400 a", "3000 a"]);
    expect(world.heard).toEqual([`3600 a ${LONG}`]);
  });

  it("after an hour in which nothing might be asked", async () => {
    const world = createWatching();
    world.start("a");
    world.watch("a");
    world.service.waitMs = 60_000;
    await world.until(3_700);

    expect(world.asked()).toEqual([]);
    expect(world.heard).toEqual([`3612 a ${LONG}`]);
  });

  it("and whoever had it leaves without touching who watches it again", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    world.start("a");
    world.service.jobs.delete("a");
    const leave = world.watch("a");
    await world.until(30);
    world.watch("a");
    leave();

    expect(world.watcher.size()).toBe(1);
  });

  it("until somebody watches it again, who is told nothing of the end before", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    world.start("a");
    world.service.jobs.delete("a");
    world.watch("a");
    await world.until(30);
    world.service.jobs.set("a", job("a"));
    world.asked();

    world.watch("a");
    expect(world.store.get("a")?.watchEnded).toBeUndefined();
    await world.until(41);
    expect(world.asked()).toEqual(["30 a", "40 a"]);
    expect(world.heard).toEqual([`20 a ${UNKNOWN}`]);
  });
});

describe("a clock that is set", () => {
  it("back has the list rest no longer for it", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    found(world, "a", "b");
    world.service.failing.set("videos", failure("service_failed"));
    world.watch("a");
    world.watch("b");
    await world.clock.runFor(5_000);
    world.service.failing.clear();
    world.clock.set(-7_200_000);
    await world.clock.runFor(6_000);

    expect(world.asked()).toEqual(["0 videos?limit=20", "-7190 videos?limit=20"]);
  });

  it("back has the job polled at once and then as ever, not after the hours that it was set back by", async () => {
    const world = createWatching();
    found(world, "a");
    world.watch("a");
    await world.clock.runFor(15_000);
    world.clock.set(-7_200_000);
    world.watch("a");
    await world.clock.runFor(25_000);

    expect(world.asked()).toEqual(["0 a", "10 a", "-7185 a", "-7175 a", "-7165 a"]);
  });

  it("back does not have it polled without a pause while that fails", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    found(world, "a");
    world.watch("a");
    await world.clock.runFor(15_000);
    world.clock.set(-7_200_000);
    world.service.failing.set("a", failure("service_failed"));
    world.watch("a");
    await world.clock.runFor(25_000);

    expect(world.asked()).toEqual(["0 a", "10 a", "-7185 a", "-7175 a"]);
  });

  it("ahead, as after a sleep, has it polled at once", async () => {
    const world = createWatching();
    found(world, "a");
    world.watch("a");
    await world.clock.runFor(15_000);
    world.clock.set(1_800_000);
    await world.clock.runFor(5_000);

    expect(world.asked()).toEqual(["0 a", "10 a", "1820 a"]);
  });
});
