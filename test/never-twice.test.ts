// What is paid for is sent once, over real stdio and in both protocol eras: the same call again, a lost answer, a killed server.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ERAS, textOf } from "./fixtures/clients.ts";
import { type ScriptedService, scriptedService } from "./fixtures/scripted-service.ts";

const KEY = "fl_test_key_0123456789";
const JOB = "0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";
const SECOND = "1f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";
const OLDER = "2f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";
const GENERATE = "POST /api/v1/generate";
const PUBLISH = "POST /api/v1/publish";
const STATUS = `GET /api/v1/status/${JOB}`;
const VIDEOS = "GET /api/v1/videos";
const TIDES = { topic: "Tides", duration: 20 };

const started = (jobId: string) => ({ json: { jobId, status: "processing" } });
const listed = (...jobIds: readonly string[]) => ({
  json: { videos: jobIds.map((jobId) => ({ jobId, status: "processing" })) },
});

function envOf(rest: ScriptedService, more: Record<string, string> = {}): Record<string, string> {
  return { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: rest.url, ...more };
}

function stateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "state-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const arrived = (rest: ScriptedService, route: string) =>
  vi.waitFor(() => expect(rest.lines(route)).toHaveLength(1), { timeout: 10_000, interval: 10 });

const REFUSED = {
  code: "duplicate",
  outcome: "not_sent",
  retryable: false,
};
const DUPLICATE_TEXT =
  "A request for the same video was sent about 1 min ago, and it is not known what became of it, so this one was not sent. No request was carried out, so no credits were spent. Calling again unchanged will fail again. Look with list_videos whether that video is there. Only if the person wants another one all the same, call again with confirmDuplicate: true.";

