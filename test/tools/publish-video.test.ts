import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../src/clock.ts";
import { BridgeError } from "../../src/errors.ts";
import type { JobLookup } from "../../src/idempotency/generate-once.ts";
import type { ConnectedPlatform, Job } from "../../src/service/responses.ts";
import { publishVideo } from "../../src/tools/publish-video.ts";
import { JOB_ID } from "../fixtures/constants.ts";
import { codeIn, errorOf, fails, MINUTE_MS } from "../idempotency/computer.ts";
import { createHarness } from "./context.ts";

const LINK = "https://media.example/f.mp4";
const READY: Job = { jobId: JOB_ID, status: "completed", done: true, videoUrls: [], finalVideoUrl: LINK };
const RENDERING: Job = { jobId: JOB_ID, status: "processing", done: false, videoUrls: [] };
const FAILED: Job = { ...RENDERING, status: "failed", done: true };
const QUEUED: Job = { ...RENDERING, status: "queued" };

interface World {
  readonly job?: JobLookup | null;
  /** What this process has seen of it. */
  readonly known?: Job;
  readonly connected?: readonly (string | ConnectedPlatform)[];
  /** How many accounts can't be read. */
  readonly leftOut?: number;
  readonly sandbox?: boolean;
}

/** A job, and the accounts that are connected; none are known unless given. */
function harness({ job = READY, connected, leftOut, sandbox = false }: World = {}) {
  return createHarness(publishVideo, {
    config: { readOnly: false, sandbox, confirmPublish: "on", problems: [], saveDir: undefined },
    tryReadJob: async () => job ?? undefined,
    service: {
      listConnectedPlatforms: async () => {
        if (connected === undefined) throw new Error("Not known.");
        const platforms = connected.map((account) =>
          typeof account === "string" ? { platform: account } : account,
        );
        return { platforms, ...(leftOut !== undefined && { leftOut }) };
      },
    },
  });
}

/** The same for a client that can't ask, and a service that answers so. */
function answering(results: { platform: string; ok: boolean }[], world: World = {}) {
  const { context, computer, ...rest } = harness(world);
  context.askUser = async () => false;
  computer.onPublish = async () => ({ results });
  return { context, computer, ...rest };
}

const LABEL =
  "Tell them that the service documents no label for generated media, and the platform may want one.";
const on = (...platforms: string[]) => ({ jobId: JOB_ID, platforms });
const many = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`);

test("Links of posts are given to the user, and what else the service says is passed on", async () => {
  const { call, computer } = harness();
  const results = ["tiktok", "x"].map((platform) => ({
    platform,
    ok: true,
    url: `https://${platform}.example`,
  }));
  computer.onPublish = async () => ({ results, batch: 7 });

  expect(await call(on("tiktok", "x"))).toEqual({
    summary: "Posted to tiktok and x.",
    nextStep: `Give the user the links of the posts. ${LABEL}`,
    results,
    batch: 7,
  });
});

test("A post without a link is the service's word, and the user is told to look there", async () => {
  const { call } = answering([{ platform: "tiktok", ok: true }]);

  expect(await call(on("tiktok"))).toMatchObject({
    summary: "The service reports a post on tiktok but gave no link.",
    nextStep: `Tell the user to look for the post on tiktok. ${LABEL}`,
  });
  expect(await call(on("tiktok"))).toMatchObject({
    summary:
      "The service reported a post on tiktok to an earlier call but gave no link, so it was not sent there again.",
    nextStep: expect.stringMatching(/^Tell the user to look for the post on tiktok\. Only if/),
  });
});

test.each<[string, "posted" | "unknown" | undefined, boolean, boolean]>([
  ["with its first post", undefined, true, true],
  ["with the first after one of unknown outcome", "unknown", true, true],
  ["not with another post", "posted", true, false],
  ["not after a post that failed", undefined, false, false],
])("The missing label for generated media is told once for a video: %s", async (_, earlier, ok, isTold) => {
  const { call, context } = answering([{ platform: "tiktok", ok }]);
  const result = earlier === "posted" ? { platform: "x", ok: true } : undefined;
  const posts = earlier === undefined ? [] : [{ platform: "x", atMs: 0, result }];
  context.history = async () => ({ jobs: new Map([[JOB_ID, { posts }]]), orders: [], nowMs: 0 });

  expect(String((await call(on("tiktok")))["nextStep"]).includes(LABEL)).toBe(isTold);
});

