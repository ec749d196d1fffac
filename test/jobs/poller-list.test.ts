import { describe, expect, it } from "vitest";
import { failure, ids, job, PolledWorld } from "./polled-service.ts";

const CLIP = "https://cdn.example/1.mp4";

/** Jobs of unknown age, which are due at once and then every 10 s. */
function foundWorld(...jobIds: string[]) {
  const world = new PolledWorld();
  world.found(...jobIds);
  return world;
}

const polledAlone = (world: PolledWorld) => world.requests().filter((line) => !line.endsWith(" list"));

describe("two or more due jobs", () => {
  it("share one request for the video list", async () => {
    const world = foundWorld(...ids("j", 30));
    world.watchAll("j0", "j7", "j29");
    await world.until(25);

    expect(world.requests()).toEqual(["0 list", "10 list", "20 list"]);
  });

  it("include a job that is nearly due", async () => {
    const world = foundWorld("a", "b");
    world.poller.watch("a");
    await world.until(2);
    world.poller.watch("b");
    await world.until(25);

    // At 10 s b is due in 2 s, which is less than a quarter of its interval.
    expect(world.requests()).toEqual(["0 a", "2 b", "10 list", "20 list"]);
  });

  it("are polled by their own status if the list doesn't show them", async () => {
    const world = foundWorld("a", "b", "c", "d");
    world.pageSize = 2;
    world.watchAll("a", "b", "c", "d");
    await world.until(15);

    expect(world.requests()).toEqual(["0 list", "0 c", "0 d", "10 list", "10 c", "10 d"]);
  });

  it("share the list again once it shows them", async () => {
    const world = foundWorld("a", "b", "c");
    world.pageSize = 2;
    world.watchAll("a", "b", "c");
    await world.until(5);
    world.pageSize = 3;
    world.requests();
    await world.until(25);

    expect(world.requests()).toEqual(["10 list", "10 c", "20 list"]);
  });

  it("all emit their end, even if the list shows them late or never", async () => {
    const world = foundWorld(...ids("new", 40), ...ids("old", 40));
    world.pageSize = 20;
    world.paceMs = 1_700;
    world.watchAll(...ids("new", 40), ...ids("old", 40));
    await world.until(120);
    for (const jobId of ids("new", 40)) world.change(jobId, { status: "completed" });
    await world.until(500);
    for (const jobId of ids("old", 40)) world.change(jobId, { status: "completed" });
    await world.until(900);

    const ended = world.changes.map((line) => line.replace(/^\S+ /, ""));
    expect(ended.toSorted()).toEqual(
      [...ids("new", 40), ...ids("old", 40)].map((jobId) => `${jobId} completed`).toSorted(),
    );
    expect(world.poller.size).toBe(0);
  });

  it("do not delay a job that the list doesn't show", async () => {
    const world = new PolledWorld({ fixedMs: 1_000 });
    world.found(...ids("new", 100), "old");
    world.paceMs = 1_000;
    world.watchAll(...ids("new", 50), "old");
    await world.until(60);

    expect(polledAlone(world).filter((line) => line.endsWith(" old")).length).toBeGreaterThanOrEqual(12);
  });
});

describe("a list that fails", () => {
  const failing = async (untilSeconds: number, error = failure("service_failed")) => {
    const world = new PolledWorld({ fixedMs: 10_000 });
    world.found("a", "b");
    world.watchAll("a", "b");
    world.failing.set("list", error);
    await world.until(untilSeconds);
    return world;
  };

  it("is replaced by the jobs' own statuses for a while, twice as long each time", async () => {
    const world = await failing(71);

    expect(world.requests().filter((line) => line.endsWith(" list"))).toEqual([
      "0 list",
      "20 list",
      "50 list",
    ]);
    expect(world.changes).toEqual([]);
    expect(world.poller.size).toBe(2);
  });

  it("costs no job a poll", async () => {
    const world = await failing(15);

    expect(world.requests()).toEqual(["0 list", "0 a", "0 b", "10 a", "10 b"]);
  });

  it("is requested as before once it has answered again", async () => {
    const world = await failing(5);
    world.failing.clear();
    await world.until(21);
    world.failing.set("list", failure("service_failed"));
    await world.until(31);
    world.failing.clear();
    await world.until(51);

    // The second pause is as short as the first.
    expect(world.requests().filter((line) => line.endsWith(" list"))).toEqual([
      "0 list",
      "20 list",
      "30 list",
      "50 list",
    ]);
  });

  it("with a 404 means nothing for the jobs", async () => {
    const world = await failing(200, failure("not_found", { status: 404 }));

    expect(world.changes).toEqual([]);
    expect(world.poller.size).toBe(2);
  });
});

