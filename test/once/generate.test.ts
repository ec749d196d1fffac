// What SendOnce promises about generations.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { GenerationLimit } from "../../src/once/generation-limit.ts";
import type { Journal } from "../../src/once/journal.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import {
  codeIn,
  createWorld,
  errorOf,
  failure,
  fails,
  MINUTE_MS,
  NOW,
  pending,
  TIDES,
  type World,
  DAY_MS,
  JOB,
} from "./process.ts";

const GUARD_MS = 10 * MINUTE_MS;

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

/** A journal whose first intent is written after `rival` is over: another process begins and ends just before. */
function overtaken(world: World, rival: () => Promise<unknown>): Journal {
  const journal = world.journal(55);
  let isFirst = true;
  return {
    entries: () => journal.entries(),
    settle: (id, ending) => journal.settle(id, ending),
    async begin(intent) {
      if (isFirst) {
        isFirst = false;
        await rival();
      }
      return journal.begin(intent);
    },
  };
}

/** A world in which job-1 was started and the answer has arrived. */
async function afterFirst(): Promise<World> {
  const world = createWorld();
  expect(await world.process().generate(TIDES)).toEqual({
    alreadyStarted: false,
    generation: { jobId: "job-1", status: "processing" },
  });
  return world;
}

describe("the same video again", () => {
  test.each([
    ["processing", expect.objectContaining({ status: "processing" })],
    ["queued", expect.objectContaining({ status: "queued" })],
    ["completed", expect.objectContaining({ status: "completed" })],
    ["not found", undefined],
  ])(
    "gives the job that the first request started while that is %s, and sends nothing",
    async (status, job) => {
      const world = await afterFirst();
      world.statuses.set("job-1", status);
      world.clock.epochMs += 90_000;

      expect(await world.process().generate(TIDES)).toEqual({
        alreadyStarted: true,
        jobId: "job-1",
        job,
        ageMs: 90_000,
        code: expect.stringMatching(/^[0-9a-f]{6}$/),
      });
      expect(world.generations).toHaveLength(1);
    },
  );

  test("is started again after a failed render, which refunds its credits", async () => {
    const world = await afterFirst();
    world.statuses.set("job-1", "failed");

    expect(await world.process().generate(TIDES)).toMatchObject({ generation: { jobId: "job-2" } });
  });

  test.each([
    [
      "defaults spelt out",
      { ...TIDES, language: "en", style: "story", voice: "charlotte", music: "none", pacing: "normal" },
    ],
    ["other white space in its topic", { ...TIDES, topic: " Tides \n\t rise\n" }],
    ["its arguments in another order", { duration: 20, topic: "Tides rise" }],
    ["arguments that are undefined", { ...TIDES, voice: undefined }],
  ] as const)("is recognised with %s", async (_, request) => {
    const world = await afterFirst();

    expect(await world.process().generate(request)).toMatchObject({ alreadyStarted: true });
  });

  test("is a different request with another argument or for another account", async () => {
    const world = await afterFirst();
    const other = { account: "https://service.example/ fl_example_2" };

    expect(await world.process().generate({ ...TIDES, duration: 21 })).toMatchObject({
      alreadyStarted: false,
    });
    expect(await world.process().generate({ ...TIDES, topic: "tides rise" })).toMatchObject({
      alreadyStarted: false,
    });
    expect(await world.process(other).generate(TIDES)).toMatchObject({ alreadyStarted: false });
  });

  test.each([
    ["sent", GUARD_MS, true],
    ["not sent again", GUARD_MS - 1, false],
  ])("is %s %i ms after it was last known", async (_, ms, isSent) => {
    const world = await afterFirst();
    world.clock.epochMs += ms;

    expect(await world.process().generate(TIDES)).toMatchObject({ alreadyStarted: !isSent });
  });

  test("is guarded for ten minutes from the answer, even if the machine slept during the request", async () => {
    const world = createWorld();
    world.onGenerate = async () => {
      world.clock.epochMs += 30 * MINUTE_MS;
      throw failure("unknown");
    };
    await errorOf(world.process().generate(TIDES));
    world.clock.epochMs += GUARD_MS - 1;

    expect(await errorOf(world.process().generate(TIDES))).toEqual(refused("39 minutes ago"));
    expect(world.generations).toHaveLength(1);
  });

  test("is not sent while another process is sending it, however long and often the machine slept", async () => {
    const world = createWorld(temporaryFolder());
    const answer = pending<{ jobId: string; status: string }>();
    world.onGenerate = () => answer.promise;
    const sender = world.process({ pid: 77 });
    const first = sender.generate(TIDES);
    await expect.poll(() => world.generations).toHaveLength(1);
    world.running.add(77);
    world.clock.epochMs += 60 * MINUTE_MS;
    expect(await errorOf(world.process().generate(TIDES))).toEqual(refused("1 hour ago"));
    world.clock.epochMs += 60 * MINUTE_MS;

    expect(await errorOf(world.process().generate(TIDES))).toEqual(refused("2 hours ago"));
    world.running.delete(77);
    answer.resolve({ jobId: "job-1", status: "processing" });
    await first;
    expect(world.generations).toHaveLength(1);
  });

  test("is not sent again for ten minutes after a process that died had begun it", async () => {
    const world = createWorld(temporaryFolder());
    world.onGenerate = () => new Promise(() => {});
    void world.process().generate(TIDES);
    await expect.poll(() => world.generations).toHaveLength(1);
    world.onGenerate = async () => ({ jobId: "job-2", status: "processing" });
    world.clock.epochMs += GUARD_MS - 1;
    expect(await errorOf(world.process().generate(TIDES))).toEqual(refused("9 minutes ago"));
    // Only now is it known that no process makes it any more.
    world.clock.epochMs += 1;
    expect(await errorOf(world.process().generate(TIDES))).toEqual(refused("10 minutes ago"));
    world.clock.epochMs += GUARD_MS;

    expect(await world.process().generate(TIDES)).toMatchObject({ generation: { jobId: "job-2" } });
  });

  test("is refused once after a sleep of hours in which its process was making it", async () => {
    const world = createWorld(temporaryFolder());
    world.onGenerate = () => new Promise(() => {});
    void world.process({ pid: 77 }).generate(TIDES);
    await expect.poll(() => world.generations).toHaveLength(1);
    world.clock.epochMs += 3 * 60 * 60_000;

    expect(await errorOf(world.process().generate(TIDES))).toEqual(refused("3 hours ago"));
    expect(world.generations).toHaveLength(1);
  });

  test("is held back for ten minutes and no longer where a new process has the pid of the one that died", async () => {
    const world = createWorld(temporaryFolder());
    world.onGenerate = () => new Promise(() => {});
    void world.process({ pid: 77 }).generate(TIDES);
    await expect.poll(() => world.generations).toHaveLength(1);
    world.running.add(77);
    world.onGenerate = async () => ({ jobId: "job-2", status: "processing" });
    world.clock.epochMs += GUARD_MS;
    expect(await errorOf(world.process({ pid: 77 }).generate(TIDES))).toEqual(refused("10 minutes ago"));
    world.clock.epochMs += GUARD_MS;

    expect(await world.process({ pid: 77 }).generate(TIDES)).toMatchObject({
      generation: { jobId: "job-2" },
    });
  });

  test("is refused while its outcome is unknown", async () => {
    const world = createWorld();
    world.onGenerate = fails("unknown");
    await errorOf(world.process().generate(TIDES));

    expect(await errorOf(world.process().generate(TIDES))).toEqual(refused("just now"));
    expect(world.generations).toHaveLength(1);
  });

  test("is refused after an internal failure that may have followed the request", async () => {
    const world = createWorld();
    world.onGenerate = () => Promise.reject(new TypeError("a fault of this server"));
    await expect(world.process().generate(TIDES)).rejects.toBeInstanceOf(TypeError);
    expect((await world.journal(1).entries()).map(({ outcome }) => outcome)).toEqual(["unknown"]);

    expect(await errorOf(world.process().generate(TIDES))).toEqual(refused("just now"));
    expect(world.generations).toHaveLength(1);
  });

  test.each(["rejected", "not_sent"] as const)("is sent if the first one was %s", async (outcome) => {
    const world = createWorld();
    world.onGenerate = fails(outcome);
    await errorOf(world.process().generate(TIDES));
    world.onGenerate = async () => ({ jobId: "job-2", status: "processing" });

    expect(await world.process().generate(TIDES)).toMatchObject({ generation: { jobId: "job-2" } });
  });

  test("is compared with every earlier request, not only with a later one that failed", async () => {
    const world = await afterFirst();
    const again = await world.process().generate(TIDES);
    if (!again.alreadyStarted) throw new Error("It was sent.");
    await world.process().generate(TIDES, { confirmDuplicate: again.code });
    world.statuses.set("job-2", "failed");

    expect(await world.process().generate(TIDES)).toMatchObject({ alreadyStarted: true, jobId: "job-1" });
    expect(world.generations).toHaveLength(2);
  });

  test("is refused after an entry from the future until that time is over, except with the code", async () => {
    const world = createWorld();
    world.clock.epochMs = NOW + 365 * 24 * 60 * MINUTE_MS;
    world.onGenerate = fails("unknown");
    await errorOf(world.process().generate(TIDES));
    world.clock.epochMs = NOW;

    const error = await errorOf(world.process().generate(TIDES));
    expect(error).toEqual(refused("just now"));
    world.onGenerate = async () => ({ jobId: "job-2", status: "processing" });
    expect(await world.process().generate(TIDES, { confirmDuplicate: codeIn(error.nextStep) })).toMatchObject(
      {
        generation: { jobId: "job-2" },
      },
    );
  });
});

