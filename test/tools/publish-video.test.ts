import { expect, test } from "vitest";
import { BridgeError } from "../../src/errors.ts";
import type { SeenJob } from "../../src/idempotency/generate-once.ts";
import type { Job } from "../../src/service/answers.ts";
import { publishVideo } from "../../src/tools/publish-video.ts";
import { JOB_ID } from "../fixtures/constants.ts";
import { codeIn, errorOf, fails } from "../idempotency/computer.ts";
import { benchFor } from "./context.ts";

const LINK = "https://media.example/f.mp4";
const READY: Job = { jobId: JOB_ID, status: "completed", done: true, videoUrls: [], finalVideoUrl: LINK };
const RENDERING: Job = { jobId: JOB_ID, status: "processing", done: false, videoUrls: [] };

/** A job, and the accounts that are connected; none are known unless given. */
function bench({ job = READY, connected }: { job?: SeenJob | null; connected?: readonly string[] } = {}) {
  return benchFor(publishVideo, {
    lookAtJob: async () => job ?? undefined,
    service: {
      listVideos: () => Promise.reject(new Error("Not needed.")),
      listConnectedPlatforms: async () => {
        if (connected === undefined) throw new Error("Not known.");
        return { platforms: connected.map((platform) => ({ platform })) };
      },
    },
  });
}

const on = (...platforms: string[]) => ({ jobId: JOB_ID, platforms });
const many = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`);

test("publish_video says where the video was posted, and to give the links", async () => {
  const { call } = bench();

  expect(await call(on("tiktok", "youtube", "x"))).toEqual({
    summary: "Posted to tiktok, youtube and x.",
    nextStep: "Give the user the links of the posts.",
    results: ["tiktok", "youtube", "x"].map((platform) => ({
      platform,
      ok: true,
      url: `https://${platform}.example/1`,
    })),
  });
});

test("publish_video says what else the service says, as it is", async () => {
  const { call, computer } = bench();
  const results = [{ platform: "tiktok", ok: true }];
  computer.onPublish = async () => ({ results, batch: 7 });

  expect(await call(on("tiktok"))).toEqual({ summary: "Posted to tiktok.", results, batch: 7 });
});

test("publish_video says what failed and why, what was posted before and what is not known, each with what to do", async () => {
  const { call, computer } = bench();
  await call(on("tiktok"));
  const results = [
    { platform: "youtube", ok: true },
    { platform: "x", ok: false, error: { message: "The access token has expired" } },
    { platform: "vimeo", ok: false },
  ];
  computer.onPublish = async () => ({ results });

  expect(await call(on("tiktok", "youtube", "x", "vimeo", "facebook"))).toEqual({
    summary:
      'Posted to youtube. It was posted to tiktok by an earlier call, so it was not sent there again. Not posted to x: the service says "The access token has expired". Not posted to vimeo: the service gave no reason. The service did not say whether it was posted to facebook.',
    nextStep: expect.stringMatching(
      /^Give the user the links of the posts\. Tell the user why it was not posted to x and vimeo\. Publish it there only if they still want it, after they have fixed that\. Ask the user to look at the facebook account before anything else\. Only if the user wants it posted a second time, call publish_video with platforms \["tiktok"\] and confirmDuplicate: "[0-9a-f]{6}"\.$/,
    ),
    results: [
      { platform: "tiktok", ok: true, url: "https://tiktok.example/1", alreadyPublished: true },
      ...results,
    ],
  });
});

test("publish_video says that a code is not valid, and takes an empty one as none", async () => {
  const { call, computer } = bench();
  await call(on("tiktok"));

  expect(await call({ ...on("tiktok"), confirmDuplicate: "true" })).toMatchObject({
    nextStep: expect.stringMatching(/ The confirmDuplicate code of this call is not valid\. Only if/),
  });
  expect(await call({ ...on("tiktok"), confirmDuplicate: "" })).toMatchObject({
    nextStep: expect.not.stringMatching(/not valid/),
  });
  expect(computer.posts).toHaveLength(1);
});

test("publish_video says the service's names for platforms cleaned and cut", async () => {
  const { call, computer } = bench();
  computer.onPublish = async () => ({
    results: [{ platform: `tik\u202Etok\n${"x".repeat(100)}`, ok: false }],
  });

  expect(await call(on("tiktok"))).toMatchObject({
    summary: expect.stringMatching(/^Not posted to "tiktok x{56}…": the service gave no reason\. The s/),
  });
});

