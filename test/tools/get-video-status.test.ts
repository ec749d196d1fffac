import { expect, test } from "vitest";
import { BridgeError } from "../../src/errors.ts";
import type { OrderEntry } from "../../src/idempotency/journal.ts";
import type { EarlierPost } from "../../src/idempotency/same-request.ts";
import type { Job } from "../../src/service/responses.ts";
import { getVideoStatus } from "../../src/tools/get-video-status.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { JOB_ID, OTHER_JOB_ID } from "../fixtures/constants.ts";
import { errorOf, failure, MINUTE_MS } from "../idempotency/computer.ts";
import { createHarness, readerOf } from "./context.ts";

const LINK = "https://media.example/final.mp4";
const CLIPS = ["https://media.example/1.mp4", "https://media.example/2.mp4"];
const RUNNING: Job = { jobId: JOB_ID, status: "processing", done: false, videoUrls: CLIPS };
const READY: Job = { ...RUNNING, status: "completed", done: true, finalVideoUrl: LINK };
const FAILED: Job = { ...RUNNING, status: "failed", done: true };
const POST: EarlierPost = {
  platform: "tiktok",
  atMs: Date.UTC(2026, 10, 21, 12),
  result: { platform: "tiktok", ok: true, url: "https://tiktok.example/1" },
};
const UNLINKED: EarlierPost = { ...POST, result: { platform: "tiktok", ok: true } };
const { finalVideoUrl: _, ...WITHOUT_LINK } = READY;

const harnessOf = (job: Job, more: Partial<ToolContext> = {}) =>
  createHarness(getVideoStatus, { reader: readerOf(async () => job), ...more });

const historyOf = (posts: readonly EarlierPost[], order?: OrderEntry) => ({
  history: async () => ({ jobs: new Map([[JOB_ID, { posts, order }]]), orders: [], nowMs: 0 }),
});
const orderOf = (jobId: string, topic = "Tides"): OrderEntry => ({
  id: jobId,
  atMs: 0,
  operation: "generate",
  arguments: { topic },
  jobId,
});

/** The summary and the next step. */
async function guidanceFor(job: Job, ageMs?: number, more: Partial<ToolContext> = {}): Promise<string[]> {
  const { context, ...harness } = harnessOf(job, more);
  Object.assign(context.jobs, { ageMs: () => ageMs });
  const { summary, nextStep } = await harness.call({ jobId: JOB_ID });
  return [String(summary), String(nextStep)];
}

test("Where nothing can be generated, a failure does not suggest it", async () => {
  const { context } = harnessOf(FAILED);
  const config = { ...context.config, readOnly: true };
  const [, step] = await guidanceFor(FAILED, 0, { config });

  expect(step).toBe("Tell the user.");
});

test("A ready video's link comes first, and publishing is suggested once", async () => {
  const { call } = harnessOf(READY);
  const [first, second] = [await call({ jobId: JOB_ID }), await call({ jobId: JOB_ID })];

  expect(first["summary"]).toMatch(new RegExp(`^Your video is ready: ${LINK}$`));
  expect(first["nextStep"]).toContain("ask whether and where to publish");
  expect(second).toEqual({ ...first, nextStep: "Show the user the link." });
});

test("That videos can be saved is said once in a process, where no folder is set and the service is real", async () => {
  const said = async (config: Partial<ToolContext["config"]>) => {
    const { call } = harnessOf(READY, {
      config: {
        sandbox: false,
        readOnly: false,
        confirmGenerate: "off",
        confirmPublish: "on",
        problems: [],
        saveDir: undefined,
        ...config,
      },
    });
    const texts = [await call({ jobId: JOB_ID }), await call({ jobId: JOB_ID })];
    return texts.map(({ summary }) => String(summary).replace(`Your video is ready: ${LINK}`, "").trim());
  };
  const hint = "The user can set FACELESS_SAVE_DIR to save videos on the computer that runs this server.";

  expect(await said({})).toEqual([hint, ""]);
  expect(await said({ saveDir: "/videos" })).toEqual(["", ""]);
  expect((await said({ sandbox: true })).join(" ")).not.toContain("FACELESS_SAVE_DIR");
});

test.each<[string, Partial<ToolContext>]>([
  ["a server that can't publish", { canPublish: false }],
  ["a call to publish it", { suggested: new Set([JOB_ID]) }],
  ["an unreadable journal", { history: async () => undefined }],
])("Publishing is not suggested after %s", async (_, more) => {
  expect((await guidanceFor(READY, undefined, more))[1]).toBe("Show the user the link.");
});

test("An unreadable journal is named, since it knows where the video was posted", async () => {
  expect((await guidanceFor(READY, undefined, { history: async () => undefined }))[0]).toBe(
    `Your video is ready: ${LINK} Where it was posted is not known: the journal can't be read.`,
  );
});