describe("the code", () => {
  /** The code that the first repeat gives. */
  async function codeFor(world: World): Promise<string> {
    const again = await world.process().generate(TIDES);
    if (!again.alreadyStarted) throw new Error("It was sent.");
    return again.code;
  }

  test("starts one more video, once", async () => {
    const world = await afterFirst();
    const confirmDuplicate = await codeFor(world);

    expect(await world.process().generate(TIDES, { confirmDuplicate })).toMatchObject({
      generation: { jobId: "job-2" },
    });
    const repeated = await world.process().generate(TIDES, { confirmDuplicate });
    expect(repeated).toMatchObject({
      alreadyStarted: true,
      jobId: "job-2",
      code: expect.not.stringContaining(confirmDuplicate),
    });
    expect(world.generations).toHaveLength(2);
  });

  test("starts one more video for two simultaneous calls, in one process and in two", async () => {
    const world = createWorld(temporaryFolder());
    const [one, two] = [world.process(), world.process()];
    await one.generate(TIDES);
    const confirmDuplicate = await codeFor(world);

    const calls = [one, one, two].map((process) => process.generate(TIDES, { confirmDuplicate }));
    await Promise.allSettled(calls);
    expect(world.generations).toHaveLength(2);
  });

  test("cannot be used again after a confirmed request whose answer was lost", async () => {
    const world = await afterFirst();
    const confirmDuplicate = await codeFor(world);
    world.onGenerate = fails("unknown");
    expect(await errorOf(world.process().generate(TIDES, { confirmDuplicate }))).toMatchObject({
      code: "network",
    });

    const error = await errorOf(world.process().generate(TIDES, { confirmDuplicate }));
    expect(error).toMatchObject({
      code: "duplicate",
      message: `This confirmDuplicate code is out of date. ${refused("just now").message}`,
    });
    expect(codeIn(error.nextStep)).not.toBe(confirmDuplicate);
    expect(world.generations).toHaveLength(2);
  });

  test("stays valid if the confirmed request was not carried out", async () => {
    const world = await afterFirst();
    const confirmDuplicate = await codeFor(world);
    world.onGenerate = fails("rejected");
    await errorOf(world.process().generate(TIDES, { confirmDuplicate }));
    world.onGenerate = async () => ({ jobId: "job-3", status: "processing" });

    expect(await world.process().generate(TIDES, { confirmDuplicate })).toMatchObject({
      generation: { jobId: "job-3" },
    });
  });

  test("does not change when the job is read or time passes", async () => {
    const world = await afterFirst();
    const code = await codeFor(world);
    world.statuses.set("job-1", "completed");
    world.clock.epochMs += 5 * MINUTE_MS;

    expect(await codeFor(world)).toBe(code);
  });

  test.each(["true", "yes", "", "000000"])("can't be guessed: %j", async (confirmDuplicate) => {
    const world = await afterFirst();

    expect(await world.process().generate(TIDES, { confirmDuplicate })).toMatchObject({
      alreadyStarted: true,
    });
  });

  test("of one video is not valid for another", async () => {
    const world = await afterFirst();
    await world.process().generate({ topic: "Moons" });
    const confirmDuplicate = await codeFor(world);

    expect(await world.process().generate({ topic: "Moons" }, { confirmDuplicate })).toMatchObject({
      alreadyStarted: true,
    });
  });
});

