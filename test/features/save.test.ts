// FACELESS_SAVE_DIR as a user sees it: finished videos become files.

import { existsSync, mkdirSync, promises, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { download } from "../../src/jobs/download.ts";
import { fileNameOf } from "../../src/jobs/save-video.ts";
import { CANARY, tracesOf } from "../fixtures/canary.ts";
import { connectLegacy, connectModern, TEST_CLIENTS, type TestClient, textOf } from "../fixtures/clients.ts";
import { GENERATE, JOB_ID, JOB_URI, OTHER_JOB_ID, STATUS, VIDEOS } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { type Script, scriptedService } from "../fixtures/scripted-service.ts";
import { until } from "../fixtures/until.ts";

/** Begins like an MP4. No two parts of it are alike. */
const VIDEO = Buffer.concat([
  Buffer.from("\0\0\0\x20ftypisom", "latin1"),
  Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * index) % 251)),
]);
const MP4 = { headers: { "content-type": "video/mp4" }, body: VIDEO };
const PAGE = { headers: { "content-type": "text/html" }, body: "<!doctype html><title>Preparing</title>" };
const FILE = "GET /final.mp4";
const UNTITLED = /^faceless-\d{4}-\d\d-\d\d-0f4b6f2e\.mp4$/;

/** A service with one finished video, whose file is served by this script, and a folder for it. */
async function setUp(file: Script = MP4) {
  const service = await scriptedService({ [FILE]: file });
  const finalVideoUrl = `${service.url}/final.mp4`;
  service.on(STATUS, { json: { status: "completed", videoUrls: [], finalVideoUrl } });
  const folder = join(temporaryFolder(), "Videos");
  const env = { FACELESS_API_KEY: CANARY, FACELESS_BASE_URL: service.url, FACELESS_SAVE_DIR: folder };
  return { service, folder, env, finalVideoUrl, downloads: () => service.lines(FILE).length };
}

const held = (code: string) => Object.assign(new Error(code), { code, syscall: "fsync" });

const filesIn = (folder: string) =>
  existsSync(folder) ? readdirSync(folder).filter((name) => name !== ".faceless-saved.jsonl") : [];

/** The sentence of get_video_status about the file, once it is final. */
async function outcome(client: TestClient): Promise<string> {
  const read = async () =>
    String((await client.call("get_video_status", { jobId: JOB_ID })).structuredContent?.["summary"]);
  const parts = /^Your (?:sample )?video is ready: \S+ (.*?)(?: The user can set.*)?$/;
  let said = "";
  await until(async () => !(said = parts.exec(await read())?.[1] ?? "").includes("will be saved"));
  return said;
}

const failed = (problem: string) =>
  `It could not be saved on this computer: ${problem}. A later get_video_status tries again.`;

describe.each(TEST_CLIENTS)("With %s", (_, connect) => {
  test("an ordered video is saved without another call, and every answer says where", async () => {
    const folder = join(temporaryFolder(), "Videos");
    const env = { FACELESS_SAVE_DIR: folder, FACELESS_SANDBOX_SECONDS: "0.5", FACELESS_POLL_SECONDS: "0.2" };
    const client = await connect({ args: ["--sandbox"], env });
    const started = await client.call("generate_video", { topic: "Why the sea is salty" });
    const jobId = String(started.structuredContent?.["jobId"]);
    await until(() => filesIn(folder).join().endsWith(".mp4"));

    const status = await client.call("get_video_status", { jobId });
    const [name = "", ...others] = filesIn(folder);
    const path = join(folder, name);
    expect({ name, others }).toEqual({
      name: expect.stringMatching(
        new RegExp(`^faceless-\\d{4}-\\d\\d-\\d\\d-Why-the-sea-is-salty-${jobId.slice(0, 8)}\\.mp4$`),
      ),
      others: [],
    });
    const finalVideoUrl = String(status.structuredContent?.["finalVideoUrl"]);
    const served = Buffer.from(await (await fetch(finalVideoUrl)).arrayBuffer());
    expect(readFileSync(path).equals(served)).toBe(true);
    expect(status.structuredContent).toMatchObject({ status: "completed", savedTo: path });
    expect(textOf(status)).toContain(`Your sample video is ready: ${finalVideoUrl} It is saved as ${path}.`);
    const listed = await client.call("list_videos");
    expect(listed.structuredContent).toMatchObject({ videos: [{ jobId, savedTo: path }] });
    expect(await client.read(`faceless://jobs/${jobId}`)).toMatchObject({ savedTo: path });
  });
});

