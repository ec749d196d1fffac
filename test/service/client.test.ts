import { describe, expect, test } from "vitest";
import type { Service } from "../../src/service/client.ts";
import type { CallOptions } from "../../src/service/request-sender.ts";
import type { ScriptedService } from "../fixtures/scripted-service.ts";
import { bridge, connect, failureOf, JOB, KEY } from "./bridge.ts";

const GENERATED = { json: { jobId: JOB, status: "processing" } };
const EVERY_FIELD = {
  topic: "Why cats knead",
  language: "pt-BR",
  duration: 12.5,
  style: "ugc",
  voice: "clone:42",
  music: "dramatic",
  pacing: "fast",
} as const;

function sent({ requests }: ScriptedService) {
  return requests.map(({ method, path, headers, body }) => ({ method, path, headers, body }));
}

function commonHeaders(url: string) {
  return {
    accept: "application/json",
    "accept-encoding": "identity",
    authorization: `Bearer ${KEY}`,
    "user-agent": "faceless-video-mcp/1.2.3",
    host: new URL(url).host,
    connection: "keep-alive",
  };
}

describe("an answer", () => {
  test.each([200, 201, 202, 203, 206, 299])("with %i is good", async (status) => {
    const { service } = await bridge({ "POST /api/v1/generate": { ...GENERATED, status } });

    expect(await service.generate({ topic: "x" })).toEqual({ jobId: JOB, status: "processing" });
  });

  test("to a status request becomes a job without nulls, with unknown fields and the requested id", async () => {
    const { service } = await bridge({
      [`GET /api/v1/status/${JOB}`]: {
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

    const job = await service.getJob(JOB);

    expect(job).toEqual({
      jobId: JOB,
      status: "processing",
      done: false,
      videoUrls: ["https://cdn.example/1.mp4"],
      progress: { total: 5, completed: 1, failed: 0, stage: "clips" },
      seed: 7,
      extra: { deep: [{ b: 1 }] },
    });
    expect(job).not.toHaveProperty("audioUrl");
  });

  test.each([400, 402, 409, 429, 499, 500, 503, 307])(
    "to publish with status %i and results says what became of each platform, and is not sent again",
    async (status) => {
      const results = [
        { platform: "tiktok", ok: true, url: "https://tiktok.example/1" },
        { platform: "youtube", ok: false },
      ];
      const headers = { "retry-after": "0" };
      const { service, rest } = await bridge({
        "POST /api/v1/publish": { status, headers, json: { results, error: { code: "out_of_credits" } } },
      });

      expect(await service.publish({ jobId: JOB, platforms: ["tiktok", "youtube"] })).toMatchObject({
        results,
      });
      expect(rest.requests).toHaveLength(1);
    },
  );

  test("to publish that is refused means what its status says if it names no result, and is unknown if one can't be read", async () => {
    const { service } = await bridge({
      "POST /api/v1/publish": [
        { status: 409, json: { results: [] } },
        { status: 409, json: { results: [{ platform: "tiktok", posted: "maybe" }] } },
      ],
    });
    const publish = () => failureOf(service.publish({ jobId: JOB, platforms: ["tiktok"] }));

    expect(await publish()).toMatchObject({ code: "refused", outcome: "rejected" });
    expect(await publish()).toMatchObject({ code: "bad_answer", outcome: "unknown", status: 409 });
  });

  test.each([
    [{ nextCursor: "2026-03-01T12:00:00Z" }, { nextCursor: "2026-03-01T12:00:00Z" }],
    [{ nextCursor: null }, {}],
    [{ nextCursor: "" }, {}],
    [{}, {}],
  ])("to the video list that ends with %j continues with %j", async (end, continued) => {
    const videos = [{ jobId: JOB, status: "completed", finalVideoUrl: null, title: "Cats" }];
    const { service } = await bridge({ "GET /api/v1/videos": { json: { videos, ...end } } });

    expect(await service.listVideos({})).toEqual({
      videos: [{ jobId: JOB, status: "completed", title: "Cats" }],
      ...continued,
    });
  });
});

describe("a request", () => {
  test("to generate is the documented POST with every field that was given, and no other header", async () => {
    const { service, rest } = await bridge({ "POST /api/v1/generate": GENERATED });

    await service.generate(EVERY_FIELD);

    const body = JSON.stringify(EVERY_FIELD);
    expect(sent(rest)).toEqual([
      {
        method: "POST",
        path: "/api/v1/generate",
        headers: {
          ...commonHeaders(rest.url),
          "content-type": "application/json",
          "content-length": String(body.length),
        },
        body,
      },
    ]);
  });

  test("to generate omits what the caller omitted", async () => {
    const { service, rest } = await bridge({ "POST /api/v1/generate": GENERATED });

    await service.generate({ topic: "Why cats knead", language: undefined, duration: undefined });

    expect(rest.requests.map(({ body }) => body)).toEqual(['{"topic":"Why cats knead"}']);
  });

  test("to publish is the documented POST", async () => {
    const { service, rest } = await bridge({ "POST /api/v1/publish": { json: { results: [] } } });

    await service.publish({ jobId: JOB, platforms: ["tiktok", "youtube"] });

    const body = `{"jobId":"${JOB}","platforms":["tiktok","youtube"]}`;
    expect(sent(rest)).toEqual([
      {
        method: "POST",
        path: "/api/v1/publish",
        headers: {
          ...commonHeaders(rest.url),
          "content-type": "application/json",
          "content-length": String(body.length),
        },
        body,
      },
    ]);
  });

  test("for a status is the documented GET, without a body", async () => {
    const { service, rest } = await bridge({ [`GET /api/v1/status/${JOB}`]: { json: { status: "queued" } } });

    await service.getJob(JOB);

    expect(sent(rest)).toEqual([
      { method: "GET", path: `/api/v1/status/${JOB}`, headers: commonHeaders(rest.url), body: "" },
    ]);
  });

  test("for the first page has no query and needs no OpenAPI document", async () => {
    const { service, rest } = await bridge({ "GET /api/v1/videos": { json: { videos: [] } } });

    await service.listVideos({});

    expect(sent(rest)).toEqual([
      { method: "GET", path: "/api/v1/videos", headers: commonHeaders(rest.url), body: "" },
    ]);
  });

  test("for a further page has limit and cursor, encoded", async () => {
    const { service, rest } = await bridge({ "GET /api/v1/videos": { json: { videos: [] } } });

    await service.listVideos({ limit: 5, cursor: "2026-03-01T12:00:00+01:00&x=1" });

    expect(rest.lines()).toEqual([
      "GET /api/v1/openapi.json",
      "GET /api/v1/videos?limit=5&cursor=2026-03-01T12%3A00%3A00%2B01%3A00%26x%3D1",
    ]);
  });

  test.each([
    ["../../admin", "/api/v1/status/..%2F..%2Fadmin"],
    ["a b?c#d/é", "/api/v1/status/a%20b%3Fc%23d%2F%C3%A9"],
  ])("keeps the id %j within its segment of the path", async (id, path) => {
    const { service, rest } = await bridge();

    await failureOf(service.getJob(id));

    expect(rest.requests.map((request) => request.path)).toEqual([path]);
  });

  test.each(["/prefix", "/a/b%20c"])("keeps the prefix %s of the base URL", async (prefix) => {
    const { service, rest } = await bridge(
      {
        [`POST ${prefix}/api/v1/generate`]: GENERATED,
        [`GET ${prefix}/api/v1/status/${JOB}`]: { json: { status: "completed" } },
        [`POST ${prefix}/api/v1/publish`]: { json: { results: [] } },
        [`GET ${prefix}/api/v1/videos`]: { json: { videos: [] } },
      },
      { prefix },
    );

    await service.generate({ topic: "x" });
    await service.getJob(JOB);
    await service.publish({ jobId: JOB, platforms: ["x"] });
    await service.listVideos({ limit: 1 });
    await failureOf(service.listConnectedPlatforms());

    expect([...new Set(rest.lines())]).toEqual(
      [
        "POST /api/v1/generate",
        `GET /api/v1/status/${JOB}`,
        "POST /api/v1/publish",
        "GET /api/v1/openapi.json",
        "GET /api/v1/videos?limit=1",
        "POST /api/mcp",
      ].map((line) => line.replace(" ", ` ${prefix}`)),
    );
  });
});

const CALLS: Record<string, (service: Service, options: CallOptions) => Promise<unknown>> = {
  generate: (service, options) => service.generate({ topic: "x" }, options),
  getJob: (service, options) => service.getJob(JOB, options),
  publish: (service, options) => service.publish({ jobId: JOB, platforms: ["x"] }, options),
  listVideos: (service, options) => service.listVideos({ limit: 3 }, options),
  listNewestVideos: (service, options) => service.listNewestVideos(options),
  listConnectedPlatforms: (service, options) => service.listConnectedPlatforms(options),
};

describe.each(Object.entries(CALLS))("%s", (_, call) => {
  test("throws a BridgeError if its request can't be made", async () => {
    const { rest } = await bridge();
    const service = connect({ baseUrl: rest.url, proxies: { http: "http://%zz:%zz@127.0.0.1:9" } });

    const facts = await failureOf(call(service, {}));

    expect(facts).toMatchObject({ code: "network", outcome: "not_sent", retryable: true });
    expect(rest.requests).toEqual([]);
  });

  test("sends nothing once it is cancelled", async () => {
    const { service, rest } = await bridge();

    const facts = await failureOf(call(service, { signal: AbortSignal.abort() }));

    expect(facts).toMatchObject({ code: "cancelled", outcome: "not_sent", retryable: true });
    // The OpenAPI document serves all calls, so no single caller cancels its reading.
    expect(rest.lines().filter((line) => !line.endsWith("openapi.json"))).toEqual([]);
  });

  test("sends nothing after close", async () => {
    const { service, rest } = await bridge();
    service.close();

    const facts = await failureOf(call(service, {}));

    expect(facts).toMatchObject({ code: "network", outcome: "not_sent" });
    expect(rest.requests).toEqual([]);
  });
});

test("An id that a URL can't contain causes a BridgeError", async () => {
  const { service, rest } = await bridge();

  expect(await failureOf(service.getJob("\uD800"))).toMatchObject({ code: "internal", outcome: "rejected" });
  expect(rest.requests).toEqual([]);
});

test("A page that continues with itself is an error that names the likely cause", async () => {
  const { service } = await bridge({
    "GET /api/v1/videos": { json: { videos: [], nextCursor: "2026-03-01" } },
  });

  expect(await failureOf(service.listVideos({ cursor: "2026-03-01" }))).toEqual({
    code: "paging_loop",
    message:
      'The service returned the cursor that was sent to it, so the list would never end. It probably does not know the paging parameter "cursor".',
    nextStep: "Call list_videos without cursor and with a larger limit, to see more videos on one page.",
    outcome: "rejected",
    retryable: false,
    failsAgain: true,
  });
});
