import { describe, expect, it } from "vitest";
import { waitForEnd } from "../../src/jobs/wait.ts";
import type { Job } from "../../src/service/answers.ts";
import { failure, job, NOTHING_LEFT, PolledWorld } from "./polled-service.ts";

const FINAL = "https://cdn.example/final.mp4";
const CLIP = "https://cdn.example/1.mp4";

function runningWorld(options?: ConstructorParameters<typeof PolledWorld>[0]) {
  const world = new PolledWorld(options);
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

describe("a call that waits for a job", () => {
  it("returns when the job ends and reports each change until then", async () => {
    const world = runningWorld();
    const wait = waitFor(world, 60);
    const clips = (completed: number) => ({ progress: { total: 4, completed, failed: 0 } });
    world.change("a", clips(1));
    await world.until(20);
    world.change("a", { ...clips(4), status: "completed", finalVideoUrl: FINAL });
    await world.until(60);

    const ended = job("a", { ...clips(4), status: "completed", finalVideoUrl: FINAL });
    expect(await wait.answer).toEqual(ended);
    expect(wait.changes).toEqual([job("a", clips(1)), ended]);
    expect(wait.answeredAt()).toBeLessThan(60);
    expect(world.leftovers()).toEqual(NOTHING_LEFT);
  });

  it("returns the final video although the status has none", async () => {
    const world = runningWorld();
    const wait = waitFor(world, 50);
    world.change("a", { status: "completed" });
    world.list = [{ jobId: "a", status: "completed", finalVideoUrl: FINAL }];
    await world.until(13);

    expect(await wait.answer).toEqual(job("a", { status: "completed", finalVideoUrl: FINAL }));
    expect(world.requests()).toEqual(["12 a", "12 list user"]);
    expect(world.leftovers()).toEqual(NOTHING_LEFT);
  });

  it.each([
    ["the job has ended", job("a", { status: "failed" }), 50],
    ["there is no time", job("a"), 0],
  ])("returns immediately if %s", async (_, from, forSeconds) => {
    const world = runningWorld();

    expect(await waitFor(world, forSeconds, from).answer).toBe(from);
    expect(world.requests()).toEqual([]);
    expect(world.leftovers()).toEqual(NOTHING_LEFT);
  });

  it("returns immediately if the end is known already", async () => {
    const world = new PolledWorld();
    const ended = job("a", { status: "failed" });
    world.store.put(ended);

    expect(await waitFor(world, 50).answer).toEqual(ended);
    expect(world.leftovers()).toEqual(NOTHING_LEFT);
  });

  it("reads the clips if the end is known only from the list", async () => {
    const world = runningWorld();
    const wait = waitFor(world, 50);
    const ended = job("a", { status: "completed", videoUrls: [CLIP], finalVideoUrl: FINAL });
    world.jobs.set("a", ended);
    world.store.putListedEnd("a", "completed");
    await world.until(1);

    expect(await wait.answer).toEqual(ended);
    expect(world.requests()).toEqual(["0 a user"]);
  });

  it("continues after an error in its progress report", async () => {
    const world = runningWorld();
    const answer = waitForEnd(world, {
      job: job("a"),
      forMs: 50_000,
      signal: new AbortController().signal,
      onChange() {
        throw new Error("its own error");
      },
    });
    world.change("a", { status: "failed" });
    await world.until(12);

    expect(await answer).toEqual(job("a", { status: "failed" }));
  });

  it("ignores the changes of other jobs", async () => {
    const world = runningWorld();
    const wait = waitFor(world, 20);
    world.store.put(job("b", { status: "failed" }));
    await world.until(11);

    expect({ changes: wait.changes, answeredAt: wait.answeredAt() }).toEqual({
      changes: [],
      answeredAt: undefined,
    });
    wait.cancel();
    await wait.answer;
  });
});

describe("a wait that runs out", () => {
  it("reads the job once more a second before, and returns an end that polls have not found", async () => {
    const world = runningWorld();
    const wait = waitFor(world, 4);
    const ended = job("a", { status: "completed", videoUrls: [CLIP], finalVideoUrl: FINAL });
    await world.until(1.5);
    world.jobs.set("a", ended);
    await world.until(4);

    expect(await wait.answer).toEqual(ended);
    expect(wait.answeredAt()).toBe(3);
    expect(world.requests()).toEqual(["3 a user"]);
    expect(world.leftovers()).toEqual(NOTHING_LEFT);
  });

  it("returns the running job with its clips when the time is over, not before", async () => {
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
    expect(world.leftovers()).toEqual(NOTHING_LEFT);
  });

  it("uses a recent poll instead of the last read", async () => {
    const world = runningWorld();
    const wait = waitFor(world, 13.2);
    await world.until(14);

    expect(await wait.answer).toEqual(job("a"));
    expect(world.requests()).toEqual(["12 a"]);
  });

  it.each([
    failure("service_failed", { status: 503 }),
    failure("rate_limited", { outcome: "not_sent" }),
    failure("unauthorized", { status: 401 }),
  ])("returns the last known state in time if that read fails: %s", async (error) => {
    const world = runningWorld();
    const wait = waitFor(world, 4);
    world.failing.set("a", error);
    await world.until(4);

    expect(await wait.answer).toEqual(job("a"));
    expect(wait.answeredAt()).toBe(4);
  });

  it("returns the last known state in time if that read takes longer", async () => {
    const world = runningWorld();
    const wait = waitFor(world, 4);
    world.answerMs = 20_000;
    await world.until(4);

    expect(await wait.answer).toEqual(job("a"));
    expect(wait.answeredAt()).toBe(4);
    await world.until(30);
    expect(world.leftovers()).toEqual(NOTHING_LEFT);
  });
});

describe("a cancelled wait", () => {
  it("returns immediately without another read, and other subscribers keep the job polled", async () => {
    const world = runningWorld();
    world.poller.watch("a");
    const wait = waitFor(world, 50);
    await world.until(5);
    wait.cancel();

    expect(await wait.answer).toEqual(job("a"));
    expect(world.poller.size).toBe(1);
    world.change("a", { status: "failed" });
    await world.until(12);
    expect({ requests: world.requests(), changes: world.changes, reported: wait.changes }).toEqual({
      requests: ["12 a"],
      changes: ["12 a failed"],
      reported: [],
    });
  });

  it("returns when the call is cancelled while the final video is looked up", async () => {
    const world = runningWorld();
    const wait = waitFor(world, 50);
    world.change("a", { status: "completed" });
    world.answerMs = 1_000;
    await world.until(13.5);
    wait.cancel();

    expect(await wait.answer).toEqual(job("a", { status: "completed" }));
    expect(wait.answeredAt()).toBe(13.5);
  });

  it("does not begin if the call was cancelled before", async () => {
    const world = runningWorld();
    const signal = AbortSignal.abort();

    expect(await waitForEnd(world, { job: job("a"), forMs: 1_000, signal, onChange() {} })).toEqual(job("a"));
    expect(world.requests()).toEqual([]);
    expect(world.leftovers()).toEqual(NOTHING_LEFT);
  });

  it("returns when the job is no longer polled", async () => {
    const world = runningWorld();
    const wait = waitFor(world, 50);
    world.failing.set("a", failure("unauthorized", { status: 401 }));
    await world.until(12);

    expect(await wait.answer).toEqual(job("a"));
    expect(world.requests()).toEqual(["12 a"]);
    expect(world.leftovers()).toEqual(NOTHING_LEFT);
  });

  it("returns immediately when too many jobs are watched", async () => {
    const world = runningWorld({ maxWatched: 1 });
    world.poller.watch("b");

    expect(await waitFor(world, 50).answer).toEqual(job("a"));
    expect(world.poller.size).toBe(1);
    expect(world.requests()).toEqual([]);
  });
});
