import { describe, expect, test } from "vitest";
import { envelope, type Reply, startScriptedService } from "../fixtures/scripted-service.ts";
import { bridge, connect, failureOf, JOB } from "./bridge.ts";

const STATUS = `GET /api/v1/status/${JOB}`;
const GENERATE = "POST /api/v1/generate";
const DONE: Reply = { json: { status: "completed" } };
const GENERATED: Reply = { status: 201, json: { jobId: JOB, status: "processing" } };
const busy = (headers: Record<string, string> = {}): Reply => ({
  ...envelope(429, "rate_limited", "Slow down."),
  headers,
});

describe("a GET", () => {
  test.each([408, 429, 500, 502, 503, 504])("is asked again after a %i", async (status) => {
    const answer = { status, headers: { "retry-after": "0" } };
    const { service, rest } = await bridge({ [STATUS]: [answer, answer, DONE] });

    expect(await service.getJob(JOB)).toEqual({ jobId: JOB, status: "completed", done: true, videoUrls: [] });
    expect(rest.lines()).toEqual([STATUS, STATUS, STATUS]);
  });

  test.each<Reply>(["reset", "hang up"])(
    "is asked again after a connection that ends with a %s",
    async (fault) => {
      const { service, rest } = await bridge({ [STATUS]: [fault, DONE] });

      expect(await service.getJob(JOB)).toMatchObject({ status: "completed" });
      expect(rest.lines()).toEqual([STATUS, STATUS]);
    },
  );

  test.each<Reply>([{ status: 503 }, "reset", busy({ "retry-after": "0" })])(
    "is asked three times at most: %j",
    async (reply) => {
      const { service, rest } = await bridge({ [STATUS]: reply });

      await failureOf(service.getJob(JOB));

      expect(rest.lines()).toEqual([STATUS, STATUS, STATUS]);
    },
  );

  test.each([400, 401, 403, 404, 409, 422])("is asked once where the answer is a %i", async (status) => {
    const { service, rest } = await bridge({ [STATUS]: { status } });

    await failureOf(service.getJob(JOB));

    expect(rest.lines()).toEqual([STATUS]);
  });

  test("is asked once where the answer is too large: it would be again", async () => {
    const { service, rest } = await bridge({ [STATUS]: { body: "x".repeat(4 * 1024 * 1024 + 1) } });

    expect(await failureOf(service.getJob(JOB))).toEqual({
      code: "bad_answer",
      message:
        "The service's answer to the status of the job could not be read: the answer is larger than 4 MB.",
      nextStep: "Check FACELESS_BASE_URL: it is the service's address without /api/v1.",
      outcome: "unknown",
      retryable: true,
      status: 200,
    });
    expect(rest.lines()).toEqual([STATUS]);
  });

  test("is asked no more often than once while most of its kind fail", async () => {
    const { service, rest } = await bridge({ [STATUS]: { status: 503 } });

    for (let call = 0; call < 5; call++) await failureOf(service.getJob(JOB));

    // Five retries, then none: 3 + 3 + 2 + 1 + 1.
    expect(rest.lines()).toHaveLength(10);
  });
});

describe("a POST", () => {
  test("is sent again after a 429, and once only", async () => {
    const { service, rest } = await bridge({ [GENERATE]: [busy({ "retry-after": "0" }), GENERATED] });

    expect(await service.generate({ topic: "x" })).toEqual({ jobId: JOB, status: "processing" });
    expect(rest.requests.map(({ body }) => body)).toEqual(['{"topic":"x"}', '{"topic":"x"}']);
  });

  test("is sent twice at most", async () => {
    const { service, rest } = await bridge({ [GENERATE]: busy({ "retry-after": "0" }) });

    expect(await failureOf(service.generate({ topic: "x" }))).toMatchObject({ code: "rate_limited" });
    expect(rest.lines()).toEqual([GENERATE, GENERATE]);
  });

  test.each<Reply>([
    { status: 408 },
    { status: 500 },
    { status: 502 },
    { status: 503 },
    { status: 503, headers: { "retry-after": "0" } },
    { status: 504 },
    { status: 200, body: "<html>" },
    { status: 307, headers: { location: "/api/v1/generate" } },
    "reset",
    "hang up",
  ])("that may have been carried out is never sent again: %j", async (reply) => {
    const { service, rest } = await bridge({ [GENERATE]: [reply, GENERATED] });

    expect(await failureOf(service.generate({ topic: "x" }))).toMatchObject({
      outcome: "unknown",
      retryable: false,
      nextStep: expect.stringContaining("Look with list_videos"),
    });
    expect(rest.lines()).toEqual([GENERATE]);
  });
});

