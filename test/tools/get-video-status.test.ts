import { expect, test } from "vitest";
import { BridgeError } from "../../src/errors.ts";
import type { Job } from "../../src/service/answers.ts";
import { getVideoStatus } from "../../src/tools/get-video-status.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { JOB_ID } from "../fixtures/constants.ts";
import { errorOf, failure, MINUTE_MS } from "../idempotency/computer.ts";
import { benchFor, readerOf } from "./context.ts";

const LINK = "https://media.example/final.mp4";
const CLIPS = ["https://media.example/1.mp4", "https://media.example/2.mp4"];
const RUNNING: Job = { jobId: JOB_ID, status: "processing", done: false, videoUrls: CLIPS };
const READY: Job = { ...RUNNING, status: "completed", done: true, finalVideoUrl: LINK };
const POST = { platform: "tiktok", url: "https://tiktok.example/1", at: "2026-11-21T12:00:00.000Z" };
const AGAIN = "Call get_video_status again with waitSeconds 50.";

const benchOf = (job: Job, more: Partial<ToolContext> = {}) =>
  benchFor(getVideoStatus, { reader: readerOf(async () => job), ...more });

/** The summary and the next step. */
async function guidanceFor(job: Job, ageMs?: number, more: Partial<ToolContext> = {}): Promise<unknown[]> {
  const { context, ...bench } = benchOf(job, more);
  Object.assign(context.jobs, { ageMs: () => ageMs });
  const { summary, nextStep } = await bench.call({ jobId: JOB_ID });
  return [summary, nextStep];
}

test("get_video_status says of a video that is ready: the link in the first sentence, and to ask whether to publish", async () => {
  expect(await guidanceFor(READY)).toEqual([
    `Your video is ready: ${LINK}`,
    "Show the user the link, and ask whether and where to publish it.",
  ]);
});

test("get_video_status says of a video that is ready on a server that can't publish: the link alone", async () => {
  expect(await guidanceFor(READY, undefined, { canPublish: false })).toEqual([
    `Your video is ready: ${LINK}`,
    "Show the user the link.",
  ]);
});

test("get_video_status says of a video that was posted already: where, as far as this computer knows", async () => {
  const history = async () =>
    new Map([
      [
        JOB_ID,
        {
          publishedTo: [
            POST,
            { ...POST, platform: "x" },
            { ...POST, platform: "fb", unknown: true as const },
          ],
        },
      ],
    ]);

  expect(await guidanceFor(READY, undefined, { history })).toEqual([
    `Your video is ready: ${LINK} It was posted to tiktok and x. It may have been posted to fb: the answer was lost.`,
    "Show the user the link, and those of the posts.",
  ]);
});

test("get_video_status says of a video whose link the service has not listed yet: to look again", async () => {
  const { finalVideoUrl: _, ...job } = READY;

  expect(await guidanceFor(job)).toEqual([
    "The video is ready: 2 clips. The service has not listed the link of the final video yet.",
    "Call get_video_status again in a few seconds for that link. If the video is an older one, look for the link with list_videos.",
  ]);
});

test("get_video_status orders no loop for a link that could not be looked up", async () => {
  const { finalVideoUrl: _, ...job } = READY;
  const { call, jobs } = benchOf(job);
  jobs.put(job);
  jobs.noteLookup(JOB_ID, false);

  expect(await call({ jobId: JOB_ID })).toMatchObject({
    summary: "The video is ready: 2 clips. The link of the final video could not be looked up.",
    nextStep: "Tell the user that it is ready. Look for the link with get_video_status when they ask for it.",
  });
});

test("get_video_status says of a video that failed: that the credits come back", async () => {
  expect(await guidanceFor({ ...RUNNING, status: "failed", done: true })).toEqual([
    "The render failed, and the service refunds its credits by itself.",
    "Tell the user. The same video may be generated again if they still want it.",
  ]);
});

test.each<[string, Partial<Job>, number | undefined, string]>([
  ["is known to have clips", {}, undefined, "2 clips so far. Renders take 2 to 4 minutes."],
  [
    "has one clip",
    { videoUrls: CLIPS.slice(1) },
    0,
    "1 clip so far. Started just now; renders take 2 to 4 minutes.",
  ],
  [
    "counts its clips",
    { progress: { total: 4, completed: 2 } },
    90_000,
    "2 of 4 clips. Started 1 minute ago; renders take 2 to 4 minutes.",
  ],
  [
    "has lost one",
    { progress: { total: 4, completed: 2, failed: 1 } },
    10 * MINUTE_MS - 1,
    "2 of 4 clips, 1 failed. Started 9 minutes ago; renders take 2 to 4 minutes.",
  ],
  [
    "has links that are not safe",
    { unsafeLinksLeftOut: 1 },
    undefined,
    "2 clips so far. Renders take 2 to 4 minutes. Links that are not safe to open were left out.",
  ],
])(
  "get_video_status says of a video that renders and %s: how far it is and how long it takes",
  async (_, state, ageMs, words) => {
    expect(await guidanceFor({ ...RUNNING, ...state }, ageMs)).toEqual([`Still rendering: ${words}`, AGAIN]);
  },
);

