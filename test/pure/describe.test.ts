// The sentences about a job, from its record alone. test/contract/descriptions.txt has them for review.

import { expect, test } from "vitest";
import type { JobPost, JobRecord } from "../../src/jobs/job-record.ts";
import type { Job } from "../../src/service/responses.ts";
import { textFor } from "../../src/sentences.ts";
import { describeJob, type DescribeOptions, describePosts } from "../../src/tools/describe.ts";
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

/** Videos by what there is to say of them. */
const VIDEOS: Record<string, readonly [JobRecord, DescribeOptions?]> = {
  "renders, of unknown age": [recordOf(RUNNING)],
  "renders, with progress": [
    recordOf({ ...RUNNING, progress: { total: 4, completed: 2, failed: 1 } }, ordered(90_000)),
  ],
  "renders in the sandbox": [recordOf(RUNNING, ordered(5_000)), SANDBOX],
  "renders for ten minutes": [recordOf(RUNNING, ordered(10 * MINUTE_MS))],
  "renders for ten minutes, on a server that only reads": [
    recordOf(RUNNING, ordered(10 * MINUTE_MS)),
    READ_ONLY,
  ],
  "has a status that is not documented": [recordOf({ ...RUNNING, status: "queued" })],
  "is no longer followed": [
    recordOf(RUNNING, { followingEnded: "Following ended: the service does not accept the API key." }),
  ],
  failed: [recordOf(FAILED)],
  "failed, on a server that only reads": [recordOf(FAILED), READ_ONLY],
  "is ready": [recordOf(READY)],
  "is ready, while the journal can't be read": [{ jobId: JOB_ID, state: READY }],
  "has lost a clip": [recordOf({ ...READY, progress: { total: 3, completed: 2, failed: 1 } })],
  "has no link yet": [recordOf(UNLINKED, ordered(MINUTE_MS))],
  "has no link, and is of unknown age": [recordOf(UNLINKED)],
  "has no link, since the list can't be read": [recordOf(UNLINKED, { ...ordered(0), isLinkUnread: true })],
  "has an old link": [recordOf(READY, { isLinkUnread: true })],
  "has only an unsafe link": [recordOf({ ...UNLINKED, unsafeLinksLeftOut: 1 })],
  "is being saved": [recordOf(READY, { saved: { state: "saving", path: "/v/a.mp4" } })],
  "was posted, in the three ways": [
    recordOf(READY, { posts: [post("tiktok", "https://t.example/1"), post("vimeo"), lost("instagram")] }),
  ],
  "was posted in the sandbox": [
    recordOf(READY, { posts: [post("youtube", "https://y.example/1")] }),
    SANDBOX,
  ],
};

test("every video is described with what to do next", async () => {
  const texts = Object.entries(VIDEOS).map(([video, [record, options = OPTIONS]]) => {
    const { summary, nextStep } = describeJob(record, options);
    return `A video that ${video}\n  ${textFor("model", summary)}\n  ${textFor("model", nextStep ?? "undefined")}\n`;
  });

  await expect(texts.join("\n")).toMatchFileSnapshot("../contract/descriptions.txt");
});

test("a post with an unknown outcome is dropped once a newer post's outcome is known", () => {
  const url = "https://t.example/1";
  const repeated = recordOf(READY, { posts: [lost("tiktok"), post("tiktok", url)] });

  expect(describeJob(repeated, OPTIONS).summary).toBe(
    `Your video is ready: ${LINK} It was posted to TikTok.`,
  );
  expect(describeJob(repeated, OPTIONS).result["publishedTo"]).toEqual([
    { platform: "tiktok", url, at: expect.stringMatching(/^2026-11-27T08:15[+-]\d\d:\d\d$/) },
  ]);
  expect(describePosts(repeated)).toBe(
    `The journal has these posts of the video: TikTok ${url}. No tool can see whether a post is still there.`,
  );
});

test("the topic is whole up to 4,000 characters, and in the job's resource at any length", () => {
  const [short, long] = ["x".repeat(4_000), "x".repeat(4_001)];
  const topicOf = (topic: string, options = OPTIONS) => {
    const { summary, result } = describeJob(recordOf(READY, ordered(0, topic)), options);
    return [
      result["arguments"],
      /The topic is cut here: (\S+) has it whole\./.exec(textFor("model", summary))?.[1],
    ];
  };

  expect(topicOf(short)).toEqual([{ topic: short }, undefined]);
  expect(topicOf(long)).toEqual([{ topic: `${"x".repeat(3_999)}…` }, `faceless://jobs/${JOB_ID}`]);
  expect(topicOf(long, { ...OPTIONS, wholeTopic: true })).toEqual([{ topic: long }, undefined]);
});

test("only a video that has ended is described with its arguments and posts", () => {
  const known = { ...ordered(0), posts: [post("tiktok", "https://t.example/1")] };

  expect(describeJob(recordOf(RUNNING, known), OPTIONS).result).toEqual(RUNNING);
  expect(describeJob(recordOf(READY, known), OPTIONS).result).toMatchObject({
    arguments: { topic: "Tides" },
    publishedTo: [{ platform: "tiktok" }],
  });
});

test("text that others wrote into the journal is shown without unsafe characters or links", () => {
  const strange = "a\u202Eb\u001B[2J";
  const urls = [
    "javascript:alert(1)",
    `https://a.example/${strange}`,
    `https://a.example/${"x".repeat(5_000)}`,
  ];
  const posts = urls.map((url) => post(strange, url));
  const order = { arguments: { topic: strange, [strange]: strange }, atMs: NOW_MS };
  const { result } = describeJob(recordOf(READY, { posts, order }), OPTIONS);

  expect(result["publishedTo"]).toEqual(posts.map(() => ({ platform: "ab", at: expect.any(String) })));
  expect(result["arguments"]).toEqual({ topic: "ab", ab: "ab" });
});
