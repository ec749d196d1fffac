// When a video is started, and when an earlier request for the same one answers instead.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Disk, openDisk } from "../../src/idempotency/journal-files.ts";
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
} from "./computer.ts";
import { startedJobs } from "../../src/idempotency/history.ts";
import { fingerprintOf, generationsOfLastDay } from "../../src/idempotency/same-request.ts";

const CODE = expect.stringMatching(/^[0-9a-f]{6}$/);

function refused(ago: string) {
  return {
    code: "duplicate",
    message: `Not sent: the same video was requested ${ago} and its outcome is not known, so it may already be rendering.`,
    nextStep: expect.stringMatching(
      /^Look with list_videos whether it is there\. Only if it isn't, and the user still wants it, call generate_video again with confirmDuplicate: "[0-9a-f]{6}"\.$/,
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
    generation: { jobId: "job-1", status: "processing" },
    isRecorded: true,
  });
  return computer;
}

test.each([
  ["processing", 60 * DAY_MS],
  ["queued", 11 * MINUTE_MS],
  ["unreadable", 2 * DAY_MS],
  ["completed", DAY_MS - 1],
  ["not found", DAY_MS - 1],
])("The same video is not started while the first one's job is %s after %i ms", async (status, ageMs) => {
  const computer = await afterFirst();
  computer.statuses.set("job-1", status);
  computer.pass(ageMs);

  expect(await computer.process().generate(TIDES)).toMatchObject({
    alreadyStarted: true,
    jobId: "job-1",
    ageMs,
    code: CODE,
  });
  expect(computer.generations).toHaveLength(1);
});

test.each([
  ["failed", 0],
  ["completed", DAY_MS],
  ["not found", DAY_MS],
])("The same video is started again once the first one's job is %s after %i ms", async (status, ageMs) => {
  const computer = await afterFirst();
  computer.statuses.set("job-1", status);
  computer.pass(ageMs);

  expect(await computer.process().generate(TIDES)).toMatchObject({ generation: { jobId: "job-2" } });
});

test("A failed job that the service later calls running guards again", async () => {
  const computer = await afterFirst();
  computer.statuses.set("job-1", "failed");
  await computer.process().generate(TIDES);
  computer.statuses.set("job-1", "processing").set("job-2", "failed");

  expect(await computer.process().generate(TIDES)).toMatchObject({ alreadyStarted: true, jobId: "job-1" });
});

test.each([
  ["the defaults spelt out", { ...TIDES, language: "en", style: "story", voice: "charlotte", music: "none" }],
  ["other white space in its topic", { ...TIDES, topic: " Tides \n\t rise\n" }],
  ["other case in its topic", { ...TIDES, topic: "TIDES rise" }],
  ["a zero width space in its topic", { ...TIDES, topic: "Ti\u200Bdes rise\uFE0F" }],
  ["its arguments in another order", { duration: 20, topic: "Tides rise" }],
  ["an argument that is undefined", { ...TIDES, voice: undefined }],
] as const)("The same video is recognised with %s", async (_, request) => {
  const computer = await afterFirst();

  expect(await computer.process().generate(request)).toMatchObject({ alreadyStarted: true });
});

test("The same video is recognised in another Unicode composition of its topic", async () => {
  const computer = new Computer();
  await computer.process().generate({ topic: "Caf\u00E9" });

  expect(await computer.process().generate({ topic: "Cafe\u0301" })).toMatchObject({
    alreadyStarted: true,
  });
});

test("Another duration, topic or account is another request", async () => {
  const computer = await afterFirst();
  await computer.process().generate({ ...TIDES, duration: 21 });
  await computer.process().generate({ ...TIDES, topic: "Tides fall" });
  await computer.process({ accountName: "two" }).generate(TIDES);

  expect(computer.generations).toHaveLength(4);
});

test.each([0, DAY_MS - 1])(
  "The same video is refused with a code %i ms after a lost answer",
  async (ageMs) => {
    const computer = new Computer();
    computer.onGenerate = fails("unknown");
    await errorOf(computer.process().generate(TIDES));
    computer.pass(ageMs);

    expect(await errorOf(computer.process().generate(TIDES))).toEqual(
      refused(ageMs === 0 ? "just now" : "23 hours ago"),
    );
    expect(computer.generations).toHaveLength(1);
  },
);

