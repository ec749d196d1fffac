import { expect, test } from "vitest";
import { ids, PolledWorld } from "./polled-service.ts";

function runningWorld(...jobIds: string[]) {
  const world = new PolledWorld();
  world.start(...jobIds);
  return world;
}

test("a watched job is polled by its age until it has ended, which is emitted once", async () => {
  const world = runningWorld("a");
  world.poller.watch("a");
  await world.until(119);
  world.change("a", { status: "completed" });
  await world.until(600);

  expect(world.requests()).toEqual(["12 a", "42 a", "72 a", "102 a", "110 a", "118 a", "126 a"]);
  expect(world.changes).toEqual(["126 a completed"]);
  expect(world.clock.pending()).toBe(0);
});

test("a watched job emits each change of its state and nothing else", async () => {
  const world = runningWorld("a");
  world.poller.watch("a");
  const counts = (completed: number) => ({ total: 9, completed, failed: 0 });
  world.change("a", { progress: counts(0) });
  await world.until(41);
  world.change("a", { progress: counts(1) });
  await world.until(71);
  world.change("a", { progress: counts(1), checkedAt: "now" });
  await world.until(101);
  world.change("a", { status: "failed" });
  await world.until(200);

  expect(world.changes).toEqual(["42 a processing", "102 a failed"]);
});

test("a watched job is still polled with any other status", async () => {
  const world = runningWorld("a");
  world.poller.watch("a");
  world.change("a", { status: "archived" });
  await world.until(43);

  expect(world.requests()).toEqual(["12 a", "42 a"]);
});

test.each([
  [2, ["10 a", "40 a"]],
  [11.5, ["0.5 a", "30.5 a"]],
  [100, ["0 a", "8 a", "16 a", "24 a", "32 a", "40 a"]],
])("a job of an earlier process is polled by its age: %d s", async (ageSeconds, requests) => {
  const world = new PolledWorld();
  world.found("a");
  world.store.restore([{ jobId: "a", topic: "Tides", createdAtMs: world.clock.now() - 1000 * ageSeconds }]);
  world.poller.watch("a");
  await world.until(40);

  expect(world.requests()).toEqual(requests);
});

test("a watched job is no longer polled after a user has read its end", async () => {
  const world = runningWorld("a");
  world.poller.watch("a");
  world.change("a", { status: "failed" });
  await world.until(5);
  void world.reader.read("a", { background: false });
  await world.until(600);

  expect(world.requests()).toEqual(["5 a user"]);
  expect(world.changes).toEqual(["5 a failed"]);
  expect(world.clock.pending()).toBe(0);
});

test("a watched job is not polled just after a user has read it", async () => {
  const world = new PolledWorld();
  world.found("a");
  void world.reader.read("a", { background: false });
  await world.until(1);
  world.poller.watch("a");
  await world.until(15);

  expect(world.requests()).toEqual(["0 a user", "10 a"]);
});

test.each([-7_200_000, 1_800_000])(
  "a watched job is polled as ever when the system clock is changed by %d ms",
  async (byMs) => {
    const world = new PolledWorld();
    world.found("a");
    world.poller.watch("a");
    await world.until(15);
    world.clock.set(byMs);
    await world.until(25);

    expect(world.requests()).toEqual(["0 a", "10 a", "20 a"]);
  },
);

/** Job `jobId` is seen processing at 12 s and done at 42 s. */
async function complete(world: PolledWorld, jobId: string, status: "completed" | "failed") {
  const startedAt = world.seconds();
  world.start(jobId);
  world.poller.watch(jobId);
  await world.until(startedAt + 41);
  world.change(jobId, { status });
  await world.until(startedAt + 50);
}

test.each([
  // The middle of 12 and 42 is 27 s, of the usual 165: less than the smallest factor, 0.3.
  ["scale the schedule of later ones", "completed", 3.6],
  ["don't count if they failed", "failed", 12],
] as const)("the durations of jobs that have ended %s", async (_, status, firstPollSeconds) => {
  const world = new PolledWorld();
  for (const jobId of ids("quick", 5)) await complete(world, jobId, status);
  world.requests();
  const startedAt = world.seconds();
  world.start("a");
  world.poller.watch("a");
  await world.until(startedAt + 13);

  expect(world.requests()[0]).toBe(`${startedAt + firstPollSeconds} a`);
});

test("at most four polls are in flight", async () => {
  const world = new PolledWorld();
  world.found(...ids("j", 9));
  world.answerMs = 30_000;
  world.watchAll(...ids("j", 9));
  await world.until(59);

  expect(world.requests()).toEqual(["0 j0", "0 j1", "0 j2", "0 j3", "30 j4", "30 j5", "30 j6", "30 j7"]);
});