test("publish_video says which accounts are connected where one that failed is not, and counts a success beside a failure", async () => {
  const { call, computer } = bench({ connected: ["TikTok", "youtube", "facebook"] });
  computer.onPublish = async () => ({
    results: [
      { platform: "vimeo", ok: false },
      { platform: " YouTube ", ok: false, error: "upload timed out" },
      { platform: "facebook", ok: true },
      { platform: "facebook", ok: false },
    ],
  });

  expect(await call(on("youtube", "facebook"))).toMatchObject({
    summary:
      'Posted to facebook. Not posted to vimeo: no such account is connected. Connected: tiktok, youtube and facebook. Not posted to YouTube: the service says "upload timed out".',
    nextStep: expect.stringMatching(
      /^Tell the user to connect vimeo on the service's website if they want it there\. Tell the user why it was not posted to YouTube\. /,
    ),
  });
});

test.each<[string, Parameters<typeof bench>[0], object]>([
  [
    "that the video is still rendering",
    { job: RENDERING },
    {
      code: "not_ready",
      message: "The video is still rendering, so it was not published.",
      nextStep: "Wait with get_video_status and waitSeconds 50 until it is done, then publish once.",
      retryable: true,
    },
  ],
  [
    "that the render failed",
    { job: { ...RENDERING, status: "failed", done: true } },
    {
      code: "not_ready",
      message: "The render of this video failed, so there is nothing to publish.",
      nextStep: "Tell the user. The video can be generated again if they still want it.",
      retryable: false,
    },
  ],
  [
    "that the service knows no such job",
    { job: "not found" },
    { code: "not_found", message: "The service knows no job with this jobId, so nothing was published." },
  ],
  [
    "that an account is not connected",
    { connected: ["youtube"] },
    {
      code: "not_connected",
      message: "No tiktok account is connected, so nothing was published.",
      nextStep:
        "Connected: youtube. Tell the user to connect tiktok on the service's website if they want it there.",
    },
  ],
  [
    "that none is connected",
    { connected: [] },
    { nextStep: "Tell the user to connect an account on the service's website first: none is." },
  ],
])("publish_video finds out before it asks %s", async (_, world, facts) => {
  const { call, computer, questions } = bench(world);

  expect(await errorOf(call(on("tiktok")))).toMatchObject({ outcome: "not_sent", ...facts });
  expect([computer.posts, questions]).toEqual([[], []]);
});

test.each([
  ["insta", "instagram"],
  ["yt", "youtube"],
  ["youtube-shorts", "youtube"],
  ["twitter", "x"],
  ["fb", "facebook"],
])(
  "publish_video finds out before it asks which account %s probably means, if that is connected",
  async (said, meant) => {
    const all = ["instagram", "youtube", "x", "facebook", "tiktok"];
    const error = await errorOf(bench({ connected: all }).call(on(said)));
    expect(error.nextStep).toContain(`${said} is probably ${meant}: call again`);

    const others = all.filter((platform) => platform !== meant);
    expect((await errorOf(bench({ connected: others }).call(on(said)))).nextStep).not.toContain("probably");
  },
);

test.each(["queued", "published"])(
  "publish_video finds out before it asks nothing of a job that is %s, and asks",
  async (status) => {
    const { call, questions } = bench({ job: { ...RENDERING, status } });
    await call(on("tiktok"));

    expect(questions).toHaveLength(1);
  },
);

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

test.each<[string, SeenJob | null, object]>([
  [
    "renders",
    RENDERING,
    { message: "The video is still rendering, so it was not published.", retryable: true },
  ],
  ["is ready", READY, { message: "The service refused to publish the video.", retryable: false }],
  ["can't be read", null, { message: "The service refused to publish the video." }],
])(
  "publish_video that the service refuses for a video that %s says why, with the service's own code",
  async (_, job, facts) => {
    const { call, computer, context } = bench({ job });
    // A client that can't ask.
    context.askUser = async () => {};
    computer.onPublish = refuse;

    expect(await errorOf(call(on("tiktok")))).toMatchObject({
      ...facts,
      code: "refused",
      outcome: "rejected",
      status: 409,
      serviceWords: { code: "not_ready" },
    });
  },
);

test("publish_video that the service refuses for an account that is not connected names those that are", async () => {
  const { call, computer, context } = bench({ connected: ["tiktok"] });
  context.askUser = async () => {};
  computer.onPublish = refuse;

  expect(await errorOf(call(on("facebook")))).toMatchObject({
    message: "No facebook account is connected, so nothing was published.",
    nextStep:
      "Connected: tiktok. Tell the user to connect facebook on the service's website if they want it there.",
  });
});

