// The real poller, reader and book on a virtual clock: what following costs and what it notifies.

import { describe, expect, test } from "vitest";
import { failure, ids, job, PolledWorld } from "../fixtures/polled-service.ts";

const CLIP = "https://cdn.example/1.mp4";
const KEY = "Following ended: the service does not accept the API key.";
const UNKNOWN =
  "Following ended. This computer started the video 20 seconds ago, and the service does not list it yet (HTTP 404).";
const HOUR = "Following ended after 60 minutes: ask with get_video_status how far the job is.";

/** Jobs that are started and followed now, and polled every 10 s unless an interval is given. */
function followed(jobIds: readonly string[], fixedMs: number | undefined = 10_000) {
  const world = new PolledWorld({ fixedMs });
  world.start(...jobIds);
  return { world, unfollow: world.followAll(...jobIds) };
}

test("a followed job notifies each change of a documented field, its end once, and is then left alone", async () => {
  const { world } = followed(["a"]);
  const progress = (completed: number) => ({ progress: { total: 9, completed, failed: 0 } });
  for (const [atSeconds, more] of [
    [5, progress(0)],
    [25, progress(1)],
    [35, { ...progress(1), checkedAt: "now" }],
    [45, { status: "archived" }],
    [55, { status: "failed" }],
  ] as const) {
    await world.until(atSeconds);
    world.change("a", more);
  }
  await world.until(600);

  expect(world.changes).toEqual(["30 a processing", "50 a archived", "60 a failed"]);
  expect(world.requests()).toEqual(["10 a", "20 a", "30 a", "40 a", "50 a", "60 a"]);
  expect(world.clock.pending()).toBe(0);
});

test("a job is no longer polled after a user has read its end, or after its last follower has left", async () => {
  const { world, unfollow } = followed(["a", "b"]);
  world.change("a", { status: "failed" });
  await world.until(5);
  void world.reader.read("a", { background: false });
  unfollow[1]?.();
  await world.until(600);

  expect(world.requests()).toEqual(["5 a user"]);
  expect(world.changes).toEqual(["5 a failed"]);
  expect(world.clock.pending()).toBe(0);
});

test("a job is not polled just after a user has read it, however often it is followed again", async () => {
  const world = new PolledWorld({ fixedMs: 10_000 });
  world.found("a");
  void world.reader.read("a", { background: false });
  for (const atSeconds of [1, 2, 3]) {
    await world.until(atSeconds);
    for (const unfollow of world.followAll("a")) unfollow();
  }
  world.poller.follow("a");
  await world.until(15);

  expect(world.requests()).toEqual(["0 a user", "10 a"]);
});

test.each([-7_200_000, 1_800_000])(
  "a jump of the system clock by %d ms doesn't affect polling",
  async (byMs) => {
    const { world } = followed(["a"]);
    await world.until(15);
    world.clock.set(byMs);
    await world.until(35);

    expect(world.requests()).toEqual(["10 a", "20 a", "30 a"]);
  },
);

describe("Several jobs", () => {
  test("that are due within two seconds share one request for the list", async () => {
    const { world } = followed(["a"]);
    await world.until(2);
    world.start("b");
    world.followAll("b");
    await world.until(25);

    expect(world.requests()).toEqual(["10 list", "20 list"]);
  });

  test("that the list lacks are asked one by one, until it has them", async () => {
    const { world } = followed(["old", "new", "newer"]);
    world.pageSize = 2;
    await world.until(15);
    expect(world.requests()).toEqual(["10 list", "10 old"]);

    world.pageSize = 3;
    await world.until(29);
    expect(world.requests()).toEqual(["20 list"]);
  });

  test("are asked one by one for a minute after the list has failed", async () => {
    const { world } = followed(["a", "b"]);
    world.failing.set("list", failure("service_failed"));
    await world.until(25);
    expect(world.requests()).toEqual(["10 list", "10 a", "10 b", "20 a", "20 b"]);

    await world.until(65);
    world.requests();
    world.failing.clear();
    await world.until(75);
    expect(world.requests()).toEqual(["70 list"]);
  });

  test("end when their own status confirms what the list shows, and not before", async () => {
    const { world } = followed(["a", "b", "c"]);
    world.change("a", { status: "completed" });
    world.listAs("b", "failed");
    world.listAs("c", "rendering");
    await world.until(15);

    expect(world.requests()).toEqual(["10 list", "10 a", "10 b"]);
    expect(world.changes).toEqual(["10 a completed"]);
  });

  test("are announced clip by clip within 40 s, though the list shows no clips", async () => {
    const { world } = followed(["a", "b", "c"]);
    for (const jobId of ["a", "b", "c"]) world.change(jobId, { videoUrls: [CLIP] });
    await world.until(40);

    expect(world.changes).toEqual(["30 a processing", "30 b processing", "30 c processing"]);
  });

  test("all end even at a slow pace and with half of them missing from the list", async () => {
    const world = new PolledWorld();
    const [fresh, old] = [ids("new", 40), ids("old", 40)];
    world.found(...fresh, ...old);
    world.pageSize = 20;
    world.paceMs = 1_700;
    world.followAll(...fresh, ...old);
    await world.until(120);
    for (const jobId of fresh) world.change(jobId, { status: "completed" });
    await world.until(500);
    for (const jobId of old) world.change(jobId, { status: "completed" });
    await world.until(900);

    const ended = world.changes.map((line) => line.replace(/^\S+ /, ""));
    expect(ended.toSorted()).toEqual([...fresh, ...old].map((jobId) => `${jobId} completed`).toSorted());
    expect(world.clock.pending()).toBe(0);
  });
});

