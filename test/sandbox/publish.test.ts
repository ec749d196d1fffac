import { expect, test } from "vitest";
import { refusal, startedAt, testSandbox } from "./fixture.ts";

test("POST /api/v1/publish has one result per platform: two work, one has an expired token, others are not connected", async () => {
  const sandbox = await testSandbox({ renderSeconds: 0 });
  const jobId = await sandbox.generate();

  const { status, body } = await sandbox.post("/api/v1/publish", {
    jobId,
    platforms: ["tiktok", "instagram", "youtube", "snapchat"],
  });

  const url = (platform: string): string => `${sandbox.url}/media/posts/${platform}/${jobId}.mp4`;
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      results: [
        { platform: "tiktok", ok: true, url: url("tiktok") },
        {
          platform: "instagram",
          ok: false,
          error: "The instagram access token has expired. Reconnect the account.",
        },
        { platform: "youtube", ok: true, url: url("youtube") },
        { platform: "snapchat", ok: false, error: "No snapchat account is connected." },
      ],
    },
  });
  expect(sandbox.posts()).toEqual([
    { jobId, platform: "tiktok", url: url("tiktok"), publishedAt: startedAt },
    { jobId, platform: "youtube", url: url("youtube"), publishedAt: startedAt },
  ]);
});

test("POST /api/v1/publish posts once to a platform that one request names twice, and again for a second request", async () => {
  const sandbox = await testSandbox({ renderSeconds: 0 });
  const jobId = await sandbox.generate();

  const { body } = await sandbox.post("/api/v1/publish", { jobId, platforms: ["tiktok", "tiktok"] });

  const result = { platform: "tiktok", ok: true, url: `${sandbox.url}/media/posts/tiktok/${jobId}.mp4` };
  expect(body).toEqual({ results: [result] });
  expect(sandbox.posts()).toHaveLength(1);
  await sandbox.post("/api/v1/publish", { jobId, platforms: ["tiktok"] });
  expect(sandbox.posts()).toHaveLength(2);
});

test.each([
  ["processing", "The night train"],
  ["failed", "x [fail]"],
])("POST /api/v1/publish refuses a job with the status %s", async (state, topic) => {
  const sandbox = await testSandbox({ renderSeconds: 20 });
  const jobId = await sandbox.generate({ topic });
  sandbox.advance(19.9);

  const answer = await sandbox.post("/api/v1/publish", { jobId, platforms: ["tiktok"] });

  expect(answer).toMatchObject(
    refusal(409, "not_ready", `The video can't be published: its status is ${state}.`),
  );
  expect(sandbox.posts()).toEqual([]);
});

test("POST /api/v1/publish refuses an unknown job", async () => {
  const sandbox = await testSandbox();

  const answer = await sandbox.post("/api/v1/publish", {
    jobId: "nonsense",
    platforms: ["tiktok"],
  });

  expect(answer).toMatchObject(refusal(404, "not_found", "No video with this jobId."));
});

test.each([
  ["platforms", { platforms: [] }],
  ["platforms", { platforms: "tiktok" }],
  ["platforms.1", { platforms: ["tiktok", "TikTok"] }],
  ["jobId", { jobId: undefined, platforms: ["tiktok"] }],
  ["caption", { platforms: ["tiktok"], caption: "x" }],
])("POST /api/v1/publish names the invalid field %s and posts nothing: %j", async (field, fields) => {
  const sandbox = await testSandbox({ renderSeconds: 0 });
  const jobId = await sandbox.generate();

  const answer = await sandbox.post("/api/v1/publish", { jobId, ...fields });

  expect(answer).toMatchObject(
    refusal(400, "invalid_request", expect.stringMatching(new RegExp(`^${field}: `))),
  );
  expect(sandbox.posts()).toEqual([]);
});