test.each<[string, boolean, (client: TestClient) => Promise<unknown>]>([
  ["subscribed to", true, (client) => client.subscribe(JOB_URI)],
  ["waited for", true, (client) => client.call("get_video_status", { jobId: JOB_ID, waitSeconds: 20 })],
  ["read when it was ready", false, (client) => client.read(JOB_URI)],
])("a video that was %s is saved, without the key", async (_, isFollowed, act) => {
  const { service, folder, env, finalVideoUrl } = await setUp();
  const processing = { json: { status: "processing", videoUrls: [] } };
  const completed = { json: { status: "completed", videoUrls: [], finalVideoUrl } };
  service.on(STATUS, isFollowed ? [processing, processing, completed] : completed);
  const client = await connectLegacy({ env: { ...env, FACELESS_POLL_SECONDS: "0.1" } });

  await act(client);

  await until(() => UNTITLED.test(filesIn(folder).join()));
  expect(readFileSync(join(folder, filesIn(folder)[0] ?? "")).equals(VIDEO)).toBe(true);
  const [download] = service.requests.filter(({ path }) => path === "/final.mp4");
  expect(tracesOf(CANARY, JSON.stringify(download?.headers))).toEqual([]);
});

test("a list saves this computer's videos once, but neither others nor those that the user has removed", async () => {
  const { service, folder, env, finalVideoUrl, downloads } = await setUp();
  const state = temporaryFolder();
  const open = (more: object) => connectModern({ env: { ...env, FACELESS_STATE_DIR: state, ...more } });
  service.on(GENERATE, { json: { jobId: JOB_ID, status: "processing" } });
  service.on(STATUS, { json: { status: "processing", videoUrls: [] } });
  const ended = (jobId: string) => ({
    jobId,
    status: "completed",
    finalVideoUrl,
    savedTo: "/of/the/service",
  });
  service.on(VIDEOS, { json: { videos: [ended(JOB_ID), ended(OTHER_JOB_ID)] } });
  const first = await open({ FACELESS_SAVE_DIR: "" });
  await first.call("generate_video", { topic: "Why the sea is salty. [waves]" });
  await first.raw.close();

  const second = await open({});
  await second.call("list_videos");
  await until(() => /^[^,]+-Why-the-sea-is-salty-0f4b6f2e\.mp4$/.test(filesIn(folder).join()));
  const path = join(folder, filesIn(folder)[0] ?? "");
  await until(async () => JSON.stringify(await second.call("list_videos")).includes("savedTo"));
  const listed = await second.call("list_videos");
  expect(listed.structuredContent).toMatchObject({ videos: [{ jobId: JOB_ID, savedTo: path }, {}] });
  expect(JSON.stringify(listed.structuredContent).match(/savedTo/g)).toHaveLength(1);
  await second.raw.close();

  rmSync(path);
  service.on(STATUS, { json: { status: "completed", videoUrls: [], finalVideoUrl } });
  const third = await open({});
  const again = [await third.call("list_videos"), await third.call("get_video_status", { jobId: JOB_ID })];
  expect(JSON.stringify(again)).not.toContain("saved");
  expect({ downloads: downloads(), files: filesIn(folder) }).toEqual({ downloads: 1, files: [] });
});

test("the next list also reports a failed download", async () => {
  const { service, env, finalVideoUrl } = await setUp({ status: 410 });
  service.on(GENERATE, { json: { jobId: JOB_ID, status: "processing" } });
  service.on(VIDEOS, { json: { videos: [{ jobId: JOB_ID, status: "completed", finalVideoUrl }] } });
  const client = await connectLegacy({ env });
  await client.call("generate_video", { topic: "Tides" });
  await client.call("get_video_status", { jobId: JOB_ID });

  expect(textOf(await client.call("list_videos"))).toContain(
    "A video could not be saved on this computer: its host answered HTTP 410. A later list_videos tries again.",
  );
});

