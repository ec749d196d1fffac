// Nothing is paid or posted twice, with clients of both protocols: the same call again, a lost answer, a
// killed server, two processes. test/pure has the cases that need no process.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BUILT_FILE, type ClientStart, TEST_CLIENTS, type TestClient, textOf } from "../fixtures/clients.ts";
import {
  GENERATE,
  JOB_ID,
  KEY,
  OTHER_JOB_ID,
  PUBLISH,
  STATUS,
  OTHER_STATUS,
  VIDEOS,
} from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { scriptedService, type Scripts } from "../fixtures/scripted-service.ts";

const OLDER = "2f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";
/** Runs in a process of its own. */
const BUILT = { file: BUILT_FILE };
const TIDES = { topic: "Tides", duration: 20 };
const POST = { jobId: OLDER, platforms: ["tiktok"] };
const POSTED = { platform: "tiktok", ok: true, url: "https://tiktok.example/1" };
const DUPLICATE = { code: "duplicate", outcome: "not_sent", retryable: false };

const started = (jobId: string) => ({ json: { jobId, status: "processing" } });
const posted = { json: { results: [POSTED] } };
const ready = {
  json: { status: "completed", videoUrls: [], finalVideoUrl: "https://m.example/f.mp4" },
};
const rendering = { json: { status: "processing", videoUrls: [] } };
const listed = (...jobIds: readonly string[]) => ({
  json: { videos: jobIds.map((jobId) => ({ jobId, status: "processing" })) },
});

type Result = Parameters<typeof textOf>[0];
const errorIn = (result: Result) => result._meta?.["faceless/error"];
/** The confirmation code in a result or an error. */
const codeIn = (result: Result) => /confirm: "(\w+)"/.exec(textOf(result))?.[1] ?? "no code";

/** Makes everything in the journal older. */
function makeOlder(folder: string, minutes = 6): void {
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name), "utf8");
    const older = (_: string, field: string, ms: string) => `"${field}":${Number(ms) - minutes * 60_000}`;
    writeFileSync(join(folder, name), text.replace(/"(atMs)":([\d.]+)/g, older));
  }
}