describe("two simultaneous calls", () => {
  test("start one video, and the second gets its job", async () => {
    const world = createWorld();
    const process = world.process();
    const answer = pending<{ jobId: string; status: string }>();
    world.onGenerate = () => answer.promise;
    const calls = Promise.all([process.generate(TIDES), process.generate(TIDES)]);
    await expect.poll(() => world.generations).toHaveLength(1);
    answer.resolve({ jobId: "job-1", status: "processing" });

    expect(await calls).toEqual([
      expect.objectContaining({ alreadyStarted: false }),
      expect.objectContaining({ alreadyStarted: true, jobId: "job-1" }),
    ]);
  });

  test("send the second if the first is cancelled before it is sent", async () => {
    const world = createWorld();
    const process = world.process();
    const withdrawn = new AbortController();
    const first = errorOf(process.generate(TIDES, { signal: withdrawn.signal }));
    const second = process.generate(TIDES);
    withdrawn.abort();

    expect(await first).toMatchObject({ code: "cancelled", outcome: "not_sent" });
    expect(await second).toMatchObject({ generation: { jobId: "job-1" } });
  });

  test("in two processes send the one whose intent is first, also where the other's follows at once", async () => {
    const world = createWorld(temporaryFolder());
    const journal = world.journal(55);
    const rivals: unknown[] = [];
    const first = world.process({
      journal: {
        entries: () => journal.entries(),
        settle: (id, ending) => journal.settle(id, ending),
        async begin(intent) {
          const id = await journal.begin(intent);
          // Its lines stand behind the first one's.
          await world.journal(56).begin(intent);
          rivals.push(await errorOf(world.process().generate(TIDES)));
          return id;
        },
      },
    });

    expect(await first.generate(TIDES)).toMatchObject({ generation: { jobId: "job-1" } });
    expect(rivals).toEqual([expect.objectContaining({ code: "duplicate" })]);
    expect(world.generations).toHaveLength(1);
  });

  test("in two processes send one, even if one begins and ends while the other writes its intent", async () => {
    const world = createWorld(temporaryFolder());
    const slow = world.process({ journal: overtaken(world, () => world.process().generate(TIDES)) });

    expect(await slow.generate(TIDES)).toMatchObject({ alreadyStarted: true, jobId: "job-1" });
    expect(world.generations).toHaveLength(1);
  });

  test("in two processes around midnight, whose intents are in two files, send at most one", async () => {
    const world = createWorld(temporaryFolder());
    world.clock.epochMs = Date.UTC(2026, 10, 21, 23, 59, 59);
    const late = world.process({
      journal: overtaken(world, async () => {
        world.clock.epochMs += MINUTE_MS;
        await errorOf(world.process().generate(TIDES));
        world.clock.epochMs -= MINUTE_MS;
      }),
    });
    world.onGenerate = fails("unknown");
    await errorOf(late.generate(TIDES));

    expect(world.generations).toHaveLength(1);
  });

  test("in three processes are sent once, even if the service answers immediately", async () => {
    for (let round = 0; round < 20; round++) {
      const world = createWorld(temporaryFolder());
      const calls = [world.process(), world.process(), world.process()].map((process) =>
        process.generate(TIDES),
      );
      await Promise.allSettled(calls);
      expect(world.generations).toHaveLength(1);
    }
  });
});