test("The same video is sent a day after a lost answer", async () => {
  const computer = new Computer();
  computer.onGenerate = fails("unknown");
  await errorOf(computer.process().generate(TIDES));
  computer.pass(DAY_MS);

  await errorOf(computer.process().generate(TIDES));
  expect(computer.generations).toHaveLength(2);
});

test("The same video is refused after an answer was lost on a clock that was a year ahead", async () => {
  const computer = new Computer();
  computer.clock.epochMs = NOW + 365 * DAY_MS;
  computer.onGenerate = fails("unknown");
  await errorOf(computer.process().generate(TIDES));
  computer.clock.epochMs = NOW;

  expect(await errorOf(computer.process().generate(TIDES))).toEqual(refused("just now"));
});

test("The same video is refused after a fault of this server that may have followed the request", async () => {
  const computer = new Computer();
  computer.onGenerate = () => Promise.reject(new TypeError("a fault of this server"));
  await expect(computer.process().generate(TIDES)).rejects.toBeInstanceOf(TypeError);

  expect(await errorOf(computer.process().generate(TIDES))).toEqual(refused("just now"));
});

test.each(["rejected", "not_sent"] as const)(
  "The same video is sent if the first request was %s",
  async (outcome) => {
    const computer = new Computer();
    computer.onGenerate = fails(outcome);
    await errorOf(computer.process().generate(TIDES));
    await errorOf(computer.process().generate(TIDES));

    expect(computer.generations).toHaveLength(2);
  },
);

test("A call whose time is over while it waits gets an error without a code, and the next one the job", async () => {
  const computer = new Computer();
  const answer = resolvers();
  computer.onGenerate = () => answer.promise;
  const first = computer.process().generate(TIDES);
  await expect.poll(() => computer.generations).toHaveLength(1);

  expect(await errorOf(computer.process().generate(TIDES))).toEqual({
    code: "in_progress",
    message:
      "Not sent: another call is making the same request at this moment, and its outcome is not known yet.",
    nextStep: "Make the same call again in a minute: it answers with what became of the other one.",
    outcome: "not_sent",
    retryable: true,
  });
  answer.resolve({ jobId: "job-1", status: "processing" });
  await first;
  expect(await computer.process().generate(TIDES)).toMatchObject({ alreadyStarted: true, jobId: "job-1" });
});

test("A request under way is unknown a minute after its process died, whatever the wall clock says", async () => {
  const computer = new Computer();
  computer.onGenerate = () => new Promise(() => {});
  void computer.process().generate(TIDES);
  await expect.poll(() => computer.generations).toHaveLength(1);
  computer.clock.epochMs -= 30 * DAY_MS;
  computer.clock.machineMs += 10_000;
  expect(await errorOf(computer.process().generate(TIDES))).toMatchObject({ code: "in_progress" });
  computer.clock.machineMs += MINUTE_MS;

  expect(await errorOf(computer.process().generate(TIDES))).toMatchObject({ code: "duplicate" });
  expect(computer.generations).toHaveLength(1);
});

test("A request under way is not confirmed by a code that an earlier lost answer has brought", async () => {
  const computer = new Computer();
  computer.onGenerate = fails("unknown");
  await errorOf(computer.process().generate(TIDES));
  const confirmDuplicate = codeIn(await errorOf(computer.process().generate(TIDES)));
  computer.onGenerate = () => new Promise(() => {});
  void computer.process().generate(TIDES, { confirmDuplicate });
  await expect.poll(() => computer.generations).toHaveLength(2);

  expect(await errorOf(computer.process().generate(TIDES, { confirmDuplicate }))).toMatchObject({
    code: "in_progress",
  });
  expect(computer.generations).toHaveLength(2);
});