describe.each(TEST_CLIENTS)("With %s", (_name, connect) => {
  /** `start` connects to a new server with the same journal; `sent` counts orders and publications. */
  async function computer(scripts: Scripts) {
    const rest = await scriptedService({ [`GET /api/v1/status/${OLDER}`]: ready, ...scripts });
    const folder = temporaryFolder();
    const env = { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: rest.url, FACELESS_STATE_DIR: folder };
    const start = (changes: Record<string, string> = {}, more: ClientStart = {}) =>
      connect({ ...more, env: { ...env, ...changes } });
    const sent = () => [GENERATE, PUBLISH].map((route) => rest.lines(route).length);
    return { rest, folder, start, sent };
  }

  test("the same order gives the first job with any key, and only the code starts a second", async () => {
    const { start, sent } = await computer({
      [GENERATE]: [started(JOB_ID), started(OTHER_JOB_ID)],
      [STATUS]: [rendering, ready],
      [OTHER_STATUS]: rendering,
    });
    const client = await start();
    const first = await client.call("generate_video", TIDES);
    const running = await client.call("generate_video", TIDES);
    expect(running.structuredContent).toEqual({
      ...first.structuredContent,
      summary: expect.stringMatching(/^No new video was started or paid for: .* it is still rendering\.$/),
      nextStep: expect.stringMatching(/ Only if the user wants another like it, call generate_video /),
      alreadyStarted: true,
    });
    const other = await start({ FACELESS_API_KEY: "fl_example_two" });
    const completed = await other.call("generate_video", { style: "story", ...TIDES, topic: "“TIDES”." });
    expect(completed.structuredContent).toMatchObject({
      summary: expect.stringMatching(
        /^No new video was started or paid for: a video of the same words is ready: https:\/\/m\.example\/f\.mp4 /,
      ),
      jobId: JOB_ID,
      alreadyStarted: true,
    });
    expect(sent()).toEqual([1, 0]);

    const confirmed = { ...TIDES, confirm: codeIn(completed) };
    const second = await client.call("generate_video", confirmed);
    const repeated = await client.call("generate_video", confirmed);
    expect(second.structuredContent).not.toHaveProperty("alreadyStarted");
    expect(repeated.structuredContent).toMatchObject({ jobId: OTHER_JOB_ID, alreadyStarted: true });
    expect(sent()).toEqual([2, 0]);
  });

  test("twelve equal calls over two processes send one request and share its answer", async () => {
    const clients: TestClient[] = [];
    // Each process has read its six calls once it answers a later one.
    const lastly = async (json: object) => {
      for (const client of clients) await client.call("list_videos");
      return { json };
    };
    const { start, sent } = await computer({
      [GENERATE]: () => lastly(started(JOB_ID).json),
      [PUBLISH]: () => lastly(posted.json),
      [STATUS]: rendering,
      [VIDEOS]: listed(),
    });
    clients.push(await start({}, BUILT), await start({}, BUILT));
    const six = [1, 2, 3, 4, 5, 6];
    const twelve = (name: string, args: Record<string, unknown>) =>
      Promise.all(clients.flatMap((client) => six.map(() => client.call(name, args))));
    const calls = [twelve("generate_video", TIDES), twelve("publish_video", POST)];
    const answers = (await Promise.all(calls)).flat().map(({ structuredContent }) => structuredContent);

    expect(answers.filter((answer) => answer?.["jobId"] === JOB_ID)).toHaveLength(12);
    expect(answers.filter((answer) => answer?.["results"] !== undefined)).toHaveLength(12);
    expect(sent()).toEqual([1, 1]);
  });

  test("a post that was answered 409 is known to a server with another key and address, which sends only the rest", async () => {
    const failed = { platform: "youtube", ok: false, error: "Upload timed out" };
    const youtube = { json: { results: [{ platform: "youtube", ok: true }] } };
    const partly = { status: 409, json: { results: [POSTED, failed] } };
    const { rest, start } = await computer({ [PUBLISH]: [partly, youtube] });
    const both = { jobId: OLDER, platforms: ["tiktok", "youtube"] };
    const first = await (await start()).call("publish_video", both);
    const FACELESS_BASE_URL = rest.url.replace("127.0.0.1", "localhost");
    const other = await start({ FACELESS_API_KEY: "fl_example_two", FACELESS_BASE_URL });
    const again = await other.call("publish_video", both);

    expect(first.structuredContent).toMatchObject({
      nextStep: expect.stringContaining("mark it as AI-made"),
      results: [POSTED, failed],
    });
    expect(again.structuredContent).toEqual({
      summary: expect.stringMatching(/a post on YouTube .* posted to TikTok by an earlier call/),
      nextStep: expect.stringMatching(
        /^((?!AI-made).)* Only if the user wants it posted a second time, call publish_video with platforms \["tiktok"\] and confirm: "[0-9a-f]{6}"\.$/,
      ),
      results: [{ ...POSTED, alreadyPublished: true }, ...youtube.json.results],
    });
    const posts = rest.requests.filter(({ path }) => path.endsWith("/publish")).map(({ json }) => json);
    expect(posts).toEqual([both, { jobId: OLDER, platforms: ["youtube"] }]);
  });

  test("a killed server's request is in progress for six minutes, then needs a code", async () => {
    const scripts: Scripts = { [GENERATE]: "hang", [PUBLISH]: ["reset", "hang", posted] };
    const { folder, start, sent } = await computer(scripts);
    await (await start()).call("publish_video", POST);
    makeOlder(folder);
    const killed = await start({}, BUILT);
    const coded = { ...POST, confirm: codeIn(await killed.call("publish_video", POST)) };
    const calls = [killed.call("generate_video", TIDES), killed.call("publish_video", coded)];
    const outcomes = Promise.allSettled(calls);
    await expect.poll(sent).toEqual([1, 2]);
    killed.kill();
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);

    const waiting = await start({}, { ...BUILT, clockSpeed: 100 });
    const early = [waiting.call("generate_video", TIDES), waiting.call("publish_video", coded)];
    for (const result of await Promise.all(early)) {
      expect(errorIn(result)).toMatchObject({ code: "in_progress", outcome: "not_sent" });
      expect(textOf(result)).not.toContain("confirm");
    }

    makeOlder(folder);
    const client = await start();
    expect(errorIn(await client.call("generate_video", TIDES))).toEqual(DUPLICATE);
    const refused = await client.call("publish_video", coded);
    expect(errorIn(refused)).toEqual(DUPLICATE);
    expect(textOf(refused)).toMatch(
      /^The confirm code of this call is not valid\. Not sent: \d minutes? ago this video was sent to TikTok and the outcome is not known, so it may already be public there\./,
    );
    expect(sent()).toEqual([1, 2]);
    const again = await client.call("publish_video", { ...POST, confirm: codeIn(refused) });
    expect(again.structuredContent).toMatchObject({ results: [POSTED] });
  });

  test("a gateway's 404 does not say that an old job is gone, so that it is not paid for again", async () => {
    const { folder, start, sent } = await computer({
      [GENERATE]: started(JOB_ID),
      [STATUS]: { status: 404, body: "<html>" },
    });
    await (await start()).call("generate_video", TIDES);
    makeOlder(folder, 19 * 60);

    const { structuredContent } = await (await start()).call("generate_video", TIDES);
    expect(structuredContent).toMatchObject({ jobId: JOB_ID, alreadyStarted: true });
    expect(sent()).toEqual([1, 0]);
  });

  test("a publication that is cancelled after it was sent, and made again, posts once", async () => {
    const cancel = new AbortController();
    const { start, sent } = await computer({
      [PUBLISH]: async () => {
        cancel.abort();
        // Answered after the cancellation was read.
        await client.call("list_videos");
        return posted;
      },
      [VIDEOS]: listed(),
    });
    const client = await start();
    const cancelled = client.call("publish_video", POST, { signal: cancel.signal }).catch(() => "cancelled");
    expect(await cancelled).toBe("cancelled");

    const { structuredContent } = await client.call("publish_video", POST);
    expect(structuredContent).toMatchObject({ results: [{ ...POSTED, alreadyPublished: true }] });
    expect(sent()).toEqual([0, 1]);
  });

  test("the jobs of an earlier server are listed by a new one, with their topics", async () => {
    const { start } = await computer({ [GENERATE]: started(JOB_ID), [VIDEOS]: listed(OLDER) });
    const earlier = await start();
    await earlier.call("generate_video", TIDES);
    await earlier.raw.close();

    const { raw } = await start();
    // A list waits for the service two seconds at most, which a busy machine may need.
    await expect
      .poll(async () => (await raw.listResources()).resources.map(({ name }) => name).sort())
      .toEqual(["Tides", `Video ${OLDER}`, "catalog"]);
  });
});
