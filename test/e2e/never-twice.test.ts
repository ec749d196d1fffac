// Nothing is paid or posted twice by several processes, with clients of both protocols: with another key and
// address, at the same time, after a kill. test/features and test/pure have the cases that need no process.

import { describe, expect, test } from "vitest";
import {
  BUILT_FILE,
  type ClientStart,
  connectLegacy,
  connectModern,
  TEST_CLIENTS,
  type TestClient,
  textOf,
} from "../fixtures/clients.ts";
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
import { journalFolder } from "../fixtures/journal-folder.ts";
import { scriptedService, type Scripts } from "../fixtures/scripted-service.ts";

/** Runs in a process of its own. */
const BUILT = { file: BUILT_FILE };
const TIDES = { topic: "Tides", duration: 20 };
const POST = { jobId: JOB_ID, platforms: ["tiktok"] };
const POSTED = { platform: "tiktok", ok: true, url: "https://tiktok.example/1" };
const DUPLICATE = { code: "duplicate", outcome: "not_sent", retryable: false };

const started = (jobId: string) => ({ json: { jobId, status: "processing" } });
const posted = { json: { results: [POSTED] } };
const ready = { json: { status: "completed", videoUrls: [], finalVideoUrl: "https://m.example/f.mp4" } };

type Result = Parameters<typeof textOf>[0];
const errorIn = (result: Result) => result._meta?.["faceless/error"];
/** The confirmation code in a result or an error. */
const codeIn = (result: Result) => /confirm: "(\w+)"/.exec(textOf(result))?.[1] ?? "no code";

type Connect = (start?: ClientStart) => Promise<TestClient>;

/** `start` connects a client to a new server with the same journal; `sent` counts orders and publications. */
async function computer(scripts: Scripts) {
  const rest = await scriptedService({
    [STATUS]: ready,
    [OTHER_STATUS]: ready,
    [VIDEOS]: { json: { videos: [] } },
    ...scripts,
  });
  const { folder, makeOlder } = journalFolder();
  const env = { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: rest.url, FACELESS_STATE_DIR: folder };
  const start = (connect: Connect, more: ClientStart = {}) =>
    connect({ ...more, env: { ...env, ...more.env } });
  const sent = () => [GENERATE, PUBLISH].map((route) => rest.lines(route).length);
  return { rest, makeOlder, start, sent };
}

describe.each(TEST_CLIENTS)("With %s", (_name, connect) => {
  test("a server with another key and address knows what was ordered and posted, and only codes repeat it", async () => {
    const failed = { platform: "youtube", ok: false, error: "Upload timed out" };
    const youtube = { platform: "youtube", ok: true };
    const { rest, start, sent } = await computer({
      [GENERATE]: [started(JOB_ID), started(OTHER_JOB_ID)],
      [PUBLISH]: [{ status: 409, json: { results: [POSTED, failed] } }, { json: { results: [youtube] } }],
    });
    const both = { jobId: JOB_ID, platforms: ["tiktok", "youtube"] };
    const first = await start(connect);
    await first.call("generate_video", TIDES);
    await first.call("publish_video", both);
    const FACELESS_BASE_URL = rest.url.replace("127.0.0.1", "localhost");
    const other = await start(connect, {
      env: { FACELESS_API_KEY: "fl_example_two", FACELESS_BASE_URL },
    });

    const ordered = await other.call("generate_video", { style: "story", ...TIDES, topic: "“TIDES”." });
    expect(ordered.structuredContent).toMatchObject({ jobId: JOB_ID, alreadyStarted: true });
    const publishedAgain = await other.call("publish_video", both);
    expect(publishedAgain.structuredContent).toMatchObject({
      results: [{ ...POSTED, alreadyPublished: true }, youtube],
    });
    expect(sent()).toEqual([1, 2]);
    expect(rest.requests.at(-1)?.json).toEqual({ jobId: JOB_ID, platforms: ["youtube"] });
    const { resources } = await other.raw.listResources();
    expect(resources.map(({ name }) => name)).toContain("Tides");

    const confirmed = { ...TIDES, confirm: codeIn(ordered) };
    const second = await first.call("generate_video", confirmed);
    const repeated = await first.call("generate_video", confirmed);
    expect(second.structuredContent).not.toHaveProperty("alreadyStarted");
    expect(repeated.structuredContent).toMatchObject({ jobId: OTHER_JOB_ID, alreadyStarted: true });
    expect(sent()).toEqual([2, 2]);
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
    });
    const client = await start(connect);
    const cancelled = client.call("publish_video", POST, { signal: cancel.signal }).catch(() => "cancelled");
    expect(await cancelled).toBe("cancelled");

    const { structuredContent } = await client.call("publish_video", POST);
    expect(structuredContent).toMatchObject({ results: [{ ...POSTED, alreadyPublished: true }] });
    expect(sent()).toEqual([0, 1]);
  });
});

test("twelve equal calls of a legacy and a modern client over two processes send one request and share its answer", async () => {
  const clients: TestClient[] = [];
  // A process that answers a later call has read its six calls.
  const answerLast = async (json: object) => {
    for (const client of clients) await client.call("list_videos");
    return { json };
  };
  const { start, sent } = await computer({
    [GENERATE]: () => answerLast(started(OTHER_JOB_ID).json),
    [PUBLISH]: () => answerLast(posted.json),
  });
  clients.push(await start(connectLegacy, BUILT), await start(connectModern, BUILT));
  const six = [1, 2, 3, 4, 5, 6];
  const twelve = (name: string, args: Record<string, unknown>) =>
    Promise.all(clients.flatMap((client) => six.map(() => client.call(name, args))));
  const calls = [twelve("generate_video", TIDES), twelve("publish_video", POST)];
  const answers = (await Promise.all(calls)).flat().map(({ structuredContent }) => structuredContent);

  expect(answers.filter((answer) => answer?.["jobId"] === OTHER_JOB_ID)).toHaveLength(12);
  expect(answers.filter((answer) => answer?.["results"] !== undefined)).toHaveLength(12);
  expect(sent()).toEqual([1, 1]);
});

test("a killed server's request is in progress for six minutes, then needs a code", async () => {
  const scripts: Scripts = { [GENERATE]: "hang", [PUBLISH]: ["reset", "hang", posted] };
  const { makeOlder, start, sent } = await computer(scripts);
  await (await start(connectLegacy)).call("publish_video", POST);
  makeOlder(6);
  const killed = await start(connectLegacy, BUILT);
  const coded = { ...POST, confirm: codeIn(await killed.call("publish_video", POST)) };
  const calls = [killed.call("generate_video", TIDES), killed.call("publish_video", coded)];
  const outcomes = Promise.allSettled(calls);
  await expect.poll(sent).toEqual([1, 2]);
  killed.kill();
  expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);

  const waiting = await start(connectModern, { ...BUILT, clockSpeed: 100 });
  const early = [waiting.call("generate_video", TIDES), waiting.call("publish_video", coded)];
  for (const result of await Promise.all(early)) {
    expect(errorIn(result)).toMatchObject({ code: "in_progress", outcome: "not_sent" });
    expect(textOf(result)).not.toContain("confirm");
  }

  makeOlder(6);
  const client = await start(connectLegacy);
  expect(errorIn(await client.call("generate_video", TIDES))).toEqual(DUPLICATE);
  const refused = await client.call("publish_video", coded);
  expect(errorIn(refused)).toEqual(DUPLICATE);
  expect(sent()).toEqual([1, 2]);
  const again = await client.call("publish_video", { ...POST, confirm: codeIn(refused) });
  expect(again.structuredContent).toMatchObject({ results: [POSTED] });
});