test("a call names the file while it is written, and the file gets its name only when it is whole", async () => {
  const release: { now?: () => void } = {};
  const { folder, env } = await setUp((_, { outgoing }) => {
    outgoing.writeHead(200, { "content-type": "video/mp4", "content-length": VIDEO.length });
    outgoing.write(VIDEO.subarray(0, 1_000));
    release.now = () => outgoing.end(VIDEO.subarray(1_000));
  });
  const client = await connectLegacy({ env });
  const early = await client.call("get_video_status", { jobId: JOB_ID });

  const path = /will be saved as (\S+)\./.exec(textOf(early))?.[1] ?? "";
  expect(early.structuredContent).not.toHaveProperty("savedTo");
  expect(filesIn(folder)).toEqual([expect.stringMatching(/^\.faceless-[\da-f-]{36}\.part$/)]);
  release.now?.();
  expect(await outcome(client)).toBe(`It is saved as ${path}.`);
  expect(filesIn(folder)).toEqual([expect.stringMatching(UNTITLED)]);
});

test.each<[string, Script, string]>([
  ["answers that it is gone", { status: 410 }, "its host answered HTTP 410"],
  [
    "names more than 500 MB",
    (_, { outgoing }) => void outgoing.writeHead(200, { "content-length": 500 * 1024 * 1024 + 1 }).write("x"),
    "the file is larger than 500 MB",
  ],
  [
    "does not say how long the file is",
    (_, { outgoing }) => {
      outgoing.useChunkedEncodingByDefault = false;
      outgoing
        .writeHead(200, { "content-type": "video/mp4", connection: "close" })
        .end(VIDEO.subarray(0, 1_000));
    },
    "its host does not say how long the file is",
  ],
  [
    "leads away from https",
    { status: 302, headers: { location: "http://media.example/v.mp4" } },
    "its link does not stay on https",
  ],
  [
    "leads in a circle",
    { status: 302, headers: { location: "/final.mp4" } },
    "its link redirects more than 5 times",
  ],
])("a host that %s fails the save, never the call", async (_, script, problem) => {
  const { folder, env } = await setUp(script);
  const client = await connectLegacy({ env });

  expect(await outcome(client)).toBe(failed(problem));
  expect(filesIn(folder)).toEqual([]);
  expect(client.stderr()).toContain(`The video of job ${JOB_ID} was not saved: ${problem}.`);
});

test.each<[string, Script]>([
  ["a missing file", { status: 404 }],
  ["a page", PAGE],
  ["a page that is called a file", { ...PAGE, headers: { "content-type": "application/octet-stream" } }],
  ["a list of HLS segments", { ...MP4, body: "#EXTM3U\n#EXT-X-VERSION:3\n" }],
  [
    "a file that it compresses",
    { headers: { ...MP4.headers, "content-encoding": "gzip" }, body: gzipSync(VIDEO) },
  ],
  ["a few bytes", { ...MP4, body: VIDEO.subarray(0, 7) }],
  ["nothing", { ...MP4, body: "" }],
] as const)("of a host that answers with %s nothing is kept", async (_, script) => {
  const service = await scriptedService({ [FILE]: script });
  const path = join(temporaryFolder(), "part");
  const options = {
    service: { baseUrl: new URL(service.url), proxies: {} },
    signal: new AbortController().signal,
  };

  // It may be there later.
  await expect(download(`${service.url}/final.mp4`, path, options)).rejects.toMatchObject({ mayPass: true });
  expect(existsSync(path) ? readFileSync(path, "utf8") : "").toBe("");
});

test("a video is written through one opening of its file, which some mounts allow only once", async () => {
  const { env } = await setUp();
  const opened = vi.spyOn(promises, "open");
  onTestFinished(() => void vi.restoreAllMocks());
  const client = await connectLegacy({ env });

  expect(await outcome(client)).toMatch(/^It is saved as /);
  expect(opened.mock.calls.filter(([path]) => String(path).endsWith(".part"))).toHaveLength(1);
  expect(opened.mock.calls.map(([, flags]) => flags)).not.toContain("r+");
});

test("on a mount that refuses to add to a file, the list of saved files is written whole", async () => {
  const { env, folder } = await setUp();
  vi.spyOn(promises, "appendFile").mockRejectedValue(held("EPERM"));
  onTestFinished(() => void vi.restoreAllMocks());
  const record = join(folder, ".faceless-saved.jsonl");
  mkdirSync(folder);
  writeFileSync(record, `{"jobId":"${OTHER_JOB_ID}","name":"x.mp4"}\n`);
  const client = await connectLegacy({ env });

  expect(await outcome(client)).toMatch(/^It is saved as /);
  expect(readFileSync(record, "utf8")).toMatch(new RegExp(`^.*${OTHER_JOB_ID}.*\n.*${JOB_ID}.*\n$`));
});

