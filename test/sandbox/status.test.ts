import { expect, test } from "vitest";
import { refusal, testSandbox } from "./fixture.ts";

test("GET /api/v1/status/{jobId} shows the voiceover, then each clip, and then completes", async () => {
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

test("a render whose topic has [fail] fails halfway, keeps what was ready and stays failed", async () => {
  const sandbox = await testSandbox({ renderSeconds: 20 });
  const jobId = await sandbox.generate({ topic: "x [fail]", duration: 60 });
  sandbox.advance(9.9);
  const before = await sandbox.get(`/api/v1/status/${jobId}`);
  sandbox.advance(0.1);
  const after = await sandbox.get(`/api/v1/status/${jobId}`);
  sandbox.advance(3600);
  const later = await sandbox.get(`/api/v1/status/${jobId}`);

  const ready = {
    videoUrls: [1, 2].map((n) => `${sandbox.url}/media/clips/${jobId}/${n}.mp4`),
    audioUrl: `${sandbox.url}/media/voice/${jobId}.wav`,
  };
  const failed = { status: "failed", ...ready, progress: { total: 6, completed: 2, failed: 1 } };
  expect([before.body, after.body, later.body]).toEqual([
    { status: "processing", ...ready, progress: { total: 6, completed: 2, failed: 0 } },
    failed,
    failed,
  ]);
});

test("a render whose topic has [slow] takes five times as long", async () => {
  const sandbox = await testSandbox({ renderSeconds: 20 });
  const jobId = await sandbox.generate({ topic: "x [slow]" });
  sandbox.advance(99.9);
  expect((await sandbox.get(`/api/v1/status/${jobId}`)).body).toMatchObject({ status: "processing" });

  sandbox.advance(0.1);

  expect((await sandbox.get(`/api/v1/status/${jobId}`)).body).toMatchObject({ status: "completed" });
});

test.each(["00000000-0000-4000-8000-000000000000", "%E0%A4%A", "__proto__"])(
  "GET /api/v1/status/{jobId} answers 404 for the unknown job %s",
  async (jobId) => {
    const sandbox = await testSandbox();

    const answer = await sandbox.get(`/api/v1/status/${jobId}`);

    expect(answer).toMatchObject(refusal(404, "not_found", "No video with this jobId."));
  },
);