test("A request stays under way for its own process until its late answer has come, which the next call gets", async () => {
  const computer = new Computer();
  const late = resolvers();
  computer.onGenerate = (_, options) => {
    options?.onLate?.(late.promise);
    return Promise.reject(failure("unknown"));
  };
  const process = computer.process();
  await errorOf(process.generate(TIDES));
  computer.pass(2 * MINUTE_MS);
  expect(await errorOf(process.generate(TIDES))).toMatchObject({ code: "in_progress" });
  late.resolve({ jobId: "job-1", status: "processing" });

  expect(await process.generate(TIDES)).toMatchObject({ alreadyStarted: true, jobId: "job-1" });
  expect(computer.started).toEqual(["job-1"]);
  await process.calls.finish();
});

test("A request whose late answer is a refusal can be made again", async () => {
  const computer = new Computer();
  const process = computer.process();
  computer.onGenerate = (_, options) => {
    options?.onLate?.(Promise.reject(failure("rejected")));
    return Promise.reject(failure("unknown"));
  };
  await errorOf(process.generate(TIDES));
  computer.onGenerate = async () => ({ jobId: "job-2", status: "processing" });

  expect(await process.generate(TIDES)).toMatchObject({ generation: { jobId: "job-2" } });
  await process.calls.finish();
});

test.each([
  ["the same file, behind its line", 0],
  ["the next day's file", 12 * HOUR_MS],
])(
  "A request that another process has made meanwhile is not made again, if that stands in %s",
  async (_, afterMs) => {
    const computer = new Computer();
    const disk = openDisk(computer.folder);
    const { journal } = computer.process();
    let isFirst = true;
    const append: Disk["append"] = async (name, line) => {
      await disk.append(name, line);
      if (!isFirst) return;
      isFirst = false;
      // Between this request's line and its last look.
      computer.pass(afterMs);
      const { operation, account, fingerprint, arguments: ordered } = JSON.parse(line);
      const { id } = await journal.begin({ operation, account, fingerprint, arguments: ordered });
      await journal.recordOutcome(id, { outcome: "done", jobId: "job-9" });
    };

    expect(await computer.process({ disk: { ...disk, append } }).generate(TIDES)).toMatchObject({
      alreadyStarted: true,
      jobId: "job-9",
    });
    expect(computer.generations).toEqual([]);
  },
);

test("A request whose line is gone when it is looked for is recorded once more before it is sent", async () => {
  const computer = new Computer();
  const disk = openDisk(computer.folder);
  let isLost = true;
  const append: Disk["append"] = async (...line) => (isLost ? void (isLost = false) : disk.append(...line));
  const process = computer.process({ disk: { ...disk, append } });

  expect(await process.generate(TIDES)).toMatchObject({ generation: { jobId: "job-1" } });
  expect(computer.generations).toHaveLength(1);
  expect((await computer.process().journal.entries()).map(({ outcome }) => outcome)).toEqual([
    "not_sent",
    "done",
  ]);
});

test("The code starts one more video, once, and is then not valid", async () => {
  const computer = await afterFirst();
  const again = await computer.process().generate(TIDES);
  const confirmDuplicate = again.alreadyStarted ? again.code : "";
  expect(await computer.process().generate(TIDES, { confirmDuplicate })).toMatchObject({
    generation: { jobId: "job-2" },
  });

  expect(await computer.process().generate(TIDES, { confirmDuplicate })).toMatchObject({
    alreadyStarted: true,
    jobId: "job-2",
    code: expect.not.stringMatching(confirmDuplicate),
  });
  expect(computer.generations).toHaveLength(2);
});

test("The code stays valid while nothing newer is known: after a refusal, a look at the job, and an hour", async () => {
  const computer = await afterFirst();
  const again = await computer.process().generate(TIDES);
  const confirmDuplicate = again.alreadyStarted ? again.code : "";
  computer.onGenerate = fails("rejected");
  await errorOf(computer.process().generate(TIDES, { confirmDuplicate }));
  computer.pass(HOUR_MS);

  expect(await computer.process().generate(TIDES)).toMatchObject({ code: confirmDuplicate });
});

test.each(["true", "000000"])(
  "The code %j is not valid, and the error gives the valid one",
  async (confirmDuplicate) => {
    const computer = new Computer();
    computer.onGenerate = fails("unknown");
    await errorOf(computer.process().generate(TIDES));

    expect(await errorOf(computer.process().generate(TIDES, { confirmDuplicate }))).toMatchObject({
      code: "duplicate",
      message: expect.stringMatching(/^The confirmDuplicate code of this call is not valid\. Not sent: /),
    });
    expect(computer.generations).toHaveLength(1);
  },
);

