// When a video is started, and when an earlier request for the same one answers instead.

import { expect, test } from "vitest";
import { type PrivateFolder, openPrivateFolder } from "../../src/disk.ts";
import type { OrderPlan } from "../../src/idempotency/generate-once.ts";
import { CALL_MS } from "../../src/service/time-budget.ts";
import type { Order } from "../../src/service/responses.ts";
import {
  codeIn,
  Computer,
  DAY_MS,
  errorOf,
  failure,
  fails,
  HOUR_MS,
  MINUTE_MS,
  NOW,
  TIDES,
} from "../fixtures/computer.ts";

/** The time for which an order guards against a repeat. */
const GUARD_MS = 20 * HOUR_MS;
const CODE = expect.stringMatching(/^[0-9a-f]{6}$/);

function refused(when: string) {
  return {
    code: "duplicate",
    message: `Not sent: a video of the same words was ordered ${when} and its answer never came, so it may have been made.`,
    nextStep: expect.stringMatching(
      /^So far the video list shows no job that could be it\. Check list_videos for it\. Only if it isn't there, and the user still wants it, call generate_video again with confirm: "[0-9a-f]{6}"\. Don't order it in other words or with other settings instead\.$/,
    ),
    outcome: "not_sent",
    retryable: false,
  };
}

/** A computer that has started job-1. */
async function afterFirst(): Promise<Computer> {
  const computer = new Computer();
  expect(await computer.process().generate(TIDES)).toEqual({
    alreadyStarted: false,
    startedJob: { jobId: "job-1", status: "processing" },
  });
  return computer;
}

test.each([
  ["processing", GUARD_MS - 1],
  ["queued", 11 * MINUTE_MS],
  ["unreadable", GUARD_MS - 1],
  ["completed", GUARD_MS - 1],
  ["not found", GUARD_MS - 1],
])("the same video is not started while the first one's job is %s after %i ms", async (status, ageMs) => {
  const computer = await afterFirst();
  computer.statuses.set("job-1", status);
  computer.pass(ageMs);

  expect(await computer.process().generate(TIDES)).toMatchObject({
    alreadyStarted: true,
    jobId: "job-1",
    ageMs,
    code: CODE,
  });
  expect(computer.orders).toHaveLength(1);
});

test("a running job still guards its order after any number of failed ones on the same day", async () => {
  const computer = await afterFirst();
  for (let number = 2; number <= 12; number += 1) {
    const earlier = await computer.process().generate(TIDES);
    const confirm = "code" in earlier ? earlier.code : "";
    await computer.process().generate(TIDES, { confirm });
    computer.statuses.set(`job-${number}`, "failed");
  }

  expect(await computer.process().generate(TIDES)).toMatchObject({ alreadyStarted: true, jobId: "job-1" });

  // A service that takes nine seconds for each of them leaves no time for all.
  const startMs = computer.clock.machineMs;
  const tryReadJob = async (jobId: string) => {
    computer.pass(9_000);
    return { jobId, status: "failed", done: true, videoUrls: [] };
  };
  expect(await computer.process({ tryReadJob }).generate(TIDES)).toMatchObject({
    alreadyStarted: true,
    job: undefined,
  });
  expect(computer.clock.machineMs - startMs).toBeLessThan(CALL_MS);
  expect(computer.orders).toHaveLength(12);
});

test("the answer says how many videos with the same topic were ordered", async () => {
  const computer = await afterFirst();
  const first = await computer.process().generate(TIDES);
  const plans: OrderPlan[] = [];
  const ask = async (plan: OrderPlan) => (plans.push(plan), { userMs: 0 });
  const confirm = "code" in first ? first.code : "";
  computer.pass(MINUTE_MS);
  await computer.process().generateOnce.run(TIDES, { confirm, ask });

  expect(plans).toMatchObject([{ repeat: { count: 1, ageMs: MINUTE_MS } }]);
  expect(await computer.process().generate(TIDES)).toMatchObject({ jobId: "job-2", count: 2, ageMs: 0 });
});

test("failed renders don't count among the videos with the same topic", async () => {
  const computer = await afterFirst();
  computer.statuses.set("job-1", "failed");
  computer.pass(MINUTE_MS);
  await computer.process().generate(TIDES);
  computer.pass(MINUTE_MS);
  const plans: OrderPlan[] = [];
  const ask = async (plan: OrderPlan) => (plans.push(plan), { userMs: 0 });

  const again = await computer.process().generate(TIDES);
  const confirm = "code" in again ? again.code : "";
  await computer.process().generateOnce.run(TIDES, { confirm, ask });
  computer.statuses.set("job-3", "failed");

  expect(again).toMatchObject({ jobId: "job-2", count: 1 });
  expect(plans).toMatchObject([{ repeat: { count: 1, ageMs: MINUTE_MS } }]);
  expect(await computer.process().generate(TIDES)).toMatchObject({ jobId: "job-2", count: 1 });
});

test("the job of a sandbox that doesn't know it any more guards nothing", async () => {
  const computer = await afterFirst();
  computer.statuses.set("job-1", "not found");

  expect(await computer.process({ isSandbox: true }).generate(TIDES)).toEqual({
    alreadyStarted: false,
    startedJob: { jobId: "job-2", status: "processing" },
  });
});