describe("A hint", () => {
  test("brings the end of a job at once", async () => {
    const { world } = followed(["a"], 60_000);
    await world.until(5);
    world.change("a", { status: "completed" });
    world.poller.hint("a");
    await world.until(600);

    expect(world.requests()).toEqual(["5 a"]);
    expect(world.changes).toEqual(["5 a completed"]);
  });

  test("that was false costs one request in 5 s", async () => {
    const { world } = followed(["a"], 30_000);
    for (let time = 0; time < 1_000; time++) {
      await world.clock.runFor(10);
      world.poller.hint("a");
    }
    await world.until(65);

    expect(world.requests()).toEqual(["0 a", "5 a", "10 a", "40 a"]);
  });

  test("that comes while an older answer is on its way is not lost", async () => {
    const { world } = followed(["a"], 60_000);
    world.answerMs = 2_000;
    await world.until(61);
    world.poller.hint("a");
    await world.until(70);

    expect(world.requests()).toEqual(["60 a", "62 a"]);
  });

  test("about a job that isn't followed, or about anything else, sends nothing", async () => {
    const world = new PolledWorld();
    world.start("a");
    for (const name of ["a", "constructor", ""]) world.poller.hint(name);
    await world.until(600);

    expect(world.requests()).toEqual([]);
  });
});

describe("Following", () => {
  test.each([failure("service_failed", { status: 503 }), new Error("a fault of this bridge")])(
    "backs off up to a minute while polls fail, and continues: %s",
    async (error) => {
      const { world } = followed(["a"], 5_000);
      world.failing.set("a", error);
      await world.until(145);
      expect(world.requests()).toEqual(["5 a", "10 a", "20 a", "40 a", "80 a", "140 a"]);

      world.failing.clear();
      await world.until(206);
      expect(world.requests()).toEqual(["200 a", "205 a"]);
      expect(world.changes).toEqual([]);
    },
  );

  test("waits as long as the service asks for", async () => {
    const { world } = followed(["a"], 5_000);
    world.failing.set("a", failure("service_failed", { status: 503, retryAfterSeconds: 90 }));
    await world.until(100);

    expect(world.requests()).toEqual(["5 a", "95 a"]);
  });

  test("waits for the share of the rate limit that polls may use", async () => {
    const { world } = followed(["a", "b"], 5_000);
    world.waitMs = 20_000;
    await world.until(15);
    world.waitMs = 0;
    await world.until(26);

    expect(world.requests()).toEqual(["20 list", "25 list"]);
  });

  test("ends at the second 404 in a row, and says so; it can be restarted", async () => {
    const { world } = followed(["a"]);
    world.jobs.delete("a");
    await world.until(300);
    expect(world.requests()).toEqual(["10 a", "20 a"]);
    expect(world.changes).toEqual([`20 a ${UNKNOWN}`]);
    expect(world.clock.pending()).toBe(0);

    world.jobs.set("a", job("a"));
    world.poller.follow("a");
    expect(world.book.get("a").followingEnded).toBeUndefined();
    await world.until(301);
    expect(world.requests()).toEqual(["300 a"]);
  });

  test("continues after two 404s that are not in a row", async () => {
    const { world } = followed(["a"]);
    for (const error of [404, 500, 404].map((status) =>
      failure(status === 404 ? "not_found" : "service_failed", { status }),
    )) {
      world.failing.set("a", error);
      await world.clock.runFor(15_000);
    }

    expect(world.changes).toEqual([]);
  });

  test.each(["list", "a"])("ends for all jobs at a 401 for %s, and says so", async (what) => {
    const { world } = followed(what === "a" ? ["a"] : ["a", "b"]);
    world.failing.set(what, failure("unauthorized", { status: 401 }));
    await world.until(300);

    expect(world.requests()).toEqual([`10 ${what}`]);
    expect(world.changes).toEqual(what === "a" ? [`10 a ${KEY}`] : [`10 a ${KEY}`, `10 b ${KEY}`]);
    expect(world.clock.pending()).toBe(0);
  });

  test("ends after an hour, and says so", async () => {
    const { world } = followed(["a"], 1_000_000);
    await world.until(7_200);

    expect(world.requests()).toEqual(["1000 a", "2000 a", "3000 a"]);
    expect(world.changes).toEqual([`3600 a ${HOUR}`]);
    expect(world.clock.pending()).toBe(0);
  });
});
