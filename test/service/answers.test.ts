import { describe, expect, test } from "vitest";
import { bridge, JOB } from "./bridge.ts";

const GENERATED = { json: { jobId: JOB, status: "processing" } };

describe("an answer", () => {
  test.each([200, 201, 202, 203, 206, 299])("with %i is good", async (status) => {
    const { service } = await bridge({ "POST /api/v1/generate": { ...GENERATED, status } });

    expect(await service.generate({ topic: "x" })).toEqual({ jobId: JOB, status: "processing" });
  });

  test("to a status becomes a job: nulls absent, unknown fields kept, the id that was asked for", async () => {
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

  test.each([
    ["completed", true],
    ["failed", true],
    ["processing", false],
    ["queued", false],
    ["COMPLETED", false],
    ["toString", false],
  ])("with the status %s means done: %s", async (status, done) => {
    const { service } = await bridge({ [`GET /api/v1/status/${JOB}`]: { json: { status } } });

    expect(await service.getJob(JOB)).toEqual({ jobId: JOB, status, done, videoUrls: [] });
  });

  test("to publish keeps what the service says of each platform", async () => {
    const results = [
      { platform: "tiktok", ok: true, url: "https://tiktok.example/1" },
      { platform: "youtube", ok: false, error: { code: "expired" } },
    ];
    const { service } = await bridge({ "POST /api/v1/publish": { json: { results, took: 3 } } });

    expect(await service.publish({ jobId: JOB, platforms: ["tiktok", "youtube"] })).toEqual({
      results,
      took: 3,
    });
  });

  test.each([
    [{ nextCursor: "2026-03-01T12:00:00Z" }, { nextCursor: "2026-03-01T12:00:00Z" }],
    [{ nextCursor: 1772366400 }, { nextCursor: "1772366400" }],
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
