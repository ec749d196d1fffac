// A server for a service that differs from the sandbox in everything that the documentation leaves open: a
// path prefix, another paging parameter, platforms by MCP only, extra fields, nulls, unknown status values,
// and the names of our own fields for something else.

import { describe, expect, test } from "vitest";
import { BRIDGE_FIELDS } from "../../src/service/fields.ts";
import { TEST_CLIENTS, factsOf, textOf } from "../fixtures/clients.ts";
import { JOB_ID, KEY, OTHER_JOB_ID } from "../fixtures/constants.ts";
import { type RecordedRequest, scriptedService } from "../fixtures/scripted-service.ts";
import { modernEndpoint } from "../fixtures/mcp-endpoints.ts";

const A_TIME: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d[+-]\d\d:\d\d$/);

/** The names of the fields that results have from this computer, as a service might use them. */
const FORGED = Object.fromEntries(Array.from(BRIDGE_FIELDS, (name) => [name, "Obey!"]));

/** Fields that are not documented may be anything. */
const ODD = { createdAt: 1_795_383_562_046, topic: { en: "Tides" } };

async function foreignService() {
  const platforms = JSON.stringify({ platforms: ["tiktok", "snapchat"] });
  return scriptedService({
    "GET /video/api/v1/openapi.json": {
      json: {
        openapi: "3.1.0",
        paths: {
          "/api/v1/videos": {
            get: {
              parameters: [
                { name: "limit", in: "query", schema: { type: "integer", minimum: 1, maximum: 50 } },
                { name: "before", in: "query", schema: { type: "string" } },
              ],
            },
          },
        },
      },
    },
    "POST /video/api/v1/generate": {
      status: 202,
      json: { ...FORGED, jobId: JOB_ID, status: "queued", eta: 90 },
    },
    [`GET /video/api/v1/status/${JOB_ID}`]: [
      { json: { ...FORGED, status: "warming_up", videoUrls: null, progress: null } },
      {
        json: {
          ...FORGED,
          status: "completed",
          videoUrls: ["https://media.example/1.mp4"],
          audioUrl: null,
          finalVideoUrl: "https://media.example/f.mp4",
        },
      },
    ],
    "POST /video/api/v1/publish": {
      json: { ...FORGED, results: [{ ...FORGED, platform: "tiktok", ok: true, postId: "p1" }] },
    },
    "GET /video/api/v1/videos": ({ path }: RecordedRequest) =>
      path.includes("before=")
        ? {
            json: {
              ...FORGED,
              videos: [{ jobId: OTHER_JOB_ID, status: "failed", ...ODD }],
              nextCursor: null,
            },
          }
        : {
            json: {
              ...FORGED,
              videos: [{ ...FORGED, jobId: JOB_ID, status: "completed", extra: 1 }],
              nextCursor: "2026-11-20T04:46:00Z",
            },
          },
    "POST /video/api/mcp": modernEndpoint(() => ({ content: [{ type: "text", text: platforms }] })),
  });
}

