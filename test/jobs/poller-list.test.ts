import { describe, expect, it } from "vitest";
import { createWatching, failure, found, ids, type Watching } from "./polled-service.ts";

/** Has the list tell of the ends of so many jobs that their status confirms: then it is trusted. */
async function earnTrust(world: Watching, count: number) {
  const jobIds = ids("earlier", count);
  found(world, ...jobIds);
  for (const jobId of jobIds) {
    world.watch(jobId);
    world.become(jobId, { status: "completed" });
  }
  // The first answer may be one job's own: it takes the list to tell of the last.
  await world.until(world.seconds() + 1);
  expect(world.watcher.size()).toBe(0);
  world.asked();
  world.heard.length = 0;
}

describe("several due jobs", () => {
  it("share one request for the video list, with a limit as small as covers them", async () => {
    const world = createWatching();
    found(world, ...ids("j", 150));
    for (const index of [0, 3]) world.watch(`j${index}`);
    await world.until(1);
    expect(world.asked()).toEqual(["0 videos?limit=20"]);

    world.watch("j27");
    await world.until(9);
    // What is not among the newest twenty may be on the rest of the page, which is not worth a list for one job.
    expect(world.asked()).toEqual(["1 j27"]);
  });

  it("have the limit follow the oldest of them, up to a hundred", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    found(world, ...ids("j", 150));
    for (const index of [0, 34]) world.watch(`j${index}`);
    await world.until(1);
    expect(world.asked()).toEqual(["0 videos?limit=20", "0 j34"]);
    await world.until(21);
    expect(world.asked()).toEqual(["10 videos?limit=100", "20 videos?limit=50"]);

    world.watch("j95");
    await world.until(41);
    expect(world.asked()).toEqual(["21 j95", "30 videos?limit=50", "31 j95", "40 videos?limit=100"]);
  });

  it("have the limit keep to the most that the service allows", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    world.service.maxLimit = 15;
    found(world, ...ids("j", 40));
    world.watch("j0");
    world.watch("j14");
    await world.until(11);

    expect(world.asked()).toEqual(["0 videos?limit=15", "10 videos?limit=15"]);
  });

  it("come along in a list when they are due very soon", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    found(world, "a", "b");
    world.watch("a");
    await world.until(2);
    world.watch("b");
    await world.until(21);

    // At 10 b is due in 2 s, a quarter of its interval being 2.5: from then on they are polled together.
    expect(world.asked()).toEqual(["0 a", "2 b", "10 videos?limit=20", "20 videos?limit=20"]);
  });

  it("are asked for by themselves where they are not in the list", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    found(world, "a", "b", "c", "d");
    world.service.list = world.service.list.filter(({ jobId }) => jobId < "c");
    for (const jobId of ["a", "b", "c", "d"]) world.watch(jobId);
    await world.until(11);

    expect(world.asked()).toEqual(["0 videos?limit=20", "0 c", "0 d", "10 videos?limit=20", "10 c", "10 d"]);
  });

  it("are asked for by themselves where a full page does not show them, though the list goes on", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    found(world, ...ids("newer", 120), "a", "b");
    world.watch("a");
    world.watch("b");
    await world.until(11);

    expect(world.asked()).toEqual(["0 videos?limit=20", "0 videos?limit=100", "0 a", "0 b", "10 a", "10 b"]);
  });

  it("are found again by the list once it shows them", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    found(world, "a", "b", "c");
    const late = world.service.list.pop();
    for (const jobId of ["a", "b", "c"]) world.watch(jobId);
    await world.until(5);
    if (late !== undefined) world.service.list.push(late);
    world.asked();
    await world.until(21);

    expect(world.asked()).toEqual(["10 videos?limit=20", "20 videos?limit=20"]);
  });

  it("are not starved by those in the list", async () => {
    const world = createWatching({ fixedMs: 1_000 });
    found(world, ...ids("newer", 120), "a");
    for (const jobId of [...ids("newer", 50), "a"]) world.watch(jobId);
    // Fifty jobs in the list are due again with every request that may be made.
    world.service.paceMs = 1_000;
    await world.until(60);
    const polls = world.asked().filter((line) => line.endsWith(" a"));

    expect(polls.length).toBeGreaterThanOrEqual(12);
  });
});