test("a download that breaks off is restarted, three times at most", async () => {
  const cut: Script = (_, { outgoing }) => {
    outgoing.writeHead(200, { "content-type": "video/mp4", "content-length": VIDEO.length });
    outgoing.write(VIDEO.subarray(0, 1_000));
    outgoing.socket?.end();
  };
  const lucky = await setUp([cut, "reset", MP4]);
  const unlucky = await setUp([cut, cut, cut, MP4]);
  const [one, other] = [await connectLegacy({ env: lucky.env }), await connectLegacy({ env: unlucky.env })];

  const [saved, given] = await Promise.all([outcome(one), outcome(other)]);
  expect(saved).toMatch(/^It is saved as /);
  expect(readFileSync(join(lucky.folder, filesIn(lucky.folder)[0] ?? "")).equals(VIDEO)).toBe(true);
  expect(given).toMatch(/^It could not be saved on this computer: the connection .* tries again\.$/);
  expect(unlucky.downloads()).toBe(3);
  await expect.poll(() => filesIn(unlucky.folder)).toEqual([]);
});

test.each<[string, Script]>([
  ["is busy for a second", [{ status: 429 }, MP4]],
  ["does not have the file yet", [{ status: 404 }, { status: 403 }, MP4]],
  ["has accepted the request, and has nothing yet", [{ status: 202 }, { status: 204 }, MP4]],
  ["answers with a page and with nothing first", [PAGE, { ...MP4, body: "" }, MP4]],
  ["calls the file a text", { headers: { "content-type": "text/plain" }, body: VIDEO }],
  ["sends the first bytes one by one", (_, { outgoing }) => void sendSlowly(outgoing)],
  ["has a WebM file", { ...MP4, body: Buffer.from("1a45dfa3a3428681", "hex") }],
])("a video is saved from a host that %s", async (_, file) => {
  const { env, folder } = await setUp(file);
  const client = await connectLegacy({ env });

  expect(await outcome(client)).toMatch(/^It is saved as /);
  expect(filesIn(folder)).toEqual([expect.stringMatching(UNTITLED)]);
});

async function sendSlowly(outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(200, { "content-type": "video/mp4", "content-length": VIDEO.length });
  for (const byte of VIDEO.subarray(0, 12)) {
    // eslint-disable-next-line no-await-in-loop -- one after the other
    await new Promise((resolve) => outgoing.write(Buffer.from([byte]), resolve));
  }
  outgoing.end(VIDEO.subarray(12));
}

test.each(["EPERM", "EACCES", "EBUSY"])(
  "a file that another program holds for a moment (%s) is saved all the same, from one download",
  async (code) => {
    const { env, folder, downloads } = await setUp();
    vi.spyOn(promises, "rename").mockRejectedValueOnce(held(code)).mockRejectedValueOnce(held(code));
    vi.spyOn(promises, "appendFile").mockRejectedValueOnce(held(code));
    vi.spyOn(promises, "readFile").mockRejectedValueOnce(held(code));
    onTestFinished(() => void vi.restoreAllMocks());
    const client = await connectLegacy({ env });

    expect(await outcome(client)).toMatch(/^It is saved as /);
    expect({ files: filesIn(folder), downloads: downloads() }).toEqual({
      files: [expect.stringMatching(UNTITLED)],
      downloads: 1,
    });
    expect(readFileSync(join(folder, ".faceless-saved.jsonl"), "utf8")).toContain(JOB_ID);
  },
);

/** Makes every flush of a file fail, as on disks that can't flush or that are broken. */
async function breakFlush(code: string): Promise<void> {
  const file = await promises.open(process.execPath);
  const handle: unknown = Object.getPrototypeOf(file);
  await file.close();
  // The prototype of every open file.
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- a prototype has no type of its own
  vi.spyOn(handle as typeof file, "sync").mockRejectedValue(held(code));
  onTestFinished(() => void vi.restoreAllMocks());
}

