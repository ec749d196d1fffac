// Nothing is paid or posted twice, over real stdio with clients of both protocols: the same call again, a lost answer, a killed
// server.

import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { TEST_CLIENTS, textOf } from "../fixtures/clients.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { type ScriptedService, scriptedService } from "../fixtures/scripted-service.ts";

const KEY = "fl_test_key_0123456789";
const JOB = "0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";
const SECOND = "1f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";
const OLDER = "2f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";
const GENERATE = "POST /api/v1/generate";
const PUBLISH = "POST /api/v1/publish";
const STATUS = `GET /api/v1/status/${JOB}`;
const VIDEOS = "GET /api/v1/videos";
const TIDES = { topic: "Tides", duration: 20 };
const POST = { jobId: OLDER, platforms: ["tiktok"] };
const POSTED = { platform: "tiktok", ok: true, url: "https://tiktok.example/1" };

const started = (jobId: string) => ({ json: { jobId, status: "processing" } });
const listed = (...jobIds: readonly string[]) => ({
  json: { videos: jobIds.map((jobId) => ({ jobId, status: "processing" })) },
});

function envFor(rest: ScriptedService, more: Record<string, string> = {}): Record<string, string> {
  return { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: rest.url, ...more };
}

const arrived = (rest: ScriptedService, route: string) =>
  vi.waitFor(() => expect(rest.lines(route)).toHaveLength(1), { timeout: 10_000, interval: 10 });

const platformsSent = (rest: ScriptedService) =>
  rest.requests
    .filter(({ path }) => path.endsWith("/publish"))
    .map(({ json }) => Reflect.get(Object(json), "platforms"));

/** The confirmation code in a result or an error. */
function codeIn(result: Parameters<typeof textOf>[0]): string {
  return /confirmDuplicate: "(\w+)"/.exec(textOf(result))?.[1] ?? "no code";
}

const DUPLICATE = { code: "duplicate", outcome: "not_sent", retryable: false };