test("the same video is refused with a code from six minutes to 20 hours after a lost answer", async () => {
  const computer = new Computer();
  computer.onGenerate = fails("unknown");
  const call = () => errorOf(computer.process().generate(TIDES));
  await call();
  computer.pass(6 * MINUTE_MS);
  expect(await call()).toEqual(refused("6 minutes ago"));
  computer.clock.epochMs = NOW + GUARD_MS - 1;
  expect(await call()).toEqual(refused("19 hours ago"));
  expect(computer.orders).toHaveLength(1);
  computer.pass(1);
  await call();

  expect(computer.orders).toHaveLength(2);
});

test.each([
  ["six minutes", 6 * MINUTE_MS],
  ["a year", 365 * DAY_MS],
])(
  "an order whose answer was lost on a clock that was %s ahead is not sent again without a code",
  async (_, ms) => {
    const computer = new Computer();
    computer.clock.epochMs = NOW + ms;
    computer.onGenerate = fails("unknown");
    await errorOf(computer.process().generate(TIDES));
    computer.clock.epochMs = NOW;

    expect(await errorOf(computer.process().generate(TIDES))).toEqual(refused("just now"));
    computer.clock.epochMs += 1;
    expect(await errorOf(computer.process().generate(TIDES))).toMatchObject({
      code: ms > 6 * MINUTE_MS ? "duplicate" : "in_progress",
    });
  },
);

test("the same video is refused after a fault of this server that may have followed the request", async () => {
  const computer = new Computer();
  computer.onGenerate = () => Promise.reject(new TypeError("a fault of this server"));
  await expect(computer.process().generate(TIDES)).rejects.toBeInstanceOf(TypeError);

  expect(await errorOf(computer.process().generate(TIDES))).toMatchObject({ code: "in_progress" });
});

test.each([
  ["the same file, behind its line", 0],
  ["the next day's file", 12 * HOUR_MS],
])(
  "a request that another process has made meanwhile is not made again if its entry is in %s",
  async (_, afterMs) => {
    const computer = new Computer();
    const disk = openPrivateFolder(computer.folder);
    const { journal } = computer.process();
    let isFirst = true;
    const append: PrivateFolder["append"] = async (name, line) => {
      await disk.append(name, line);
      if (!isFirst) return;
      isFirst = false;
      // Between this request's line and its last read.
      computer.pass(afterMs);
      const { operation, arguments: ordered } = JSON.parse(line);
      const { own } = await journal.begin({ operation, arguments: ordered });
      await journal.end(own, { outcome: "done", jobId: "job-9" });
    };

    expect(await computer.process({ disk: { ...disk, append } }).generate(TIDES)).toMatchObject({
      alreadyStarted: true,
      jobId: "job-9",
    });
    expect(computer.orders).toEqual([]);
  },
);

test("a request is not sent if its line is gone from the disk", async () => {
  const computer = new Computer();
  const append = async () => {};
  const process = computer.process({ disk: { ...openPrivateFolder(computer.folder), append } });

  expect(await errorOf(process.generate(TIDES))).toMatchObject({
    code: "journal_unwritable",
    message: expect.stringContaining(`(what was written is gone: ${computer.folder})`),
  });
  expect(computer.orders).toEqual([]);
});

test("the code stays valid while nothing newer is known: after a refusal, a read of the job, and an hour", async () => {
  const computer = await afterFirst();
  const again = await computer.process().generate(TIDES);
  const confirm = again.alreadyStarted ? again.code : "";
  computer.onGenerate = fails("rejected");
  await errorOf(computer.process().generate(TIDES, { confirm }));
  computer.pass(HOUR_MS);

  expect(await computer.process().generate(TIDES)).toMatchObject({ code: confirm });
});

const DOUBT = { finding: "The text takes 40 s to say.", advice: "Order 40 s." };

test("a code for an order that looks like a mistake is valid for that exact order alone", async () => {
  const computer = new Computer();
  const { generateOnce } = computer.process();
  const call = (order: Order, confirm?: string) =>
    generateOnce.run(order, { warnings: [DOUBT], ...(confirm !== undefined && { confirm }) });
  const error = await errorOf(call(TIDES));
  expect(error).toEqual({
    code: "check_order",
    message: "Not sent, since it may not be what the user means. The text takes 40 s to say.",
    nextStep: expect.stringMatching(
      /^Order 40 s\. Only if you have told the user this, and they then want the order as it is, call generate_video again with confirm: "\w{6}"\.$/,
    ),
    outcome: "not_sent",
    retryable: false,
  });
  const code = codeIn(error);
  for (const other of [
    { topic: "Moons rise", duration: 20 },
    { ...TIDES, duration: 30 },
  ])
    expect(await errorOf(call(other, code))).toMatchObject({
      code: "check_order",
      message: expect.stringMatching(/^The confirm code .+ Not sent, since /),
    });
  expect(computer.orders).toEqual([]);
  await call(TIDES, code);

  expect(computer.orders).toEqual([TIDES]);
});

test("a question about an order doesn't call it a repeat after a refund", async () => {
  const computer = await afterFirst();
  computer.statuses.set("job-1", "failed");
  const plans: OrderPlan[] = [];
  const ask = async (plan: OrderPlan) => (plans.push(plan), { userMs: 0 });
  await computer.process().generateOnce.run(TIDES, { asksFirst: true, ask });

  expect(plans).toMatchObject([{ repeat: undefined }]);
  expect(computer.orders).toHaveLength(2);
});

test("the error for a refused order names no candidate jobs", async () => {
  const computer = new Computer();
  computer.onGenerate = fails("rejected");

  expect(await errorOf(computer.process().generate(TIDES))).toEqual(failure("rejected").facts);
});