test("Nothing is sent or counted towards the limit if the journal can't be read", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "journal-2026-11-21.jsonl"));
  const world = createWorld(folder);

  expect(await errorOf(world.process().generate(TIDES))).toMatchObject({
    code: "journal_unreadable",
    outcome: "not_sent",
  });
  expect(world.generations).toEqual([]);
});

describe("the operator's limit", () => {
  test("counts videos that were or may have been started, and nothing else", async () => {
    const world = createWorld();
    const process = world.process({ generationLimit: new GenerationLimit(2) });
    world.onGenerate = fails("rejected");
    for (let call = 0; call < 3; call++) await errorOf(process.generate(TIDES));
    world.onGenerate = fails("unknown");
    await errorOf(process.generate(TIDES));
    await errorOf(process.generate(TIDES));
    world.onGenerate = async () => ({ jobId: "job-2", status: "processing" });
    await process.generate({ topic: "Moons" });

    expect(await errorOf(process.generate({ topic: "Stars" }))).toEqual({
      code: "limit_reached",
      message: "This server has reached its limit of 2 videos.",
      nextStep:
        "Tell the user: only they can raise FACELESS_MAX_GENERATIONS in this server's settings and restart the server.",
      outcome: "not_sent",
      retryable: false,
    });
    expect(world.generations.map(({ topic }) => topic)).toEqual([
      "Tides rise",
      "Tides rise",
      "Tides rise",
      "Tides rise",
      "Moons",
    ]);
  });

  test("of 1 is told in the singular", async () => {
    const process = createWorld().process({ generationLimit: new GenerationLimit(1) });
    await process.generate(TIDES);

    expect(await errorOf(process.generate({ topic: "Stars" }))).toMatchObject({
      message: "This server has reached its limit of 1 video.",
    });
  });

  test("of 0 starts nothing", async () => {
    const world = createWorld();
    const process = world.process({ generationLimit: new GenerationLimit(0) });

    expect(await errorOf(process.generate(TIDES))).toMatchObject({
      message: "This server is set to start no videos.",
    });
    expect(world.generations).toEqual([]);
  });

  test("is not used by a request that another process made first", async () => {
    const world = createWorld(temporaryFolder());
    const limited = world.process({
      generationLimit: new GenerationLimit(1),
      journal: overtaken(world, () => world.process().generate(TIDES)),
    });
    expect(await limited.generate(TIDES)).toMatchObject({ alreadyStarted: true, jobId: "job-1" });

    expect(await limited.generate({ topic: "Moons" })).toMatchObject({ generation: { jobId: "job-2" } });
  });
});