test("The limit of videos in 24 hours counts those that all processes and accounts have or may have started", async () => {
  const computer = new Computer();
  const limited = () => computer.process({ maxGenerations: 2 });
  computer.onGenerate = fails("rejected");
  await errorOf(limited().generate(TIDES));
  computer.onGenerate = fails("unknown");
  await errorOf(computer.process({ accountName: "two" }).generate(TIDES));
  computer.onGenerate = async () => ({ jobId: "job-2", status: "processing" });
  await limited().generate({ topic: "Moons" });
  // No video, but a post.
  await limited().publish(["tiktok"]);

  expect(await errorOf(limited().generate({ topic: "Stars" }))).toEqual({
    code: "limit_reached",
    message: "This computer has reached its limit of 2 videos in 24 hours.",
    nextStep:
      "Tell the user: only they can raise FACELESS_MAX_GENERATIONS in this server's settings and restart the server.",
    outcome: "not_sent",
    retryable: false,
  });
  expect(generationsOfLastDay(await limited().journal.entries(), NOW)).toBe(2);
  expect(computer.generations).toHaveLength(3);
});

test("The limit of videos in 24 hours lets the same video's job through, and the next video a day later", async () => {
  const computer = await afterFirst();
  const limited = computer.process({ maxGenerations: 1 });
  expect(await limited.generate(TIDES)).toMatchObject({ alreadyStarted: true });
  computer.pass(DAY_MS);

  expect(await limited.generate({ topic: "Moons" })).toMatchObject({ generation: { jobId: "job-2" } });
});

test("The limit of videos in 24 hours is not passed by processes that start different videos at once", async () => {
  const computer = new Computer();
  const topics = ["Moons", "Stars", "Suns", "Tides"];
  const calls = topics.map((topic) => computer.process({ maxGenerations: 2 }).generate({ topic }));

  const ends = await Promise.allSettled(calls);
  expect(computer.generations).toHaveLength(2);
  expect(ends.filter(({ status }) => status === "rejected")).toHaveLength(2);
});

test.each([
  [1, "This computer has reached its limit of 1 video in 24 hours."],
  [0, "This server is set to start no videos."],
])("A limit of %i videos in 24 hours is told in words of its own", async (maxGenerations, message) => {
  const computer = await afterFirst();
  const call = computer.process({ maxGenerations }).generate({ topic: "Moons" });

  expect(await errorOf(call)).toMatchObject({ message });
});

test("A journal that can't be read keeps everything from being sent", async () => {
  const computer = new Computer();
  mkdirSync(join(computer.folder, "journal-2026-11-21.jsonl"));

  expect(await errorOf(computer.process().generate(TIDES))).toMatchObject({
    code: "journal_unreadable",
    outcome: "not_sent",
  });
  expect(computer.generations).toEqual([]);
});

test("The result says that the journal can't be written, and the process guards from memory", async () => {
  const computer = new Computer();
  const append = () => Promise.reject(Object.assign(new Error("full"), { code: "ENOSPC" }));
  const process = computer.process({ disk: { ...openDisk(computer.folder), append } });

  expect(await process.generate(TIDES)).toMatchObject({ alreadyStarted: false, isRecorded: false });
  expect(await process.generate(TIDES)).toMatchObject({ alreadyStarted: true, jobId: "job-1" });
  expect(computer.warnings).toEqual(["ENOSPC", "ENOSPC"]);
});

test("The error for a lost answer says that the journal can't be written", async () => {
  const computer = new Computer();
  computer.onGenerate = fails("unknown");
  const append = () => Promise.reject(Object.assign(new Error("full"), { code: "ENOSPC" }));
  const process = computer.process({ disk: { ...openDisk(computer.folder), append } });

  expect((await errorOf(process.generate(TIDES))).nextStep).toContain(
    " This computer's journal could not be written, so a repeat from another client would not be noticed.",
  );
});