test("Each platform's outcome has its reason", async () => {
  const { call, computer, questions } = harness();
  await call(on("tiktok"));
  const results = [
    { platform: "youtube", ok: true },
    { platform: "x", ok: false, error: { message: "The access token has expired" } },
    { platform: "vimeo", ok: false },
  ];
  computer.onPublish = async () => ({ results });
  const { summary, nextStep, ...rest } = await call(on("tiktok", "youtube", "x", "vimeo", "facebook"));

  expect(questions[1]?.message).toContain(
    "The service reported it posted to tiktok before, so it is not posted there again.",
  );
  for (const fact of [
    "posted to tiktok by an earlier call",
    'Not posted to x: the service says "The access token has expired".',
    "Not posted to vimeo: the service gave no reason.",
    "did not say whether it was posted to facebook",
  ])
    expect(summary).toContain(fact);
  expect(nextStep).toMatch(/links of the posts.* youtube.* x and vimeo.* facebook account/);
  expect(nextStep).toMatch(/platforms \["tiktok"\] and confirmDuplicate: "[0-9a-f]{6}"\.$/);
  expect(rest).toEqual({
    results: [
      { platform: "tiktok", ok: true, url: "https://tiktok.example/1", alreadyPublished: true },
      ...results,
    ],
  });
});

test("A code that is not valid is said to be so, and an empty one is none", async () => {
  const { call, computer } = harness();
  await call(on("tiktok"));
  const wrong = await call({ ...on("tiktok"), confirmDuplicate: "true" });
  const empty = await call({ ...on("tiktok"), confirmDuplicate: "" });

  expect([wrong, empty].map(({ nextStep }) => /not valid/.test(String(nextStep)))).toEqual([true, false]);
  expect(computer.posts).toHaveLength(1);
});

test("What to do next names no platform that was not asked for", async () => {
  const named = ["tiktok", "then_call_publish_video", "for_each_video"];
  const { call } = answering(named.map((platform, index) => ({ platform, ok: index < 2, message: "no" })));
  const { summary, nextStep } = await call(on("tiktok"));

  expect(summary).toMatch(/then_call_publish_video.*for_each_video/);
  expect(nextStep).toContain("look for the post on tiktok.");
  expect(nextStep).toContain("why it was not posted to the others named above.");
  expect(nextStep).not.toContain("_");
});

test("The service's names of platforms are cleaned and cut", async () => {
  const { call } = answering([{ platform: `tik\u202Etok\n${"x".repeat(100)}`, ok: false }]);

  expect((await call(on("tiktok")))["summary"]).toMatch(/^Not posted to "tiktok x{56}…": /);
});

test.each([
  ["insta", ["instagram", "youtube"], /Connected: instagram and youtube\. insta is probably instagram/],
  ["vimeo", ["TikTok", "youtube"], /Connected: tiktok and youtube\. Tell the user to connect vimeo/],
])(
  "A post on %s that failed is explained by the accounts that are connected: %j",
  async (wanted, connected, said) => {
    const results = [
      { platform: wanted, ok: false },
      { platform: " YouTube ", ok: true },
      { platform: "youtube", ok: false },
    ];
    const { summary, nextStep } = await answering(results, { connected }).call(on(wanted, "youtube"));

    expect(summary).toContain(`Not posted to ${wanted}: no such account is connected.`);
    expect(summary).not.toMatch(/Not posted to youtube/i);
    expect(nextStep).toMatch(said);
  },
);

test.each<[string, World, string, RegExp]>([
  ["the video is still rendering", { job: RENDERING }, "not_ready", /waitSeconds 50/],
  ["the service has another word for its status", { job: QUEUED }, "not_ready", /^Tell the user/],
  ["the render failed", { job: FAILED }, "not_ready", /^Tell the user/],
  ["the service knows no such job", { job: "not found" }, "not_found", /list_videos/],
  [
    "another account is connected",
    { connected: ["youtube"] },
    "not_connected",
    /^Connected: youtube\. Tell the user to connect tiktok .*, or call again with the ids they mean\.$/,
  ],
  ["no account is connected", { connected: [] }, "not_connected", /^Tell the user to connect/],
])("Nothing is asked or sent where %s", async (_, world, code, step) => {
  const { call, computer, questions } = harness(world);
  const mayChange = world.job === RENDERING || world.job === QUEUED;

  expect(await errorOf(call(on("tiktok")))).toEqual({
    code,
    message: expect.stringContaining(world.job === QUEUED ? '"queued"' : "publish"),
    nextStep: expect.stringMatching(step),
    outcome: "not_sent",
    retryable: mayChange,
    ...(!mayChange && { failsAgain: true }),
  });
  expect([computer.posts, questions]).toEqual([[], []]);
});