test("get_video_status of a render over ten minutes: to tell the user, and not to wait on", async () => {
  const job = { ...RUNNING, progress: { total: 4, completed: 0 } };

  expect(await guidanceFor(job, 10 * MINUTE_MS)).toEqual([
    "Still rendering: 0 of 4 clips. Started 10 minutes ago, much longer than the usual 2 to 4 minutes.",
    "Tell the user that it takes unusually long. Look again with get_video_status when they ask, and don't generate it again.",
  ]);
});

test.each(["queued", "cancelled", "published"])(
  "get_video_status shows %s as the service's word",
  async (status) => {
    expect(await guidanceFor({ ...RUNNING, status })).toEqual([
      `The service gives the status "${status}": 2 clips so far. Renders take 2 to 4 minutes.`,
      AGAIN,
    ]);
  },
);

test("get_video_status names the clips that have failed in a video that is ready", async () => {
  const job = { ...READY, progress: { total: 3, completed: 2, failed: 1 } };

  expect((await guidanceFor(job))[0]).toBe(`Your video is ready: ${LINK} 1 of 3 clips failed.`);
});

test("get_video_status does not look again for a link that was left out because it is not safe", async () => {
  const { finalVideoUrl: _, ...job } = READY;

  expect(await guidanceFor({ ...job, unsafeLinksLeftOut: 1 })).toEqual([
    "The video is ready: 2 clips. Links that are not safe to open were left out.",
    "Tell the user to watch it on the service's website.",
  ]);
});

test.each([
  [READY, 50, true],
  [RUNNING, 50, true],
  [RUNNING, 0, false],
])(
  "get_video_status gives the arguments of a job if it has ended: %o, waiting %i s: %s",
  async (job, waitSeconds, has) => {
    const { call } = benchOf(job, {
      waitForEnd: async () => READY,
      history: async () => new Map([[JOB_ID, { publishedTo: [], arguments: { topic: "Tides" } }]]),
    });

    expect("arguments" in (await call({ jobId: JOB_ID, waitSeconds }))).toBe(has);
  },
);

test("get_video_status begins a wait with what it read up to five seconds ago, and else asks for the job", async () => {
  const asked: string[] = [];
  const { call } = benchFor(getVideoStatus, {
    reader: {
      read: async () => (asked.push("the job"), RUNNING),
      readRecent: async (_, maxAgeMs) => (asked.push(`at most ${maxAgeMs} ms old`), RUNNING),
    },
    waitForEnd: async (job) => job,
  });

  await call({ jobId: JOB_ID, waitSeconds: 50 });
  await call({ jobId: JOB_ID });

  expect(asked).toEqual(["at most 5000 ms old", "the job"]);
});

const failing = (retryable: boolean) =>
  benchFor(getVideoStatus, {
    reader: readerOf(async () => {
      throw new BridgeError({ ...failure("rejected").facts, retryable });
    }),
    waitForEnd: async (job) => ({ ...job, status: "completed", done: true }),
  });

test("get_video_status whose first look fails for a moment waits for a video that this process knows", async () => {
  const { call, jobs } = failing(true);
  jobs.put(RUNNING);

  expect(await call({ jobId: JOB_ID, waitSeconds: 50 })).toMatchObject({
    jobId: JOB_ID,
    status: "completed",
  });
});

test("get_video_status whose first look fails for a moment says so without a wait, for an unknown video and after a final refusal", async () => {
  const { call, jobs } = failing(true);
  const unknown = await errorOf(call({ jobId: JOB_ID, waitSeconds: 50 }));
  jobs.put(RUNNING);
  const withoutWait = await errorOf(call({ jobId: JOB_ID }));
  const refused = failing(false);
  refused.jobs.put(RUNNING);
  const final = await errorOf(refused.call({ jobId: JOB_ID, waitSeconds: 50 }));

  expect([unknown, withoutWait, final].map(({ retryable }) => retryable)).toEqual([true, true, false]);
});

test("get_video_status gives what this computer knows of a job that has ended: where it was posted and how it was ordered", async () => {
  const known = { publishedTo: [POST], arguments: { topic: "Tides", duration: 20 } };
  const { call } = benchOf(READY, { history: async () => new Map([[JOB_ID, known]]) });

  expect(await call({ jobId: JOB_ID.toUpperCase() })).toMatchObject(known);
});

test("get_video_status says in a sandbox that it is one", async () => {
  const { call } = benchOf(READY, { isSandbox: true });

  expect(await call({ jobId: JOB_ID })).toMatchObject({
    summary: `Your video is ready: ${LINK} This is a sandbox: sample clips, nothing was rendered, charged or posted.`,
  });
});