describe("a lost answer", () => {
  const lost = async (videos: { jobId: string; status: string }[], known: string[] = []) => {
    const world = createWorld();
    world.onGenerate = fails("unknown");
    const listed: unknown[] = [];
    const process = world.process({
      service: {
        generate: async () => Promise.reject(failure("unknown")),
        publish: async () => Promise.reject(failure("unknown")),
        listVideos: async (query, options) => (listed.push([query, options]), { videos }),
      },
      knownJobIds: () => new Set(known),
    });
    return { error: await errorOf(process.generate(TIDES)), listed };
  };

  test("is reported with the running jobs that appeared since, at most five", async () => {
    const running = [7, 6, 5, 4, 3, 2, 1].map((number) => ({ jobId: `job-${number}`, status: "processing" }));
    const { error, listed } = await lost(running, ["job-6"]);

    expect(error).toEqual({
      ...failure("unknown").facts,
      nextStep:
        "The newest jobs that could be it: job-7 (processing), job-5 (processing), job-4 (processing), job-3 (processing), job-2 (processing). Look.",
    });
    expect(listed).toEqual([[{}, { deadlineMs: 5_000 }]]);
  });

  test("is also looked for among the jobs that became known while it was under way", async () => {
    const world = createWorld();
    const known = new Set<string>();
    const process = world.process({
      service: {
        generate: async () => (known.add("job-1"), Promise.reject(failure("unknown"))),
        publish: fails("unknown"),
        listVideos: async () => ({ videos: [{ jobId: "job-1", status: "processing" }] }),
      },
      knownJobIds: () => new Set(known),
    });

    expect(await errorOf(process.generate(TIDES))).toMatchObject({
      nextStep: "The newest jobs that could be it: job-1 (processing). Look.",
    });
  });

  test("says so where the videos can't be listed, and remembers those that were", async () => {
    const world = createWorld();
    const listed: unknown[] = [];
    const service = (listVideos: () => Promise<{ videos: { jobId: string; status: string }[] }>) => ({
      generate: fails("unknown"),
      publish: fails("unknown"),
      listVideos,
    });
    const onListed = (videos: unknown) => void listed.push(videos);
    const broken = world.process({ service: service(fails("unknown")), onListed });
    expect(await errorOf(broken.generate(TIDES))).toMatchObject({
      nextStep: "The newest videos could not be listed just now. Look.",
    });
    const videos = [{ jobId: "job-7", status: "processing" }];
    await errorOf(
      world.process({ service: service(async () => ({ videos })), onListed }).generate({ topic: "Moons" }),
    );

    expect(listed).toEqual([videos]);
  });

  test("of another kind is not looked for", async () => {
    const world = createWorld();
    const looks: unknown[] = [];
    const service = {
      publish: fails("unknown"),
      listVideos: async () => (looks.push("look"), { videos: [] }),
    };
    await errorOf(world.process({ service: { ...service, generate: fails("rejected") } }).generate(TIDES));
    const bug = new TypeError("bug");
    const broken = world.process({ service: { ...service, generate: () => Promise.reject(bug) } });

    await expect(broken.generate({ topic: "Moons" })).rejects.toBe(bug);
    expect(looks).toEqual([]);
  });

  test("is never reported with jobs that have ended", async () => {
    const { error } = await lost([
      { jobId: "old-1", status: "completed" },
      { jobId: "old-2", status: "failed" },
    ]);

    expect(error.nextStep).toBe("So far the video list shows no running job that could be it. Look.");
  });

  test("is reported with cleaned and shortened job ids", async () => {
    const { error } = await lost([{ jobId: `\u001B[2J${"j".repeat(100)}`, status: "\u202Edone\nObey!" }]);

    expect(error.nextStep).toBe(`The newest jobs that could be it: ${"j".repeat(59)}… (done Obey!). Look.`);
  });
});

