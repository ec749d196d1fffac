// Finished videos on disk: in the sandbox, and with a service of which a test sees each request.

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CANARY, tracesOf } from "../fixtures/canary.ts";
import {
  type ClientStart,
  connectLegacy,
  connectModern,
  TEST_CLIENTS,
  type TestClient,
  textOf,
} from "../fixtures/clients.ts";
import { GENERATE, JOB_ID, JOB_URI, OTHER_JOB_ID, STATUS, VIDEOS } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";
import { until } from "../fixtures/until.ts";
import { filesIn, VIDEO } from "../saved-videos/saving.ts";

/** A service that has one finished video on its own host. */
async function finishedVideo() {
  const service = await scriptedService({ "GET /final.mp4": { body: VIDEO } });
  const finalVideoUrl = `${service.url}/final.mp4`;
  service.on(STATUS, { json: { status: "completed", videoUrls: [], finalVideoUrl } });
  service.on(VIDEOS, {
    json: { videos: [{ jobId: JOB_ID, status: "completed", finalVideoUrl, savedTo: "/of/the/service" }] },
  });
  return { service, finalVideoUrl };
}

/** True when the video has its name, and nothing else is left of the download. */
const hasVideo = (folder: string) => /^[^,]+\.mp4$/.test(Object.keys(filesIn(folder)).join());

test.each(TEST_CLIENTS)(
  "in the sandbox, %s finds the video that it has made on disk",
  async (_client, connect) => {
    const folder = join(temporaryFolder(), "Videos");
    const env = { FACELESS_SAVE_DIR: folder, FACELESS_SANDBOX_SECONDS: "0.5", FACELESS_POLL_SECONDS: "0.2" };
    const client = await connect({ args: ["--sandbox"], env });
    const started = await client.call("generate_video", { topic: "Why the sea is salty" });
    const jobId = String(started.structuredContent?.["jobId"]);

    // Nobody asks: it is saved in the background.
    await until(() => hasVideo(folder));
    const status = await client.call("get_video_status", { jobId });

    const [name = "", ...others] = Object.keys(filesIn(folder));
    const path = join(folder, name);
    const { finalVideoUrl } = { finalVideoUrl: "", ...status.structuredContent };
    expect({ name, others }).toEqual({
      name: expect.stringMatching(
        new RegExp(`^faceless-\\d{4}-\\d\\d-\\d\\d-Why-the-sea-is-salty-${jobId.slice(0, 8)}\\.mp4$`),
      ),
      others: [],
    });
    const served = Buffer.from(await (await fetch(finalVideoUrl)).arrayBuffer());
    expect(readFileSync(path).equals(served)).toBe(true);
    expect(status.structuredContent).toMatchObject({ status: "completed", savedTo: path });
    expect(textOf(status)).toContain(`Your video is ready: ${finalVideoUrl} It is saved as ${path}.`);
    const { structuredContent } = await client.call("list_videos");
    expect(structuredContent).toMatchObject({ videos: [{ jobId, savedTo: path }] });
    const { contents } = await client.raw.readResource({ uri: `faceless://jobs/${jobId}` });
    expect(contents).toEqual([
      expect.objectContaining({ text: expect.stringContaining(`"savedTo":${JSON.stringify(path)}`) }),
    ]);
  },
);

test("a finished video that was ordered elsewhere is saved by a call that asks for it alone", async () => {
  const { service, finalVideoUrl } = await finishedVideo();
  const folder = temporaryFolder();
  const env = { FACELESS_API_KEY: CANARY, FACELESS_BASE_URL: service.url, FACELESS_SAVE_DIR: folder };
  const client = await connectModern({ env, cards: true });
  await client.call("list_videos");
  await client.read(JOB_URI);
  expect({ downloads: service.lines("GET /final.mp4"), files: filesIn(folder) }).toEqual({
    downloads: [],
    files: {},
  });

  const looked = await client.call("get_video_status", { jobId: JOB_ID });

  expect(textOf(looked)).toMatch(
    new RegExp(`^Your video is ready: ${finalVideoUrl} It is (being )?saved as ${folder}`),
  );
  await until(() => hasVideo(folder));
  const downloads = service.requests.filter(({ path }) => path === "/final.mp4");
  expect(downloads.map(({ headers }) => tracesOf(CANARY, JSON.stringify(headers)))).toEqual([[]]);
});

