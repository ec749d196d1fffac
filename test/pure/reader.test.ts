import { expect, test } from "vitest";
import { BridgeError } from "../../src/errors.ts";
import { failureOf } from "../network/bridge.ts";
import { failure, job, PolledWorld } from "../fixtures/polled-service.ts";

const BACKGROUND = { background: true };
const USER = { background: false };
const { signal } = new AbortController();
const FINAL = "https://cdn.example/final.mp4";

/** Job a has completed, and the list has its final video. */
function completedWorld() {
  const world = new PolledWorld();
  world.start("a");
  world.change("a", { status: "completed" });
  world.list = [{ jobId: "a", status: "completed", finalVideoUrl: FINAL }];
  return world;
}

function runningWorld(...jobIds: string[]) {
  const world = new PolledWorld();
  world.start(...jobIds);
  return world;
}

const completed = job("a", { status: "completed" });
const withFinal = job("a", { status: "completed", finalVideoUrl: FINAL });

test("reading a job shares one request among concurrent callers", async () => {
  const world = runningWorld("a", "b");
  world.answerMs = 1_000;
  const answers = [
    world.reader.read("a", USER),
    world.reader.read("a", BACKGROUND),
    world.reader.read("b", BACKGROUND),
    world.reader.read("a", USER),
  ];
  await world.until(1);
  await Promise.all(answers);
  void world.reader.read("a", BACKGROUND);
  await world.until(3);

  expect(world.requests()).toEqual(["0 a user", "0 b", "1 a"]);
});

test("reading a job fails for all callers as the service does, and can be tried again", async () => {
  const world = runningWorld("a");
  world.failing.set("a", failure("service_failed", { status: 503 }));
  const failures = Promise.all([
    failureOf(world.reader.read("a", USER)),
    failureOf(world.reader.read("a", BACKGROUND)),
  ]);
  await world.until(1);
  expect((await failures).map(({ code }) => code)).toEqual(["service_failed", "service_failed"]);

  world.failing.clear();
  const answer = world.reader.read("a", USER);
  await world.until(2);

  expect(await answer).toEqual(job("a"));
  expect(world.requests()).toEqual(["0 a user", "1 a user"]);
});

test.each([failure("timeout"), failure("rate_limited", { outcome: "not_sent" })])(
  "reading a job sends one more request for the users who joined a poll that failed: %s",
  async ({ facts }) => {
    const world = runningWorld("a");
    world.answerMs = 1_000;
    world.failing.set("a", new BridgeError(facts));
    const poll = failureOf(world.reader.read("a", BACKGROUND));
    const users = [world.reader.read("a", USER), world.reader.read("a", USER)];
    await world.until(0.5);
    await world.until(1);
    world.failing.clear();
    await world.until(2);

    expect((await poll).code).toBe(facts.code);
    expect(await Promise.all(users)).toEqual([job("a"), job("a")]);
    expect(world.requests()).toEqual(["0 a", "1 a user"]);
  },
);

test("a known end is returned even if the service denies the job later", async () => {
  const world = completedWorld();
  const first = world.reader.read("a", USER);
  await world.until(1);
  world.change("a", { status: "processing" });
  const second = world.reader.read("a", USER);
  await world.until(2);

  expect([await first, await second]).toEqual([withFinal, withFinal]);
  expect(world.changes).toEqual(["0 a completed"]);
});

test("a cancelled read rejects at once and leaves the request to other callers", async () => {
  const world = runningWorld("a");
  world.answerMs = 1_000;
  const controller = new AbortController();
  const cancelled = failureOf(world.reader.read("a", { ...USER, signal: controller.signal }));
  const other = world.reader.read("a", { ...USER, signal: new AbortController().signal });
  controller.abort();

  expect((await cancelled).code).toBe("cancelled");
  await world.until(1);
  expect(await other).toEqual(job("a"));
});

test("a user's read looks up the final video before the end is emitted", async () => {
  const world = completedWorld();
  const emitted: unknown[] = [];
  world.book.on("change", (jobId) => emitted.push(world.book.get(jobId).state));
  const answer = world.reader.read("a", USER);
  await world.until(1);

  expect(await answer).toEqual(withFinal);
  expect(emitted).toEqual([withFinal]);
});

test.each([
  ["lags", (world: PolledWorld) => void (world.list = [])],
  ["fails", (world: PolledWorld) => void world.failing.set("list", failure("service_failed"))],
])("the final video is looked up every five seconds at most while the list %s", async (_, breakList) => {
  const world = completedWorld();
  const { list } = world;
  breakList(world);
  const answers: unknown[] = [];
  for (const second of [0, 2, 4.9]) {
    await world.until(second);
    void world.reader.readRecent("a", 60_000, signal).then((answer) => answers.push(answer));
  }
  await world.until(6);
  expect(answers).toEqual([completed, completed, completed]);
  expect(world.book.get("a").isLinkUnread).toBe(world.failing.has("list"));

  world.list = list;
  world.failing.clear();
  const last = world.reader.readRecent("a", 60_000, signal);
  await world.until(7);

  expect(await last).toEqual(withFinal);
  expect(world.requests()).toEqual(["0 a user", "0 list user", "6 list user"]);
});

test("the final video of a completed job is looked up again for a user after a minute", async () => {
  const world = completedWorld();
  const read = async (second: number) => {
    const answer = world.reader.read("a", USER);
    await world.until(second);
    return (await answer).finalVideoUrl;
  };
  expect(await read(60)).toBe(FINAL);
  world.list = [{ jobId: "a", status: "completed", finalVideoUrl: `${FINAL}?signed=again` }];

  expect(await read(61)).toBe(FINAL);
  expect(await read(62)).toBe(`${FINAL}?signed=again`);
  expect(world.requests()).toEqual(["0 a user", "0 list user", "60 a user", "61 a user", "61 list user"]);
});

test("a link that is over a minute old is known to be old if the list fails", async () => {
  const world = completedWorld();
  void world.reader.read("a", USER);
  await world.until(1);
  world.failing.set("list", failure("service_failed"));
  void world.reader.read("a", USER);
  await world.until(2);
  expect(world.book.get("a").isLinkUnread).toBe(false);

  await world.until(62);
  void world.reader.read("a", USER);
  await world.until(63);
  expect(world.book.get("a").isLinkUnread).toBe(true);
});

test.each([
  ["the status names one", job("a", { status: "completed", finalVideoUrl: FINAL })],
  ["the job runs", job("a")],
])("the final video of a completed job is not looked up if %s", async (_, state) => {
  const world = runningWorld("a");
  world.jobs.set("a", state);
  const answer = world.reader.read("a", USER);
  await world.until(1);

  expect(await answer).toEqual(state);
  expect(world.requests()).toEqual(["0 a user"]);
});

test("a recent answer about a job is used instead of a request", async () => {
  const world = runningWorld("a");
  const first = world.reader.readRecent("a", 5_000, signal);
  await world.until(5);
  world.change("a", { status: "rendering" });
  expect([await first, await world.reader.readRecent("a", 5_000, signal)]).toEqual([job("a"), job("a")]);

  await world.until(5.1);
  const later = world.reader.readRecent("a", 5_000, signal);
  await world.until(6);

  expect(await later).toEqual(job("a", { status: "rendering" }));
  expect(world.requests()).toEqual(["0 a user", "5.1 a user"]);
});
