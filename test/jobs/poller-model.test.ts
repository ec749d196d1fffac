// The poller keeps its promises while subscribers, users and waits come and go, jobs end and the service
// fails. The seed is fixed; SEED=… tries another, RUNS=20000 more runs. A failure prints what replays it.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { BridgeError } from "../../src/errors.ts";
import { type Fault, FAULTS, type JobId, JOBS, RandomWorld } from "./random-world.ts";

const RUNS = Number(process.env["RUNS"] ?? 60);
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

const waitFor = ([id, seconds]: [JobId, number]) =>
  command(`wait ${id} ${seconds} s`, (world) => ignoreRefusal(world.wait(id, seconds * 1000)));
const hintTwice = ([id, ms]: [JobId, number]) =>
  command(`hint ${id}, and again ${ms} ms later`, async (world) => {
    world.hint(id);
    await world.clock.runFor(ms);
    world.hint(id);
  });
const breakFor = ([fault, times]: [Fault, number]) =>
  command(`${times} times ${fault}`, (world) => world.break(fault, times));
const pass = (ms: number) => command(`${ms} ms pass`, (world) => world.clock.runFor(ms));

const MODEL: readonly (readonly [weight: number, fc.Arbitrary<Command>])[] = [
  [8, jobId.map((id) => command(`subscribe ${id}`, (world) => world.subscribe(id)))],
  [4, fc.nat(20).map((index) => command(`unsubscribe ${index}`, (world) => world.unsubscribe(index)))],
  [2, jobId.map((id) => command(`read ${id}`, (world) => ignoreRefusal(world.read(id))))],
  [3, fc.tuple(jobId, fc.integer({ min: 1, max: 50 })).map(waitFor)],
  [1, fc.constant(command("cancel a wait", (world) => world.cancelWait()))],
  [4, jobId.map((id) => command(`progress ${id}`, (world) => world.progress(id)))],
  [2, jobId.map((id) => command(`complete ${id}`, (world) => world.end(id, "completed")))],
  [1, jobId.map((id) => command(`fail ${id}`, (world) => world.end(id, "failed")))],
  [1, jobId.map((id) => command(`the list wrongly ends ${id}`, (world) => world.listWrongly(id)))],
  [3, fc.tuple(jobId, fc.nat(6_000)).map(hintTwice)],
  [2, fc.tuple(fc.constantFrom(...FAULTS), fc.integer({ min: 1, max: 4 })).map(breakFor)],
  [9, fc.oneof(...[5, 60, 300].map((most) => fc.integer({ min: 1, max: most * 1000 }))).map(pass)],
  [1, fc.constant(command("the connection ends", (world) => world.endConnection()))],
];
const commands = fc.commands([fc.oneof(...MODEL.map(([weight, arbitrary]) => ({ weight, arbitrary })))], {
  maxCommands: 120,
  size: "max",
});
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