describe("pages of the list", () => {
  const six = (canPage: boolean) => {
    const world = createWatching({ fixedMs: 10_000 });
    world.service.maxLimit = 3;
    world.service.canPage = canPage;
    found(world, ...ids("j", 9));
    return world;
  };

  it("are walked where the name of the paging parameter is confirmed, and only as far as that saves requests", async () => {
    const world = six(true);
    for (const index of [0, 1, 3, 4, 8]) world.watch(`j${index}`);
    await world.until(1);
    world.asked();
    await world.until(11);

    expect(world.asked()).toEqual(["10 videos?limit=3", "10 videos?limit=3&cursor=3", "10 j8"]);
  });

  it("are not walked where it is a guess", async () => {
    const world = six(false);
    for (const index of [0, 1, 3, 4]) world.watch(`j${index}`);
    await world.until(1);
    world.asked();
    await world.until(11);

    expect(world.asked()).toEqual(["10 videos?limit=3", "10 j3", "10 j4"]);
  });

  it("are walked from when it is known", async () => {
    const world = six(false);
    for (const index of [0, 1, 3, 4]) world.watch(`j${index}`);
    await world.until(11);
    world.asked();
    world.service.canPage = true;
    await world.until(21);

    expect(world.asked()).toEqual(["20 videos?limit=3", "20 videos?limit=3&cursor=3"]);
  });

  it("wait their turn like every other request, and let an end be confirmed first", async () => {
    const world = six(true);
    for (const index of [0, 1, 3, 4]) world.watch(`j${index}`);
    await world.until(9);
    world.asked();
    world.become("j1", { status: "completed" });
    world.service.answerMs = 100;
    await world.until(10.05);
    world.service.waitMs = 2_000;
    await world.until(10.2);
    world.service.waitMs = 0;
    await world.until(13);

    expect(world.asked()).toEqual(["10 videos?limit=3", "12.1 j1", "12.1 videos?limit=3&cursor=3"]);
    expect(world.heard).toEqual(["12.2 j1 completed"]);
  });

  it("that fail rest for a while, in which their jobs are asked for by themselves", async () => {
    const world = six(true);
    for (const index of [0, 1, 3, 4]) world.watch(`j${index}`);
    await world.until(9);
    world.asked();
    world.service.failing.set("videos?limit=3&cursor=3", failure("paging_loop"));
    await world.until(31);

    expect(world.asked()).toEqual([
      "10 videos?limit=3",
      "10 videos?limit=3&cursor=3",
      "20 j3",
      "20 j4",
      "20 videos?limit=3",
      "30 videos?limit=3",
      "30 videos?limit=3&cursor=3",
    ]);
  });
});

