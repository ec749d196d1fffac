import { expect, test } from "vitest";
import { generateVideo } from "../../src/tools/generate-video.ts";
import { codeIn, MINUTE_MS } from "../idempotency/computer.ts";
import { createHarness } from "./context.ts";

const FOLLOW = "Follow it with get_video_status.";

const harness = () => createHarness(generateVideo);

test("generate_video starts a video, says how to follow it and remembers its topic", async () => {
  const { call, context, computer } = harness();

  expect(await call({ topic: " Tides ", duration: 20, voice: "clone:mine" })).toEqual({
    summary: expect.stringContaining(": 20 s, English, story, voice clone:mine, no music, normal pacing"),
    nextStep: FOLLOW,
    jobId: "job-1",
    status: "processing",
    resourceUri: "faceless://jobs/job-1",
  });
  expect(computer.orders).toEqual([{ topic: "Tides", duration: 20, voice: "clone:mine" }]);
  expect(context.jobs.get("job-1")).toMatchObject({ topic: "Tides" });
});

test("Another video of the same words needs a question, or the result says none was asked", async () => {
  const { call, context, computer, questions } = harness();
  const topic = "[waves at night] Tides turn. [a beach]";
  const confirmed = async () => {
    const { nextStep } = await call({ topic });
    return call({ topic, confirmDuplicate: ` ${codeIn({ nextStep: String(nextStep) })} ` });
  };
  await call({ topic });
  const { summary } = await confirmed();
  computer.pass(2 * MINUTE_MS);
  Object.assign(context, { config: { ...context.config, sandbox: true } });
  await confirmed();
  context.askUser = async () => false;
  const unasked = await confirmed();

  expect(questions).toEqual([
    {
      key: expect.stringMatching(/^generate [0-9a-f]{6}$/),
      message:
        'Pay for another video of the same words, "Tides turn." (30 s, English, story, voice charlotte, no music, normal pacing)? One was ordered just now.',
      verb: "pay for another video",
      yes: "Pay for another video",
      no: "Don't start it",
    },
    expect.objectContaining({
      message: expect.stringMatching(
        /\? There are 2, the newest ordered 120 seconds ago\. .* nothing is charged\.$/,
      ),
    }),
  ]);
  expect(summary).not.toContain("not asked");
  expect(unasked["summary"]).toContain("The call confirmed this repeat; the user was not asked.");
  expect(computer.orders).toEqual(Array.from({ length: 4 }, () => ({ topic })));
});

test("generate_video passes on what else the service says", async () => {
  const { call, computer } = harness();
  computer.onGenerate = async () => ({ jobId: "job-1", status: "queued", cost: 2 });

  const given = { language: "fr", style: "asmr", music: "cinematic", pacing: "slow" };

  expect(await call({ topic: "Tides", ...given })).toEqual({
    summary: expect.stringMatching(
      /: 30 s, French, asmr, voice charlotte, cinematic music, slow pacing.*\. The service gives its status as "queued"\.$/,
    ),
    nextStep: FOLLOW,
    jobId: "job-1",
    status: "queued",
    cost: 2,
    resourceUri: "faceless://jobs/job-1",
  });
});

test("generate_video says that a render has failed where the service says so at once", async () => {
  const { call, computer } = harness();
  computer.onGenerate = async () => ({ jobId: "job-1", status: "failed" });

  expect(await call({ topic: "Tides" })).toMatchObject({
    summary: expect.stringMatching(/^The service accepted the request: 30 s, English.* failed.* refunded/),
    nextStep: expect.stringMatching(/^Tell the user/),
  });
});

