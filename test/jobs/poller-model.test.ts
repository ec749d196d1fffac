// Subscribers, users and waiting calls come and go in any order, while jobs end, the service fails and time passes: the poller keeps
// its promises. The seed is fixed; SEED=… tries another one and RUNS=20000 more runs. A failure prints what replays it.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { BridgeError } from "../../src/errors.ts";
import { FAULTS, JOBS, RandomWorld } from "./random-world.ts";

const RUNS = Number(process.env["RUNS"] ?? 100);
const SEED = Number(process.env["SEED"] ?? 1);

/** The world checks its invariants itself. */
type Command = fc.AsyncCommand<object, RandomWorld>;

function command(text: string, act: (world: RandomWorld) => unknown): Command {
  return {
    check: () => true,
    toString: () => text,
    async run(_, world) {
      await act(world);
      await world.clock.runFor(0);
      world.check();
      if (world.brokenPromises.size > 0) throw new Error([...world.brokenPromises].join("; "));
    },
  };
}

const jobId = fc.constantFrom(...JOBS);
/** The service may refuse a user. */
const ignoreRefusal = (call: Promise<unknown>) =>
  void call.catch((error: unknown) => {
    if (!(error instanceof BridgeError)) throw error;
  });

const often = (weight: number, arbitrary: fc.Arbitrary<Command>) => ({ weight, arbitrary });
const commands = fc.commands(
  [
    fc.oneof(
      often(
        8,
        jobId.map((id) => command(`subscribe ${id}`, (world) => world.subscribe(id))),
      ),
      often(
        4,
        fc.nat(20).map((index) => command(`unsubscribe ${index}`, (world) => world.unsubscribe(index))),
      ),
      often(
        2,
        jobId.map((id) => command(`read ${id}`, (world) => ignoreRefusal(world.read(id)))),
      ),
      often(
        3,
        fc
          .tuple(jobId, fc.integer({ min: 1, max: 50 }))
          .map(([id, seconds]) =>
            command(`wait ${id} ${seconds} s`, (world) => ignoreRefusal(world.wait(id, seconds * 1000))),
          ),
      ),
      often(1, fc.constant(command("cancel a wait", (world) => world.cancelWait()))),
      often(
        4,
        jobId.map((id) => command(`progress ${id}`, (world) => world.progress(id))),
      ),
      often(
        2,
        jobId.map((id) => command(`complete ${id}`, (world) => world.end(id, "completed"))),
      ),
      often(
        1,
        jobId.map((id) => command(`fail ${id}`, (world) => world.end(id, "failed"))),
      ),
      often(
        1,
        jobId.map((id) => command(`the list wrongly ends ${id}`, (world) => world.listWrongly(id))),
      ),
      often(
        3,
        fc.tuple(jobId, fc.nat(6_000)).map(([id, ms]) =>
          command(`hint ${id}, and again ${ms} ms later`, async (world) => {
            world.hint(id);
            await world.clock.runFor(ms);
            world.hint(id);
          }),
        ),
      ),
      often(
        2,
        fc
          .tuple(fc.constantFrom(...FAULTS), fc.integer({ min: 1, max: 4 }))
          .map(([fault, times]) => command(`${times} times ${fault}`, (world) => world.break(fault, times))),
      ),
      ...[5, 60, 300].map((most) =>
        often(
          3,
          fc
            .integer({ min: 1, max: most * 1000 })
            .map((ms) => command(`${ms} ms pass`, (world) => world.clock.runFor(ms))),
        ),
      ),
      often(1, fc.constant(command("the connection ends", (world) => world.endConnection()))),
    ),
  ],
  { maxCommands: 120, size: "max" },
);
const options = fc.record({ seed: fc.integer(), unlisted: fc.nat(JOBS.length) });

test(
  "the poller keeps its promises whatever happens in whatever order",
  async () => {
    await fc.assert(
      fc.asyncProperty(options, commands, async (worldOptions, run) => {
        const world = new RandomWorld(worldOptions);
        await fc.asyncModelRun(() => ({ model: {}, real: world }), run);
        await world.settle();
        expect([...world.brokenPromises]).toEqual([]);
      }),
      { numRuns: RUNS, seed: SEED },
    );
  },
  20_000 + 200 * RUNS,
);
