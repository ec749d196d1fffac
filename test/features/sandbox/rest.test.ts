import { expect, test } from "vitest";
import { z } from "zod";
import { refusal, startedAt, type TestSandbox, testSandbox } from "./fixture.ts";

const GENERATE = "/api/v1/generate";
const OUT_OF_CREDITS = refusal(
  402,
  "out_of_credits",
  "No credits remain on this account. A restarted sandbox has new ones.",
);

test.each([
  ["topic", {}],
  ["language", { topic: "x", language: "en_US" }],
  ["brightness", { topic: "x", brightness: 7 }],
  ["body", ["topic"]],
])("generate names the invalid field %s and spends nothing", async (field, request) => {
  const sandbox = await testSandbox({ credits: 1 });

  const answer = await sandbox.post(GENERATE, request);

  const message = expect.stringMatching(new RegExp(`^${field}: `));
  expect(answer).toMatchObject(refusal(400, "invalid_request", message));
  expect((await sandbox.post(GENERATE, { topic: "x" })).status).toBe(201);
});

test("a video costs a credit, which a failed render gives back", async () => {
  const sandbox = await testSandbox({ credits: 1, renderSeconds: 20 });
  expect(await sandbox.post(GENERATE, { topic: "x [out_of_credits]" })).toMatchObject(OUT_OF_CREDITS);
  await sandbox.generate({ topic: "[fail] on the way" });
  expect(await sandbox.post(GENERATE, { topic: "too early" })).toMatchObject(OUT_OF_CREDITS);

  sandbox.advance(10);

  expect((await sandbox.post(GENERATE, { topic: "now" })).status).toBe(201);
  sandbox.advance(3600);
  expect(await sandbox.post(GENERATE, { topic: "again" })).toMatchObject(OUT_OF_CREDITS);
});

test("a topic with [rate_limit] is refused once", async () => {
  const sandbox = await testSandbox();
  const send = () => sandbox.post(GENERATE, { topic: "x [rate_limit]" });

  const first = await send();
  const second = await send();

  expect(first).toMatchObject(refusal(429, "rate_limited", "Too many requests. Try again in 2 seconds."));
  expect(first.headers.get("Retry-After")).toBe("2");
  expect(second.status).toBe(201);
});

test("a status shows the voiceover, then each clip, and then the end", async () => {
  const sandbox = await testSandbox({ renderSeconds: 20 });
  const jobId = await sandbox.generate({ duration: 22.5 });
  const seen: unknown[] = [];

  for (const seconds of [0, 3, 6, 5, 4, 2]) {
    sandbox.advance(seconds);
    seen.push((await sandbox.get(`/api/v1/status/${jobId}`)).body);
  }

  const voiced = (completed: number, status = "processing") => ({
    status,
    videoUrls: [1, 2, 3].slice(0, completed).map((n) => `${sandbox.url}/media/clips/${jobId}/${n}.mp4`),
    audioUrl: `${sandbox.url}/media/voice/${jobId}.wav`,
    progress: { total: 3, completed, failed: 0 },
  });
  const { audioUrl: _, ...begun } = voiced(0);
  expect(seen).toEqual([begun, voiced(0), voiced(1), voiced(2), voiced(3), voiced(3, "completed")]);
});

test("[fail] fails halfway, and [slow] takes five times as long", async () => {
  const sandbox = await testSandbox({ renderSeconds: 20 });
  const jobIds = [
    await sandbox.generate({ topic: "x [fail]" }),
    await sandbox.generate({ topic: "x [slow]" }),
  ];
  const states: unknown[] = [];

  for (const seconds of [9.9, 0.1, 89.9, 0.2]) {
    sandbox.advance(seconds);
    for (const jobId of jobIds) {
      const { body } = await sandbox.get(`/api/v1/status/${jobId}`);
      states.push(Object(body).status);
    }
  }

  const [running, failed] = ["processing", "failed"];
  expect(states).toEqual([running, running, failed, running, failed, running, failed, "completed"]);
});

test.each([
  ["processing", "The night train"],
  ["failed", "x [fail]"],
])("publish refuses a job with the status %s", async (state, topic) => {
  const sandbox = await testSandbox({ renderSeconds: 20 });
  const jobId = await sandbox.generate({ topic });
  sandbox.advance(19.9);

  const answer = await sandbox.post("/api/v1/publish", { jobId, platforms: ["tiktok"] });

  const message = `The video can't be published: its status is ${state}.`;
  expect(answer).toMatchObject(refusal(409, "not_ready", message));
});

test("videos come newest first, and a completed one has its link", async () => {
  const sandbox = await testSandbox({ renderSeconds: 20 });
  const done = await sandbox.generate({ topic: "first" });
  sandbox.advance(20);
  const running = await sandbox.generate({ topic: "second" });

  const { body } = await sandbox.get("/api/v1/videos");

  const link = `${sandbox.url}/media/final/${done}.mp4`;
  const videos = [
    { jobId: running, status: "processing", topic: "second", createdAt: "2026-03-01T12:00:20.000Z" },
    { jobId: done, status: "completed", topic: "first", createdAt: startedAt, finalVideoUrl: link },
  ];
  expect(body).toEqual({ videos, nextCursor: null });
});