test.each(["ENOTSUP", "EINVAL", "ENOSYS", "EPERM"])(
  "a disk that can't flush (%s) keeps videos, orders and posts all the same",
  async (code) => {
    const { service, env, folder, finalVideoUrl } = await setUp();
    service.on(GENERATE, { json: { jobId: JOB_ID, status: "processing" } });
    service.on(VIDEOS, { json: { videos: [{ jobId: JOB_ID, status: "completed", finalVideoUrl }] } });
    const client = await connectLegacy({ env: { ...env, FACELESS_STATE_DIR: temporaryFolder() } });
    await breakFlush(code);

    const ordered = await client.call("generate_video", { topic: "Tides" });
    expect(ordered.structuredContent).toMatchObject({ jobId: JOB_ID });
    expect(await outcome(client)).toMatch(/^It is saved as /);
    expect(filesIn(folder)).toEqual([expect.stringMatching(/Tides-0f4b6f2e\.mp4$/)]);
  },
);

test("a disk that breaks while it flushes fails the save, and nothing is ordered on it", async () => {
  const { service, env } = await setUp();
  const client = await connectLegacy({ env: { ...env, FACELESS_STATE_DIR: temporaryFolder() } });
  await breakFlush("EIO");

  expect(textOf(await client.call("generate_video", { topic: "Tides" }))).toContain("can't be written (EIO");
  expect(service.lines(GENERATE)).toEqual([]);
  expect(await outcome(client)).toBe(failed("the disk failed (EIO)"));
});

test("five redirects are followed", async () => {
  const service = await scriptedService();
  for (let hop = 0; hop < 5; hop++)
    service.on(`GET /${hop}`, {
      status: 307,
      headers: { location: hop === 4 ? "/video.mp4" : `/${hop + 1}` },
    });
  service.on("GET /video.mp4", MP4);
  const { folder, env } = await setUp({ status: 302, headers: { location: `${service.url}/1` } });
  const client = await connectLegacy({ env });

  expect(await outcome(client)).toMatch(/^It is saved as /);
  expect(filesIn(folder)).toEqual([expect.stringMatching(UNTITLED)]);
});

test("a file that is there is left alone", async () => {
  const { folder, env, downloads } = await setUp();
  const first = await connectLegacy({ env });
  expect(await outcome(first)).toMatch(/^It is saved as /);
  const [name = ""] = filesIn(folder);
  rmSync(join(folder, ".faceless-saved.jsonl"));
  writeFileSync(join(folder, name), "the user's own");

  const second = await connectLegacy({ env });
  expect(await outcome(second)).toMatch(/^It is saved as /);
  expect(readFileSync(join(folder, name), "utf8")).toBe("the user's own");
  expect(downloads()).toBe(1);
});

test("a folder that can't be made fails the save, never the call", async () => {
  const { env, folder } = await setUp();
  writeFileSync(folder, "a file");
  const client = await connectLegacy({ env });

  expect(await outcome(client)).toBe(failed("a part of the folder's path is a file (ENOTDIR)"));
});

test("without a folder nothing is downloaded, and the service's savedTo is not passed on", async () => {
  const { service, env, finalVideoUrl, downloads } = await setUp();
  service.on(VIDEOS, {
    json: { videos: [{ jobId: JOB_ID, status: "completed", finalVideoUrl, savedTo: "/of/the/service" }] },
  });
  const client = await connectModern({ env: { ...env, FACELESS_SAVE_DIR: "" } });
  const texts = [
    textOf(await client.call("get_video_status", { jobId: JOB_ID, waitSeconds: 1 })),
    textOf(await client.call("list_videos")),
  ];

  expect(texts.join()).not.toContain("saved");
  expect(downloads()).toBe(0);
});

test.each([
  ["Why the sea is salty", "Why-the-sea-is-salty"],
  ["[waves] It's 50% salt — really?", "Its-50-salt-really"],
  [
    "A fox steals one sock a night and then returns every single one of them",
    "A-fox-steals-one-sock-a-night-and-then",
  ],
  ["海".repeat(60), "海".repeat(35)],
  ["😀 🌊", undefined],
])("the file of %j is named by its first spoken words, at most 140 bytes in all", (topic, words) => {
  const name = fileNameOf(
    { jobId: JOB_ID, order: { arguments: { topic }, atMs: 0 } },
    new Date(2026, 10, 20, 23, 59).getTime(),
  );

  expect(name).toBe(["faceless-2026-11-20", words, "0f4b6f2e.mp4"].filter(Boolean).join("-"));
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(140);
});
