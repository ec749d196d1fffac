// Outcomes that the journal did not take: they are written before the process ends, or the result says that they aren't.

import { expect, test } from "vitest";
import { JournalError } from "../../src/idempotency/errors.ts";
import { type PrivateFolder, openPrivateFolder } from "../../src/disk.ts";
import { Guard } from "../../src/idempotency/guard.ts";
import { CALL_MS } from "../../src/service/time-budget.ts";
import { generateVideo } from "../../src/tools/generate-video.ts";
import { Computer, errorOf, failure, NOW, resolvers, TIDES } from "../fixtures/computer.ts";
import { failing } from "../fixtures/open-journal.ts";
import { createHarness } from "../fixtures/tool-harness.ts";
import { until } from "../fixtures/until.ts";
import { createVirtualClock } from "../fixtures/virtual-clock.ts";

const intent = (topic: string) => ({ operation: "generate", arguments: { topic } }) as const;

/** A process whose disk refuses this many outcomes before it takes one. */
function processWithBrokenDisk(
  computer: Computer,
  failures = Infinity,
  retryClock = createVirtualClock(NOW),
) {
  const disk = openPrivateFolder(computer.folder);
  let left = failures;
  const append: PrivateFolder["append"] = (name, text) => {
    const fails = text.includes('"outcome"') && left-- > 0;
    return fails ? failing("EIO")() : disk.append(name, text);
  };
  return computer.process({ disk: { ...disk, append }, retryClock });
}

test.each([1, 2, 5])(
  "an outcome that the disk refused %i times is written before the process ends",
  async (failures) => {
    const computer = new Computer();
    const process = processWithBrokenDisk(computer, failures);
    await process.generate(TIDES);
    await process.guard.close();

    expect(await computer.process().generate(TIDES)).toMatchObject({ alreadyStarted: true, jobId: "job-1" });
    expect(computer.orders).toHaveLength(1);
  },
);

test("an outcome that the disk refused is written by time, though nobody calls again and the process is then killed", async () => {
  const computer = new Computer();
  const clock = createVirtualClock(NOW);
  const process = processWithBrokenDisk(computer, 2, clock);
  await process.generate(TIDES);
  expect(process.journal.unwrittenReason()).toBeDefined();
  const written = () => process.journal.unwrittenReason() === undefined;
  while (!written()) {
    // eslint-disable-next-line no-await-in-loop -- one attempt after the other
    await until(() => written() || clock.pending() > 0);
    // eslint-disable-next-line no-await-in-loop -- as above
    if (!written()) await clock.runFor(1_000);
  }

  expect(await computer.process().generate(TIDES)).toMatchObject({ alreadyStarted: true, jobId: "job-1" });
  expect(computer.orders).toHaveLength(1);
  // Nothing goes on once all is written.
  expect(clock.pending()).toBe(0);
});

test("a disk that takes nothing is tried every five seconds, however many outcomes wait", async () => {
  const computer = new Computer();
  const clock = createVirtualClock(NOW);
  const disk = openPrivateFolder(computer.folder);
  const attemptsMs: number[] = [];
  const append: PrivateFolder["append"] = async (name, text) => {
    if (!text.includes('"outcome"')) return disk.append(name, text);
    attemptsMs.push(clock.monotonicMs() - NOW);
    return failing("EIO")();
  };
  const { journal } = computer.process({ disk: { ...disk, append }, retryClock: clock });
  const begun = [await journal.begin(intent("Tides")), await journal.begin(intent("Moons"))];
  for (const { own } of begun) await journal.end(own, { outcome: "done", jobId: "job-1" });
  attemptsMs.length = 0;
  for (let seconds = 0; seconds < 20; seconds += 1) {
    // eslint-disable-next-line no-await-in-loop -- one second after the other
    await until(() => clock.pending() > 0);
    // eslint-disable-next-line no-await-in-loop -- as above
    await clock.runFor(1_000);
  }

  expect(attemptsMs).toEqual([5_000, 10_000, 15_000, 20_000]);
});

test("a process whose disk takes nothing ends all the same, after the time that a call may take", async () => {
  const computer = new Computer();
  const process = processWithBrokenDisk(computer);
  await process.generate(TIDES);
  const startMs = computer.clock.machineMs;
  await process.guard.close();

  expect(computer.clock.machineMs - startMs).toBeGreaterThanOrEqual(CALL_MS);
  expect(process.journal.unwrittenReason()).toMatchObject({
    problem: expect.stringMatching(/^can't be written \(EIO: /),
    fix: "check it and the disk that holds it",
  });
  expect(await errorOf(computer.process().generate(TIDES))).toMatchObject({ code: "in_progress" });
});

test("a late answer that comes as the process ends is in the journal once that has ended", async () => {
  const computer = new Computer();
  const process = processWithBrokenDisk(computer, 1);
  const answer = resolvers();
  computer.onGenerate = () => answer.promise;
  const call = process.generate(TIDES);
  await expect.poll(() => computer.orders).toHaveLength(1);
  const closed = process.guard.close();
  answer.resolve({ jobId: "job-1", status: "processing" });
  await Promise.all([call, closed]);

  expect(await computer.process().generate(TIDES)).toMatchObject({ alreadyStarted: true, jobId: "job-1" });
});

test("an outcome is written as the process ends, even if another request's answer never comes", async () => {
  const computer = new Computer();
  const process = processWithBrokenDisk(computer, 1);
  const isLost = (topic: string) => topic === "Moons";
  computer.onGenerate = ({ topic }) =>
    isLost(topic) ? new Promise(() => {}) : Promise.resolve({ jobId: "job-1", status: "processing" });
  void process.generate({ topic: "Moons" });
  await expect.poll(() => computer.orders).toHaveLength(1);
  await process.generate(TIDES);
  void process.guard.close();

  const { journal } = computer.process();
  await expect.poll(() => journal.entries()).toContainEqual(expect.objectContaining({ jobId: "job-1" }));
});

test.each<["done" | "rejected"]>([["done"], ["rejected"]])(
  "a call that nobody gives up on ends once its outcome is written: %s",
  async (outcome) => {
    const computer = new Computer();
    const { journal } = processWithBrokenDisk(computer, 3);
    const waits: string[] = [];
    const guard = new Guard({
      journal,
      clock: {
        now: () => NOW,
        monotonicMs: () => computer.clock.machineMs,
        after: (_, action) => {
          const turn = setImmediate(action);
          return () => clearImmediate(turn);
        },
      },
      onWait: (awaited) => waits.push(awaited),
    });
    const { own } = await journal.begin({ operation: "generate", arguments: { ...TIDES } });
    const answer = outcome === "done" ? Promise.resolve("job-1") : Promise.reject(failure("rejected"));
    await guard.finish(own, answer, (jobId) => ({ outcome: "done", jobId })).catch(() => {});

    expect(waits).toEqual(["journal"]);
    expect(journal.unwrittenReason()).toBeUndefined();
    expect(await computer.process().journal.entries()).toMatchObject(
      outcome === "done" ? [{ jobId: "job-1" }] : [],
    );
  },
);

test("an order that can't be recorded says so once, and says nothing of an outcome", async () => {
  const unwritable = new JournalError("written", "/journal", "EIO");
  const { call } = createHarness(generateVideo, {
    generateOnce: { run: () => Promise.reject(unwritable) },
    unrecorded: () => unwritable,
  });

  const failed: unknown = await call(TIDES).catch((error: unknown) => error);

  expect(failed).toBe(unwritable);
});