test("What a stranger wrote into the journal neither hides, reorders nor leads anywhere but to the web", async () => {
  const strange = "a\u202Eb\u001B[2J";
  const urls = [
    "javascript:alert(1)",
    `https://a.example/${strange}`,
    `https://a.example/${"x".repeat(5_000)}`,
  ];
  const posts = urls.map((url) => ({ ...POST, platform: strange, result: { platform: "x", ok: true, url } }));
  const order = { ...orderOf(JOB_ID), arguments: { topic: strange, [strange]: strange } };

  const { publishedTo, arguments: given } = await harnessOf(READY, historyOf(posts, order)).call({
    jobId: JOB_ID,
  });
  expect(publishedTo).toEqual(posts.map(() => ({ platform: "ab", at: "2026-11-21T12:00:00.000Z" })));
  expect(given).toEqual({ topic: "ab", ab: "ab" });
});

test("Posts are told apart: with a link, without one, and of unknown outcome", async () => {
  const [summary, nextStep] = await guidanceFor(
    READY,
    undefined,
    historyOf([
      POST,
      { ...POST, platform: "x" },
      { ...POST, platform: "x" },
      { ...UNLINKED, platform: "vimeo" },
      { ...POST, platform: "fb", result: undefined },
    ]),
  );

  expect(summary).toContain("It was posted to tiktok and x. ");
  expect(summary).toMatch(/The service reports a post on vimeo but gave no link\..* fb: .* not known\.$/);
  expect(summary).not.toContain("answer was lost");
  expect(nextStep).toBe(
    "Show the user the link, and those of the posts. Tell them to look for the post on vimeo and fb.",
  );
});

test("A topic over 500 characters is cut, and the job's resource has it whole", async () => {
  const topic = "Tides. ".repeat(100).trim();
  const order = { ...orderOf(JOB_ID), arguments: { topic, duration: 90 } };
  const { call } = harnessOf(READY, historyOf([], order));
  const { summary, arguments: args } = await call({ jobId: JOB_ID });

  expect(summary).toMatch(
    new RegExp(`: ${LINK} The topic is cut here: faceless://jobs/${JOB_ID} has it whole.$`),
  );
  expect(args).toEqual({ topic: `${topic.slice(0, 499)}…`, duration: 90 });
  order.arguments.topic = topic.slice(0, 500);
  expect(await call({ jobId: JOB_ID })).toMatchObject({
    summary: `Your video is ready: ${LINK}`,
    arguments: order.arguments,
  });
});

test("Links of posts are asked for only where there are some", async () => {
  expect((await guidanceFor(READY, undefined, historyOf([UNLINKED])))[1]).not.toContain("those of the posts");
});

test("A link that is not listed yet is worth another look; one left out as unsafe is not", async () => {
  const [summary, nextStep] = await guidanceFor(WITHOUT_LINK);
  expect([summary, nextStep]).toEqual([
    expect.stringContaining("2 clips."),
    expect.stringContaining("get_video_status"),
  ]);

  const unsafe = await guidanceFor({ ...WITHOUT_LINK, unsafeLinksLeftOut: 1 });
  expect(unsafe).toEqual([
    expect.stringContaining("not safe to open"),
    expect.not.stringContaining("get_video_status"),
  ]);
});

test.each<[string, string, string, boolean]>([
  ["that is known to have failed", "failed", "Tides", true],
  ["that is still rendering", "processing", "Tides", false],
  ["of which nothing is known", "unknown", "Tides", false],
  ["of another order that failed", "failed", "other", false],
])("A failure after a video %s is said to be a repeat only where it is one", async (...row) => {
  const [, status, fingerprint, isRepeat] = row;
  const { context, call, jobs } = harnessOf(FAILED);
  jobs.put({ ...FAILED, jobId: OTHER_JOB_ID, status });
  const orders = [orderOf(OTHER_JOB_ID, fingerprint), orderOf(JOB_ID)];
  context.history = async () => ({ jobs: new Map(), orders, nowMs: 0 });

  const [said, step] = isRepeat
    ? [/failed again.* attempt 2 .*refunded/, /^Tell the user, and suggest trying another topic or stopping/]
    : [/^The render failed, and its credits are refunded/, /^Tell the user.* generated again/];
  expect(await call({ jobId: JOB_ID })).toMatchObject({
    summary: expect.stringMatching(said),
    nextStep: expect.stringMatching(step),
  });
});

test.each<[string, Partial<Job>, number | undefined, string]>([
  ["has clips", {}, undefined, "2 clips so far. Renders take 2 to 4 minutes."],
  ["has one clip", { videoUrls: CLIPS.slice(1) }, 0, "1 clip so far. Started just now; renders"],
  [
    "counts its clips",
    { progress: { total: 4, completed: 2 } },
    90_000,
    "2 of 4 clips. Started 90 seconds ago",
  ],
  ["has lost one", { progress: { total: 4, completed: 2, failed: 1 } }, 0, "2 of 4 clips, 1 failed."],
  [
    "has unsafe links",
    { unsafeLinksLeftOut: 1 },
    0,
    "minutes. Links that are not safe to open were left out.",
  ],
  ["is queued", { status: "queued" }, 0, 'The service gives the status "queued": 2 clips so far.'],
])("A video that renders and %s is described with its progress and age", async (_, state, ageMs, words) => {
  const [summary, nextStep] = await guidanceFor({ ...RUNNING, ...state }, ageMs);

  expect(summary).toContain(words);
  expect(nextStep).toContain("waitSeconds 50");
});

