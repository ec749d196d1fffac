// `doctor --shapes` against services of several dialects: what it shows, and that none of their values is in it.

import { expect, test } from "vitest";
import { CANARY, tracesOf } from "../fixtures/canary.ts";
import { connectLegacy, textOf } from "../fixtures/clients.ts";
import { DOCUMENT, JOB_ID, STATUS, VIDEOS } from "../fixtures/constants.ts";
import { doctor } from "../fixtures/run-doctor.ts";
import { type Scripts, scriptedService, type ScriptedAnswer } from "../fixtures/scripted-service.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";

const PLATFORMS = "GET /api/v1/platforms";
/** Names the list of platforms, so that doctor sends nothing to the MCP endpoint. */
const WITH_PLATFORMS = {
  json: {
    openapi: "3.1.0",
    paths: {
      "/api/v1/videos": {
        get: {
          parameters: [
            { name: "limit", in: "query" },
            { name: "pageAfter", in: "query" },
          ],
          responses: { 200: {}, 401: {} },
        },
      },
      "/api/v1/platforms": { get: { operationId: "list_connected_platforms" } },
      "/t/SECRET-tenant/status/{jobId}": { get: {} },
    },
  },
};
const RATE = { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "59", "x-ratelimit-reset": "1795843200" };

const DIALECTS: Readonly<Record<string, Scripts>> = {
  "as documented": {
    [DOCUMENT]: WITH_PLATFORMS,
    [VIDEOS]: {
      json: {
        videos: [
          { jobId: JOB_ID, status: "completed", finalVideoUrl: "https://cdn.SECRET.example/SECRET.mp4" },
        ],
        nextCursor: "2026-11-28T05:00:00.123Z",
      },
      headers: RATE,
    },
    [STATUS]: {
      json: {
        status: "completed",
        videoUrls: ["https://cdn.SECRET.example/1.mp4"],
        audioUrl: "https://cdn.SECRET.example/1.wav",
        progress: { total: 4, completed: 4, failed: 0 },
      },
      headers: RATE,
    },
    [PLATFORMS]: { json: { platforms: [{ platform: "tiktok", username: "SECRET-rosa" }] }, headers: RATE },
  },
  "maps keyed by ids, accounts and titles": {
    [DOCUMENT]: WITH_PLATFORMS,
    [VIDEOS]: {
      json: {
        videos: [
          {
            jobId: JOB_ID,
            status: "SECRET_STATE_4f2e",
            title: "My SECRET title",
            statsByPost: { "9f4b6f2e-SECRET": { views: 3 }, "8f4b6f2e-SECRET": { views: 9 } },
            tags: { secretrosa: true, secretann: true },
            "SECRET title of a video": 1,
          },
        ],
        byAccount: { secretrosa: { videos: 3 } },
      },
    },
    [STATUS]: {
      json: { status: "queued", videoUrls: null, owner: { email: "SECRET@example.com", id: 123456789012 } },
    },
    [PLATFORMS]: { json: { tiktok: { secretrosa: { connected: true } }, youtube: null } },
  },
  "Laravel: strings, seconds, data wrapped": {
    [VIDEOS]: {
      json: {
        data: [{ job_id: JOB_ID, state: "done", created_at: "2026-11-28 05:00:00" }],
        links: { next: "/SECRET?page=2" },
      },
    },
    [DOCUMENT]: { status: 404, json: { message: "SECRET not found", exception: "SECRET\\Exception" } },
  },
  "a gateway's refusals": {
    [DOCUMENT]: {
      status: 403,
      headers: { "content-type": "text/html", "x-gateway-4f2e": "SECRET" },
      body: "<title>SECRET</title>",
    },
    [VIDEOS]: { status: 401, json: { error: { code: "SECRET_code_123", message: "No such key: SECRET" } } },
  },
  "answers that are no JSON": {
    [DOCUMENT]: { body: "SECRET", headers: { "content-type": "text/plain; charset=SECRET" } },
    [VIDEOS]: "hang up",
  },
};

/** Placeholders for values, and the values themselves. */
const VALUES = /SECRET|secret|rosa|0f4b6f2e|2026-11|1795843200|123456789012|127\.0\.0\.1|localhost|cdn/;

async function shapesOf(scripts: Scripts, options: object = {}) {
  const { url } = await scriptedService(scripts);
  return doctor({ shapes: true, env: { FACELESS_API_KEY: CANARY, FACELESS_BASE_URL: url }, ...options });
}

test.each(Object.entries(DIALECTS))(
  "no value of a service is shown, in text and in JSON: %s",
  async (_, scripts) => {
    for (const json of [false, true]) {
      const { text } = await shapesOf(scripts, { json });
      expect(text).not.toMatch(VALUES);
      expect(tracesOf(CANARY, text)).toEqual([]);
    }
  },
);

test("the form of answers as documented is shown with nothing to report", async () => {
  const { code, text } = await shapesOf(DIALECTS["as documented"] ?? {});

  expect(code).toBe(0);
  expect(text).toContain(`
GET /api/v1/videos: HTTP 200, application/json
  documented:
    videos: list
    videos[]: object
    videos[].jobId: UUID
    videos[].status: "completed"
    videos[].finalVideoUrl: https link
    nextCursor: time in UTC
  headers: connection, content-type, date, keep-alive, transfer-encoding, x-ratelimit-limit (text, integer), x-ratelimit-remaining (text, integer), x-ratelimit-reset (text, integer of 10 digits)

GET /api/v1/status/{jobId}: HTTP 200, application/json
  documented:
    status: "completed"
    videoUrls: list
    videoUrls[]: https link
    audioUrl: https link
    progress: object
    progress.total: integer
    progress.completed: integer
    progress.failed: integer
  headers: `);
  expect(text).toContain(`
GET /api/v1/openapi.json: HTTP 200, application/json
  operations:
    GET /api/v1/videos; takes limit, pageAfter; answers 200, 401
    GET /api/v1/platforms
    GET /{…}/{…}/status/{jobId}
  headers: `);
});