test.each([
  ["processing", "processing", "it is still rendering", FOLLOW],
  ["queued", "queued", 'the service gives its status as "queued"', FOLLOW],
  ["completed", "completed", "is ready", "Get its link with get_video_status."],
  ["not found", "unknown", "the service does not list it yet, or not with this key", FOLLOW],
  ["unreadable", "unknown", "its status could not be read just now", FOLLOW],
])(
  "generate_video says of a job that was started before and is %s what is known",
  async (status, shown, state, step) => {
    const { call, computer } = harness();
    await call({ topic: "Tides" });
    computer.statuses.set("job-1", status);
    computer.pass(3 * MINUTE_MS);

    expect(await call({ topic: "Tides" })).toMatchObject({
      summary: `A video of the same words was ordered 3 minutes ago and ${state}, so nothing was started or charged now.`,
      nextStep: expect.stringMatching(
        new RegExp(
          `^${step} Only if the user wants another like it, call generate_video again with confirmDuplicate: "[0-9a-f]{6}"\\.$`,
        ),
      ),
      jobId: "job-1",
      status: shown,
      resourceUri: "faceless://jobs/job-1",
      alreadyStarted: true,
    });
  },
);

test("generate_video doesn't send the caller after a job that the service has forgotten", async () => {
  const { call, computer } = harness();
  await call({ topic: "Tides" });
  computer.statuses.set("job-1", "not found");
  computer.pass(10 * MINUTE_MS);

  expect(await call({ topic: "Tides" })).toMatchObject({
    summary: expect.stringContaining("10 minutes ago, and the service does not know it with this key"),
    nextStep: expect.not.stringContaining("get_video_status"),
  });
});

test("generate_video gives the link of a job that was started before and is ready, first, and its posts", async () => {
  const { call, computer, context } = harness();
  await call({ topic: "Tides" });
  const posts = [{ platform: "tiktok", atMs: 0, result: { platform: "tiktok", ok: true } }];
  context.history = async () => ({ jobs: new Map([["job-1", { posts }]]), orders: [], nowMs: 0 });
  computer.finalVideoUrl = "https://media.example/1.mp4";
  computer.statuses.set("job-1", "completed");

  expect(await call({ topic: "Tides" })).toMatchObject({
    summary:
      "A video of the same words is ready: https://media.example/1.mp4 It was ordered just now, so nothing was started or charged now.",
    finalVideoUrl: "https://media.example/1.mp4",
    publishedTo: [{ platform: "tiktok", at: "1970-01-01T00:00:00.000Z" }],
  });
});

test("generate_video says that a code is not valid, and takes an empty one as none", async () => {
  const { call } = harness();
  await call({ topic: "Tides" });
  const state =
    "A video of the same words was ordered just now and it is still rendering, so nothing was started or charged now.";

  expect(await call({ topic: "Tides", confirmDuplicate: "000000" })).toMatchObject({
    summary: `${state} The confirmDuplicate code of this call is not valid.`,
    alreadyStarted: true,
  });
  expect(await call({ topic: "Tides", confirmDuplicate: "" })).toMatchObject({ summary: state });
});

test("generate_video starts a second video with the code, which is not sent, however long the user took", async () => {
  const { call, context, computer } = harness();
  await call({ topic: "Tides" });
  const { nextStep } = await call({ topic: "Tides" });
  const code = /"(\w+)"/.exec(String(nextStep))?.[1];
  context.askUser = async (question) => (await question(), computer.pass(5 * MINUTE_MS), true);

  expect(await call({ topic: "Tides", confirmDuplicate: ` ${code} ` })).toMatchObject({ jobId: "job-2" });
  expect(computer.orders).toEqual([{ topic: "Tides" }, { topic: "Tides" }]);
  expect(computer.options.map(({ deadlineMs }) => deadlineMs)).toEqual([38_000, 38_000]);
});

test("generate_video pays nothing if another process paid during the question", async () => {
  const { call, computer, context } = harness();
  await call({ topic: "Tides" });
  const { nextStep } = await call({ topic: "Tides" });
  const confirmDuplicate = codeIn({ nextStep: String(nextStep) });
  context.askUser = async (question) => {
    await question();
    await computer.process().generate({ topic: "Tides" }, { confirmDuplicate });
    return true;
  };

  expect(await call({ topic: "Tides", confirmDuplicate })).toMatchObject({ alreadyStarted: true });
  expect(computer.orders).toHaveLength(2);
});