describe("the end of a job that the list shows first", () => {
  it("is confirmed by the job's own status, and emitted with its clips", async () => {
    const world = foundWorld("a", "b");
    world.answerMs = 500;
    world.watchAll("a", "b");
    await world.until(5);
    world.change("a", { status: "completed", videoUrls: [CLIP] });
    await world.until(20);

    expect(world.requests()).toEqual(["0 list", "10.5 list", "11 a"]);
    expect(world.changes).toEqual(["11.5 a completed"]);
    expect(world.store.get("a")?.job).toEqual(job("a", { status: "completed", videoUrls: [CLIP] }));
    expect(world.poller.size).toBe(1);
  });

  it("is not emitted if the status contradicts it, and the job is then polled by its own status", async () => {
    const world = foundWorld("a", "b", "c");
    world.watchAll("a", "b", "c");
    world.listAs("a", "failed");
    await world.until(25);

    expect(world.changes).toEqual([]);
    expect(world.requests()).toEqual(["0 list", "0 a", "10 list", "10 a", "20 list", "20 a"]);

    world.jobs.set("a", job("a", { status: "failed" }));
    await world.until(35);
    expect(world.changes).toEqual(["30 a failed"]);
  });

  it("is confirmed even if a user has read the job shortly before", async () => {
    const world = foundWorld("a", "b", "c");
    world.poller.watch("a");
    await world.until(5);
    void world.reader.read("a", { background: false });
    await world.until(6);
    world.change("a", { status: "completed" });
    world.watchAll("b", "c");
    await world.until(7);

    expect(world.changes).toEqual(["6 a completed"]);
  });

  it("is confirmed as soon as a failing status answers again", async () => {
    const world = foundWorld("a", "b");
    world.watchAll("a", "b");
    world.change("a", { status: "completed" });
    world.failing.set("a", failure("service_failed"));
    await world.until(5);
    expect(world.changes).toEqual([]);
    world.failing.clear();
    await world.until(11);

    expect(world.changes).toEqual(["10 a completed"]);
  });
});

describe("a list that was requested before a job's own status was read", () => {
  it("is ignored: the status is newer", async () => {
    const world = foundWorld("a", "b");
    world.watchAll("a", "b");
    world.listAs("a", "rendering");
    world.answerMs = 2_000;
    await world.until(0);
    world.answerMs = 500;
    void world.reader.read("a", { background: false });
    await world.until(3);

    expect(world.requests()).toEqual(["0 list", "0 a user"]);
  });
});

describe("while polls wait for the rate limiter", () => {
  /** Both jobs end; the list shows it, and nothing more may be sent in the background. */
  async function endedInList() {
    const world = foundWorld("a", "b", "c");
    world.watchAll("a", "b", "c");
    await world.until(9);
    world.change("a", { status: "completed", videoUrls: [CLIP] });
    world.answerMs = 100;
    await world.until(10.05);
    world.waitMs = 60_000;
    await world.until(11);
    return world;
  }

  it("an end in the list is emitted immediately", async () => {
    const world = await endedInList();

    expect(world.requests()).toEqual(["0 list", "10 list"]);
    expect(world.changes).toEqual(["10.1 a completed"]);
    expect(world.poller.size).toBe(2);
  });

  it("a user's read gets the clips and does not emit the end again", async () => {
    const world = await endedInList();
    const answer = world.reader.readRecent("a", 5_000, { background: false });
    await world.until(12);

    expect(await answer).toEqual(job("a", { status: "completed", videoUrls: [CLIP] }));
    expect(world.changes).toEqual(["10.1 a completed"]);
  });

  it("the next read of the job has its clips and emits nothing", async () => {
    const world = await endedInList();
    void world.reader.readRecent("a", 5_000, { background: false });
    await world.until(12);

    expect(world.store.get("a")?.job).toEqual(job("a", { status: "completed", videoUrls: [CLIP] }));
    expect(world.changes).toEqual(["10.1 a completed"]);
  });

  it("an end that a lagging status contradicts stays, and the job is not polled again", async () => {
    const world = await endedInList();
    world.jobs.set("a", job("a"));
    void world.reader.readRecent("a", 5_000, { background: false });
    await world.until(12);
    world.waitMs = 0;
    await world.until(140);

    expect(world.store.get("a")?.job).toMatchObject({ status: "completed", done: true });
    expect(world.changes.filter((line) => line.includes(" a "))).toEqual(["10.1 a completed"]);
    expect(polledAlone(world).filter((line) => line.endsWith(" a"))).toEqual([]);
  });
});

