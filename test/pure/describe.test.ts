// The sentences about a job, from its record alone.

import { expect, test } from "vitest";
import type { JobPost, JobRecord } from "../../src/jobs/job-record.ts";
import type { Job } from "../../src/service/responses.ts";
import { describe, type DescribeOptions, describePosts } from "../../src/tools/describe.ts";
import { JOB_ID } from "../fixtures/constants.ts";

const NOW_MS = new Date(2026, 10, 27, 8, 15, 30).getTime();
const MINUTE_MS = 60_000;
const LINK = "https://media.example/final.mp4";
const CLIPS = ["https://media.example/1.mp4", "https://media.example/2.mp4"];
const RUNNING: Job = { jobId: JOB_ID, status: "processing", done: false, videoUrls: CLIPS };
const READY: Job = { ...RUNNING, status: "completed", done: true, finalVideoUrl: LINK };
const { finalVideoUrl: _, ...UNLINKED } = READY;
const FAILED: Job = { ...RUNNING, status: "failed", done: true };
const OPTIONS: DescribeOptions = {
  config: { sandbox: false, sandboxSeconds: 20, readOnly: false },
  nowMs: NOW_MS,
};
const SANDBOX: DescribeOptions = { ...OPTIONS, config: { ...OPTIONS.config, sandbox: true } };
const READ_ONLY: DescribeOptions = { ...OPTIONS, config: { ...OPTIONS.config, readOnly: true } };

const recordOf = (state: Job, more: Partial<JobRecord> = {}): JobRecord => ({
  jobId: JOB_ID,
  posts: [],
  state,
  ...more,
});
const ordered = (ageMs: number, topic = "Tides") => ({
  order: { arguments: { topic }, atMs: NOW_MS - ageMs },
});
const post = (platform: string, url?: string): JobPost => ({ platform, atMs: NOW_MS, result: { url } });
const lost = (platform: string): JobPost => ({ platform, atMs: NOW_MS, result: undefined });

/** The summary and the next step. */
function said(record: JobRecord, options = OPTIONS): string[] {
  const { summary, nextStep } = describe(record, options);
  return [summary, String(nextStep)];
}

const WAIT = "Call get_video_status again with waitSeconds 50.";
const SHOW = "Show the user the link.";

test.each<[string, JobRecord, DescribeOptions, string, string]>([
  [
    "renders, of unknown age",
    recordOf(RUNNING),
    OPTIONS,
    "Still rendering: 2 clips so far. Renders take 2 to 4 minutes.",
    WAIT,
  ],
  [
    "renders, with progress",
    recordOf({ ...RUNNING, progress: { total: 4, completed: 2, failed: 1 } }, ordered(90_000)),
    OPTIONS,
    "Still rendering: 2 of 4 clips, 1 failed. Started 90 seconds ago; renders take 2 to 4 minutes.",
    WAIT,
  ],
  [
    "renders in the sandbox",
    recordOf(RUNNING, ordered(5_000)),
    SANDBOX,
    "Still rendering: 2 clips so far. Started 5 seconds ago; renders take about 20 seconds in this sandbox.",
    WAIT,
  ],
  [
    "renders for ten minutes",
    recordOf(RUNNING, ordered(10 * MINUTE_MS)),
    OPTIONS,
    "Still rendering: 2 clips so far. Started 10 minutes ago, much longer than the usual 2 to 4 minutes.",
    "Tell the user that it takes unusually long. Look again with get_video_status when they ask, and don't generate it again.",
  ],
  [
    "renders for ten minutes, on a server that only reads",
    recordOf(RUNNING, ordered(10 * MINUTE_MS)),
    READ_ONLY,
    "Still rendering: 2 clips so far. Started 10 minutes ago, much longer than the usual 2 to 4 minutes.",
    "Tell the user that it takes unusually long. Look again with get_video_status when they ask.",
  ],
  [
    "has a status that is not documented",
    recordOf({ ...RUNNING, status: "queued" }),
    OPTIONS,
    'The service gives the status "queued": 2 clips so far. Renders take 2 to 4 minutes.',
    WAIT,
  ],
  [
    "is no longer followed",
    recordOf(RUNNING, { followingEnded: "Following ended: the service does not accept the API key." }),
    OPTIONS,
    'Following ended: the service does not accept the API key. It was last seen as "processing": 2 clips so far. Renders take 2 to 4 minutes.',
    "Tell the user. Look again with get_video_status when they ask.",
  ],
  [
    "failed",
    recordOf(FAILED),
    OPTIONS,
    "The render failed, and its credits are refunded automatically.",
    "Tell the user. The same video can be generated again if they still want it.",
  ],
  [
    "failed, on a server that only reads",
    recordOf(FAILED),
    READ_ONLY,
    "The render failed, and its credits are refunded automatically.",
    "Tell the user.",
  ],
  ["is ready", recordOf(READY), OPTIONS, `Your video is ready: ${LINK}`, SHOW],
  [
    "is ready, for the first time",
    recordOf(READY),
    { ...OPTIONS, suggestsPublishing: true },
    `Your video is ready: ${LINK}`,
    "Show the user the link. Unless they have said where this video goes, ask.",
  ],
  [
    "is ready, of which the journal can't be read",
    { jobId: JOB_ID, state: READY },
    { ...OPTIONS, suggestsPublishing: true },
    `Your video is ready: ${LINK} Where it was posted is not known: the journal can't be read.`,
    SHOW,
  ],
  [
    "has lost a clip",
    recordOf({ ...READY, progress: { total: 3, completed: 2, failed: 1 } }),
    OPTIONS,
    `Your video is ready: ${LINK} 1 of 3 clips failed.`,
    SHOW,
  ],
  [
    "has no link yet",
    recordOf(UNLINKED, ordered(MINUTE_MS)),
    OPTIONS,
    "The video is ready: 2 clips. The service has not listed the link of the final video yet.",
    "Call get_video_status again in a few seconds for that link.",
  ],
  [
    "has no link, and is of unknown age",
    recordOf(UNLINKED),
    OPTIONS,
    "The video is ready: 2 clips. The service has not listed the link of the final video yet.",
    "Tell the user that it is ready. Look for the link with get_video_status when they ask for it.",
  ],
  [
    "has no link, since the list can't be read",
    recordOf(UNLINKED, { ...ordered(0), isLinkUnread: true }),
    OPTIONS,
    "The video is ready: 2 clips. The link of the final video could not be looked up.",
    "Tell the user that it is ready. Look for the link with get_video_status when they ask for it.",
  ],
  [
    "has an old link",
    recordOf(READY, { isLinkUnread: true }),
    OPTIONS,
    `Your video is ready: ${LINK} This link is an older one, and could not be looked up again.`,
    SHOW,
  ],
  [
    "has only an unsafe link",
    recordOf({ ...UNLINKED, unsafeLinksLeftOut: 1 }),
    OPTIONS,
    "The video is ready: 2 clips. Links that are not safe to open were left out.",
    "Tell the user to watch it on the service's website.",
  ],
  [
    "is being saved",
    recordOf(READY, { saved: { state: "saving", path: "/v/a.mp4" } }),
    OPTIONS,
    `Your video is ready: ${LINK} It will be saved as /v/a.mp4.`,
    SHOW,
  ],
  [
    "was posted, in the three ways",
    recordOf(READY, { posts: [post("tiktok", "https://t.example/1"), post("vimeo"), lost("instagram")] }),
    OPTIONS,
    `Your video is ready: ${LINK} It was posted to TikTok. The service reports a post on vimeo but gave no link. A post to Instagram was sent, and its outcome is not known.`,
    "Show the user the link, and those of the posts. Tell them to look for the post on vimeo and Instagram.",
  ],
  [
    "was posted in the sandbox",
    recordOf(READY, { posts: [post("youtube", "https://y.example/1")] }),
    SANDBOX,
    `Your video is ready: ${LINK} In this sandbox it counts as posted to YouTube.`,
    "Show the user the link, and those of the posts.",
  ],
])("a video that %s is described with the next step", (_, record, options, summary, nextStep) => {
  expect(said(record, options)).toEqual([summary, nextStep]);
});