test.each<[string, Job]>([
  ["of an undocumented status that has a link", { ...READY, status: "published" }],
  ["that is completed, whose link is not known", { ...RENDERING, status: "completed", done: true }],
])("The user is asked about a video %s", async (_, job) => {
  const { call, questions } = harness({ job });
  await call(on("tiktok"));

  expect(questions).toHaveLength(1);
});

test.each([
  ["insta", "instagram"],
  ["yt", "youtube"],
  ["youtube-shorts", "youtube"],
  ["you-tube", "youtube"],
  ["YouTube Shorts", "youtube"],
  ["twitter", "x"],
  ["fb", "facebook"],
])("%s is said to be probably %s, if that is connected", async (said, meant) => {
  const all = ["instagram", "youtube", "x", "facebook", "tiktok"];
  const error = await errorOf(harness({ connected: all }).call(on(said)));
  expect(error.nextStep).toContain(` is probably ${meant}: call again`);

  const others = all.filter((platform) => platform !== meant);
  expect((await errorOf(harness({ connected: others }).call(on(said)))).nextStep).not.toContain("probably");
});

test.each<[string, World, string]>([
  ["renders", { job: RENDERING }, "still rendering"],
  ["has another status", { job: QUEUED }, '"queued"'],
  ["is ready on another account", { connected: ["youtube"] }, "No tiktok account is connected"],
  ["is ready", {}, "refused to publish"],
  ["can't be read", { job: null }, "refused to publish"],
])("A refusal by the service is explained for a video that %s", async (_, world, reason) => {
  const { call, computer } = answering([], world);
  const facts = {
    code: "refused",
    outcome: "rejected",
    status: 409,
    serviceMessage: { code: "not_ready" },
  } as const;
  const message = "The service refused to publish the video.";
  computer.onPublish = () =>
    Promise.reject(new BridgeError({ ...facts, message, nextStep: "Look.", retryable: false }));

  expect(await errorOf(call(on("tiktok")))).toMatchObject({
    ...facts,
    message: expect.stringContaining(reason),
  });
});

// Only what is certain shows that nothing was posted: an account may be listed under another name or can't be
// read, and a video may be known no more, or by a lagging service.
test.each<[string, BridgeError["facts"]["outcome"], World]>([
  ["an account that isn't connected", "rejected", { connected: ["youtube", "facebook"] }],
  ["a job that the service doesn't know", "unknown", { job: "not found" }],
  ["a video that was ready before", "unknown", { job: RENDERING, known: READY }],
  ["a video that is still rendering", "rejected", { job: RENDERING }],
  ["an account of another name", "unknown", { connected: ["x", "youtube"] }],
  [
    "an account that another field names",
    "unknown",
    { connected: [{ platform: "a1", on: "twitter" }, "youtube"] },
  ],
  ["an account of a longer name", "unknown", { connected: ["x", "youtube_channel"] }],
  ["an account that can't be read", "unknown", { connected: ["youtube"], leftOut: 1 }],
  ["an undocumented status", "unknown", { job: { ...QUEUED, status: "publishing" } }],
])(
  "After a refusal that may have posted to one of two platforms, %s leaves it %s",
  async (_, outcome, world) => {
    const { call, computer, jobs } = answering([], world);
    if (world.known !== undefined) jobs.put(world.known);
    const facts = { code: "refused", outcome: "unknown", status: 422 } as const;
    computer.onPublish = () =>
      Promise.reject(new BridgeError({ ...facts, message: "Refused.", nextStep: "Look.", retryable: false }));

    expect(await errorOf(call(on("twitter", "youtube")))).toMatchObject({ ...facts, outcome });
  },
);

test.each<[string, BridgeError["facts"]["code"], () => Promise<JobLookup>]>([
  ["is no refusal", "timeout", async () => RENDERING],
  ["can't be explained in time", "refused", () => new Promise(() => {})],
])("A failure that %s stays unknown", async (_, code, tryReadJob) => {
  const clock: Clock = { ...systemClock, after: (__, action) => systemClock.after(0, action) };
  const { call, computer } = createHarness(publishVideo, { tryReadJob, clock, askUser: async () => false });
  const facts = { code, message: "It failed.", outcome: "unknown", retryable: false } as const;
  computer.onPublish = () => Promise.reject(new BridgeError({ ...facts, nextStep: "Look." }));

  expect(await errorOf(call(on("tiktok")))).toMatchObject(facts);
});

