import { describe, expect, it } from "vitest";
import { failureOf } from "../service/bridge.ts";
import { createWatching, found, ids, job, START_MS } from "./polled-service.ts";

const at = (seconds: number) => new Date(START_MS + seconds * 1000).toISOString();

describe("a watched job", () => {
  it("is polled by its age until it has ended, which is announced once", async () => {
    const world = createWatching();
    world.start("a");
    world.watch("a");
    await world.until(119);
    world.become("a", { status: "completed" });
    await world.until(600);

    expect(world.asked()).toEqual(["12 a", "42 a", "72 a", "102 a", "110 a", "118 a", "126 a"]);
    expect(world.heard).toEqual(["126 a completed"]);
    expect({ watched: world.watcher.size(), timers: world.clock.pending() }).toEqual({
      watched: 0,
      timers: 0,
    });
  });

  it("has one poller, however many watch it, and nobody has the list read for it", async () => {
    const world = createWatching();
    world.start("a");
    for (let each = 0; each < 20; each++) world.watch("a");
    world.await("a");
    await world.until(80);

    expect(world.asked()).toEqual(["12 a", "42 a", "72 a"]);
    expect(world.watcher.size()).toBe(1);
    expect(world.service.askedForListing).toBe(0);
  });

  it("announces each change of its state and nothing else", async () => {
    const world = createWatching();
    world.start("a");
    world.watch("a");
    const counts = (completed: number) => ({ total: 9, completed, failed: 0 });
    world.become("a", { progress: counts(0) });
    await world.until(41);
    world.become("a", { progress: counts(1) });
    await world.until(71);
    world.become("a", { progress: counts(1), checkedAt: "now" });
    await world.until(101);
    world.become("a", { status: "failed" });
    await world.until(200);

    expect(world.heard).toEqual(["42 a processing", "102 a failed"]);
  });

  it.each([
    [2, ["10 a", "40 a"]],
    [11.5, ["0.5 a", "30.5 a"]],
    [100, ["0 a", "8 a", "16 a", "24 a", "32 a", "40 a"]],
  ])("is polled by the age that the video list tells: %d s", async (ageSeconds, asked) => {
    const world = createWatching();
    found(world, "a");
    world.store.list([{ jobId: "a", status: "processing", createdAt: at(-ageSeconds) }], true);
    world.watch("a");
    await world.until(40);

    expect(world.asked()).toEqual(asked);
  });

  it("of unknown age is polled at once, then every 10 s, whether somebody waits for it or not", async () => {
    const world = createWatching();
    found(world, "a", "b");
    world.watch("a");
    await world.until(25);
    expect(world.asked()).toEqual(["0 a", "10 a", "20 a"]);

    const waited = createWatching();
    found(waited, "a");
    waited.await("a");
    await waited.until(25);
    expect(waited.asked()).toEqual(["0 a", "10 a", "20 a"]);
  });

  it("is polled at a fixed interval where one is set", async () => {
    const world = createWatching({ fixedMs: 2_500 });
    world.start("a");
    world.watch("a");
    await world.until(10);

    expect(world.asked()).toEqual(["2.5 a", "5 a", "7.5 a", "10 a"]);
  });

  it("is polled sooner while somebody waits for it in a call", async () => {
    const world = createWatching();
    world.start("a");
    world.watch("a");
    await world.until(111);
    world.asked();

    const leave = world.await("a");
    await world.until(160);
    leave();
    await world.until(180);

    // From 110: 6 s to age 135, then 5 s; without the one who waited 6 s, after what was already set.
    expect(world.asked()).toEqual(
      [116, 122, 128, 134, 140, 145, 150, 155, 160, 165, 171, 177].map((second) => `${second} a`),
    );
  });

  it("is asked for at once when somebody begins to wait who would have been told by now", async () => {
    const world = createWatching();
    world.start("a");
    world.watch("a");
    await world.until(117.5);
    world.asked();
    world.await("a");
    await world.until(117.6);

    expect(world.asked()).toEqual(["117.5 a"]);
  });

  it("that is known to have ended is not polled", async () => {
    const world = createWatching();
    world.start("a");
    world.store.put(job("a", { status: "completed" }));
    const leave = world.watch("a");
    await world.until(3_600);
    leave();

    expect(world.asked()).toEqual([]);
    expect({ watched: world.watcher.size(), timers: world.clock.pending() }).toEqual({
      watched: 0,
      timers: 0,
    });
  });

  it("whose end a person has learnt is polled no more", async () => {
    const world = createWatching();
    world.start("a");
    world.watch("a");
    world.become("a", { status: "failed" });
    await world.until(5);
    await Promise.all([world.reader.read("a", { background: false }), world.until(6)]);

    expect({ watched: world.watcher.size(), timers: world.clock.pending() }).toEqual({
      watched: 0,
      timers: 0,
    });
    expect(world.heard).toEqual(["5 a failed"]);
  });

  it("that a person has just asked for is not asked for again: that was as good as a poll", async () => {
    const world = createWatching();
    found(world, "a");
    await Promise.all([world.reader.read("a", { background: false }), world.until(1)]);
    world.watch("a");
    await world.until(12);
    await Promise.all([world.reader.read("a", { background: false }), world.until(15)]);
    await world.until(23);

    expect(world.asked()).toEqual(["0 a person", "10 a", "12 a person", "22 a"]);
  });

  it("is first polled at 12 s even if a person has asked before, for little can be known then", async () => {
    const world = createWatching();
    world.start("a");
    world.watch("a");
    await world.until(10);
    await Promise.all([world.reader.read("a", { background: false }), world.until(50)]);

    expect(world.asked()).toEqual(["10 a person", "12 a", "42 a"]);
  });

  it("has its age measured from its completions, which then time the others", async () => {
    const world = createWatching();
    for (let each = 0; each < 5; each++) {
      const startedAt = world.seconds();
      world.start(`quick${each}`);
      world.watch(`quick${each}`);
      await world.until(startedAt + 41);
      world.become(`quick${each}`, { status: "completed" });
      await world.until(startedAt + 42);
    }
    world.asked();
    const startedAt = world.seconds();
    world.start("a");
    world.watch("a");
    await world.until(startedAt + 12);

    // Seen running at 12 s and done at 42: their median is 27 s of the usual 165, which is less than the least factor, 0.3.
    expect(world.asked()).toEqual([`${startedAt + 3.6} a`]);
  });
});

