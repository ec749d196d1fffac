// What SendOnce promises about publications: one post for each job and platform.

import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../fixtures/folder.ts";
import {
  codeIn,
  createWorld,
  DAY_MS,
  errorOf,
  failure,
  fails,
  JOB,
  MINUTE_MS,
  NOW,
  pending,
  postsAll,
  type World,
  yes,
} from "./process.ts";

const on = (...platforms: string[]) => ({ jobId: JOB, platforms });
const posted = (platform: string, post = 1) => ({
  platform,
  ok: true,
  url: `https://${platform}.example/${post}`,
});
const already = (platform: string, post = 1) => ({ ...posted(platform, post), alreadyPublished: true });
const { ask } = yes();

/** A world in which the job was posted to these platforms. */
async function afterPosting(...platforms: string[]): Promise<World> {
  const world = createWorld();
  await world.process().publish(on(...platforms), ask);
  return world;
}

/** A world in which the job was sent to these platforms and the answer was lost. */
async function afterLosing(...platforms: string[]): Promise<World> {
  const world = createWorld();
  world.onPublish = fails("unknown");
  await errorOf(world.process().publish(on(...platforms), ask));
  world.onPublish = postsAll(world);
  return world;
}

const sent = (world: World) => world.posts.map(({ platforms }) => platforms);

function refused(where: string, platforms: string[], more = "", account = `${where} account`) {
  return {
    code: "duplicate",
    message: `Not sent: just now this video was sent to ${where} and the outcome is not known, so it may already be public there.`,
    nextStep: expect.stringMatching(
      new RegExp(
        `^Ask the user to look at the ${account}\\. Only if the video isn't there, and they still want it, call publish_video again with platforms ${JSON.stringify(platforms).replace(/[[\]]/g, "\\$&")} and confirmDuplicate: "[0-9a-f]{6}"\\.${more}$`,
      ),
    ),
    outcome: "not_sent",
    retryable: false,
  };
}

describe("a platform to which the video was posted", () => {
  test("is returned with the earlier result, and nothing is sent", async () => {
    const world = await afterPosting("tiktok");

    expect(await world.process().publish(on("tiktok"), ask)).toEqual({
      results: [already("tiktok")],
      answer: {},
      unmentioned: [],
      code: expect.stringMatching(/^[0-9a-f]{6}$/),
    });
    expect(sent(world)).toEqual([["tiktok"]]);
  });

  test("is not sent again by a request for more platforms, and the results are in the caller's order", async () => {
    const world = await afterPosting("tiktok");
    const published = await world.process().publish(on("youtube", "tiktok", "x"), ask);

    expect(published.results).toEqual([posted("youtube", 2), already("tiktok"), posted("x", 2)]);
    expect(sent(world)).toEqual([["tiktok"], ["youtube", "x"]]);
  });

  test("is remembered for 90 days, by every process", async () => {
    const world = createWorld(temporaryFolder());
    await world.process().publish(on("tiktok"), ask);
    world.clock.epochMs += 90 * DAY_MS;
    await world.process().publish(on("tiktok"), ask);
    expect(sent(world)).toEqual([["tiktok"]]);
    world.clock.epochMs += DAY_MS;

    await world.process().publish(on("tiktok"), ask);
    expect(sent(world)).toEqual([["tiktok"], ["tiktok"]]);
  });

  test("is recognised in any spelling of the job id and platform", async () => {
    const world = createWorld();
    world.onPublish = async () => ({
      results: [
        { platform: " YouTube", ok: true },
        { platform: "TikTok ", ok: true },
      ],
    });
    const first = await world
      .process()
      .publish({ jobId: JOB.toUpperCase(), platforms: ["tiktok", "youtube"] }, ask);
    expect(first).toMatchObject({
      results: [{ platform: "TikTok " }, { platform: " YouTube" }],
      unmentioned: [],
    });

    expect(await world.process().publish(on("tiktok"), ask)).toMatchObject({
      results: [{ platform: "tiktok", ok: true, alreadyPublished: true }],
    });
    expect(world.posts).toEqual([{ jobId: JOB.toUpperCase(), platforms: ["tiktok", "youtube"] }]);
  });

  test("is waited for where it is under way in this process, however the job's id is spelled", async () => {
    const world = createWorld();
    const process = world.process();
    const answer = pending<void>();
    world.onPublish = async (request) => (await answer.promise, postsAll(world)(request));
    const first = process.publish(on("tiktok"), ask);
    await expect.poll(() => world.posts).toHaveLength(1);
    const second = process.publish({ jobId: JOB.toUpperCase(), platforms: ["tiktok"] }, ask);
    answer.resolve();

    expect(await first).toMatchObject({ results: [posted("tiktok")] });
    expect(await second).toMatchObject({ results: [already("tiktok")] });
    expect(world.posts).toHaveLength(1);
  });

  test("is independent of other jobs and accounts", async () => {
    const world = await afterPosting("tiktok");
    await world.process().publish({ jobId: JOB.replace("0f", "1f"), platforms: ["tiktok"] }, ask);
    await world.process({ account: "another" }).publish(on("tiktok"), ask);

    expect(world.posts).toHaveLength(3);
  });

  test("that is named twice in one call is sent once", async () => {
    const world = createWorld();
    await world.process().publish(on("tiktok", "tiktok"), ask);

    expect(sent(world)).toEqual([["tiktok"]]);
  });
});

