import { expect, test } from "vitest";
import { refusal, type TestSandbox, testSandbox } from "./fixture.ts";

/** Whether the file of the post is there. */
async function isPosted({ url }: TestSandbox, jobId: string, platform = "tiktok"): Promise<boolean> {
  const file = `${url}/media/posts/${platform}/${jobId}.mp4`;
  return (await fetch(file, { method: "HEAD" })).status === 200;
}

test("POST /api/v1/publish returns one result per platform", async () => {
  const sandbox = await testSandbox({ renderSeconds: 0 });
  const jobId = await sandbox.generate();

  const { status, body } = await sandbox.post("/api/v1/publish", {
    jobId,
    platforms: ["tiktok", "instagram", "youtube", "snapchat"],
  });

  const url = (platform: string) => `${sandbox.url}/media/posts/${platform}/${jobId}.mp4`;
  const expired = "The instagram access token has expired. Reconnect the account.";
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      results: [
        { platform: "tiktok", ok: true, url: url("tiktok") },
        { platform: "instagram", ok: false, error: expired },
        { platform: "youtube", ok: true, url: url("youtube") },
        { platform: "snapchat", ok: false, error: "No snapchat account is connected." },
      ],
    },
  });
  expect([await isPosted(sandbox, jobId, "youtube"), await isPosted(sandbox, jobId, "instagram")]).toEqual([
    true,
    false,
  ]);
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
  expect(await isPosted(sandbox, jobId)).toBe(false);
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
  expect(await isPosted(sandbox, jobId)).toBe(false);
});
