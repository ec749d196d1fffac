// What a card's reads cost the service, with the real poller on a virtual clock.

import { expect, test } from "vitest";
import { CardReads } from "../../../src/mcp/card/card-reads.ts";
import { failure, ids, job, PolledWorld, type WorldOptions } from "../../jobs/polled-service.ts";

const { signal } = new AbortController();

function setUp(options: WorldOptions = {}) {
  const world = new PolledWorld(options);
  world.start("a");
  const { poller, reader, store: jobs, clock } = world;
  const service = { backgroundWaitMs: () => world.waitMs };
  const wanted = new Set<string>();
  const savedVideos = { saveWhenFinished: (jobId: string) => void wanted.add(jobId) };
  const reads = new CardReads({ poller, reader, jobs, service, savedVideos, clock });
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
    const answer = reads.read("a", signal);
    await world.clock.runFor(0);
    return answer;
  }
}

test("a card asks once as a user, then as polls do, and not within 10 seconds of a poll", async () => {
  const { world, readUntil } = setUp();

  await readUntil(60);

  expect(world.requests()).toEqual(["0 a user", "12 a", "24 a", "36 a", "42 a", "54 a"]);
});

test("a card has the video of a running job saved, as every video that is watched, and of an ended one not", async () => {
  const running = setUp();
  await running.read();
  expect([...running.wanted]).toEqual(["a"]);

  const ended = setUp();
  ended.world.change("a", { status: "failed" });
  await ended.read();
  expect([...ended.wanted]).toEqual([]);
});

test("a card is answered from the poller's polls where they are frequent", async () => {
  const { world, readUntil } = setUp({ fixedMs: 5_000 });

  await readUntil(30);

  expect(world.requests()).toEqual(["0 a user", "5 a", "10 a", "15 a", "20 a", "25 a", "30 a"]);
});

test("a card's polling ends 15 seconds after the card's last read", async () => {
  const { world, read } = setUp({ fixedMs: 5_000 });
  await read();

  await world.until(100);

  expect(world.requests()).toEqual(["0 a user", "5 a", "10 a"]);
  expect(world.clock.pending()).toBe(0);
});

test("a card's polling ends with the job, whose final video is then looked up as by a user's read", async () => {
  const { world, read, readUntil } = setUp({ fixedMs: 5_000 });
  await readUntil(6);
  world.change("a", { status: "completed" });
  await readUntil(12);
  world.requests();

  expect(await read()).toEqual(job("a", { status: "completed" }));

  await world.until(60);
  expect(world.requests().filter((line) => !line.endsWith("user") && !line.endsWith("list"))).toEqual([]);
  expect(world.clock.pending()).toBe(0);
});

test("a card is answered with the last known state while the rate limit has no room for polls", async () => {
  const { world, read, readUntil } = setUp();
  await read();
  world.requests();
  world.waitMs = 60_000;

  await readUntil(30);

  expect(await read()).toEqual(job("a"));
  expect(world.requests()).toEqual([]);
});

test("a card is answered with the last known state where a poll fails", async () => {
  const { world, read, readUntil } = setUp();
  await read();
  world.failing.set("a", failure("network"));

  await readUntil(12);

  expect(await read()).toEqual(job("a"));
});

test("a card reads all the same where no more jobs may be watched", async () => {
  const { world, read } = setUp();
  world.watchAll(...ids("j", 200));

  expect(await read()).toEqual(job("a"));
});