test("differences are named, and possible ids are hidden", async () => {
  const { code, text } = await shapesOf(DIALECTS["maps keyed by ids, accounts and titles"] ?? {});

  expect(code).toBe(0);
  expect(text).toContain(`
GET /api/v1/videos: HTTP 200, application/json
  documented, but not there: videos[].finalVideoUrl, nextCursor
  not documented:
    videos[].{1}: text
    videos[].{2}: object
    videos[].{2}.{3}: object
    videos[].{2}.{3}.{4}: integer
    videos[].{2}.{5}: object
    videos[].{2}.{5}.{4}: integer
    videos[].{6}: object
    videos[].{6}.{7}: boolean
    videos[].{6}.{8}: boolean
    videos[].{9}: integer
    {10}: object
    {10}.{7}: object
    {10}.{7}.videos: integer
  documented:
    videos: list
    videos[]: object
    videos[].jobId: UUID
    videos[].status: text without blanks
  headers: `);
  expect(text).toContain('status: "queued"');
  expect(text).toContain("videoUrls: null");
});

test("the form is printed as JSON, and the newest job is read only if there is one", async () => {
  const { code, text } = await shapesOf(DIALECTS["Laravel: strings, seconds, data wrapped"] ?? {}, {
    json: true,
  });

  expect(code).toBe(0);
  expect(JSON.parse(text)).toMatchObject({
    answers: [
      { request: "GET /api/v1/openapi.json", answer: "HTTP 404, application/json" },
      {
        request: "GET /api/v1/videos",
        answer: "HTTP 200, application/json",
        form: {
          "documented, but not there": [
            "videos",
            "videos[].jobId",
            "videos[].status",
            "videos[].finalVideoUrl",
            "nextCursor",
          ],
          "not documented": expect.arrayContaining(["{1}[].{2}: UUID", "{1}[].{4}: time", "{5}.{6}: path"]),
        },
      },
      { request: "GET /api/v1/status/{jobId}", answer: "not asked for, as the list names no job" },
      { request: "list_connected_platforms at /api/mcp" },
    ],
  });
});

test("the form says for each order and post whether the service's document declares the Idempotency-Key", async () => {
  const parameters = [{ name: "Idempotency-Key", in: "header" }];
  const paths = { "/api/v1/generate": { post: { parameters } }, "/api/v1/publish": { post: {} } };
  const { text } = await shapesOf({ [DOCUMENT]: { json: { openapi: "3.1.0", paths } } });

  expect(text).toContain("POST /api/v1/generate; takes Idempotency-Key\n");
  expect(text).toContain("POST /api/v1/publish\n");
});

test("refusals and missing answers are shown, and exit code 1 means that nothing answered", async () => {
  const refused = await shapesOf(DIALECTS["a gateway's refusals"] ?? {});
  expect(refused.code).toBe(0);
  expect(refused.text).toContain("GET /api/v1/openapi.json: HTTP 403, text/html, not JSON");
  expect(refused.text).toMatch(/headers: .*, x-gateway-4f2e$/m);
  expect(refused.text).toContain("error.code: text without blanks");

  const dead = await doctor({
    shapes: true,
    env: { FACELESS_API_KEY: CANARY, FACELESS_BASE_URL: "http://127.0.0.1:1" },
  });
  expect(dead.code).toBe(1);
  expect(dead.text).toContain("GET /api/v1/videos: no usable answer: network");
  expect((await doctor({ shapes: true })).text).toBe(
    "There is no service to ask: FACELESS_API_KEY is not set; FACELESS_BASE_URL is not set.\n",
  );
});

test("the sandbox's service answers as documented, also at its MCP endpoint", async ({ onTestFinished }) => {
  const { url, apiKey, close } = await startSandbox({ renderSeconds: 0 });
  onTestFinished(close);
  const order = {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
  };
  await fetch(`${url}/api/v1/generate`, { ...order, body: JSON.stringify({ topic: "Tides" }) });

  const { code, text } = await doctor({
    shapes: true,
    env: { FACELESS_API_KEY: apiKey, FACELESS_BASE_URL: url },
  });

  expect(code).toBe(0);
  expect(text).not.toContain("documented, but not there");
  expect(text).toMatch(/list_connected_platforms.*: (?:a list|HTTP 200)/);
});

test("if a list isn't as documented, doctor and the error name the command", async () => {
  const answer: ScriptedAnswer = { json: { items: [] } };
  const { url } = await scriptedService({ [VIDEOS]: answer });

  const { text } = await doctor({ env: { FACELESS_API_KEY: CANARY, FACELESS_BASE_URL: url } });

  expect(text).toMatch(/If the address is right, run "\S+ \S+ doctor --shapes" and report what it prints/);
  const client = await connectLegacy({ env: { FACELESS_API_KEY: CANARY, FACELESS_BASE_URL: url } });
  expect(textOf(await client.call("list_videos"))).toContain(
    "this server's command doctor --shapes shows how the answers look",
  );
});
