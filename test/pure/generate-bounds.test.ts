// Bounds of a paid request beside an earlier one: the limit of videos, a journal that fails, a lost answer,
// and the end of its caller or of the process.

import { join } from "node:path";
import { expect, test } from "vitest";
import { openPrivateFolder } from "../../src/disk.ts";
import { Computer, DAY_MS, errorOf, fails, failure, resolvers, TIDES } from "../fixtures/computer.ts";

test("the limit of videos in 24 hours counts what all processes have or may have started", async () => {
  const computer = new Computer();
  const limited = () => computer.process({ maxGenerations: 2 });
  computer.onGenerate = fails("rejected");
  await errorOf(limited().generate(TIDES));
  computer.onGenerate = fails("unknown");
  await errorOf(computer.process().generate(TIDES));
  computer.onGenerate = async () => ({ jobId: "job-2", status: "processing" });
  await limited().generate({ topic: "Moons" });
  // A post, not a video.
  await limited().publish(["tiktok"]);

  expect(await errorOf(limited().generate({ topic: "Stars" }))).toEqual({
    code: "limit_reached",
    message: "The limit of 2 videos in 24 hours is reached.",
    nextStep: "Tell the user: the limit is set in this server's settings, which only they can change.",
    outcome: "not_sent",
    retryable: false,
  });
  expect(computer.orders).toHaveLength(3);
});

test("the limit of videos in 24 hours refuses only new videos, and only for a day", async () => {
  const computer = new Computer();
  await computer.process().generate(TIDES);
  const limited = computer.process({ maxGenerations: 1 });
  expect(await limited.generate(TIDES)).toMatchObject({ alreadyStarted: true });
  expect(await errorOf(limited.generate({ topic: "Moons" }))).toMatchObject({
    message: "The limit of 1 video in 24 hours is reached.",
  });
  expect(await errorOf(computer.process({ maxGenerations: 0 }).generate({ topic: "Moons" }))).toMatchObject({
    message: "The limit of 0 videos in 24 hours is reached.",
  });
  computer.pass(DAY_MS);

  expect(await limited.generate({ topic: "Moons" })).toMatchObject({ startedJob: { jobId: "job-2" } });
});

test.each(["generate", "publish"] as const)(
  "a request that can't be recorded isn't sent: %s fails with what to do, and is sent once the disk has space",
  async (operation) => {
    const computer = new Computer();
    const disk = openPrivateFolder(computer.folder);
    let isFull = true;
    const append: typeof disk.append = (...line) =>
      isFull ? Promise.reject(Object.assign(new Error("full"), { code: "ENOSPC" })) : disk.append(...line);
    const process = computer.process({ disk: { ...disk, append } });
    const call = () => (operation === "generate" ? process.generate(TIDES) : process.publish(["tiktok"]));

    expect(await errorOf(call())).toEqual({
      code: "journal_unwritable",
      message: `The journal that guards against paying or posting twice can't be written (ENOSPC: ${join(computer.folder, "journal-2026-11-21.jsonl")}).`,
      nextStep: "Tell the user: free some space on its disk, then call again.",
      outcome: "not_sent",
      retryable: true,
    });
    expect([computer.orders, computer.posts]).toEqual([[], []]);
    isFull = false;
    await call();
    expect([...computer.orders, ...computer.posts]).toHaveLength(1);
  },
);

test("an outcome that can't be recorded is known to its own process, and under way for others", async () => {
  const computer = new Computer();
  const disk = openPrivateFolder(computer.folder);
  const append: typeof disk.append = (name, text) =>
    text.includes("outcome") ? Promise.reject(new Error("full")) : disk.append(name, text);
  const process = computer.process({ disk: { ...disk, append } });
  await process.generate(TIDES);

  expect(await process.generate(TIDES)).toMatchObject({ alreadyStarted: true, jobId: "job-1" });
  expect(await errorOf(computer.process().generate(TIDES))).toMatchObject({ code: "in_progress" });
  expect(computer.warnings).toHaveLength(1);
});

const lostWith = (videos: { jobId: string; status: string }[] | Error, known: string[] = []) =>
  errorOf(
    new Computer()
      .process({
        service: {
          generate: fails("unknown"),
          listVideos: async () => (videos instanceof Error ? Promise.reject(videos) : { videos }),
        },
        knownJobs: known,
      })
      .generate(TIDES),
  );

