// Finished videos on disk, by the built file: in the sandbox as a user has it, and with a service of which a test sees each request.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CANARY, tracesOf } from "../fixtures/canary.ts";
import { connectModern, connectLegacy, TEST_CLIENTS, textOf } from "../fixtures/clients.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { startRaw } from "../fixtures/raw-server.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";
import { until } from "../fixtures/until.ts";
import { filesIn } from "../jobs/saving.ts";

const JOB_ID = "0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";
const STATUS = `GET /api/v1/status/${JOB_ID}`;

/** A service that has one finished video on its own host. */
async function finishedVideo() {
  const service = await scriptedService({ "GET /final.mp4": { body: "a video" } });
  const finalVideoUrl = `${service.url}/final.mp4`;
  service.on(STATUS, { json: { status: "completed", videoUrls: [], finalVideoUrl } });
  service.on("GET /api/v1/videos", {
    json: { videos: [{ jobId: JOB_ID, status: "completed", finalVideoUrl, savedTo: "/of/the/service" }] },
  });
  return { service, finalVideoUrl };
}

test.each(TEST_CLIENTS)(
  "in the sandbox, %s finds the video that it has made on disk",
  async (_name, connect) => {
    const folder = join(temporaryFolder(), "Videos");
    const env = { FACELESS_SAVE_DIR: folder, FACELESS_SANDBOX_SECONDS: "0.5" };
    const client = await connect({ args: ["--sandbox"], env });
    const started = await client.call("generate_video", { topic: "Why the sea is salty" });
    const jobId = String(started.structuredContent?.["jobId"]);

    // Nobody asks: it is saved in the background.
    await until(() => Object.keys(filesIn(folder)).some((name) => name.endsWith(".mp4")));
    const status = await client.call("get_video_status", { jobId });

    const [name = "", ...others] = Object.keys(filesIn(folder));
    const path = join(folder, name);
    const { finalVideoUrl } = { finalVideoUrl: "", ...status.structuredContent };
    expect({ name, others }).toEqual({
      name: expect.stringMatching(new RegExp(`^faceless-\\d{4}-\\d\\d-\\d\\d-${jobId.slice(0, 8)}\\.mp4$`)),
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

test("a video of another process is saved when a call waits for it, and not when one only looks", async () => {
  const { service, finalVideoUrl } = await finishedVideo();
  const folder = temporaryFolder();
  const env = { FACELESS_API_KEY: CANARY, FACELESS_BASE_URL: service.url, FACELESS_SAVE_DIR: folder };
  const client = await connectModern({ env });
  const looked = await client.call("get_video_status", { jobId: JOB_ID });
  await client.call("list_videos");
  expect({ text: textOf(looked).includes("sav"), files: filesIn(folder) }).toEqual({
    text: false,
    files: {},
  });

  const waited = await client.call("get_video_status", { jobId: JOB_ID, waitSeconds: 45 });

  expect(textOf(waited)).toMatch(
    new RegExp(`^Your video is ready: ${finalVideoUrl} It is (being )?saved as ${folder}`),
  );
  await until(() => Object.values(filesIn(folder)).includes("a video"));
  const downloads = service.requests.filter(({ path }) => path === "/final.mp4");
  expect(downloads.map(({ headers }) => tracesOf(CANARY, JSON.stringify(headers)))).toEqual([[]]);
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

test("what the service calls savedTo is not passed on", async () => {
  const { service } = await finishedVideo();
  const client = await connectModern({ env: { FACELESS_API_KEY: CANARY, FACELESS_BASE_URL: service.url } });

  const { structuredContent } = await client.call("list_videos");

  expect(JSON.stringify(structuredContent)).not.toContain("savedTo");
});

test("a relative folder fails every call, with its name and the fix", async () => {
  const client = await connectLegacy({ args: ["--sandbox"], env: { FACELESS_SAVE_DIR: "Videos" } });

  const result = await client.call("list_videos");

  expect(result.isError).toBe(true);
  expect(textOf(result)).toMatch(/FACELESS_SAVE_DIR is a relative path.+Set it to an absolute path/);
});

test("the server ends in the middle of a download, and leaves nothing half saved that the next one would keep", async () => {
  const { service } = await finishedVideo();
  service.on("GET /final.mp4", (_, { outgoing }) => void outgoing.writeHead(200).write("half"));
  const folder = temporaryFolder();
  const stale = "faceless-2026-11-20-0f4b6f2e.mp4.999999999-0badcafe.part";
  writeFileSync(join(folder, stale), "of a process that is gone");
  const env = { FACELESS_API_KEY: CANARY, FACELESS_BASE_URL: service.url, FACELESS_SAVE_DIR: folder };
  const server = startRaw({ env });
  const waiting = { name: "get_video_status", arguments: { jobId: JOB_ID, waitSeconds: 45 } };
  server.send(server.request(1, "tools/call", waiting));
  await until(() => Object.values(filesIn(folder)).includes("half"));

  server.child.kill("SIGTERM");

  expect(await server.ended).toMatchObject({ code: 0 });
  expect({ files: filesIn(folder), stderr: server.stderr() }).toEqual({ files: {}, stderr: "" });
});