test("A render over ten minutes old is told to the user, and not waited for", async () => {
  const [summary, nextStep] = await guidanceFor(RUNNING, 10 * MINUTE_MS);

  expect(summary).toContain("Started 10 minutes ago, much longer than the usual 2 to 4 minutes.");
  expect(nextStep).toMatch(/^Tell the user/);
  expect((await guidanceFor(RUNNING, 10 * MINUTE_MS - 1))[0]).toContain("Started 9 minutes ago; renders");
});

test.each([
  ["failed", FAILED, 0],
  ["takes unusually long", RUNNING, 10 * MINUTE_MS],
])("Where nothing can be generated, no step after a video that %s names it", async (_, job, ageMs) => {
  const { config } = createHarness(getVideoStatus).context;
  const steps = async (readOnly: boolean) =>
    (await guidanceFor(job, ageMs, { config: { ...config, readOnly } }))[1];

  expect(await steps(false)).toContain("generate");
  expect(await steps(true)).toMatch(/^Tell the user(?!.*generate)/);
});

test("Clips that failed are named in a video that is ready", async () => {
  const job = { ...READY, progress: { total: 3, completed: 2, failed: 1 } };

  expect((await guidanceFor(job))[0]).toContain(" 1 of 3 clips failed.");
});

test.each<[string, boolean, number]>([
  ["The link of the final video could not be looked up.", true, 0],
  ["The service has not listed the link of the final video yet.", false, 10 * MINUTE_MS],
])("A link that may never be listed orders no loop: %s", async (said, isUnread, ageMs) => {
  const reader = { ...readerOf(async () => WITHOUT_LINK), isLinkUnread: () => isUnread };

  expect(await guidanceFor(WITHOUT_LINK, ageMs, { reader })).toEqual([
    `The video is ready: 2 clips. ${said}`,
    "Tell the user that it is ready. Look for the link with get_video_status when they ask for it.",
  ]);
});

test("A link that could not be looked up again is said to be an older one", async () => {
  const reader = { ...readerOf(async () => READY), isLinkUnread: () => true };

  expect((await guidanceFor(READY, 0, { reader }))[0]).toBe(
    `Your video is ready: ${LINK} This link is an older one, and could not be looked up again.`,
  );
});

test.each([
  [READY, 50, true],
  [RUNNING, 50, true],
  [RUNNING, 0, false],
])("The arguments of a job that has ended are given: %o, waiting %i s: %s", async (job, waitSeconds, has) => {
  const { call } = harnessOf(job, {
    waitForEnd: async () => READY,
    ...historyOf([], orderOf(JOB_ID)),
  });

  expect("arguments" in (await call({ jobId: JOB_ID, waitSeconds }))).toBe(has);
});

test("A wait may begin with a five-second-old answer, other calls ask anew", async () => {
  const asked: string[] = [];
  const { call } = createHarness(getVideoStatus, {
    reader: {
      ...readerOf(async () => RUNNING),
      read: async () => (asked.push("the job"), RUNNING),
      readRecent: async (__, maxAgeMs) => (asked.push(`at most ${maxAgeMs} ms old`), RUNNING),
    },
    waitForEnd: async (job) => job,
  });

  await call({ jobId: JOB_ID, waitSeconds: 50 });
  await call({ jobId: JOB_ID });

  expect(asked).toEqual(["at most 5000 ms old", "the job"]);
});

const failing = (retryable: boolean) =>
  createHarness(getVideoStatus, {
    reader: readerOf(async () => {
      throw new BridgeError({ ...failure("rejected").facts, retryable });
    }),
    waitForEnd: async (job) => ({ ...job, status: "completed", done: true }),
  });

test("A wait for a known video survives a failure of its first request", async () => {
  const { call, jobs } = failing(true);
  const unknown = await errorOf(call({ jobId: JOB_ID, waitSeconds: 50 }));
  jobs.put(RUNNING);
  const withoutWait = await errorOf(call({ jobId: JOB_ID }));
  const refused = failing(false);
  refused.jobs.put(RUNNING);
  const final = await errorOf(refused.call({ jobId: JOB_ID, waitSeconds: 50 }));

  expect([unknown, withoutWait, final].map(({ retryable }) => retryable)).toEqual([true, true, false]);
  expect(await call({ jobId: JOB_ID, waitSeconds: 50 })).toMatchObject({ status: "completed" });
});
