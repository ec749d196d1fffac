import { describe, expect, it } from "vitest";
import { waitForEnd } from "../../src/jobs/wait.ts";
import type { Job } from "../../src/service/schemas.ts";
import { createWatching, failure, job } from "./polled-service.ts";

const FINAL = "https://cdn.example/final.mp4";

/** A call that waits for job a, begun now. */
function waiting(world: ReturnType<typeof createWatching>, forSeconds: number, from: Job = job("a")) {
  const { watcher, store, clock } = world;
  const controller = new AbortController();
  const changes: Job[] = [];
  let answeredAt: number | undefined;
  const answer = waitForEnd(
    { watcher, store, clock },
    {
      job: from,
      forMs: forSeconds * 1000,
      signal: controller.signal,
      onChange: (state) => changes.push(state),
    },
  ).then((state) => {
    answeredAt = world.seconds();
    return state;
  });
  return { answer, changes, answeredAt: () => answeredAt, cancel: () => controller.abort() };
}

function nothingLeft({ clock, watcher }: ReturnType<typeof createWatching>) {
  return { timers: clock.pending(), watched: watcher.size() };
}

describe("waiting in a call for a job", () => {
  it("returns with the job when it ends, and hears of every change until then", async () => {
    const world = createWatching();
    world.start("a");
    const wait = waiting(world, 50);
    const rendering = job("a", { progress: { total: 4, completed: 1, failed: 0 } });
    world.become("a", rendering);
    await world.until(12);
    world.become("a", { progress: { total: 4, completed: 2, failed: 0 } });
    await world.until(31);
    const ended = job("a", { status: "completed", finalVideoUrl: FINAL });
    world.become("a", ended);
    await world.until(49);

    const more = { progress: { total: 4, completed: 2, failed: 0 } };
    expect(await wait.answer).toEqual({ ...ended, ...more });
    expect(wait.changes).toEqual([
      { ...rendering, ...more },
      { ...ended, ...more },
    ]);
    expect(nothingLeft(world)).toEqual({ timers: 0, watched: 0 });
  });

  it("returns after its time with the job as it then stands", async () => {
    const world = createWatching();
    world.start("a");
    const wait = waiting(world, 20);
    const rendering = job("a", { progress: { total: 4, completed: 0, failed: 0 } });
    world.become("a", rendering);
    await world.until(19.9);
    expect(wait.answeredAt()).toBeUndefined();
    await world.until(20);

    expect(await wait.answer).toEqual(rendering);
    expect(wait.answeredAt()).toBe(20);
    expect(nothingLeft(world)).toEqual({ timers: 0, watched: 0 });
  });

  it.each([
    ["the job has ended", job("a", { status: "failed" }), 50],
    ["there is no time", job("a"), 0],
  ])("returns at once where %s", async (_, from, forSeconds) => {
    const world = createWatching();
    world.start("a");
    const wait = waiting(world, forSeconds, from);

    expect(await wait.answer).toBe(from);
    expect(nothingLeft(world)).toEqual({ timers: 0, watched: 0 });
  });

  it("returns at once where the store knows of the end already", async () => {
    const world = createWatching();
    const ended = job("a", { status: "completed" });
    world.store.put(ended);

    expect(await waiting(world, 50).answer).toEqual(ended);
    expect(nothingLeft(world)).toEqual({ timers: 0, watched: 0 });
  });

  it("ends with its call, while the job goes on and others watch it", async () => {
    const world = createWatching();
    world.start("a");
    world.watch("a");
    const wait = waiting(world, 50);
    await world.until(5);
    wait.cancel();

    expect(await wait.answer).toEqual(job("a"));
    expect(world.watcher.size()).toBe(1);
    world.become("a", { status: "failed" });
    await world.until(12);
    expect({ asked: world.asked(), heard: world.heard, changes: wait.changes }).toEqual({
      asked: ["12 a"],
      heard: ["12 a failed"],
      changes: [],
    });
  });

  it("does not begin in a call that is over", async () => {
    const world = createWatching();
    world.start("a");
    const wait = waiting(world, 50);
    wait.cancel();
    await wait.answer;
    const { watcher, store, clock } = world;
    const over = { job: job("a"), forMs: 1_000, signal: AbortSignal.abort(), onChange() {} };

    expect(await waitForEnd({ watcher, store, clock }, over)).toEqual(job("a"));
    expect(nothingLeft(world)).toEqual({ timers: 0, watched: 0 });
  });

  it("returns when nobody watches the job any longer", async () => {
    const world = createWatching();
    world.start("a");
    const wait = waiting(world, 50);
    world.service.failing.set("a", failure("unauthorized", { status: 401 }));
    await world.until(12);

    expect(await wait.answer).toEqual(job("a"));
    expect(nothingLeft(world)).toEqual({ timers: 0, watched: 0 });
  });

  it("returns at once when too many are watched", async () => {
    const world = createWatching({ maxWatched: 1 });
    world.start("a", "b");
    world.watch("b");

    expect(await waiting(world, 50).answer).toEqual(job("a"));
    expect(world.watcher.size()).toBe(1);
  });

  it("goes on when who hears of a change fails at it", async () => {
    const world = createWatching();
    world.start("a");
    const { watcher, store, clock } = world;
    const answer = waitForEnd(
      { watcher, store, clock },
      {
        job: job("a"),
        forMs: 50_000,
        signal: new AbortController().signal,
        onChange() {
          throw new Error("its own affair");
        },
      },
    );
    world.become("a", { status: "failed" });
    await world.until(12);

    expect(await answer).toEqual(job("a", { status: "failed" }));
  });

  it("does not mind other jobs", async () => {
    const world = createWatching();
    world.start("a", "b");
    const wait = waiting(world, 20);
    world.store.put(job("b", { status: "failed" }));
    await world.until(11);

    expect({ changes: wait.changes, answeredAt: wait.answeredAt() }).toEqual({
      changes: [],
      answeredAt: undefined,
    });
    wait.cancel();
    await wait.answer;
  });

  it("has the final video with the end, which the status has not", async () => {
    const world = createWatching();
    world.start("a");
    const wait = waiting(world, 50);
    world.become("a", { status: "completed" });
    world.service.list = [{ jobId: "a", status: "completed", finalVideoUrl: FINAL }];
    await world.until(13);

    expect(await wait.answer).toEqual(job("a", { status: "completed", finalVideoUrl: FINAL }));
    expect(world.asked()).toEqual(["12 a", "12 videos person"]);
  });
});