describe("a platform that failed", () => {
  test("is the only one that is sent again", async () => {
    const world = createWorld();
    world.onPublish = async () => ({
      results: [posted("tiktok"), { platform: "x", ok: false, reason: "not_connected" }],
    });
    await world.process().publish(on("tiktok", "x"), ask);
    world.onPublish = postsAll(world);
    await world.process().publish(on("tiktok", "x"), ask);

    expect(sent(world)).toEqual([["tiktok", "x"], ["x"]]);
  });

  test.each(["rejected", "not_sent"] as const)(
    "because the request was %s is sent again",
    async (outcome) => {
      const world = createWorld();
      world.onPublish = fails(outcome);
      await errorOf(world.process().publish(on("tiktok"), ask));
      world.onPublish = postsAll(world);

      expect(await world.process().publish(on("tiktok"), ask)).toMatchObject({ results: [{ ok: true }] });
    },
  );
});

describe("a platform with an unknown outcome", () => {
  test("is refused however long ago it was sent, and the text never suggests to wait", async () => {
    const world = await afterLosing("tiktok");
    const error = await errorOf(world.process().publish(on("tiktok"), ask));
    expect(error).toEqual(refused("tiktok", ["tiktok"]));
    world.clock.epochMs += 89 * DAY_MS;

    expect(await errorOf(world.process().publish(on("tiktok"), ask))).toEqual({
      ...refused("tiktok", ["tiktok"]),
      message: refused("tiktok", []).message.replace("just now", "89 days ago"),
    });
    expect(JSON.stringify(error)).not.toMatch(/safe|after \d|wait/i);
    expect(world.posts).toHaveLength(1);
  });

  test("is refused with the time of the latest attempt of those that are not known", async () => {
    const world = await afterLosing("tiktok");
    world.clock.epochMs += 10 * MINUTE_MS;
    world.onPublish = fails("unknown");
    await errorOf(world.process().publish(on("x"), ask));
    world.onPublish = postsAll(world);
    world.clock.epochMs += 10 * MINUTE_MS;
    await world.process().publish(on("youtube"), ask);
    world.clock.epochMs += MINUTE_MS;

    const { message } = await errorOf(world.process().publish(on("tiktok", "x", "youtube"), ask));
    expect(message).toMatch(/^Not sent: 11 minutes ago this video was sent to tiktok and x and the outcome/);
  });

  test("prevents the whole call, and the text says how to post to the others", async () => {
    const world = await afterLosing("tiktok", "youtube");

    expect(await errorOf(world.process().publish(on("tiktok"), ask))).toEqual(refused("tiktok", ["tiktok"]));
    expect(await errorOf(world.process().publish(on("x", "youtube", "tiktok"), ask))).toEqual(
      refused(
        "youtube and tiktok",
        ["x", "youtube", "tiktok"],
        ' To publish on x alone, call with platforms \\["x"\\]\\.',
        "youtube and tiktok accounts",
      ),
    );
    expect(await world.process().publish(on("x"), ask)).toMatchObject({
      results: [{ platform: "x", ok: true }],
    });
    expect(sent(world)).toEqual([["tiktok", "youtube"], ["x"]]);
  });

  test("is also one that the service's answer does not mention", async () => {
    const world = createWorld();
    world.onPublish = async () => ({ results: [posted("tiktok")], note: "one was skipped" });
    expect(await world.process().publish(on("tiktok", "x"), ask)).toEqual({
      results: [posted("tiktok")],
      answer: { note: "one was skipped" },
      unmentioned: ["x"],
    });

    expect(await errorOf(world.process().publish(on("tiktok", "x"), ask))).toEqual(refused("x", ["x"]));
  });

  test("stays unknown after a later attempt failed", async () => {
    const world = await afterLosing("tiktok");
    const { nextStep } = await errorOf(world.process().publish(on("tiktok"), ask));
    world.onPublish = async () => ({ results: [{ platform: "tiktok", ok: false }] });
    await world.process().publish(on("tiktok"), ask, { confirmDuplicate: codeIn(nextStep) });

    expect(await errorOf(world.process().publish(on("tiktok"), ask))).toMatchObject({ code: "duplicate" });
  });

  test("counts as posted after a later attempt succeeded", async () => {
    const world = await afterLosing("tiktok");
    const { nextStep } = await errorOf(world.process().publish(on("tiktok"), ask));
    await world.process().publish(on("tiktok"), ask, { confirmDuplicate: codeIn(nextStep) });

    expect(await world.process().publish(on("tiktok"), ask)).toMatchObject({
      results: [already("tiktok", 2)],
    });
  });

  test("is also one to which a killed process was posting", async () => {
    const world = createWorld(temporaryFolder());
    world.onPublish = () => new Promise(() => {});
    void world.process().publish(on("tiktok"), ask);
    await expect.poll(() => world.posts).toHaveLength(1);

    expect(await errorOf(world.process().publish(on("tiktok"), ask))).toEqual(refused("tiktok", ["tiktok"]));
  });

  test.each([
    ["an hour ahead", 60 * MINUTE_MS],
    ["a year ahead", 365 * DAY_MS],
  ])("recorded by a clock %s is refused, except with the code", async (_, aheadMs) => {
    const world = createWorld(temporaryFolder());
    world.clock.epochMs += aheadMs;
    world.onPublish = fails("unknown");
    await errorOf(world.process().publish(on("tiktok"), ask));
    world.clock.epochMs = NOW;
    world.onPublish = postsAll(world);
    const { nextStep } = await errorOf(world.process().publish(on("tiktok"), ask));

    expect(
      await world.process().publish(on("tiktok"), ask, { confirmDuplicate: codeIn(nextStep) }),
    ).toMatchObject({ results: [{ ok: true }] });
  });
});