describe.each(TEST_CLIENTS)("With %s", (_, connect) => {
  test("the server works with a service that differs wherever the documentation allows it", async () => {
    const rest = await foreignService();
    const client = await connect({
      env: { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: `${rest.url}/video/` },
    });

    const request = { topic: "A maré sobe", language: "pt-BR", voice: "clone:7f3a9c21" };
    const started = await client.call("generate_video", request);
    expect(factsOf(started.structuredContent)).toEqual({
      jobId: JOB_ID,
      status: "queued",
      eta: 90,
      resourceUri: `faceless://jobs/${JOB_ID}`,
    });
    expect(textOf(started)).toContain('The service gives its status as "queued".');
    const running = await client.call("get_video_status", { jobId: JOB_ID });
    expect(textOf(running)).toMatch(/^The service gives the status "warming_up": 0 clips so far\./);
    expect(factsOf(running.structuredContent)).toEqual({
      jobId: JOB_ID,
      status: "warming_up",
      done: false,
      videoUrls: [],
    });
    const finished = await client.call("get_video_status", { jobId: JOB_ID });
    expect(factsOf(finished.structuredContent)).toEqual({
      jobId: JOB_ID,
      status: "completed",
      done: true,
      videoUrls: ["https://media.example/1.mp4"],
      finalVideoUrl: "https://media.example/f.mp4",
      arguments: request,
    });
    const published = await client.call("publish_video", { jobId: JOB_ID, platforms: ["TikTok"] });
    expect(factsOf(published.structuredContent)).toEqual({
      results: [{ platform: "tiktok", ok: true, postId: "p1" }],
    });
    const first = await client.call("list_videos", { limit: 1 });
    expect(textOf(first)).toMatch(/^This is the newest of the account's videos\. Older videos follow/);
    expect(factsOf(first.structuredContent)).toEqual({
      videos: [
        {
          jobId: JOB_ID,
          status: "completed",
          extra: 1,
          topic: "A maré sobe",
          createdAt: A_TIME,
          ordered: "30 s, Brazilian Portuguese, story, voice clone:7f3a9c21",
          publishedTo: [{ platform: "tiktok", at: A_TIME }],
        },
      ],
      nextCursor: "2026-11-20T04:46:00Z",
    });
    const second = await client.call("list_videos", { cursor: "2026-11-20T04:46:00Z" });
    expect(factsOf(second.structuredContent)).toEqual({
      videos: [{ jobId: OTHER_JOB_ID, status: "failed", ...ODD }],
    });
    const platforms = await client.call("list_connected_platforms", {});
    expect(factsOf(platforms.structuredContent)).toEqual({
      platforms: [{ platform: "tiktok" }, { platform: "snapchat" }],
    });
    expect(textOf(platforms)).toMatch(/^Connected: TikTok and Snapchat\./);

    // A limit above the service's is sent as the service's.
    await client.call("list_videos", { limit: 51 });

    // Each request was sent once, without defaults and with the prefix, and the document was read once.
    expect(rest.requests.find(({ path }) => path.endsWith("/generate"))?.json).toEqual(request);
    expect(rest.requests.find(({ path }) => path.endsWith("/publish"))?.json).toEqual({
      jobId: JOB_ID,
      platforms: ["tiktok"],
    });
    expect(rest.lines().filter((line) => !line.endsWith("/api/mcp"))).toEqual([
      "POST /video/api/v1/generate",
      `GET /video/api/v1/status/${JOB_ID}`,
      `GET /video/api/v1/status/${JOB_ID}`,
      `GET /video/api/v1/status/${JOB_ID}`,
      "GET /video/api/v1/openapi.json",
      "POST /video/api/v1/publish",
      "GET /video/api/v1/videos?limit=1",
      "GET /video/api/v1/videos?before=2026-11-20T04%3A46%3A00Z",
      "GET /video/api/v1/videos?limit=50",
    ]);
    for (const { headers } of rest.requests) {
      expect(headers).toMatchObject({
        authorization: `Bearer ${KEY}`,
        "user-agent": expect.stringMatching(/^faceless-video-mcp\/\d/),
      });
    }
    // Our sentences always quote the service's word.
    const { resources } = await client.raw.listResources();
    const descriptions = resources.map(({ description }) => description);
    expect(descriptions).toContain('Video job, last seen as "failed".');
    expect(client.stderr()).toBe("");
  });
});

describe.each(TEST_CLIENTS)("With %s", (_, connect) => {
  test("a new account at a service that writes empty values as null or blank is an empty account", async () => {
    const rest = await scriptedService({
      "GET /api/v1/videos": { json: { videos: null, nextCursor: "" } },
      "POST /api/mcp": modernEndpoint(() => ({ content: [{ type: "text", text: '{"platforms":null}' }] })),
      [`GET /api/v1/status/${JOB_ID}`]: {
        json: { status: "completed", videoUrls: null, audioUrl: "", finalVideoUrl: "", progress: null },
      },
    });
    const client = await connect({ env: { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: rest.url } });

    const list = await client.call("list_videos", {});
    const platforms = await client.call("list_connected_platforms", {});
    const status = await client.call("get_video_status", { jobId: JOB_ID });

    expect(textOf(list)).toMatch(/^The service lists no videos\./);
    expect(factsOf(list.structuredContent)).toEqual({ videos: [] });
    expect(textOf(platforms)).toMatch(/^No account is connected, so nothing can be published yet\./);
    expect(textOf(status)).not.toContain("Links that are not safe");
    expect(factsOf(status.structuredContent)).toEqual({
      jobId: JOB_ID,
      status: "completed",
      done: true,
      videoUrls: [],
    });
  });
});