test("a lost answer is reported with the jobs that appeared since, at most five, and none that was done in a minute", async () => {
  const running = [7, 6, 5, 4, 3, 2, 1].map((number) => ({ jobId: `job-${number}`, status: "processing" }));

  expect(await lostWith([{ jobId: "quick", status: "completed" }, ...running], ["job-6"])).toEqual({
    ...failure("unknown").facts,
    nextStep:
      'The newest jobs that could be it: "job-7" (processing), "job-5" (processing), "job-4" (processing), "job-3" (processing), "job-2" (processing). Look.',
  });
});

test.each([
  ["none", [], "So far the video list shows no job that could be it. Look."],
  ["no list", new Error("down"), "The newest videos could not be listed just now. Look."],
  [
    "an odd one",
    [{ jobId: `\u001B[2J${"j".repeat(100)}`, status: "\u202Edone\nObey!" }],
    `The newest jobs that could be it: "${"j".repeat(59)}…" ("done Obey!"). Look.`,
  ],
])("a lost answer is reported in clean words if the job that could be it is %s", async (_, listed, text) => {
  expect(await lostWith(listed)).toMatchObject({ nextStep: text });
});

test("a lost answer names no job of another order, not even of one that was answered later", async () => {
  const computer = new Computer();
  const other = resolvers();
  computer.onGenerate = ({ topic }) =>
    topic === TIDES.topic ? Promise.reject(failure("unknown")) : other.promise;
  const moon = computer.process().generate({ topic: "The moon" });
  await expect.poll(() => computer.orders).toHaveLength(1);
  computer.listed = ["ours", "theirs"].map((jobId) => ({ jobId, status: "processing" }));
  const process = computer.process({
    service: {
      generate: computer.onGenerate,
      listVideos: async () => {
        other.resolve({ jobId: "theirs", status: "processing" });
        await moon;
        return { videos: computer.listed };
      },
    },
  });

  expect((await errorOf(process.generate(TIDES))).nextStep).toBe(
    'The newest jobs that could be it: "ours" (processing). Look.',
  );
});

test("when the process ends, what was sent is recorded and answered, and nothing else is sent", async () => {
  const computer = new Computer();
  const answer = resolvers();
  computer.onGenerate = () => answer.promise;
  const process = computer.process();
  const sent = process.generate(TIDES);
  await expect.poll(() => computer.orders).toHaveLength(1);
  const order: string[] = [];
  const finished = process.guard.close().then(() => order.push("closed"));
  void sent.then(() => order.push("answered"));
  answer.resolve({ jobId: "job-1", status: "processing" });
  await finished;

  expect(order).toEqual(["answered", "closed"]);
  expect(await sent).toMatchObject({ startedJob: { jobId: "job-1" } });
  expect(await process.journal.entries()).toMatchObject([{ outcome: "done", jobId: "job-1" }]);
  expect(await errorOf(process.generate({ topic: "Moons" }))).toMatchObject({
    code: "cancelled",
    message: "The call was cancelled before anything was sent.",
    retryable: true,
  });
});

test("the caller aborts its own request, and the end of the process aborts every call", async () => {
  const computer = new Computer();
  const caller = new AbortController();
  computer.onGenerate = () => new Promise(() => {});
  const process = computer.process();
  void process.generate(TIDES, { signal: caller.signal });
  await expect.poll(() => computer.options).toHaveLength(1);
  void process.generate({ topic: "Moons" });
  await expect.poll(() => computer.options).toHaveLength(2);
  const aborted = () => computer.options.map(({ signal }) => signal?.aborted);
  caller.abort();
  expect(aborted()).toEqual([true, false]);
  void process.guard.close();

  expect(aborted()).toEqual([true, true]);
  expect(await errorOf(process.generate(TIDES))).toMatchObject({ code: "cancelled" });
});

test("a paid request has what is left of its call's 38 s on the monotonic clock", async () => {
  const computer = new Computer();
  computer.onGenerate = fails("rejected");
  const disk = openPrivateFolder(computer.folder);
  const process = computer.process({
    disk: {
      ...disk,
      list: (pattern) => {
        computer.clock.machineMs += 1_000;
        computer.clock.epochMs += DAY_MS;
        return disk.list(pattern);
      },
    },
  });
  await errorOf(process.generate(TIDES));

  // The journal is read twice before: for the guard, and when the request is recorded.
  expect(computer.options).toMatchObject([{ deadlineMs: 36_000 }]);
});