test("a post of unknown outcome is forgotten once a newer one on that platform is known", () => {
  const url = "https://t.example/1";
  const repeated = recordOf(READY, { posts: [lost("tiktok"), post("tiktok", url)] });

  expect(said(repeated)[0]).toBe(`Your video is ready: ${LINK} It was posted to TikTok.`);
  expect(describe(repeated, OPTIONS).result["publishedTo"]).toEqual([
    { platform: "tiktok", url, at: expect.stringMatching(/^2026-11-27T08:15[+-]\d\d:\d\d$/) },
  ]);
  expect(describePosts(repeated)).toBe(`The journal has these posts of the video: TikTok ${url}.`);
});

test("the topic is whole up to 2,000 characters, and in the job's resource at any length", () => {
  const [short, long] = ["x".repeat(2_000), "x".repeat(2_001)];
  const topicOf = (topic: string, options = OPTIONS) => {
    const { summary, result } = describe(recordOf(READY, ordered(0, topic)), options);
    return [result["arguments"], /The topic is cut here: (\S+) has it whole\./.exec(summary)?.[1]];
  };

  expect(topicOf(short)).toEqual([{ topic: short }, undefined]);
  expect(topicOf(long)).toEqual([{ topic: `${"x".repeat(1_999)}…` }, `faceless://jobs/${JOB_ID}`]);
  expect(topicOf(long, { ...OPTIONS, wholeTopic: true })).toEqual([{ topic: long }, undefined]);
});

test("arguments and posts are those of a video that has ended", () => {
  const known = { ...ordered(0), posts: [post("tiktok", "https://t.example/1")] };

  expect(describe(recordOf(RUNNING, known), OPTIONS).result).toEqual(RUNNING);
  expect(describe(recordOf(READY, known), OPTIONS).result).toMatchObject({
    arguments: { topic: "Tides" },
    publishedTo: [{ platform: "tiktok" }],
  });
});

test("text that others wrote into the journal can't hide, reorder or lead anywhere but to the web", () => {
  const strange = "a\u202Eb\u001B[2J";
  const urls = [
    "javascript:alert(1)",
    `https://a.example/${strange}`,
    `https://a.example/${"x".repeat(5_000)}`,
  ];
  const posts = urls.map((url) => post(strange, url));
  const order = { arguments: { topic: strange, [strange]: strange }, atMs: NOW_MS };
  const { result } = describe(recordOf(READY, { posts, order }), OPTIONS);

  expect(result["publishedTo"]).toEqual(posts.map(() => ({ platform: "ab", at: expect.any(String) })));
  expect(result["arguments"]).toEqual({ topic: "ab", ab: "ab" });
});