describe.each(ERAS)("%s", (_name, connect) => {
  test("that asks for the same video again gets the job already running, until that has ended", async () => {
    const running = { json: { status: "processing", videoUrls: [] } };
    const rest = await scriptedService({
      [GENERATE]: [started(JOB), started(SECOND)],
      [STATUS]: [running, running, { json: { status: "completed", videoUrls: [] } }],
    });
    const client = await connect({ env: envOf(rest) });
    const running1 = { jobId: JOB, status: "processing", resourceUri: `faceless://jobs/${JOB}` };

    const first = await client.call("generate_video", TIDES);
    const again = await client.call("generate_video", TIDES);
    const spelled = await client.call("generate_video", { style: "story", ...TIDES, language: "en" });
    expect(first.structuredContent).toEqual(running1);
    expect(again.structuredContent).toEqual({ ...running1, alreadyRunning: true });
    expect(spelled.structuredContent).toEqual({ ...running1, alreadyRunning: true });
    expect(textOf(again)).toMatch(
      /^This same video was started about 1 min ago as job 0f4b6f2e-\S+, which is still rendering, so nothing new was started or spent: follow that job, and use confirmDuplicate only if the person wants a second one\.\n/,
    );
    expect(rest.lines(GENERATE)).toHaveLength(1);

    const anew = await client.call("generate_video", TIDES);
    expect(anew.structuredContent).toEqual({
      jobId: SECOND,
      status: "processing",
      resourceUri: `faceless://jobs/${SECOND}`,
    });
    expect(rest.lines(GENERATE)).toHaveLength(2);
  });

  test("that asks for another video, or for a second one on purpose, gets it", async () => {
    const rest = await scriptedService({
      [GENERATE]: started(JOB),
      [STATUS]: { json: { status: "queued" } },
    });
    const client = await connect({ env: envOf(rest) });
    await client.call("generate_video", TIDES);
    await client.call("generate_video", { ...TIDES, duration: 21 });
    await client.call("generate_video", { ...TIDES, confirmDuplicate: true });

    expect(rest.requests.filter(({ path }) => path.endsWith("generate")).map(({ json }) => json)).toEqual([
      TIDES,
      { ...TIDES, duration: 21 },
      TIDES,
    ]);
  });

  test("that calls twice at once starts one video, also after the last one has ended", async () => {
    const rest = await scriptedService({
      [GENERATE]: [started(JOB), started(SECOND)],
      [STATUS]: { json: { status: "completed", videoUrls: [] } },
    });
    const client = await connect({ env: envOf(rest) });
    const twice = async () => {
      const calls = [client.call("generate_video", TIDES), client.call("generate_video", TIDES)];
      return (await Promise.all(calls)).map(({ structuredContent }) => structuredContent?.["jobId"]);
    };

    expect([await twice(), await twice()]).toEqual([
      [JOB, JOB],
      [SECOND, SECOND],
    ]);
    expect(rest.lines(GENERATE)).toHaveLength(2);
  });

  test("is told of a lost answer which jobs it could be, and asked before the same is sent again", async () => {
    const rest = await scriptedService({
      [GENERATE]: ["reset", started(SECOND)],
      [VIDEOS]: [listed(OLDER), listed(JOB, OLDER)],
    });
    const client = await connect({ env: envOf(rest) });
    await client.call("list_videos", {});

    const lost = await client.call("generate_video", TIDES);
    expect(lost.structuredContent).toBeUndefined();
    expect(lost._meta?.["faceless/error"]).toEqual({ code: "network", outcome: "unknown", retryable: false });
    expect(textOf(lost)).toBe(
      `The request to start the video was sent, but no complete answer came back: the connection was closed (ECONNRESET). The request left, and it is not known whether a video was started and credits were spent. Do not call again before checking. The newest jobs that could be it: ${JOB} (processing). Look for the video with list_videos. If it is there, follow it with get_video_status and do not start it again.`,
    );

    const again = await client.call("generate_video", TIDES);
    expect(again._meta?.["faceless/error"]).toEqual(REFUSED);
    expect(textOf(again)).toBe(DUPLICATE_TEXT);
    expect(rest.lines(GENERATE)).toHaveLength(1);

    const meant = await client.call("generate_video", { ...TIDES, confirmDuplicate: true });
    expect(meant.structuredContent).toMatchObject({ jobId: SECOND });
    expect(rest.lines(GENERATE)).toHaveLength(2);
  });

  test("whose server is killed before the answer finds in a new one that nothing is sent twice", async () => {
    const rest = await scriptedService({
      [GENERATE]: ["hang", started(SECOND)],
      [PUBLISH]: ["hang", { json: { results: [{ platform: "tiktok", ok: true }] } }],
    });
    const env = envOf(rest, { FACELESS_STATE_DIR: stateFolder() });
    const post = { jobId: OLDER, platforms: ["tiktok"] };
    const doomed = await connect({ env });
    const lost = [doomed.call("generate_video", TIDES), doomed.call("publish_video", post)];
    const ends = Promise.allSettled(lost);
    await arrived(rest, GENERATE);
    await arrived(rest, PUBLISH);
    process.kill(doomed.pid(), "SIGKILL");
    expect((await ends).map(({ status }) => status)).toEqual(["rejected", "rejected"]);

    const client = await connect({ env });
    const video = await client.call("generate_video", { duration: 20, topic: "Tides" });
    const publication = await client.call("publish_video", post);

    expect(video._meta?.["faceless/error"]).toEqual(REFUSED);
    expect(textOf(video)).toBe(DUPLICATE_TEXT);
    expect(publication._meta?.["faceless/error"]).toEqual({
      ...REFUSED,
      retryable: true,
      retryAfterSeconds: expect.any(Number),
    });
    expect(textOf(publication)).toMatch(
      /^A request to publish the same video on the same platforms was sent about 1 min ago, and it is not known what became of it, so this one was not sent\. No request was carried out, so nothing was published\. Calling again is safe after \d{3} s\. Look at the accounts themselves whether it was posted there\.$/,
    );
    expect([rest.lines(GENERATE), rest.lines(PUBLISH)]).toEqual([[GENERATE], [PUBLISH]]);
    const meant = await client.call("generate_video", { ...TIDES, confirmDuplicate: true });
    expect(meant.structuredContent).toMatchObject({ jobId: SECOND });
  });

  test("finds the jobs of an earlier server by their topics, and one that runs is not started again", async () => {
    const rest = await scriptedService({
      [GENERATE]: started(JOB),
      [STATUS]: { json: { status: "processing", videoUrls: [] } },
      [VIDEOS]: listed(OLDER),
    });
    const env = envOf(rest, { FACELESS_STATE_DIR: stateFolder() });
    const earlier = await connect({ env });
    await earlier.call("generate_video", TIDES);
    await earlier.raw.close();

    const client = await connect({ env });
    const { resources } = await client.raw.listResources();
    const again = await client.call("generate_video", TIDES);

    expect(resources.map(({ name }) => name).sort()).toEqual(["Tides", `Video ${OLDER}`, "catalog"]);
    expect(again.structuredContent).toMatchObject({ jobId: JOB, alreadyRunning: true });
    expect(rest.lines(GENERATE)).toHaveLength(1);
  });

  test("can't get past FACELESS_MAX_GENERATIONS with answers that are lost", async () => {
    const rest = await scriptedService({ [GENERATE]: "reset", [VIDEOS]: listed() });
    const client = await connect({ env: envOf(rest, { FACELESS_MAX_GENERATIONS: "2" }) });
    const codes: unknown[] = [];
    for (const args of [TIDES, TIDES, { ...TIDES, confirmDuplicate: true }, { topic: "Moons" }, TIDES])
      codes.push((await client.call("generate_video", args))._meta?.["faceless/error"]);

    expect(codes).toEqual(
      ["network", "duplicate", "network", "limit_reached", "duplicate"].map((code) =>
        expect.objectContaining({ code }),
      ),
    );
    expect(rest.lines(GENERATE)).toHaveLength(2);
  });

  test("hears once that no journal can be kept, and this server still sends nothing twice", async () => {
    const file = join(stateFolder(), "file");
    writeFileSync(file, "");
    const rest = await scriptedService({ [GENERATE]: "reset", [VIDEOS]: listed() });
    const client = await connect({ env: envOf(rest, { FACELESS_STATE_DIR: file }) });
    await client.call("generate_video", TIDES);
    await client.call("generate_video", TIDES);

    expect(client.stderr()).toBe(
      "faceless-video-mcp warn: No journal is kept: its folder can't be written (EEXIST).\n",
    );
    expect(rest.lines(GENERATE)).toHaveLength(1);
    expect(readFileSync(file, "utf8")).toBe("");
  });
});