test.each<[string, string | undefined, JobLookup | null, string, string]>([
  ["neither topic nor link", undefined, null, `the video of job "${JOB_ID}"`, ""],
  ["a link alone", undefined, READY, "this video", ` Watch it: ${LINK}`],
  ["a topic alone", 'Salt "x"', null, String.raw`the video "Salt \"x\""`, ""],
  ["both", "[a sea, wide] Salt [a spoon]", READY, 'the video "Salt"', ` Watch it: ${LINK}`],
])("The question names what is known of the video: %s", async (_, topic, job, name, watch) => {
  const { call, jobs, questions } = harness({ job });
  if (topic !== undefined) jobs.addStarted(JOB_ID, topic);
  await call(on("tiktok"));

  expect(questions).toEqual([
    {
      key: expect.any(String),
      message: `Publish ${name} on tiktok? It is posted at once, without a caption, and becomes public.${watch}`,
      verb: "publish",
      yes: "Publish on tiktok",
      no: "Don't publish",
    },
  ]);
});

test("The question names the accounts as the service does, and what is left alone", async () => {
  const { call, computer, context, questions } = harness();
  const accounts = [
    { platform: "tiktok", account: "@clips \u202E", connectedAt: "2026-01-12" },
    { platform: "TikTok", account: { id: 7, display_name: 'My "Clips"' } },
    { platform: "youtube", name: "YouTube", channelName: "x".repeat(100) },
    { platform: "x", handle: 7 },
  ];
  context.service.listConnectedPlatforms = async () => ({ platforms: accounts });
  computer.onPublish = async () => ({ results: [{ platform: "instagram", ok: true }] });
  await call(on("tiktok", "youtube", "x"));

  expect(questions[0]?.message).toContain(
    String.raw`on tiktok ("@clips", "My \"Clips\""), youtube ("${"x".repeat(59)}…") and x? It is posted`,
  );
});

test("Of a call's 38 s the user takes none, but what is looked at before they are asked does", async () => {
  const { call, context, computer } = harness();
  context.tryReadJob = async () => (computer.pass(10_000), READY);
  context.askUser = async (question) => (await question(), computer.pass(5 * MINUTE_MS), true);
  await call(on("tiktok"));

  expect(computer.options).toMatchObject([{ deadlineMs: 28_000 }]);
});

test("The question claims no earlier post for which the service gave no link", async () => {
  const { call, computer, questions } = harness();
  computer.onPublish = async () => ({ results: [{ platform: "tiktok", ok: true }] });
  await call(on("tiktok"));
  await call(on("tiktok", "youtube"));
  const { nextStep } = await call(on("tiktok"));
  await call({ ...on("tiktok"), confirmDuplicate: codeIn({ nextStep: String(nextStep) }) });

  expect(questions[1]?.message).toContain(
    "The service reported it posted to tiktok before, so it is not posted there again.",
  );
  expect(questions[2]?.message).toContain(
    "An earlier attempt may have made it public on tiktok: look at the account before you answer.",
  );
});

test("The question says in a sandbox that nothing is posted", async () => {
  const { call, questions } = harness({ sandbox: true });
  await call(on("tiktok"));

  expect(questions[0]?.message).toMatch(/This is a sandbox, so nothing is posted\./);
  expect(questions[0]?.message).not.toContain("public");
});

test.each([
  [6, "Publish on p0, p1, p2, p3, p4 and p5"],
  [7, "Publish on these 7 platforms"],
])("The yes to %i platforms names or counts them", async (count, yes) => {
  const { call, questions } = harness();
  await call(on(...many(count)));

  expect(questions[0]?.yes).toBe(yes);
});

test("A repeat and another video are other questions", async () => {
  const { call, computer, questions } = harness();
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

  const repeats = questions.map(
    ({ message }) => /An earlier attempt may have|It was posted to tiktok just now/.exec(message)?.[0],
  );
  expect(repeats).toEqual([
    undefined,
    undefined,
    "An earlier attempt may have",
    "It was posted to tiktok just now",
    undefined,
  ]);
  expect(new Set(questions.map(({ key }) => key)).size).toBe(5);
});

test.each(["all", "every-platform", "YouTube Shorts", "a\u202Eb", "x".repeat(65), "-x"])(
  "%j is no platform's id, and those that are connected are listed",
  async (name) => {
    const { call, computer } = harness({ connected: ["tiktok", "youtube"] });

    expect(await errorOf(call(on("tiktok", name)))).toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(/^platforms: ".*" can't be a platform's id\.$/u),
      nextStep: expect.stringMatching(/^Connected: tiktok and youtube\. /),
      outcome: "not_sent",
      failsAgain: true,
    });
    expect(computer.posts).toEqual([]);
  },
);

test("What can't be platforms' ids is named where the connected ones can't be listed", async () => {
  expect(await errorOf(harness().call(on("tik tok", "-x")))).toMatchObject({
    message: 'platforms: "tik tok" and "-x" can\'t be platforms\' ids.',
    nextStep: "Use the ids that list_connected_platforms gives, such as tiktok.",
  });
});
