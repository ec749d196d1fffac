// What a card's reads cost the service, with the real poller on a virtual clock.

import { expect, it } from "vitest";
import { NOTHING_SAVED } from "../../../src/saved-videos/saved-videos.ts";
import { readForCard } from "../../../src/mcp/resources.ts";
import { failure, job, PolledWorld, type WorldOptions } from "../../jobs/polled-service.ts";

const { signal } = new AbortController();

function setUp(options: WorldOptions = {}) {
  const world = new PolledWorld(options);
  world.start("a");
  const { reader, store: jobs } = world;
  const service = { backgroundWaitMs: () => world.waitMs };
  const wanted = new Set<string>();
  const savedVideos = { ...NOTHING_SAVED, saveWhenFinished: (jobId: string) => void wanted.add(jobId) };
  return {
    world,
    wanted,
    /** Reads as the card does, every 3 seconds until then. */
    async readUntil(seconds: number): Promise<void> {
      for (; world.seconds() < seconds; await world.until(world.seconds() + 3)) await read();
    },
    read,
  };
  async function read() {
    const answer = readForCard("a", { reader, jobs, service, savedVideos }, signal);
    await world.clock.runFor(0);
    return answer;
  }
}

it("asks as polls do, and not within 10 seconds of the last answer", async () => {
  const { world, readUntil } = setUp();

  await readUntil(60);

  expect(world.requests()).toEqual(["0 a", "12 a", "24 a", "36 a", "48 a"]);
});

it("has the video of a running job saved, as every video that is watched, and of an ended one not", async () => {
  const running = setUp();
  await running.read();
  expect([...running.wanted]).toEqual(["a"]);

  const ended = setUp();
  ended.world.change("a", { status: "failed" });
  await ended.read();
  expect([...ended.wanted]).toEqual([]);
});

it("answers from the polls of whoever watches the job", async () => {
  const { world, readUntil } = setUp({ fixedMs: 5_000 });
  world.poller.watch("a");

  await readUntil(30);

  expect(world.requests()).toEqual(["0 a", "5 a", "10 a", "15 a", "20 a", "25 a", "30 a"]);
});

it("looks for the final video when the job has ended, as a user's read does", async () => {
  const { world, read, readUntil } = setUp();
  await readUntil(6);
  world.change("a", { status: "completed" });
  world.requests();
  await readUntil(12);

  expect(await read()).toEqual(job("a", { status: "completed" }));

  expect(world.requests()).toEqual(["12 a", "12 list user"]);
});

it("answers with the last known state while the rate limit has no room for polls", async () => {
  const { world, read, readUntil } = setUp();
  await read();
  world.requests();
  world.waitMs = 60_000;

  await readUntil(30);

  expect(await read()).toEqual(job("a"));
  expect(world.requests()).toEqual([]);
});

it("answers with the last known state where a poll fails", async () => {
  const { world, read, readUntil } = setUp();
  await read();
  world.failing.set("a", failure("network"));

  await readUntil(12);

  expect(await read()).toEqual(job("a"));
});
