import { describe, expect, test } from "vitest";
import { BridgeError, describeFailure } from "../../src/errors.ts";
import type { Job } from "../../src/service/answers.ts";
import { publishVideo } from "../../src/tools/publish-video.ts";
import { createWorld, errorOf, fails, JOB, postsAll } from "../once/process.ts";
import { benchFor } from "./context.ts";

const LINK = "https://media.example/f.mp4";
const READY: Job = { jobId: JOB, status: "completed", done: true, videoUrls: [], finalVideoUrl: LINK };
const PLATFORM = "must be the id of a connected platform, such as tiktok";

function bench(lookAtJob: () => Promise<Job | undefined> = async () => READY) {
  const world = createWorld();
  return { world, ...benchFor(publishVideo, world.process(), { lookAtJob }) };
}

const on = (...platforms: string[]) => ({ jobId: JOB, platforms });
const many = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`);
const codeIn = (text: unknown) => /confirmDuplicate: "(\w+)"/.exec(String(text))?.[1];

/** The same with these connected accounts. */
function connectedBench(...platforms: string[]) {
  const world = createWorld();
  const service = {
    listVideos: () => Promise.reject(new Error("Not needed.")),
    listConnectedPlatforms: async () => ({ platforms: platforms.map((platform) => ({ platform })) }),
  };
  return { world, ...benchFor(publishVideo, world.process(), { service, lookAtJob: async () => READY }) };
}

describe("publish_video that fails", () => {
  const refuse = () =>
    Promise.reject(
      new BridgeError({
        code: "refused",
        message: "The service refused to publish the video.",
        nextStep: "Tell the user what the service says.",
        outcome: "rejected",
        retryable: false,
        status: 409,
        serviceWords: { code: "not_ready" },
      }),
    );

  test.each<[string, Job | undefined, object]>([
    [
      "still renders",
      { ...READY, status: "processing", done: false },
      {
        message: "The video is still rendering, so it was not published.",
        nextStep: "Wait with get_video_status and waitSeconds 50 until it is done, then publish once.",
        retryable: true,
      },
    ],
    [
      "failed",
      { ...READY, status: "failed" },
      {
        message: "The render of this video failed, so there is nothing to publish.",
        nextStep: "Tell the user. The video can be generated again if they still want it.",
        retryable: false,
      },
    ],
    ["is ready", READY, { message: "The service refused to publish the video.", retryable: false }],
    ["can't be looked up", undefined, { message: "The service refused to publish the video." }],
  ])("for a video that %s says so, with the service's own code", async (_, job, facts) => {
    const { call, world } = bench(async () => job);
    world.onPublish = refuse;

    expect(await errorOf(call(on("tiktok")))).toMatchObject({
      ...facts,
      code: "refused",
      outcome: "rejected",
      status: 409,
      serviceWords: { code: "not_ready" },
    });
  });

  test("for a ready video on an account that is not connected names those that are", async () => {
    const { call, world } = connectedBench("TikTok", "youtube");
    world.onPublish = refuse;

    expect(await errorOf(call(on("facebook", "youtube")))).toMatchObject({
      code: "refused",
      nextStep:
        "No facebook account is connected. Connected: tiktok and youtube. Tell the user what the service says.",
    });
  });

  test("a second time as the user wished never says that waiting makes another safe", async () => {
    const { call, world } = bench();
    await call(on("tiktok"));
    const confirmDuplicate = codeIn((await call(on("tiktok")))["nextStep"]);
    world.onPublish = () =>
      Promise.reject(
        new BridgeError({
          code: "rate_limited",
          message: "The service refused to publish the video: too many requests were sent.",
          nextStep: "Wait 30 s before the next call.",
          outcome: "rejected",
          retryable: true,
          retryAfterSeconds: 30,
        }),
      );

    const facts = await errorOf(call({ ...on("tiktok"), confirmDuplicate }));

    expect(facts).toEqual({
      code: "rate_limited",
      message: "The service refused to publish the video: too many requests were sent.",
      nextStep: "Ask the user whether they still want it posted a second time before you call again.",
      outcome: "rejected",
      retryable: false,
    });
    expect(describeFailure(new BridgeError(facts), "publishes")).toBe(
      "The service refused to publish the video: too many requests were sent. This call published nothing. Ask the user whether they still want it posted a second time before you call again.",
    );
  });

  test("for an account that is not connected names those that are, and does not advise to try again", async () => {
    const { call, world } = connectedBench("TikTok", "youtube");
    world.onPublish = async () => ({
      results: [
        { platform: "facebook", ok: false },
        { platform: "youtube", ok: false },
      ],
    });

    expect(await call(on("facebook", "youtube"))).toMatchObject({
      summary:
        "Not published on facebook: no such account is connected. Connected: tiktok and youtube. Not published on youtube: the service reported a failure.",
      nextStep:
        "Tell the user to connect facebook on the service's website if they want it there. Tell the user why, and publish again only on youtube.",
    });
  });

  test("where no account is connected says so", async () => {
    const { call, world } = connectedBench();
    world.onPublish = async () => ({ results: [{ platform: "x", ok: false }] });

    expect(await call(on("x"))).toMatchObject({
      summary: "Not published on x: no such account is connected. Connected: none.",
    });
  });
});

describe("publish_video", () => {
  test("says where the video is public now", async () => {
    const { call } = bench();

    expect(await call(on("tiktok", "youtube", "x"))).toEqual({
      summary: "Published on tiktok, youtube and x.",
      results: ["tiktok", "youtube", "x"].map((platform) => ({
        platform,
        ok: true,
        url: `https://${platform}.example/1`,
      })),
    });
  });

  test("passes on what else the service says", async () => {
    const { call, world } = bench();
    const results = [{ platform: "tiktok", ok: true }];
    world.onPublish = async () => ({ results, batch: 7 });

    expect(await call(on("tiktok"))).toEqual({ summary: "Published on tiktok.", results, batch: 7 });
  });

  test("says what failed, what was public before and what is not known, each with what to do", async () => {
    const { call, world } = bench();
    await call(on("tiktok"));
    const results = [
      { platform: "youtube", ok: true },
      { platform: "x", ok: false, error: "not_connected" },
    ];
    world.onPublish = async () => ({ results });

    expect(await call(on("tiktok", "youtube", "x", "facebook"))).toEqual({
      summary:
        "Published on youtube. It was posted to tiktok by an earlier call, so it was not sent there again. Not published on x: the service reported a failure. The service did not say whether the video is public on facebook.",
      nextStep: expect.stringMatching(
        /^Tell the user why, and publish again only on x\. Ask the user to look at the facebook account before anything else\. Only if the user wants it posted a second time, call publish_video with platforms \["tiktok"\] and confirmDuplicate: "[0-9a-f]{6}"\.$/,
      ),
      results: [
        { platform: "tiktok", ok: true, url: "https://tiktok.example/1", alreadyPublished: true },
        ...results,
      ],
    });
  });

  test("says that a code does not fit", async () => {
    const { call, world } = bench();
    await call(on("tiktok"));

    expect(await call({ ...on("tiktok"), confirmDuplicate: "000000" })).toMatchObject({
      summary: "It was posted to tiktok by an earlier call, so it was not sent there again.",
      nextStep: expect.stringMatching(/^This confirmDuplicate code is out of date\. Only if/),
    });
    expect(world.posts).toHaveLength(1);
  });

  test("has the service's names for platforms cleaned and cut", async () => {
    const { call, world } = bench();
    const platform = `tik\u202Etok\n${"x".repeat(100)}`;
    world.onPublish = async () => ({ results: [{ platform, ok: false }] });

    expect(await call(on("tiktok"))).toMatchObject({
      summary: expect.stringMatching(
        /^Not published on "tiktok x{56}…": the service reported a failure\. The s/,
      ),
    });
  });

  test.each([
    ["neither topic nor link", undefined, undefined, `the video of job "${JOB}"`, ""],
    ["a link alone", undefined, READY, "this video", ` Watch it: ${LINK}`],
    ["a topic alone", 'Salt "x"', undefined, String.raw`the video "Salt \"x\""`, ""],
    ["both", "Salt", READY, 'the video "Salt"', ` Watch it: ${LINK}`],
  ])("asks by what is known: %s", async (_, topic, job, name, watch) => {
    const { call, context, questions } = bench(async () => job);
    if (topic !== undefined) context.jobs.start(JOB, topic);
    await call(on("tiktok"));

    expect(questions).toEqual([
      {
        key: expect.any(String),
        message: `Publish ${name} on tiktok? It becomes public.${watch}`,
        yes: "Publish on tiktok",
        no: "Don't publish",
      },
    ]);
  });

  test("does not look the job up where its link is known", async () => {
    const { call, context, questions } = bench(() => Promise.reject(new Error("Not needed.")));
    context.jobs.list([{ jobId: JOB, status: "completed", finalVideoUrl: LINK }], true);
    await call(on("tiktok"));

    expect(questions[0]?.message).toContain(LINK);
  });

  test.each([
    [3, "Publish on p0, p1 and p2"],
    [4, "Publish on these 4 platforms"],
  ])("offers a yes to %i platforms in words", async (count, yes) => {
    const { call, questions } = bench();
    await call(on(...many(count)));

    expect(questions[0]?.yes).toBe(yes);
  });

  test("asks differently about a repeat, and about another video", async () => {
    const { call, world, questions } = bench();
    world.onPublish = fails("unknown");
    await errorOf(call(on("tiktok")));
    world.onPublish = postsAll(world);
    await call(on("youtube"));
    const refused = await errorOf(call(on("tiktok", "youtube")));
    await call({ ...on("tiktok"), confirmDuplicate: codeIn(refused.nextStep) });
    const again = await call(on("tiktok"));
    await call({ ...on("tiktok"), confirmDuplicate: codeIn(again["nextStep"]) });
    await call({ jobId: JOB.replace("0f", "1f"), platforms: ["tiktok"] });

    expect(questions.map(({ message }) => message.replace(` Watch it: ${LINK}`, ""))).toEqual([
      "Publish this video on tiktok? It becomes public.",
      "Publish this video on youtube? It becomes public.",
      "Publish this video on tiktok? It becomes public. An earlier attempt may have made it public on tiktok: look at the account before you answer.",
      "Publish this video on tiktok? It becomes public. It is already public on tiktok, where this posts it a second time.",
      "Publish this video on tiktok? It becomes public.",
    ]);
    expect(new Set(questions.map(({ key }) => key)).size).toBe(5);
  });

  test.each([
    [{ platforms: ["tiktok"] }, "jobId: Invalid input: expected string, received undefined"],
    [{ jobId: "7", platforms: ["x"] }, "jobId: must be the UUID that generate_video or list_videos gave"],
    [on(), "platforms: must name at least one platform"],
    [on(...many(21)), "platforms: must name at most 20 platforms"],
    [on("tik tok"), `platforms.0: ${PLATFORM}`],
    [on("tiktok", "a\u202Eb"), `platforms.1: ${PLATFORM}`],
    [on("x".repeat(65)), `platforms.0: ${PLATFORM}`],
    [on("-x"), `platforms.0: ${PLATFORM}`],
  ])("refuses %j before anything is asked or sent", async (args, problem) => {
    const { call, world, questions } = bench();

    expect(await errorOf(call(args))).toMatchObject({
      code: "invalid_input",
      message: `The arguments of publish_video can't be used: ${problem}.`,
      outcome: "not_sent",
    });
    expect([world.posts, questions]).toEqual([[], []]);
  });

  test.each(["tiktok", "TikTok", " youtube ", "x", "my.site_2-b", "x".repeat(64)])(
    "takes the platform %j",
    async (platform) => {
      const { call, world } = bench();
      await call(on(platform));

      expect(world.posts).toEqual([{ jobId: JOB, platforms: [platform.trim().toLowerCase()] }]);
    },
  );
});