const order = (sandbox: TestSandbox, topic: string, key?: string) =>
  sandbox.post(GENERATE, { topic }, key === undefined ? {} : { headers: { "Idempotency-Key": key } });
const jobsOf = async (sandbox: TestSandbox) => {
  const { body } = await sandbox.get("/api/v1/videos");
  return z.object({ videos: z.array(z.looseObject({ topic: z.string() })) }).parse(body).videos;
};

test("an order that repeats an Idempotency-Key gets the earlier answer and starts no job", async () => {
  const sandbox = await testSandbox();
  const first = await order(sandbox, "Tides", '"one"');

  const again = await order(sandbox, "Tides", '"one"');

  expect(again.body).toEqual(first.body);
  expect(await jobsOf(sandbox)).toHaveLength(1);
  await order(sandbox, "Tides", '"two"');
  await order(sandbox, "Tides");
  expect(await jobsOf(sandbox)).toHaveLength(3);
});

test("a post that repeats an earlier Idempotency-Key gets the earlier answer", async () => {
  const sandbox = await testSandbox({ renderSeconds: 0 });
  const body = { jobId: await sandbox.generate(), platforms: ["tiktok"] };
  const headers = { "Idempotency-Key": '"one"' };
  const posts = [body, body].map((json) => sandbox.post("/api/v1/publish", json, { headers }));

  const statuses = await Promise.all(posts).then((answers) => answers.map(({ status }) => status));

  expect(statuses).toContain(200);
  expect((await sandbox.post("/api/v1/publish", body, { headers })).status).toBe(200);
  const other = { ...body, platforms: ["youtube"] };
  expect((await sandbox.post("/api/v1/publish", other, { headers })).status).toBe(422);
});

test("an Idempotency-Key that was used for a different order is refused", async () => {
  const sandbox = await testSandbox();
  await order(sandbox, "Tides", '"one"');

  expect(await order(sandbox, "Rivers", '"one"')).toMatchObject(
    refusal(422, "key_reused", "This Idempotency-Key came with another request before."),
  );
  expect(await jobsOf(sandbox)).toHaveLength(1);
});

test("the Idempotency-Key of a refused order can be used again", async () => {
  const sandbox = await testSandbox();
  expect((await order(sandbox, "", '"one"')).status).toBe(400);

  expect((await order(sandbox, "Tides", '"one"')).status).toBe(201);
});

test("paging neither skips nor repeats jobs of the same millisecond", async () => {
  const sandbox = await testSandbox();
  const created: string[] = [];
  for (let i = 0; i < 6; i++) created.push(await sandbox.generate());
  const pageSchema = z.object({
    videos: z.array(z.looseObject({ jobId: z.string() })),
    nextCursor: z.string().nullable(),
  });

  const pages: string[][] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const { body } = await sandbox.get(`/api/v1/videos?limit=3${cursor && `&cursor=${cursor}`}`);
    const page = pageSchema.parse(body);
    pages.push(page.videos.map(({ jobId }) => jobId));
    cursor = page.nextCursor;
  }

  const newest = created.reverse();
  expect(pages).toEqual([newest.slice(0, 3), newest.slice(3)]);
});

test.each(["limit=101", "cursor=yesterday"])("videos refuses %s", async (query) => {
  const sandbox = await testSandbox();

  const answer = await sandbox.get(`/api/v1/videos?${query}`);

  const message = expect.stringMatching(new RegExp(`^${query.split("=")[0]}: `));
  expect(answer).toMatchObject(refusal(400, "invalid_request", message));
});

test("the OpenAPI document describes the endpoints and how to page", async () => {
  const sandbox = await testSandbox();

  const { body } = await sandbox.get("/api/v1/openapi.json");

  const limit = { type: "integer", minimum: 1, maximum: 100, default: 20 };
  const cursor = expect.objectContaining({ type: "string", format: "date-time" });
  const parameters = [
    { name: "limit", in: "query", required: false, schema: limit },
    { name: "cursor", in: "query", required: false, schema: cursor },
  ];
  const idempotencyKey = expect.objectContaining({ name: "Idempotency-Key", in: "header" });
  const endpoints = {
    "/api/v1/generate": { post: expect.objectContaining({ parameters: [idempotencyKey] }) },
    "/api/v1/status/{jobId}": { get: expect.anything() },
    "/api/v1/publish": { post: expect.anything() },
    "/api/v1/videos": { get: expect.objectContaining({ operationId: "listVideos", parameters }) },
  };
  expect(body).toMatchObject({ openapi: "3.1.0", servers: [{ url: sandbox.url }] });
  expect(Object(body).paths).toMatchObject(endpoints);
});