describe("the code", () => {
  const codeAfter = async (world: World, ...platforms: string[]): Promise<string> => {
    const { code } = await world.process().publish(on(...platforms), ask);
    if (code === undefined) throw new Error("There is no code.");
    return code;
  };

  test("posts a second time, once", async () => {
    const world = await afterPosting("tiktok");
    const confirmDuplicate = await codeAfter(world, "tiktok");
    const again = await world.process().publish(on("tiktok"), ask, { confirmDuplicate });
    expect(again).toEqual({ results: [posted("tiktok", 2)], answer: {}, unmentioned: [] });

    const repeated = await world.process().publish(on("tiktok"), ask, { confirmDuplicate });
    expect(repeated).toMatchObject({
      results: [already("tiktok", 2)],
      code: expect.not.stringContaining(confirmDuplicate),
    });
    expect(world.posts).toHaveLength(2);
  });

  test("is valid for the job's id in any case", async () => {
    const world = await afterPosting("tiktok");
    const confirmDuplicate = await codeAfter(world, "tiktok");
    const request = { ...on("tiktok"), jobId: on().jobId.toUpperCase() };

    expect(await world.process().publish(request, ask, { confirmDuplicate })).toMatchObject({
      results: [posted("tiktok", 2)],
    });
  });

  test("is valid for exactly the platforms that were named with it", async () => {
    const world = await afterPosting("tiktok", "youtube");
    const forTiktok = await codeAfter(world, "tiktok");
    const forBoth = await codeAfter(world, "tiktok", "youtube");
    const tries: [string, string[]][] = [
      [forTiktok, ["tiktok", "youtube"]],
      [forTiktok, ["youtube"]],
      [forBoth, ["tiktok"]],
    ];
    for (const [confirmDuplicate, platforms] of tries) {
      expect(await world.process().publish(on(...platforms), ask, { confirmDuplicate })).toMatchObject({
        results: platforms.map((platform) => already(platform)),
      });
    }
    expect(world.posts).toHaveLength(1);

    await world.process().publish(on("youtube", "tiktok"), ask, { confirmDuplicate: forBoth });
    expect(sent(world)).toEqual([
      ["tiktok", "youtube"],
      ["youtube", "tiktok"],
    ]);
  });

  test("of a refused call allows the same call", async () => {
    const world = await afterLosing("tiktok");
    const { nextStep } = await errorOf(world.process().publish(on("tiktok", "youtube"), ask));
    await world.process().publish(on("tiktok", "youtube"), ask, { confirmDuplicate: codeIn(nextStep) });

    expect(sent(world)).toEqual([["tiktok"], ["tiktok", "youtube"]]);
  });

  test("of a refused call never posts again where the video is known to be public", async () => {
    const world = await afterLosing("tiktok");
    await world.process().publish(on("youtube"), ask);
    const { nextStep } = await errorOf(world.process().publish(on("tiktok", "youtube"), ask));
    const confirmDuplicate = codeIn(nextStep);

    expect(nextStep).toContain('platforms ["tiktok"] and');
    expect(
      await errorOf(world.process().publish(on("tiktok", "youtube"), ask, { confirmDuplicate })),
    ).toMatchObject({ code: "duplicate" });
    expect(await world.process().publish(on("tiktok"), ask, { confirmDuplicate })).toMatchObject({
      results: [{ ok: true }],
    });
    expect(sent(world)).toEqual([["tiktok"], ["youtube"], ["tiktok"]]);
  });

  test("cannot be used again after a confirmed request whose answer was lost", async () => {
    const world = await afterPosting("tiktok");
    const confirmDuplicate = await codeAfter(world, "tiktok");
    world.onPublish = fails("unknown");
    await errorOf(world.process().publish(on("tiktok"), ask, { confirmDuplicate }));

    expect(await errorOf(world.process().publish(on("tiktok"), ask, { confirmDuplicate }))).toMatchObject({
      message: `This confirmDuplicate code is out of date. ${refused("tiktok", []).message}`,
    });
    expect(await errorOf(world.process().publish(on("tiktok"), ask))).toEqual(refused("tiktok", ["tiktok"]));
    expect(world.posts).toHaveLength(2);
  });

  test("given while the outcome was open is refused once that is known", async () => {
    const world = createWorld(temporaryFolder());
    const answer = pending<void>();
    world.onPublish = async (request) => (await answer.promise, postsAll(world)(request));
    const first = world.process().publish(on("tiktok"), ask);
    await expect.poll(() => world.posts).toHaveLength(1);
    const { nextStep } = await errorOf(world.process().publish(on("tiktok"), ask));
    answer.resolve();
    await first;

    expect(
      await world.process().publish(on("tiktok"), ask, { confirmDuplicate: codeIn(nextStep) }),
    ).toMatchObject({ results: [already("tiktok")] });
    expect(world.posts).toHaveLength(1);
  });

  test("posts once for two simultaneous calls, in one process and in two", async () => {
    const world = createWorld(temporaryFolder());
    const [one, two] = [world.process(), world.process()];
    await one.publish(on("tiktok"), ask);
    const confirmDuplicate = await codeAfter(world, "tiktok");
    await Promise.allSettled(
      [one, one, two].map((process) => process.publish(on("tiktok"), ask, { confirmDuplicate })),
    );

    expect(world.posts).toHaveLength(2);
  });

  test("does not change when other platforms change", async () => {
    const world = await afterPosting("tiktok");
    const code = await codeAfter(world, "tiktok");
    await world.process().publish(on("youtube"), ask);

    expect(await codeAfter(world, "tiktok")).toBe(code);
  });
});

