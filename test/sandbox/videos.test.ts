import { expect, test } from "vitest";
import { z } from "zod";
import { refusal, startedAt, testSandbox } from "./fixture.ts";

const pageSchema = z.object({
  videos: z.array(z.looseObject({ jobId: z.string() })),
  nextCursor: z.string().nullable(),
});

test("GET /api/v1/videos lists the newest job first, with final videos", async () => {
  const sandbox = await testSandbox({ renderSeconds: 20 });
  const done = await sandbox.generate({ topic: "first" });
  const failed = await sandbox.generate({ topic: "second [fail]" });
  sandbox.advance(20);
  const running = await sandbox.generate({ topic: "third" });

  const { status, body } = await sandbox.get("/api/v1/videos");

  expect({ status, body }).toEqual({
    status: 200,
    body: {
      videos: [
        { jobId: running, status: "processing", topic: "third", createdAt: "2026-03-01T12:00:20.000Z" },
        { jobId: failed, status: "failed", topic: "second [fail]", createdAt: "2026-03-01T12:00:00.001Z" },
        {
          jobId: done,
          status: "completed",
          topic: "first",
          createdAt: startedAt,
          finalVideoUrl: `${sandbox.url}/media/final/${done}.mp4`,
        },
      ],
      nextCursor: null,
    },
  });
});

test("GET /api/v1/videos pages correctly through jobs of the same millisecond", async () => {
  const sandbox = await testSandbox();
  const created: string[] = [];
  for (let i = 0; i < 6; i++) created.push(await sandbox.generate());

  const sizes: number[] = [];
  const seen: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const answer = await sandbox.get(`/api/v1/videos?limit=3${cursor ? `&cursor=${cursor}` : ""}`);
    const { videos, nextCursor } = pageSchema.parse(answer.body);
    sizes.push(videos.length);
    seen.push(...videos.map((video) => video.jobId));
    cursor = nextCursor;
  }

  expect({ sizes, seen }).toEqual({ sizes: [3, 3], seen: created.reverse() });
});

test.each([
  ["limit", "0"],
  ["limit", "101"],
  ["limit", ""],
  ["cursor", "yesterday"],
])("GET /api/v1/videos names the invalid parameter %s: %j", async (name, value) => {
  const sandbox = await testSandbox();

  const answer = await sandbox.get(`/api/v1/videos?${name}=${value}`);

  expect(answer).toMatchObject(
    refusal(400, "invalid_request", expect.stringMatching(new RegExp(`^${name}: `))),
  );
});
