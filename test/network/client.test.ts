import { expect, test } from "vitest";
import type { Service } from "../../src/service/client.ts";
import type { CallOptions } from "../../src/service/request-sender.ts";
import { DOCUMENT, GENERATE, JOB_ID, KEY, PUBLISH, STATUS, VIDEOS } from "../fixtures/constants.ts";
import { VERSION } from "../../src/version.ts";
import { bridge, failureOf } from "./bridge.ts";

const GENERATED = { json: { jobId: JOB_ID, status: "processing" } };
const EVERY_FIELD = {
  topic: "Why cats knead",
  language: "pt-BR",
  duration: 12.5,
  style: "ugc",
  voice: "clone:42",
  music: "dramatic",
  pacing: "fast",
} as const;
const PUBLICATION = { jobId: JOB_ID, platforms: ["tiktok"] };

/** The expected request, with every header. */
function documented(url: string, method: string, path: string, body: string) {
  const headers = {
    accept: "application/json",
    "accept-encoding": "identity",
    authorization: `Bearer ${KEY}`,
    "user-agent": `faceless-video-mcp/${VERSION}`,
    host: new URL(url).host,
    // A paid request has a connection of its own.
    connection: method === "POST" ? "close" : "keep-alive",
    ...(body !== "" && { "content-type": "application/json", "content-length": String(body.length) }),
  };
  return { method, path, headers, body, json: body === "" ? undefined : JSON.parse(body) };
}

test("a status becomes a job with the requested id, without nulls", async () => {
  const { service } = await bridge({
    [STATUS]: {
      json: {
        jobId: "another",
        status: "processing",
        videoUrls: ["https://cdn.example/1.mp4", null],
        audioUrl: null,
        progress: { total: 5, completed: 1, failed: 0, eta: null, stage: "clips" },
        seed: 7,
        extra: { deep: [{ a: null, b: 1 }] },
      },
    },
  });

  const job = await service.getJob(JOB_ID);

  expect(job).toEqual({
    jobId: JOB_ID,
    status: "processing",
    done: false,
    videoUrls: ["https://cdn.example/1.mp4"],
    progress: { total: 5, completed: 1, failed: 0, stage: "clips" },
    seed: 7,
    extra: { deep: [{ b: 1 }] },
  });
  expect(job).not.toHaveProperty("audioUrl");
});

test.each([402, 409, 503])(
  "an answer to publish with status %i counts if it has results, and is not sent again",
  async (status) => {
    const results = [
      { platform: "tiktok", ok: true, url: "https://tiktok.example/1" },
      { platform: "youtube", ok: false },
    ];
    const headers = { "retry-after": "0" };
    const { service, rest } = await bridge({
      [PUBLISH]: { status, headers, json: { results, error: { code: "out_of_credits" } } },
    });

    expect(await service.publish({ jobId: JOB_ID, platforms: ["tiktok", "youtube"] })).toMatchObject({
      results,
    });
    expect(rest.requests).toHaveLength(1);
  },
);

test("a refused publication without results is rejected, and one with unreadable results has an unknown outcome", async () => {
  const { service } = await bridge({
    [PUBLISH]: [
      { status: 422, json: { results: [] } },
      { status: 409, json: { results: [{ platform: "tiktok", posted: "maybe" }] } },
      { status: 400, json: { results: { tiktok: true } } },
    ],
  });
  const publish = () => failureOf(service.publish({ jobId: JOB_ID, platforms: ["tiktok"] }));

  expect(await publish()).toMatchObject({ code: "refused", outcome: "rejected" });
  expect(await publish()).toMatchObject({ code: "bad_answer", outcome: "unknown", status: 409 });
  expect(await publish()).toMatchObject({ code: "bad_answer", outcome: "unknown", status: 400 });
});

test.each([
  [{ nextCursor: null }, {}],
  [{}, {}],
])("a page of videos that comes with %j is read with %j", async (end, continued) => {
  const videos = [{ jobId: JOB_ID, status: "completed", finalVideoUrl: null, title: "Cats" }];
  const { service } = await bridge({ [VIDEOS]: { json: { videos, ...end } } });

  expect(await service.listVideos({})).toEqual({
    videos: [{ jobId: JOB_ID, status: "completed", title: "Cats" }],
    ...continued,
  });
});

