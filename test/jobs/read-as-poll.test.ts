// What the reads of a card cost the service, with the real poller on a virtual clock.

import { expect, it } from "vitest";
import { failure, job, PolledWorld, type WorldOptions } from "./polled-service.ts";

const { signal } = new AbortController();

function setUp(options: WorldOptions = {}) {
  const world = new PolledWorld(options);
  world.start("a");
  return {
    world,
    /** Reads as the card does, every 3 seconds until then. */
    async readUntil(seconds: number): Promise<void> {
      for (; world.seconds() < seconds; await world.until(world.seconds() + 3)) await read();
    },
    read,
  };
  async function read() {
    const answer = world.reader.readAsPoll("a", 10_000, signal);
    answer.catch(() => {});
    await world.clock.runFor(0);
    return answer;
  }
}

it("A card that reads every 3 s asks as polls do, and not within 10 seconds of the last answer", async () => {
  const { world, readUntil } = setUp();

  await readUntil(60);

  expect(world.requests()).toEqual(["0 a", "12 a", "24 a", "36 a", "48 a"]);
});

it("A card is answered from the polls of whoever watches the job", async () => {
  const { world, readUntil } = setUp({ fixedMs: 5_000 });
  world.poller.watch("a");

  await readUntil(30);

  expect(world.requests()).toEqual(["0 a", "5 a", "10 a", "15 a", "20 a", "25 a", "30 a"]);
});

it("A card's read looks for the final video when the job has ended, as a user's read does", async () => {
  const { world, read, readUntil } = setUp();
  await readUntil(6);
  world.change("a", { status: "completed" });
  world.requests();
  await readUntil(12);

  expect(await read()).toEqual(job("a", { status: "completed" }));

  expect(world.requests()).toEqual(["12 a", "12 list user"]);
});

it("A card gets the last known state while the rate limit has no room for polls", async () => {
  const { world, read, readUntil } = setUp();
  await read();
  world.requests();
  world.waitMs = 60_000;

  await readUntil(30);

  expect(await read()).toEqual(job("a"));
  expect(world.requests()).toEqual([]);
});

it("A card gets the last known state where a poll fails", async () => {
  const { world, read, readUntil } = setUp();
  await read();
  world.failing.set("a", failure("network"));

  await readUntil(12);

  expect(await read()).toEqual(job("a"));
});

it("A card is told of a failure that another poll can't fix", async () => {
  const { world, read, readUntil } = setUp();
  await read();
  world.failing.set("a", failure("unauthorized"));

  await readUntil(12);

  await expect(read()).rejects.toMatchObject({ facts: { code: "unauthorized" } });
});