describe.each(TEST_CLIENTS)("%s", (_name, connect) => {
  test("that asks for the same video again gets the first job while that runs or has completed", async () => {
    const status = (value: string) => ({
      json: { status: value, videoUrls: [], finalVideoUrl: "https://m.example/f.mp4" },
    });
    const rest = await scriptedService({
      [GENERATE]: [started(JOB), started(SECOND)],
      [STATUS]: [status("processing"), status("completed"), status("failed")],
    });
    const client = await connect({ env: envFor(rest) });
    const first = await client.call("generate_video", TIDES);
    expect(first.structuredContent).toEqual({
      summary: expect.stringMatching(/^The video was started\./),
      nextStep: expect.stringMatching(/^Follow it with get_video_status/),
      jobId: JOB,
      status: "processing",
      resourceUri: `faceless://jobs/${JOB}`,
    });

    const running = await client.call("generate_video", TIDES);
    expect(running.structuredContent).toEqual({
      summary: expect.stringMatching(
        /^This same video was started (just now|\d+ seconds? ago) and it is still rendering, so nothing was started or charged now\.$/,
      ),
      nextStep: expect.stringMatching(
        /Only if the user wants a second video like it, call generate_video again with confirmDuplicate: "[0-9a-f]{6}"\.$/,
      ),
      jobId: JOB,
      status: "processing",
      resourceUri: `faceless://jobs/${JOB}`,
      alreadyStarted: true,
    });
    const completed = await client.call("generate_video", { style: "story", ...TIDES, language: "en" });
    expect(completed.structuredContent).toMatchObject({
      jobId: JOB,
      status: "completed",
      alreadyStarted: true,
    });
    expect(rest.lines(GENERATE)).toHaveLength(1);
  });

  test("starts a second video with the code of the previous answer, once", async () => {
    const rest = await scriptedService({
      [GENERATE]: [started(JOB), started(SECOND)],
      [STATUS]: { json: { status: "processing" } },
      [`GET /api/v1/status/${SECOND}`]: { json: { status: "processing" } },
    });
    const client = await connect({ env: envFor(rest) });
    await client.call("generate_video", TIDES);
    const confirmDuplicate = codeIn(await client.call("generate_video", TIDES));

    const second = await client.call("generate_video", { ...TIDES, confirmDuplicate });
    const repeated = await client.call("generate_video", { ...TIDES, confirmDuplicate });
    expect(second.structuredContent).toMatchObject({ jobId: SECOND });
    expect(repeated.structuredContent).toMatchObject({ jobId: SECOND, alreadyStarted: true });
    expect(rest.requests.filter(({ path }) => path.endsWith("generate")).map(({ json }) => json)).toEqual([
      TIDES,
      TIDES,
    ]);
  });

  test("is told after a lost answer which jobs it could be, and nothing is sent again without the code", async () => {
    const rest = await scriptedService({
      [GENERATE]: ["reset", started(SECOND)],
      [VIDEOS]: [listed(OLDER), listed(JOB, OLDER)],
    });
    const client = await connect({ env: envFor(rest) });
    await client.call("list_videos", {});

    const lost = await client.call("generate_video", TIDES);
    expect(lost.structuredContent).toBeUndefined();
    expect(lost._meta?.["faceless/error"]).toEqual({ code: "network", outcome: "unknown", retryable: false });
    expect(textOf(lost)).toContain(`The newest jobs that could be it: ${JOB} (processing).`);

    const again = await client.call("generate_video", TIDES);
    expect(again._meta?.["faceless/error"]).toEqual(DUPLICATE);
    expect(textOf(again)).toMatch(
      /^Not sent: the same video was requested (just now|\d+ seconds? ago) and its outcome is not known, so it may already be rendering\. This call started no video and spent no credits\. Look with list_videos whether it is there\. Only if it isn't, and the user still wants it, call generate_video again with confirmDuplicate: "[0-9a-f]{6}"\.$/,
    );
    expect(rest.lines(GENERATE)).toHaveLength(1);

    const confirmed = await client.call("generate_video", { ...TIDES, confirmDuplicate: codeIn(again) });
    expect(confirmed.structuredContent).toMatchObject({ jobId: SECOND });
    expect(rest.lines(GENERATE)).toHaveLength(2);
  });

  test("that publishes again gets the first post and sends only the rest", async () => {
    const rest = await scriptedService({
      [PUBLISH]: [
        { json: { results: [POSTED] } },
        { json: { results: [{ platform: "youtube", ok: true }] } },
      ],
    });
    const client = await connect({ env: envFor(rest) });
    await client.call("publish_video", POST);

    const again = await client.call("publish_video", POST);
    expect(again.structuredContent).toEqual({
      summary: "It was posted to tiktok by an earlier call, so it was not sent there again.",
      nextStep: expect.stringMatching(
        /^Only if the user wants it posted a second time, call publish_video with platforms \["tiktok"\] and confirmDuplicate: "[0-9a-f]{6}"\.$/,
      ),
      results: [{ ...POSTED, alreadyPublished: true }],
    });
    const both = await client.call("publish_video", { jobId: OLDER, platforms: ["tiktok", "youtube"] });
    expect(both.structuredContent).toMatchObject({
      summary:
        "Published on youtube. It was posted to tiktok by an earlier call, so it was not sent there again.",
      results: [
        { ...POSTED, alreadyPublished: true },
        { platform: "youtube", ok: true },
      ],
    });
    expect(platformsSent(rest)).toEqual([["tiktok"], ["youtube"]]);
  });

  test("whose server is killed before the answer cannot send the same request twice through a new one", async () => {
    const rest = await scriptedService({
      [GENERATE]: ["hang", started(SECOND)],
      [PUBLISH]: ["hang", { json: { results: [POSTED] } }],
    });
    const env = envFor(rest, { FACELESS_STATE_DIR: temporaryFolder() });
    const killed = await connect({ env });
    const lost = [killed.call("generate_video", TIDES), killed.call("publish_video", POST)];
    const outcomes = Promise.allSettled(lost);
    await arrived(rest, GENERATE);
    await arrived(rest, PUBLISH);
    process.kill(killed.pid(), "SIGKILL");
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);

    const client = await connect({ env });
    const video = await client.call("generate_video", { duration: 20, topic: "Tides" });
    const publication = await client.call("publish_video", POST);

    expect(video._meta?.["faceless/error"]).toEqual(DUPLICATE);
    expect(publication._meta?.["faceless/error"]).toEqual(DUPLICATE);
    expect(textOf(publication)).toMatch(
      /^Not sent: (just now|\d+ seconds? ago) this video was sent to tiktok and the outcome is not known, so it may already be public there\. This call published nothing\. Ask the user to look at the tiktok account\. Only if the video isn't there, and they still want it, call publish_video again with platforms \["tiktok"\] and confirmDuplicate: "[0-9a-f]{6}"\.$/,
    );
    expect([rest.lines(GENERATE), rest.lines(PUBLISH)]).toEqual([[GENERATE], [PUBLISH]]);

    const confirmed = await client.call("publish_video", { ...POST, confirmDuplicate: codeIn(publication) });
    expect(confirmed.structuredContent).toMatchObject({ results: [POSTED] });
    expect(rest.lines(PUBLISH)).toHaveLength(2);
  });

  test("that cancels a publication after it was sent and retries posts once", async () => {
    let answer = () => {};
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const rest = await scriptedService({
      [PUBLISH]: async () => (await answered, { json: { results: [POSTED] } }),
    });
    const client = await connect({ env: envFor(rest) });
    const cancel = new AbortController();
    const cancelled = client.callUntil("publish_video", POST, cancel.signal).catch(() => "cancelled");
    await arrived(rest, PUBLISH);
    cancel.abort();
    expect(await cancelled).toBe("cancelled");
    const retry = client.call("publish_video", POST);
    answer();

    expect((await retry).structuredContent).toMatchObject({
      results: [{ ...POSTED, alreadyPublished: true }],
    });
    expect(rest.lines(PUBLISH)).toHaveLength(1);
  });

  test("sees the jobs of an earlier server with their topics, and does not start a running one again", async () => {
    const rest = await scriptedService({
      [GENERATE]: started(JOB),
      [STATUS]: { json: { status: "processing", videoUrls: [] } },
      [VIDEOS]: listed(OLDER),
    });
    const env = envFor(rest, { FACELESS_STATE_DIR: temporaryFolder() });
    const earlier = await connect({ env });
    await earlier.call("generate_video", TIDES);
    await earlier.raw.close();

    const client = await connect({ env });
    const { resources } = await client.raw.listResources();
    const again = await client.call("generate_video", TIDES);

    expect(resources.map(({ name }) => name).sort()).toEqual(["Tides", `Video ${OLDER}`, "catalog"]);
    expect(again.structuredContent).toMatchObject({ jobId: JOB, alreadyStarted: true });
    expect(rest.lines(GENERATE)).toHaveLength(1);
  });

  test("cannot exceed FACELESS_MAX_GENERATIONS when answers are lost", async () => {
    const rest = await scriptedService({ [GENERATE]: "reset", [VIDEOS]: listed() });
    const client = await connect({ env: envFor(rest, { FACELESS_MAX_GENERATIONS: "2" }) });
    const codes: unknown[] = [];
    let confirmDuplicate = "";
    const call = async (args: object) => {
      const result = await client.call("generate_video", { ...args });
      codes.push(Reflect.get(Object(result._meta?.["faceless/error"]), "code"));
      return result;
    };
    await call(TIDES);
    confirmDuplicate = codeIn(await call(TIDES));
    await call({ ...TIDES, confirmDuplicate });
    await call({ topic: "Moons" });
    await call(TIDES);

    expect(codes).toEqual(["network", "duplicate", "network", "limit_reached", "duplicate"]);
    expect(rest.lines(GENERATE)).toHaveLength(2);
  });

  test("is warned once if the journal can't be written, and its server still sends nothing twice", async () => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");
    const rest = await scriptedService({ [GENERATE]: "reset", [VIDEOS]: listed() });
    const client = await connect({ env: envFor(rest, { FACELESS_STATE_DIR: file }) });
    await client.call("generate_video", TIDES);
    await client.call("generate_video", TIDES);

    expect(client.stderr()).toBe(
      "faceless-video-mcp warn: No journal is kept: its folder can't be written (EEXIST).\n",
    );
    expect(rest.lines(GENERATE)).toHaveLength(1);
    expect(readFileSync(file, "utf8")).toBe("");
  });

  test("sends nothing while the journal can't be read, and is told which file it is", async () => {
    const folder = temporaryFolder();
    const rest = await scriptedService({ [GENERATE]: started(JOB) });
    const client = await connect({ env: envFor(rest, { FACELESS_STATE_DIR: folder }) });
    // Reading a link that leads to itself fails with ELOOP for every user.
    symlinkSync("journal.jsonl", join(folder, "journal.jsonl"));

    const refused = await client.call("generate_video", TIDES);
    expect(refused._meta?.["faceless/error"]).toEqual({
      code: "journal_unreadable",
      outcome: "not_sent",
      retryable: true,
    });
    expect(textOf(refused)).toContain(`(ELOOP: ${join(folder, "journal.jsonl")})`);
    expect(rest.lines(GENERATE)).toEqual([]);
  });
});