describe("the end of watching", () => {
  it("comes with the last who leaves, and leaving twice is harmless", async () => {
    const world = createWatching();
    world.start("a");
    const leave = world.watch("a");
    const leaveToo = world.watch("a");
    leave();
    leave();
    await world.until(12);
    expect(world.asked()).toEqual(["12 a"]);

    leaveToo();
    expect({ watched: world.watcher.size(), timers: world.clock.pending() }).toEqual({
      watched: 0,
      timers: 0,
    });
    await world.until(600);
    expect(world.asked()).toEqual([]);
  });

  it("leaves nothing behind where a poll is on its way", async () => {
    const world = createWatching();
    world.service.answerMs = 5_000;
    world.start("a");
    const leave = world.watch("a");
    await world.until(13);
    leave();
    await world.until(600);

    expect(world.asked()).toEqual(["12 a"]);
    expect(world.clock.pending()).toBe(0);
  });

  it("does not touch a watch of the same job that was begun while a poll was on its way", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    world.service.answerMs = 5_000;
    world.start("a");
    world.service.jobs.delete("a");
    const leave = world.watch("a");
    await world.until(26);
    leave();
    world.watch("a");
    await world.until(31);

    // The second answer that nobody knows the job is the first one to the second watch.
    expect(world.asked()).toEqual(["10 a", "25 a"]);
    expect({ heard: world.heard, watched: world.watcher.size() }).toEqual({ heard: [], watched: 1 });
  });

  it.each([
    ["is on its way", 10.5],
    ["was answered and the next waits its turn", 11.5],
  ])("leaves no page to be asked for where one of a walk %s", async (_, leaveAt) => {
    const world = createWatching({ fixedMs: 10_000 });
    world.service.maxLimit = 2;
    world.service.canPage = true;
    found(world, "a", "b", "c", "d", "e");
    const leave = ["a", "b", "c", "d"].map(world.watch);
    await world.until(9);
    world.asked();
    world.service.answerMs = 1_000;
    world.service.paceMs = 5_000;
    await world.until(leaveAt);
    for (const each of leave) each();
    await world.until(600);

    expect(world.asked()).toEqual(["10 videos?limit=2"]);
    expect(world.clock.pending()).toBe(0);
  });

  it("comes for all with the end of the connection, and nobody can watch after it", async () => {
    const world = createWatching();
    world.start("a", "b");
    const leave = world.watch("a");
    world.watch("b");
    world.watcher.close();
    world.watch("a");
    leave();
    await world.until(600);

    expect(world.asked()).toEqual([]);
    expect({ watched: world.watcher.size(), timers: world.clock.pending() }).toEqual({
      watched: 0,
      timers: 0,
    });
  });

  it("closed while a poll is on its way, learns of its answer and goes no further", async () => {
    const world = createWatching();
    world.service.answerMs = 5_000;
    world.start("a");
    world.watch("a");
    await world.until(13);
    world.watcher.close();
    await world.until(600);

    expect(world.asked()).toEqual(["12 a"]);
    expect(world.store.get("a")?.job).toEqual(job("a"));
    expect(world.clock.pending()).toBe(0);
  });
});

describe("two hundred watched jobs", () => {
  it("are the most: the next is refused with an error that says so, another watch of one of them is not", () => {
    const world = createWatching();
    for (const jobId of ids("j", 200)) world.watch(jobId);
    world.watch("j0");

    const refusal = failureOf(new Promise(() => world.watch("one more")));

    return expect(refusal).resolves.toEqual({
      code: "limit_reached",
      message: "200 jobs are watched already, which is the most.",
      nextStep: "End another subscription first, or ask with get_video_status now and then.",
      outcome: "not_sent",
      retryable: true,
    });
  });

  it("leave room for another when one has ended, was left or is known to have ended", async () => {
    const world = createWatching({ maxWatched: 2 });
    found(world, "a", "b");
    world.store.put(job("done", { status: "completed" }));
    world.watch("a");
    const leave = world.watch("b");
    world.watch("done");
    world.become("a", { status: "failed" });
    await world.until(30);
    leave();

    world.watch("c");
    world.watch("d");
    expect(world.watcher.size()).toBe(2);
  });
});

describe("requests on their way", () => {
  it("are four at most, each a turn after the other, since the budget counts one only when it is really sent", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    found(world, ...ids("j", 9));
    world.service.list = [];
    for (const jobId of ids("j", 9)) world.watch(jobId);
    await world.until(1);
    world.asked();
    world.service.answerMs = 30_000;
    world.service.left = 2;
    await world.until(12);
    expect(world.asked()).toHaveLength(2);

    world.service.left = Infinity;
    await world.until(69);
    expect(world.asked()).toHaveLength(4);
    await world.until(71);
    expect(world.asked()).toHaveLength(4);
  });
});