describe("an end that the list tells of", () => {
  it("is confirmed once by the job's status before it is announced", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    found(world, "a", "b");
    world.service.answerMs = 500;
    world.watch("a");
    world.watch("b");
    await world.until(5);
    world.become("a", { status: "completed", videoUrls: ["https://cdn.example/1.mp4"] });
    await world.until(20);

    expect(world.asked()).toEqual(["0 videos?limit=20", "10.5 videos?limit=20", "11 a"]);
    expect(world.heard).toEqual(["11.5 a completed"]);
    expect(world.store.get("a")?.job?.videoUrls).toEqual(["https://cdn.example/1.mp4"]);
    expect(world.watcher.size()).toBe(1);
  });

  it("is not announced where the status denies it, and the list has no word on the job from then on", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    found(world, "a", "b", "c");
    for (const jobId of ["a", "b", "c"]) world.watch(jobId);
    world.service.list[0] = { jobId: "a", status: "failed" };
    await world.until(21);

    expect(world.asked()).toEqual([
      "0 videos?limit=20",
      "0 a",
      "10 videos?limit=20",
      "10 a",
      "20 videos?limit=20",
      "20 a",
    ]);
    expect(world.heard).toEqual([]);

    world.become("a", { status: "completed" });
    await world.until(31);
    expect(world.heard).toEqual(["30 a completed"]);
  });

  it("is not asked about with every list once the status has denied it", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    found(world, "a", "b", "c");
    world.service.list[0] = { jobId: "a", status: "failed" };
    world.watch("a");
    await world.until(5);
    world.watch("b");
    world.watch("c");
    await world.until(16);

    expect(world.asked()).toEqual(["0 a", "5 videos?limit=20", "5 a", "15 videos?limit=20", "15 a"]);
    // The lists of another pair tell of it in between, and nobody asks.
    found(world, "d", "e");
    world.watch("d");
    world.watch("e");
    await world.until(24);
    expect(world.asked()).toEqual(["16 videos?limit=20"]);
  });

  it("is confirmed by what a person asks as well", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    found(world, "a", "b");
    world.watch("a");
    world.watch("b");
    await world.until(5);
    world.become("a", { status: "completed" });
    world.service.answerMs = 100;
    await world.until(10.05);
    world.service.waitMs = 60_000;
    await world.until(10.2);
    await Promise.all([world.reader.read("a", { background: false }), world.until(11)]);
    world.asked();
    world.service.waitMs = 0;
    await world.until(75);

    expect(world.heard).toEqual(["10.4 a completed"]);
    expect(world.asked().filter((line) => line.endsWith(" a"))).toEqual([]);
  });

  it("is asked about again after its status failed, and announced then", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    found(world, "a", "b");
    world.watch("a");
    world.watch("b");
    world.become("a", { status: "completed" });
    world.service.failing.set("a", failure("service_failed"));
    await world.until(5);
    world.service.failing.clear();
    await world.until(11);

    expect(world.asked()).toEqual(["0 videos?limit=20", "0 a", "10 a", "10 b"]);
    expect(world.heard).toEqual(["10 a completed"]);
  });

  const shortBudget = async (world: Watching, watch: (jobId: string) => unknown) => {
    found(world, "a", "b");
    // The list comes first again.
    world.service.list.reverse();
    watch("a");
    world.watch("b");
    world.become("a", { status: "completed" });
    world.service.answerMs = 100;
    await world.until(world.seconds() + 0.05);
    world.service.waitMs = 30_000;
    await world.until(world.seconds() + 1);
    return world.heard.map((line) => line.replace(/^\S+ /, ""));
  };

  it("is believed without asking after five were confirmed, where there is no room to ask", async () => {
    const world = createWatching();
    await earnTrust(world, 5);

    expect(await shortBudget(world, world.watch)).toEqual(["a completed"]);
    expect(world.asked()).toEqual([expect.stringContaining("videos?limit=20")]);
    expect(world.store.get("a")).toMatchObject({ status: "completed", job: { done: true } });
    // Whoever reads it then is told what the status says.
    expect(world.store.get("a")?.fetchedAtMs).toBeUndefined();
  });

  it("is not believed after four", async () => {
    const world = createWatching();
    await earnTrust(world, 4);

    expect(await shortBudget(world, world.watch)).toEqual([]);
  });

  it("is not believed once one was denied", async () => {
    const world = createWatching();
    await earnTrust(world, 5);
    found(world, "liar", "other");
    world.service.list.reverse();
    const leave = [world.watch("liar"), world.watch("other")];
    for (const video of world.service.list) if (video.jobId === "liar") video.status = "completed";
    await world.until(world.seconds() + 1);
    for (const each of leave) each();
    world.asked();

    expect(await shortBudget(world, world.watch)).toEqual([]);
  });

  it("is asked about where there is room, however often the list was right", async () => {
    const world = createWatching();
    await earnTrust(world, 5);
    found(world, "a", "b");
    world.watch("a");
    world.watch("b");
    world.become("a", { status: "completed" });
    await world.until(world.seconds() + 1);

    expect(world.asked().map((line) => line.replace(/^\S+ /, ""))).toEqual(["videos?limit=20", "a"]);
  });

  it("is asked about where somebody waits for it in a call, who wants the clips with it", async () => {
    const world = createWatching();
    await earnTrust(world, 5);

    expect(await shortBudget(world, world.await)).toEqual([]);
  });
});

describe("a running job's status in the list", () => {
  it("is news where the list itself says something else than before, and not where it has its own words", async () => {
    const world = createWatching({ fixedMs: 10_000 });
    found(world, "a", "b");
    for (const jobId of ["a", "b"]) void world.reader.read(jobId, { background: false });
    await world.until(1);
    world.watch("a");
    world.watch("b");
    for (const video of world.service.list) video.status = "queued";
    await world.until(15);
    expect(world.heard).toEqual([]);

    const [first] = world.service.list;
    if (first !== undefined) first.status = "rendering";
    await world.until(35);
    expect(world.heard).toEqual(["20 a rendering"]);
    expect(world.asked()).toEqual([
      "0 a person",
      "0 b person",
      "10 videos?limit=20",
      "20 videos?limit=20",
      "30 videos?limit=20",
    ]);
  });
});