test.each<[string, string, string, (service: Service) => Promise<unknown>]>([
  ["POST", "/api/v1/generate", JSON.stringify(EVERY_FIELD), (service) => service.generate(EVERY_FIELD)],
  ["POST", "/api/v1/publish", JSON.stringify(PUBLICATION), (service) => service.publish(PUBLICATION)],
  ["GET", `/api/v1/status/${JOB_ID}`, "", (service) => service.getJob(JOB_ID)],
  // Needs no OpenAPI document.
  ["GET", "/api/v1/videos", "", (service) => service.listVideos({})],
])(
  "the %s of %s is the documented request, alone and without further headers",
  async (method, path, body, call) => {
    const { service, rest } = await bridge();

    await failureOf(call(service));

    expect(rest.requests).toEqual([documented(rest.url, method, path, body)]);
  },
);

test("a request for a further page has limit and cursor, encoded", async () => {
  const { service, rest } = await bridge({ [VIDEOS]: { json: { videos: [] } } });

  await service.listVideos({ limit: 5, cursor: "2026-03-01T12:00:00+01:00&x=1" });

  expect(rest.lines()).toEqual([
    DOCUMENT,
    "GET /api/v1/videos?limit=5&cursor=2026-03-01T12%3A00%3A00%2B01%3A00%26x%3D1",
  ]);
});

test.each([
  ["../../admin", "/api/v1/status/..%2F..%2Fadmin"],
  ["a b?c#d/é", "/api/v1/status/a%20b%3Fc%23d%2F%C3%A9"],
])("a request keeps the id %j within its segment of the path", async (id, path) => {
  const { service, rest } = await bridge();

  await failureOf(service.getJob(id));

  expect(rest.requests.map((request) => request.path)).toEqual([path]);
});

test("every request keeps the prefix of the base URL", async () => {
  const prefix = "/a/b%20c";
  const { service, rest } = await bridge(
    {
      [`POST ${prefix}/api/v1/generate`]: GENERATED,
      [`GET ${prefix}/api/v1/status/${JOB_ID}`]: { json: { status: "completed" } },
      [`POST ${prefix}/api/v1/publish`]: { json: { results: [] } },
      [`GET ${prefix}/api/v1/videos`]: { json: { videos: [] } },
    },
    { prefix },
  );

  await service.generate({ topic: "x" });
  await service.getJob(JOB_ID);
  await service.publish({ jobId: JOB_ID, platforms: ["x"] });
  await service.listVideos({ limit: 1 });
  await failureOf(service.listConnectedPlatforms());

  expect([...new Set(rest.lines())]).toEqual(
    [GENERATE, STATUS, PUBLISH, DOCUMENT, "GET /api/v1/videos?limit=1", "POST /api/mcp"].map((line) =>
      line.replace(" ", ` ${prefix}`),
    ),
  );
});

const CALLS: Record<string, (service: Service, options: CallOptions) => Promise<unknown>> = {
  generate: (service, options) => service.generate({ topic: "x" }, options),
  getJob: (service, options) => service.getJob(JOB_ID, options),
  publish: (service, options) => service.publish({ jobId: JOB_ID, platforms: ["x"] }, options),
  listVideos: (service, options) => service.listVideos({ limit: 3 }, options),
  listNewestVideos: (service, options) => service.listNewestVideos(options),
  listConnectedPlatforms: (service, options) => service.listConnectedPlatforms(options),
};

test.each(Object.entries(CALLS))(
  "%s sends nothing once it is cancelled, nor after close",
  async (_, call) => {
    const { service, rest } = await bridge();

    const cancelled = await failureOf(call(service, { signal: AbortSignal.abort() }));
    // The OpenAPI document serves all calls, so no single caller cancels its reading.
    const sent = rest.lines().filter((line) => !line.endsWith("openapi.json"));
    service.close();
    const closed = await failureOf(call(service, {}));

    expect(cancelled).toMatchObject({ code: "cancelled", outcome: "not_sent", retryable: true });
    expect(closed).toMatchObject({ code: "network", outcome: "not_sent" });
    expect(sent).toEqual([]);
  },
);

test("a page that continues with itself is an error that names the likely cause", async () => {
  const { service } = await bridge({
    [VIDEOS]: { json: { videos: [], nextCursor: "2026-03-01" } },
  });

  expect(await failureOf(service.listVideos({ cursor: "2026-03-01" }))).toMatchObject({
    code: "paging_loop",
    message: expect.stringContaining('the paging parameter "cursor"'),
    failsAgain: true,
  });
});