describe("the user", () => {
  test("is asked about exactly what would be sent, and not at all if nothing would", async () => {
    const world = await afterPosting("tiktok");
    const user = yes();
    await world.process().publish(on("tiktok"), user.ask);
    await world.process().publish(on("tiktok", "youtube"), user.ask);

    expect(user.plans).toEqual([
      {
        jobId: JOB,
        platforms: ["youtube"],
        repeated: [],
        key: expect.any(String),
        already: [already("tiktok")],
        code: expect.any(String),
      },
    ]);
  });

  test("is told which of several would be posted a second time", async () => {
    const world = await afterLosing("tiktok");
    const user = yes();
    const { nextStep } = await errorOf(world.process().publish(on("tiktok", "youtube"), ask));
    const confirmDuplicate = codeIn(nextStep);
    await world.process().publish(on("tiktok", "youtube"), user.ask, { confirmDuplicate });

    expect(user.plans.map(({ platforms, repeated }) => [platforms, repeated])).toEqual([
      [["tiktok", "youtube"], [{ platform: "tiktok", state: { kind: "unknown", atMs: NOW } }]],
    ]);
  });

  test("is shown what would be posted a second time", async () => {
    const world = await afterPosting("tiktok");
    const user = yes();
    const { code } = await world.process().publish(on("tiktok"), ask);
    await world.process().publish(on("tiktok"), user.ask, { confirmDuplicate: code });

    expect(user.plans.map(({ repeated }) => repeated)).toEqual([
      [{ platform: "tiktok", state: { kind: "posted", result: posted("tiktok"), atMs: NOW } }],
    ]);
  });

  test("refuses: nothing is published", async () => {
    const world = createWorld();
    const no = failure("not_sent");

    await expect(world.process().publish(on("tiktok"), () => Promise.reject(no))).rejects.toBe(no);
    expect(world.posts).toEqual([]);
  });

  test("agrees after another process posted the video: a new question names the other platforms", async () => {
    const world = createWorld();
    const process = world.process();
    const questions: string[][] = [];
    const answer = pending<void>();
    const slow = process.publish(on("tiktok", "youtube"), async ({ platforms }) => {
      questions.push([...platforms]);
      await answer.promise;
    });
    await expect.poll(() => questions).toHaveLength(1);
    await world.process().publish(on("tiktok"), ask);
    answer.resolve();

    expect((await slow).results).toEqual([already("tiktok"), posted("youtube", 2)]);
    expect(questions).toEqual([["tiktok", "youtube"], ["youtube"]]);
    expect(sent(world)).toEqual([["tiktok"], ["youtube"]]);
  });

  test("agrees after the process began to end: nothing is published", async () => {
    const world = createWorld();
    const process = world.process();
    const call = errorOf(process.publish(on("tiktok"), () => process.finish(() => {})));

    expect(await call).toMatchObject({ code: "cancelled", outcome: "not_sent" });
    expect(world.posts).toEqual([]);
  });
});