test.each([
  ["GET", 2],
  ["POST", 1],
])(
  "A %s that nobody is there for is tried %i times more, then known never to have left",
  async (method, waits) => {
    const gone = await startScriptedService();
    await gone.close();
    let asked = 0;
    // Asked before each wait between attempts.
    const service = connect({ baseUrl: gone.url, random: () => (asked++, 0) });

    const call = method === "GET" ? service.getJob(JOB) : service.generate({ topic: "x" });

    expect(await failureOf(call)).toEqual({
      code: "network",
      message: `The service could not be reached for ${method === "GET" ? "the status of the job" : "the new video"}: connection refused (ECONNREFUSED).`,
      nextStep: "Check the network, the proxy settings and FACELESS_BASE_URL.",
      outcome: "not_sent",
      retryable: true,
    });
    expect(asked).toBe(waits);
  },
);

test("A 429 stops the whole process: while the pause lasts nothing more is sent, and the next call says how long", async () => {
  const { service, rest } = await bridge({ [STATUS]: busy({ "retry-after": "90" }) });
  await failureOf(service.getJob(JOB));

  expect(await failureOf(service.generate({ topic: "x" }))).toEqual({
    code: "rate_limited",
    message: "The service's allowance of requests is used up, so nothing was sent.",
    nextStep: "Wait 60 s before the next call.",
    outcome: "not_sent",
    retryable: true,
    retryAfterSeconds: 60,
  });
  expect(rest.lines()).toEqual([STATUS]);
});

describe("Retry-After", () => {
  const DATE = "Sun, 01 Mar 2026 12:00:00 GMT";

  test.each<[Record<string, string>, number, string]>([
    [{ "retry-after": "90" }, 90, "Wait 90 s before the next call."],
    [{ "retry-after": "Sun, 01 Mar 2026 12:01:30 GMT", date: DATE }, 90, "Wait 90 s before the next call."],
    [{ "retry-after": "20.2" }, 21, "Wait 21 s before the next call."],
    // Unreadable or missing: the pause that the rate budget makes for everybody.
    [{ "retry-after": "a while" }, 5, "Wait 5 s before the next call."],
    [{}, 5, "Wait 5 s before the next call."],
  ])("of %j is told as %s s", async (headers, seconds, nextStep) => {
    const { service } = await bridge({ [STATUS]: busy(headers) });

    expect(await failureOf(service.getJob(JOB, { deadlineMs: 3_000 }))).toEqual({
      code: "rate_limited",
      message: "The service allows no more requests for now.",
      nextStep,
      outcome: "rejected",
      retryable: true,
      status: 429,
      retryAfterSeconds: seconds,
      serviceWords: { code: "rate_limited", message: "Slow down." },
    });
  });

  test.each([
    ["GET", STATUS],
    ["POST", GENERATE],
  ])("that does not fit the call is not waited for: %s", async (method, route) => {
    const { service, rest } = await bridge({ [route]: busy({ "retry-after": "39" }) });

    const call = method === "GET" ? service.getJob(JOB) : service.generate({ topic: "x" });

    expect(await failureOf(call)).toMatchObject({ retryAfterSeconds: 39 });
    expect(rest.lines()).toEqual([route]);
  });

  test("is read by the service's clock where the service tells it", async () => {
    const { service, rest } = await bridge({
      [STATUS]: [busy({ "retry-after": DATE, date: DATE }), DONE],
    });

    await service.getJob(JOB);

    expect(rest.lines()).toEqual([STATUS, STATUS]);
  });

  test("of a 503 goes with the failure of a GET, and not of a POST, which nobody should repeat", async () => {
    const reply: Reply = { status: 503, headers: { "retry-after": "60" } };
    const { service } = await bridge({ [STATUS]: reply, [GENERATE]: reply });

    expect(await failureOf(service.getJob(JOB))).toMatchObject({ retryAfterSeconds: 60 });
    expect(await failureOf(service.generate({ topic: "x" }))).not.toHaveProperty("retryAfterSeconds");
  });
});