test.each<[string, string | undefined, SeenJob | null, string, string]>([
  ["neither topic nor link", undefined, null, `the video of job "${JOB_ID}"`, ""],
  ["a link alone", undefined, READY, "this video", ` Watch it: ${LINK}`],
  ["a topic alone", 'Salt "x"', null, String.raw`the video "Salt \"x\""`, ""],
  ["both", "Salt", READY, 'the video "Salt"', ` Watch it: ${LINK}`],
])("publish_video asks by what is known: %s", async (_, topic, job, name, watch) => {
  const { call, jobs, questions } = bench({ job });
  if (topic !== undefined) jobs.addStarted(JOB_ID, topic);
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

test("publish_video asks with the whole link, however long it is", async () => {
  const link = `${LINK}?signature=${"s".repeat(2_000)}`;
  const { call, questions } = bench({ job: { ...READY, finalVideoUrl: link } });
  await call(on("tiktok"));

  expect(questions[0]?.message).toContain(` Watch it: ${link}`);
});

test.each([
  [6, "Publish on p0, p1, p2, p3, p4 and p5"],
  [7, "Publish on these 7 platforms"],
])("publish_video asks for a yes to %i platforms in words", async (count, yes) => {
  const { call, questions } = bench();
  await call(on(...many(count)));

  expect(questions[0]?.yes).toBe(yes);
});

test("publish_video asks differently about a repeat, and about another video", async () => {
  const { call, computer, questions } = bench();
  const { onPublish } = computer;
  computer.onPublish = fails("unknown");
  await errorOf(call(on("tiktok")));
  computer.onPublish = onPublish;
  computer.pass(6 * 60_000);
  await call(on("youtube"));
  const refused = await errorOf(call(on("tiktok", "youtube")));
  await call({ ...on("tiktok"), confirmDuplicate: codeIn(refused) });
  const { nextStep } = await call(on("tiktok"));
  await call({ ...on("tiktok"), confirmDuplicate: codeIn({ nextStep: String(nextStep) }) });
  await call({ jobId: JOB_ID.replace("0f", "1f"), platforms: ["tiktok"] });

  expect(questions.map(({ message }) => message.replace(` Watch it: ${LINK}`, ""))).toEqual([
    "Publish this video on tiktok? It becomes public.",
    "Publish this video on youtube? It becomes public.",
    "Publish this video on tiktok? It becomes public. An earlier attempt may have made it public on tiktok: look at the account before you answer.",
    "Publish this video on tiktok? It becomes public. It was posted to tiktok before, where this posts it a second time.",
    "Publish this video on tiktok? It becomes public.",
  ]);
  expect(new Set(questions.map(({ key }) => key)).size).toBe(5);
});

test.each([
  [{ jobId: "7", platforms: ["x"] }, 'jobId: "7" must be the UUID that generate_video or list_videos gave'],
  [on(), "platforms: must name at least one platform"],
  [on(...many(21)), "platforms: must name at most 20 platforms"],
])("publish_video reads %j as a wrong call", async (args, problem) => {
  const { call, computer, questions } = bench();

  expect(await errorOf(call(args))).toMatchObject({
    code: "invalid_input",
    message: `The arguments of publish_video can't be used: ${problem}.`,
    outcome: "not_sent",
  });
  expect([computer.posts, questions]).toEqual([[], []]);
});

test.each(["YouTube Shorts", "a\u202Eb", "x".repeat(65), "-x"])(
  "publish_video reads %j as no platform's id, and lists those that are connected",
  async (name) => {
    const { call, computer } = bench({ connected: ["tiktok", "youtube"] });
    const error = await errorOf(call(on("tiktok", name)));

    expect(error).toMatchObject({ code: "invalid_input", outcome: "not_sent" });
    expect(error.message).toMatch(/^platforms: ".*" can't be a platform's id\.$/u);
    expect(error.nextStep).toMatch(/^Connected: tiktok and youtube\. /);
    expect(computer.posts).toEqual([]);
  },
);

test("publish_video reads YouTube Shorts as what is probably youtube", async () => {
  expect((await errorOf(bench({ connected: ["youtube"] }).call(on("YouTube Shorts")))).nextStep).toBe(
    'Connected: youtube. "youtube shorts" is probably youtube: call again with the ids of those that the user means.',
  );
});

test.each(["tiktok", "TikTok", " youtube ", "x", "my.site_2-b", "x".repeat(64)])(
  "publish_video reads %j as a platform",
  async (platform) => {
    const { call, computer } = bench();
    await call(on(platform));

    expect(computer.posts).toEqual([{ jobId: JOB_ID, platforms: [platform.trim().toLowerCase()] }]);
  },
);