describe("when the process ends", () => {
  test("a waiting request is not sent, and one that was sent is completed", async () => {
    const world = createWorld();
    const answer = pending<{ jobId: string; status: string }>();
    world.onGenerate = () => answer.promise;
    const process = world.process();
    const sent = process.generate(TIDES);
    await expect.poll(() => world.generations).toHaveLength(1);
    const waiting = process.generate(TIDES);
    const started: string[] = [];
    let isFinished = false;
    const finished = process.finish((jobId) => void started.push(jobId)).then(() => (isFinished = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isFinished).toBe(false);
    answer.resolve({ jobId: "job-1", status: "processing" });
    await finished;

    expect(await sent).toMatchObject({ generation: { jobId: "job-1" } });
    expect(await waiting).toMatchObject({ alreadyStarted: true, jobId: "job-1" });
    expect(await errorOf(process.generate({ topic: "Moons" }))).toEqual({
      code: "cancelled",
      message: "The call was cancelled before anything was sent.",
      nextStep: "Call again if it is still wanted.",
      outcome: "not_sent",
      retryable: true,
    });
    expect(started).toEqual(["job-1"]);
    expect(world.generations).toHaveLength(1);
  });
});

test("A call that is withdrawn while the journal is read leaves nothing in it, and sends nothing", async () => {
  const world = createWorld();
  const journal = world.journal(1);
  const caller = new AbortController();
  const process = world.process({
    journal: {
      begin: (intent) => journal.begin(intent),
      settle: (id, ending) => journal.settle(id, ending),
      entries: async () => (caller.abort(), journal.entries()),
    },
  });

  expect(await errorOf(process.generate(TIDES, { signal: caller.signal }))).toMatchObject({
    code: "cancelled",
  });
  expect([await journal.entries(), world.generations]).toEqual([[], []]);
});

describe("the request itself", () => {
  test("has what is left of the call's 38 s, by a clock that nobody sets", async () => {
    const world = createWorld();
    const journal = world.journal(1);
    const process = world.process({
      journal: {
        begin: (intent) => journal.begin(intent),
        settle: (id, ending) => journal.settle(id, ending),
        async entries() {
          world.clock.monotonicMs += 1_000;
          world.clock.epochMs += DAY_MS;
          return journal.entries();
        },
      },
    });
    await process.generate(TIDES);
    await process.publish({ jobId: JOB, platforms: ["tiktok"] }, async () => {
      // The user may take minutes.
      world.clock.monotonicMs += 5 * MINUTE_MS;
    });

    // The journal is read twice before each: for the guard and for rivals.
    expect(world.deadlinesMs).toEqual([36_000, 36_000]);
  });

  test("is withdrawn by its caller and by the end of the process", async () => {
    const world = createWorld();
    const caller = new AbortController();
    world.onGenerate = () => new Promise(() => {});
    const process = world.process();
    void process.generate(TIDES, { signal: caller.signal });
    void process.generate({ topic: "Moons" });
    await expect.poll(() => world.signals).toHaveLength(2);
    expect(world.signals.map(({ aborted }) => aborted)).toEqual([false, false]);
    caller.abort();
    expect(world.signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    void process.finish(() => {});

    expect(world.signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  test("that only looks at an earlier job does not delay the end of the process", async () => {
    const world = await afterFirst();
    const looking = pending<AbortSignal | undefined>();
    const process = world.process({
      lookAtJob: (_, signal) =>
        new Promise((resolve) => {
          signal?.addEventListener("abort", () => resolve(undefined));
          looking.resolve(signal);
        }),
    });
    void process.generate(TIDES);
    await looking.promise;

    await process.finish(() => {});
    expect(world.generations).toHaveLength(1);
  });
});

test("A new process lists the jobs that earlier ones started for this account, the latest first", async () => {
  const world = await afterFirst();
  world.clock.epochMs += MINUTE_MS;
  await world.process().generate({ topic: "Moons" });
  await world.process({ account: "another" }).generate({ topic: "Stars" });
  await world.process().publish({ jobId: JOB, platforms: ["tiktok"] }, async () => {});
  world.onGenerate = fails("unknown");
  await errorOf(world.process().generate({ topic: "Lost" }));

  expect(await world.process().startedJobs()).toEqual([
    { jobId: "job-2", topic: "Moons", createdAtMs: NOW + MINUTE_MS },
    { jobId: "job-1", topic: "Tides rise", createdAtMs: NOW },
  ]);
});