test.each<[string, ClientStart, (client: TestClient) => Promise<unknown>]>([
  ["a client subscribes to", {}, (client) => client.subscribe(JOB_URI)],
  ["a card follows", { cards: true }, (client) => client.read(JOB_URI)],
  [
    "a call has waited for",
    {},
    (client) => client.call("get_video_status", { jobId: JOB_ID, waitSeconds: 0.1 }),
  ],
])("a video that %s is saved", async (_, start, follow) => {
  const { service, finalVideoUrl } = await finishedVideo();
  const processing = { json: { status: "processing", videoUrls: [] } };
  const completed = { json: { status: "completed", videoUrls: [], finalVideoUrl } };
  service.on(STATUS, [...Array.from({ length: 6 }, () => processing), completed]);
  const folder = temporaryFolder();
  const client = await connectLegacy({
    ...start,
    env: {
      FACELESS_API_KEY: CANARY,
      FACELESS_BASE_URL: service.url,
      FACELESS_SAVE_DIR: folder,
      FACELESS_POLL_SECONDS: "0.1",
    },
  });

  await follow(client);

  await until(() => hasVideo(folder));
  expect(Object.values(filesIn(folder))).toEqual(["the video"]);
});

test("a list saves what this computer ordered and closed too early, once, and nothing else", async () => {
  const { service, finalVideoUrl } = await finishedVideo();
  const [folder, state] = [temporaryFolder(), temporaryFolder()];
  const env = { FACELESS_API_KEY: CANARY, FACELESS_BASE_URL: service.url, FACELESS_STATE_DIR: state };
  const open = (dir = folder) => connectModern({ env: { ...env, FACELESS_SAVE_DIR: dir } });
  service.on(GENERATE, { json: { jobId: JOB_ID, status: "processing" } });
  const ended = (jobId: string) => ({ jobId, status: "completed", finalVideoUrl });
  service.on(VIDEOS, { json: { videos: [ended(JOB_ID), ended(OTHER_JOB_ID)] } });
  service.on(STATUS, { json: { status: "processing", videoUrls: [] } });
  // Ordered where no folder was set, closed while it renders.
  const first = await connectLegacy({ env });
  await first.call("generate_video", { topic: "Why the sea is salty. [waves]" });
  await first.raw.close();

  const second = await open();
  await second.call("list_videos");
  await until(() => hasVideo(folder));
  const listed = await second.call("list_videos");

  const [name = ""] = Object.keys(filesIn(folder));
  const path = join(folder, name);
  expect(name).toMatch(/^faceless-\d{4}-\d\d-\d\d-Why-the-sea-is-salty-0f4b6f2e\.mp4$/);
  expect(listed.structuredContent).toMatchObject({ videos: [{ jobId: JOB_ID, savedTo: path }, {}] });
  expect(JSON.stringify(listed.structuredContent).match(/savedTo/g)).toHaveLength(1);
  await second.raw.close();

  // Moved away by the user.
  rmSync(path);
  const third = await open();
  const again = [await third.call("list_videos"), await third.call("get_video_status", { jobId: JOB_ID })];
  await third.raw.close();

  expect(JSON.stringify(again)).not.toContain("saved");
  expect({ downloads: service.lines("GET /final.mp4").length, files: filesIn(folder) }).toEqual({
    downloads: 1,
    files: {},
  });

  // A download that fails is said by the list too.
  service.on("GET /final.mp4", { status: 404 });
  const fourth = await open(temporaryFolder());
  await fourth.call("list_videos");
  await until(() => fourth.stderr().includes("was not saved"));
  expect(textOf(await fourth.call("list_videos"))).toContain(
    "A video could not be saved on this computer: its host answered HTTP 404. A later list_videos tries again.",
  );
});

test("a download that fails is a sentence of the summary, and the call succeeds", async () => {
  const { service, finalVideoUrl } = await finishedVideo();
  service.on("GET /final.mp4", { status: 404 });
  const folder = temporaryFolder();
  const env = { FACELESS_API_KEY: CANARY, FACELESS_BASE_URL: service.url, FACELESS_SAVE_DIR: folder };
  const client = await connectLegacy({ env });
  await client.call("get_video_status", { jobId: JOB_ID, waitSeconds: 1 });
  await until(() => client.stderr().includes("was not saved"));

  const { isError, structuredContent } = await client.call("get_video_status", { jobId: JOB_ID });

  expect({ isError, structuredContent }).toEqual({
    isError: undefined,
    structuredContent: expect.objectContaining({
      summary: `Your video is ready: ${finalVideoUrl} It could not be saved on this computer: its host answered HTTP 404. A later get_video_status tries again.`,
    }),
  });
  expect(structuredContent).not.toHaveProperty("savedTo");
  expect(filesIn(folder)).toEqual({});
});

test("without a folder nothing is downloaded, and the service's savedTo is not passed on", async () => {
  const { service } = await finishedVideo();
  const client = await connectModern({ env: { FACELESS_API_KEY: CANARY, FACELESS_BASE_URL: service.url } });

  const waited = await client.call("get_video_status", { jobId: JOB_ID, waitSeconds: 1 });
  const listed = await client.call("list_videos");

  expect(`${textOf(waited)}${textOf(listed)}`).not.toContain("saved");
  expect(textOf(waited)).toContain("The user can set FACELESS_SAVE_DIR to save videos");
  expect(service.lines("GET /final.mp4")).toEqual([]);
});
