import { describe, expect, test } from "vitest";
import type { Reply } from "../fixtures/scripted-service.ts";
import { bridge, failureOf, failures, JOB } from "./bridge.ts";

describe("a 2xx answer that is not as documented", () => {
  const deep = "[".repeat(300_000) + "]".repeat(300_000);

  test.each<[string, Reply, string]>([
    ["that is no JSON", { body: "<html>Welcome</html>" }, "it is no JSON"],
    ["that is cut off", { body: '{"jobId":"a","status":' }, "it is no JSON"],
    ["that is empty", { status: 204 }, "it is no JSON"],
    ["that is nested without end", { body: `{"jobId":"a","status":"b","x":${deep}}` }, "it is no JSON"],
    [
      "that is compressed though nobody asked",
      { headers: { "content-encoding": "gzip" }, body: "{}" },
      "it is compressed, which was not asked for",
    ],
  ])("%s is a bad answer, and unknown for a POST", async (_, reply, problem) => {
    const { get, post } = await failures(reply);

    expect(get).toEqual({
      code: "bad_answer",
      message: `The service's answer to the status of the job is not as documented: ${problem}.`,
      nextStep: "Check FACELESS_BASE_URL: it is the service's address without /api/v1.",
      outcome: "unknown",
      retryable: true,
      status: expect.any(Number),
    });
    expect(post).toMatchObject({
      code: "bad_answer",
      nextStep:
        "Look with list_videos whether the video was started: if it is there, follow it with get_video_status.",
      outcome: "unknown",
      retryable: false,
    });
  });

  test.each<[string, unknown]>([
    ["without jobId", { status: "processing" }],
    ["with a jobId of null", { jobId: null, status: "processing" }],
    ["with an empty jobId", { jobId: "", status: "processing" }],
    ["that is null", null],
    ["that is a list", []],
  ])("a generation %s names the field and is unknown", async (_, json) => {
    const { service } = await bridge({ "POST /api/v1/generate": { json } });

    expect(await failureOf(service.generate({ topic: "x" }))).toMatchObject({
      code: "bad_answer",
      message: expect.stringMatching(/^The service's answer to the new video is not as documented: /),
      outcome: "unknown",
      retryable: false,
      status: 200,
    });
  });

  test.each([{}, { status: null }, { status: 7 }, { status: "" }])(
    "a generation with a jobId is good, whatever stands for its status: %j",
    async (fields) => {
      const { service } = await bridge({ "POST /api/v1/generate": { json: { jobId: JOB, ...fields } } });

      expect(await service.generate({ topic: "x" })).toEqual({ jobId: JOB, status: "processing" });
    },
  );

  test.each(["identity", "Identity", ""])("the content-encoding %j is none", async (encoding) => {
    const { service } = await bridge({
      "GET /api/v1/videos": { headers: { "content-encoding": encoding }, json: { videos: [] } },
    });

    expect(await service.listVideos({})).toEqual({ videos: [] });
  });

  test("a byte order mark before the JSON is none of it", async () => {
    const { service } = await bridge({ "GET /api/v1/videos": { body: '\uFEFF{"videos":[]}' } });

    expect(await service.listVideos({})).toEqual({ videos: [] });
  });
});