describe("another status that the list shows first", () => {
  it("is confirmed and emitted, even by the first poll of the list", async () => {
    const world = foundWorld("a", "b");
    world.poller.watch("a");
    await world.until(8);
    world.change("a", { status: "rendering" });
    world.poller.watch("b");
    await world.until(9);

    expect(world.requests()).toEqual(["0 a", "8 list", "8 a"]);
    expect(world.changes).toEqual(["8 a rendering"]);
  });

  it("is emitted for a job that this process has started and not read", async () => {
    const world = new PolledWorld();
    world.start("a");
    world.found("b");
    world.poller.watch("a");
    await world.until(6);
    world.change("a", { status: "rendering" });
    world.poller.watch("b");
    await world.until(7);

    expect(world.requests()).toEqual(["6 list", "6 a"]);
    expect(world.changes).toEqual(["6 a rendering"]);
  });

  it("is checked once if the list uses another status for a running job", async () => {
    const world = foundWorld("a", "b");
    for (const jobId of ["a", "b"]) {
      world.store.put(job(jobId));
      world.listAs(jobId, "queued");
    }
    world.watchAll("a", "b");
    await world.until(35);

    expect(world.requests()).toEqual(["10 list", "10 a", "10 b", "20 list", "30 list"]);
    expect(world.changes).toEqual([]);
  });
});

describe("finished clips of jobs that share the list", () => {
  it("are emitted within 30 s", async () => {
    const world = foundWorld("a", "b", "c");
    world.watchAll("a", "b", "c");
    await world.until(31);
    for (const jobId of ["a", "b", "c"]) world.change(jobId, { videoUrls: [CLIP] });
    await world.until(61);

    expect(world.changes.map((line) => line.replace(/^\S+ /, ""))).toEqual([
      "a processing",
      "b processing",
      "c processing",
    ]);
  });

  it("are not read separately for a single job, whose polls show them", async () => {
    const world = foundWorld("a");
    world.store.updateFromPage([{ jobId: "a", status: "processing", createdAt: "2026-11-19T20:00:00Z" }], {
      isFirstPage: true,
    });
    world.poller.watch("a");
    await world.until(100);

    expect(world.requests()).toEqual(["0 a", "30 a", "60 a", "90 a"]);
  });

  it("are read if the rate limit allows more than the polls", async () => {
    const world = foundWorld(...ids("j", 3));
    world.paceMs = 1_700;
    world.watchAll(...ids("j", 3));
    await world.until(120);
    const reads = polledAlone(world);

    for (const jobId of ids("j", 3))
      expect(reads.filter((line) => line.endsWith(` ${jobId}`)).length).toBeGreaterThanOrEqual(3);
  });

  it("are not read while little of the rate limit is left", async () => {
    const world = new PolledWorld();
    world.start("a", "b");
    world.hasSpareRequests = false;
    world.watchAll("a", "b");
    await world.until(41);
    expect(polledAlone(world)).toEqual([]);

    world.hasSpareRequests = true;
    await world.until(43);
    expect(polledAlone(world)).toEqual(["42 a", "42 b"]);
  });

  it("are not read if the rate limit only allows the polls", async () => {
    const world = foundWorld(...ids("j", 3));
    world.paceMs = 10_000;
    world.watchAll(...ids("j", 3));
    await world.until(300);

    // The first is sent before any poll had to wait.
    expect(polledAlone(world).length).toBeLessThanOrEqual(1);
  });
});
