import { expect, test } from "vitest";
import { refusal, testSandbox } from "./fixture.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const outOfCredits = refusal(
  402,
  "out_of_credits",
  "No credits remain on this account. A restarted sandbox has new ones.",
);

test("POST /api/v1/generate answers at once with a job that is processing", async () => {
  const sandbox = await testSandbox();

  const { status, body } = await sandbox.post("/api/v1/generate", { topic: "The night train" });

  expect({ status, body }).toEqual({
    status: 201,
    body: { jobId: expect.stringMatching(uuid), status: "processing" },
  });
});

test.each([
  { language: "zh-Hant-TW" },
  { voice: "clone:My_Voice-7" },
  { voice: "fr-amelie" },
  { language: "fr", duration: 45, style: "ugc", voice: "adam", music: "dramatic", pacing: "fast" },
])("POST /api/v1/generate accepts the documented fields: %j", async (fields) => {
  const sandbox = await testSandbox();

  const { status } = await sandbox.post("/api/v1/generate", { topic: "x", ...fields });

  expect(status).toBe(201);
});

test.each([
  ["topic", {}],
  ["topic", { topic: 7 }],
  ["language", { topic: "x", language: "en_US" }],
  ["duration", { topic: "x", duration: 9.9 }],
  ["style", { topic: "x", style: "Story" }],
  ["voice", { topic: "x", voice: "Charlotte" }],
  ["music", { topic: "x", music: "jazz" }],
  ["pacing", { topic: "x", pacing: null }],
  ["aspectRatio", { topic: "x", aspectRatio: "9:16" }],
  ["body", ["topic"]],
])("POST /api/v1/generate names the invalid field %s and spends nothing: %j", async (field, request) => {
  const sandbox = await testSandbox({ credits: 1 });

  const answer = await sandbox.post("/api/v1/generate", request);

  expect(answer).toMatchObject(
    refusal(400, "invalid_request", expect.stringMatching(new RegExp(`^${field}: `))),
  );
  expect((await sandbox.get("/api/v1/videos")).body).toEqual({ videos: [], nextCursor: null });
  expect((await sandbox.post("/api/v1/generate", { topic: "x" })).status).toBe(201);
});

test("POST /api/v1/generate costs one credit, which a failed render gives back once", async () => {
  const sandbox = await testSandbox({ credits: 1, renderSeconds: 20 });
  await sandbox.generate({ topic: "[fail] on the way" });
  expect((await sandbox.post("/api/v1/generate", { topic: "too early" })).status).toBe(402);

  sandbox.advance(10);

  expect((await sandbox.post("/api/v1/generate", { topic: "now" })).status).toBe(201);
  sandbox.advance(3600);
  expect(await sandbox.post("/api/v1/generate", { topic: "again" })).toMatchObject(outOfCredits);
});

test("POST /api/v1/generate refuses a topic with [out_of_credits] and spends nothing", async () => {
  const sandbox = await testSandbox({ credits: 1 });

  expect(await sandbox.post("/api/v1/generate", { topic: "x [out_of_credits]" })).toMatchObject(outOfCredits);
  expect((await sandbox.post("/api/v1/generate", { topic: "x" })).status).toBe(201);
});

test("POST /api/v1/generate refuses a topic with [rate_limit] until Retry-After has passed", async () => {
  const sandbox = await testSandbox();
  const topic = "x [rate_limit]";

  const first = await sandbox.post("/api/v1/generate", { topic });

  expect(first).toMatchObject(refusal(429, "rate_limited", "Too many requests. Try again in 2 seconds."));
  expect(first.headers.get("Retry-After")).toBe("2");
  sandbox.advance(1.5);
  const early = await sandbox.post("/api/v1/generate", { topic });
  expect([early.status, early.headers.get("Retry-After")]).toEqual([429, "1"]);
  sandbox.advance(0.5);
  expect((await sandbox.post("/api/v1/generate", { topic })).status).toBe(201);
  expect((await sandbox.post("/api/v1/generate", { topic: `${topic} other` })).status).toBe(429);
});