test("This computer knows how its jobs were ordered and where they were posted, and nothing of another account's", async () => {
  const world = createWorld();
  const process = world.process();
  world.onGenerate = async () => ({ jobId: JOB.toUpperCase(), status: "processing" });
  await process.generate({ topic: "Tides", duration: 20, style: "story", voice: undefined });
  await process.publish(on("tiktok", "x"), ask);
  world.onPublish = async () => ({ results: [{ platform: "youtube", ok: false }] });
  await process.publish(on("youtube"), ask);
  world.onPublish = fails("unknown");
  await errorOf(process.publish(on("facebook"), ask));
  world.onPublish = postsAll(world);
  const other = JOB.replace("0f", "1f");
  await process.publish({ jobId: other, platforms: ["tiktok"] }, ask);
  await world.process({ account: "another" }).publish(on("instagram"), ask);

  expect(await world.process().history()).toEqual(
    new Map([
      [JOB, { settings: { topic: "Tides", duration: 20 }, publishedTo: ["tiktok", "x"] }],
      [other, { publishedTo: ["tiktok"] }],
    ]),
  );
});

test("Two simultaneous processes post once, even if one begins and ends while the other writes its intent", async () => {
  const world = createWorld(temporaryFolder());
  const journal = world.journal(55);
  const slow = world.process({
    journal: {
      entries: () => journal.entries(),
      settle: (id, ending) => journal.settle(id, ending),
      begin: async (intent) => {
        if (world.posts.length === 0) await world.process().publish(on("tiktok"), ask);
        return journal.begin(intent);
      },
    },
  });

  expect(await slow.publish(on("tiktok"), ask)).toMatchObject({ results: [already("tiktok")] });
  expect(world.posts).toHaveLength(1);
});

test("Publications in the files of earlier versions count, each for its own platforms", async () => {
  const folder = temporaryFolder();
  const hash = (text: string) => createHash("sha256").update(text).digest("base64url").slice(0, 22);
  const account = hash("https://service.example/ fl_example");
  const lines = [
    {
      event: "intent",
      id: "a",
      atMs: NOW - DAY_MS,
      operation: "publish",
      fingerprint: hash(
        `${account} publish ${JSON.stringify({ jobId: JOB, platforms: ["tiktok", "youtube"] })}`,
      ),
      account,
      label: "Tides on youtube, tiktok",
    },
    { event: "outcome", id: "a", atMs: NOW - DAY_MS, outcome: "done" },
  ];
  writeFileSync(join(folder, "journal.jsonl"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const world = createWorld(folder);

  expect(await errorOf(world.process().publish(on("youtube"), ask))).toMatchObject({ code: "duplicate" });
  await world.process().publish(on("x"), ask);
  await world.process().publish({ jobId: JOB.replace("0f", "1f"), platforms: ["youtube"] }, ask);
  expect(sent(world)).toEqual([["x"], ["youtube"]]);
});