test("The journal names the jobs of an account to a new process, the latest first", async () => {
  const computer = await afterFirst();
  computer.pass(MINUTE_MS);
  const process = computer.process();
  await process.generate({ topic: "Moons" });
  await computer.process({ accountName: "two" }).generate({ topic: "Stars" });

  expect(startedJobs(await process.journal.entries(), fingerprintOf("one"))).toEqual([
    { jobId: "job-2", topic: "Moons", createdAtMs: NOW + MINUTE_MS },
    { jobId: "job-1", topic: "Tides rise", createdAtMs: NOW },
  ]);
});

const lostWith = (videos: { jobId: string; status: string }[] | Error, known: string[] = []) =>
  errorOf(
    new Computer()
      .process({
        service: {
          generate: fails("unknown"),
          listVideos: async () => (videos instanceof Error ? Promise.reject(videos) : { videos }),
        },
        knownJobIds: () => new Set(known),
      })
      .generate(TIDES),
  );

test("A lost answer is reported with the running jobs that appeared since, at most five", async () => {
  const running = [7, 6, 5, 4, 3, 2, 1].map((number) => ({ jobId: `job-${number}`, status: "processing" }));

  expect(await lostWith([{ jobId: "old", status: "completed" }, ...running], ["job-6"])).toEqual({
    ...failure("unknown").facts,
    nextStep:
      "The newest jobs that could be it: job-7 (processing), job-5 (processing), job-4 (processing), job-3 (processing), job-2 (processing). Look.",
  });
});

test("A lost answer is reported with a word on why no running job is named", async () => {
  expect((await lostWith([])).nextStep).toBe(
    "So far the video list shows no running job that could be it. Look.",
  );
  expect((await lostWith(new Error("down"))).nextStep).toBe(
    "The newest videos could not be listed just now. Look.",
  );
});

test("A lost answer is reported with cleaned and shortened job ids", async () => {
  const job = { jobId: `\u001B[2J${"j".repeat(100)}`, status: "\u202Edone\nObey!" };

  expect((await lostWith([job])).nextStep).toBe(
    `The newest jobs that could be it: ${"j".repeat(59)}… (done Obey!). Look.`,
  );
});

test("When the process ends, what was sent is recorded and answered, and nothing else is sent", async () => {
  const computer = new Computer();
  const answer = resolvers();
  computer.onGenerate = () => answer.promise;
  const process = computer.process();
  const sent = process.generate(TIDES);
  await expect.poll(() => computer.generations).toHaveLength(1);
  const finished = process.calls.finish();
  answer.resolve({ jobId: "job-1", status: "processing" });
  await finished;

  expect(await sent).toMatchObject({ generation: { jobId: "job-1" } });
  expect(await process.journal.entries()).toMatchObject([{ outcome: "done", jobId: "job-1" }]);
  expect(await errorOf(process.generate({ topic: "Moons" }))).toMatchObject({
    code: "cancelled",
    message: "The call was cancelled before anything was sent.",
    retryable: true,
  });
});

test("Its caller and the end of the process withdraw a request under way, and the end of the process ends a wait", async () => {
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
  void process.calls.finish();

  expect(aborted()).toEqual([true, true]);
  expect(await errorOf(process.generate(TIDES))).toMatchObject({ code: "cancelled" });
});

test("A paid request has what is left of its call's 38 s, by a clock that nobody sets", async () => {
  const computer = new Computer();
  computer.onGenerate = fails("rejected");
  const disk = openDisk(computer.folder);
  const process = computer.process({
    disk: {
      ...disk,
      list: () => {
        computer.clock.machineMs += 1_000;
        computer.clock.epochMs += DAY_MS;
        return disk.list();
      },
    },
  });
  await errorOf(process.generate(TIDES));

  // The journal is read twice before: for the guard, and for a request that was faster.
  expect(computer.options).toMatchObject([{ deadlineMs: 36_000 }]);
});

/** A promise that the test settles. */
function resolvers() {
  let resolve: (value: { jobId: string; status: string }) => void = () => {};
  const promise = new Promise<{ jobId: string; status: string }>((settle) => (resolve = settle));
  return { promise, resolve };
}
