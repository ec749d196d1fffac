import { describe, expect, test, vi } from "vitest";
import { RequestSender } from "../../src/service/request-sender.ts";
import { OPERATIONS } from "../../src/service/client.ts";
import { envelope, type Reply, scriptedService, type Scripts } from "../fixtures/scripted-service.ts";
import { seededRandom } from "../fixtures/durations.ts";
import { createLimitedService } from "../fixtures/rate-limit.ts";
import { until } from "../fixtures/until.ts";
import { bridge, connect, failureOf, fastClock, JOB, jumpingClock, KEY } from "./bridge.ts";

const STATUS = `GET /api/v1/status/${JOB}`;
const GENERATE = "POST /api/v1/generate";
const PUBLISH = "POST /api/v1/publish";
const DONE: Reply = { json: { status: "completed" } };
const GENERATED: Reply = { status: 201, json: { jobId: JOB, status: "processing" } };
const busy = (headers: Record<string, string> = {}): Reply => ({
  ...envelope(429, "rate_limited", "Slow down."),
  headers,
});
const AT_ONCE = { "retry-after": "0" };

describe("a GET", () => {
  test.each<Reply>([
    ...[302, 400, 401, 403, 404, 409, 422].map((status) => ({ status })),
    { body: "x".repeat(4 * 1024 * 1024 + 1) },
    { headers: { "content-encoding": "zstd" }, body: "x" },
  ])("is sent once if another attempt would end the same way", async (reply) => {
    const { service, rest } = await bridge({ [STATUS]: reply });

    await failureOf(service.getJob(JOB));

    expect(rest.lines()).toEqual([STATUS]);
  });

  test("in the background is never retried", async () => {
    const { service, rest } = await bridge({ [STATUS]: { status: 503 } });

    expect(await failureOf(service.getJob(JOB, { background: true }))).toMatchObject({
      code: "service_failed",
      retryable: true,
    });
    expect(rest.lines()).toEqual([STATUS]);
  });

  test("waits between attempts with jitter, or as long as Retry-After says", async () => {
    const clock = jumpingClock();
    const answers = [{ status: 503 }, { status: 503, headers: { "retry-after": "3" } }, DONE];
    const { service } = await bridge({ [STATUS]: answers }, { clock, random: () => 0.5 });

    await service.getJob(JOB);

    expect(clock.slept).toEqual([250, 3_000]);
  });
});

describe("a POST", () => {
  test("is sent once more after a 429, with the same body", async () => {
    const { service, rest } = await bridge({ [GENERATE]: [busy(AT_ONCE), GENERATED] });

    expect(await service.generate({ topic: "x" })).toEqual({ jobId: JOB, status: "processing" });
    expect(rest.requests.map(({ body }) => body)).toEqual(['{"topic":"x"}', '{"topic":"x"}']);
  });

  test.each<Reply>([{ status: 504 }, { headers: { "content-encoding": "gzip" }, body: "no gzip" }, "reset"])(
    "to publish that may have been carried out is never sent again: %j",
    async (reply) => {
      const { service, rest } = await bridge({ [PUBLISH]: reply });

      expect(await failureOf(service.publish({ jobId: JOB, platforms: ["tiktok"] }))).toMatchObject({
        outcome: "unknown",
        retryable: false,
        nextStep: OPERATIONS.publish.whenUnknown,
      });
      expect(rest.lines()).toEqual([PUBLISH]);
    },
  );

  test.each([9_999, 0, -1])("is not begun with %i ms of its deadline left", async (deadlineMs) => {
    const { service, rest } = await bridge({ [GENERATE]: GENERATED }, { clock: jumpingClock() });

    expect(await failureOf(service.generate({ topic: "x" }, { deadlineMs }))).toEqual({
      code: "timeout",
      message: "Too little time was left to start the video, so the request was not sent.",
      nextStep: "Make the same call again.",
      outcome: "not_sent",
      retryable: true,
    });
    expect(rest.requests).toEqual([]);
  });

  test.each([
    [27, [28_000], [STATUS, GENERATE]],
    [28, [], [STATUS]],
  ])(
    "waits for a reset only if 10 s of its 38 s remain after it: %i s",
    async (resetSeconds, slept, lines) => {
      const clock = jumpingClock();
      const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(resetSeconds) };
      const { service, rest } = await bridge(
        { [STATUS]: { ...DONE, headers }, [GENERATE]: GENERATED },
        { clock },
      );
      await service.getJob(JOB);

      const ended = await service.generate({ topic: "x" }).catch((error: unknown) => error);

      expect(ended).toMatchObject(
        slept.length > 0 ? { jobId: JOB } : { facts: { code: "rate_limited", outcome: "not_sent" } },
      );

      expect(clock.slept).toEqual(slept);
      expect(rest.lines()).toEqual(lines);
    },
  );

  test("that has waited too long for the rate limiter is not sent", async () => {
    // A timer that fires late, as after a computer's sleep.
    const clock = jumpingClock();
    const late = { ...clock, sleep: async (ms: number) => clock.advance(ms + 20_000) };
    const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "10" };
    const { service, rest } = await bridge(
      { [STATUS]: { ...DONE, headers }, [GENERATE]: GENERATED },
      { clock: late },
    );
    await service.getJob(JOB);

    expect(await failureOf(service.generate({ topic: "x" }))).toMatchObject({
      code: "timeout",
      outcome: "not_sent",
      retryable: true,
    });
    expect(rest.lines()).toEqual([STATUS]);
  });

  test("is not sent a second time with less than 10 s left", async () => {
    const clock = jumpingClock();
    const { service, rest } = await bridge(
      { [GENERATE]: () => (clock.advance(25_000), busy({ "retry-after": "4" })) },
      { clock },
    );

    expect(await failureOf(service.generate({ topic: "x" }))).toMatchObject({
      code: "rate_limited",
      outcome: "rejected",
      retryAfterSeconds: 4,
    });
    expect(clock.slept).toEqual([]);
    expect(rest.lines()).toEqual([GENERATE]);
  });
});

describe("the rate limit", () => {
  test("lets 30 simultaneous calls succeed within 20 s if the service allows 10 in 2 s", async () => {
    const clock = fastClock(5);
    const limited = createLimitedService({ limit: 10, windowMs: 2_000, encoding: "epoch seconds" });
    const { service, rest } = await bridge(
      {
        [STATUS]: () => {
          const { status, headers } = limited.answer(clock.now());
          return status === 200 ? { ...DONE, headers } : busy(headers);
        },
      },
      { clock, random: seededRandom(1) },
    );

    const jobs = await Promise.all(Array.from({ length: 30 }, () => service.getJob(JOB)));

    expect(jobs.map(({ status }) => status)).toEqual(Array.from({ length: 30 }, () => "completed"));
    // The first 30 are sent before the limit is known: 20 of them are refused, and few later ones.
    expect(rest.lines().length).toBeLessThan(60);
  });

  test("pauses every call after a 429, and the error says how long", async () => {
    const { service, rest } = await bridge(
      { [STATUS]: busy({ "retry-after": "90" }) },
      { clock: jumpingClock() },
    );
    await failureOf(service.getJob(JOB));

    const facts = await Promise.all([
      failureOf(service.generate({ topic: "x" })),
      failureOf(service.getJob(JOB, { background: true })),
      failureOf(service.listConnectedPlatforms()),
    ]);

    for (const each of facts)
      expect(each).toEqual({
        code: "rate_limited",
        message: expect.stringMatching(
          /^The service's rate limit is used up, so the request to .+ was not sent\.$/,
        ),
        nextStep: expect.stringMatching(/^Wait 9[01] s before the next call\.$/),
        outcome: "not_sent",
        retryable: true,
        retryAfterSeconds: expect.toBeOneOf([90, 91]),
      });
    expect(rest.lines()).toEqual([STATUS]);
  });

  test.each<[Record<string, string>, number]>([
    [{ "retry-after": "90" }, 90],
    [{ "retry-after": "Sun, 01 Mar 2026 12:01:30 GMT", date: "Sun, 01 Mar 2026 12:00:00 GMT" }, 90],
    [{ "retry-after": "20.2" }, 21],
    [{ "retry-after": "a while" }, 5],
    [{ "x-ratelimit-reset": "30" }, 31],
    [{}, 5],
  ])("after a 429 with %j ends in %i s, as the error says", async (headers, seconds) => {
    const { service } = await bridge({ [STATUS]: busy(headers) }, { clock: jumpingClock() });

    expect(await failureOf(service.getJob(JOB, { deadlineMs: 3_000 }))).toEqual({
      code: "rate_limited",
      message: "The service refused to read the job's status: too many requests were sent.",
      nextStep: `Wait ${seconds} s before the next call.`,
      outcome: "rejected",
      retryable: true,
      status: 429,
      retryAfterSeconds: seconds,
      serviceWords: { code: "rate_limited", message: "Slow down." },
    });
  });

  test("does not count a request that could not be sent", async () => {
    const { service, rest } = await bridge({
      [STATUS]: [
        { ...DONE, headers: { "x-ratelimit-remaining": "1", "x-ratelimit-reset": "3000" } },
        "reset",
        DONE,
      ],
    });
    await service.getJob(JOB);

    expect(await service.getJob(JOB)).toMatchObject({ status: "completed" });
    expect(rest.lines()).toHaveLength(3);
  });

  test("says when the next poll may be made", async () => {
    const { service } = await bridge({ [STATUS]: DONE }, { clock: jumpingClock() });
    expect(service.backgroundWaitMs()).toBe(0);

    await service.getJob(JOB, { background: true });
    await service.getJob(JOB, { background: true });

    expect(service.backgroundWaitMs()).toBe(2_000);
  });
});

/** By then a request has reached the service, on a busy machine too. */
const REACHED_MS = 1_000;

describe("a deadline", () => {
  test("closes the connection of a request that is never answered", async () => {
    const { service, rest } = await bridge({ [GENERATE]: "hang" }, { minPostMs: 0 });

    await failureOf(service.generate({ topic: "x" }, { deadlineMs: REACHED_MS }));

    expect(rest.lines()).toEqual([GENERATE]);
    await until(() => rest.connections() === 0);
  });

  test("applies to all attempts together", async () => {
    const { service, rest } = await bridge({ [STATUS]: [{ status: 503 }, "hang", DONE] });

    expect(await failureOf(service.getJob(JOB, { deadlineMs: 2 * REACHED_MS }))).toMatchObject({
      code: "timeout",
    });
    expect(rest.lines()).toEqual([STATUS, STATUS]);
  });

  test("does not depend on a wall clock that is set back or forward", async () => {
    const clock = jumpingClock();
    let wallMs = clock.now();
    const jumping = { ...clock, now: () => (wallMs += 3_600_000 * (wallMs % 2 === 0 ? -1.5 : 1)) };
    const { service, rest } = await bridge(
      { [STATUS]: { status: 503 } },
      { clock: jumping, random: () => 0.5 },
    );

    await failureOf(service.getJob(JOB));

    expect(clock.slept).toEqual([250, 500]);
    expect(rest.lines()).toHaveLength(3);
  });
});

describe("a cancellation", () => {
  test("of a GET ends it immediately", async () => {
    const cancel = new AbortController();
    const { service, rest } = await bridge({ [STATUS]: () => (cancel.abort(), "hang") });

    expect(await failureOf(service.getJob(JOB, { signal: cancel.signal }))).toEqual({
      code: "cancelled",
      message: "The request to read the job's status was cancelled after it was sent.",
      nextStep: "Call again if the result is still wanted.",
      outcome: "unknown",
      retryable: true,
    });
    expect(rest.lines()).toEqual([STATUS]);
    await until(() => rest.connections() === 0);
  });

  test("of a POST that was sent is too late: it is completed", async () => {
    const cancel = new AbortController();
    const { service } = await bridge({
      [GENERATE]: async () => {
        cancel.abort();
        // A client that gave up would have done so by then.
        await new Promise((resolve) => setImmediate(resolve));
        return GENERATED;
      },
    });

    expect(await service.generate({ topic: "x" }, { signal: cancel.signal })).toEqual({
      jobId: JOB,
      status: "processing",
    });
  });

  test("of a POST while the network code is loading prevents it", async () => {
    const cancel = new AbortController();
    const { service, rest } = await bridge({ [GENERATE]: GENERATED });

    const call = failureOf(service.generate({ topic: "x" }, { signal: cancel.signal }));
    cancel.abort();

    expect(await call).toMatchObject({ code: "cancelled", outcome: "not_sent", retryable: true });
    expect(rest.requests).toEqual([]);
  });

  test("of a POST that waits for the rate limiter prevents it", async () => {
    const cancel = new AbortController();
    const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "5" };
    const clock = jumpingClock();
    const cancelling = { ...clock, sleep: async () => (clock.advance(60_000), cancel.abort()) };
    const { service, rest } = await bridge(
      { [STATUS]: { ...DONE, headers }, [GENERATE]: GENERATED },
      { clock: cancelling },
    );
    await service.getJob(JOB);

    expect(await failureOf(service.generate({ topic: "x" }, { signal: cancel.signal }))).toMatchObject({
      code: "cancelled",
      outcome: "not_sent",
    });
    expect(rest.lines()).toEqual([STATUS]);
  });

  test.each([
    ["GET", STATUS],
    ["POST", GENERATE],
  ])("between two attempts of a %s ends it", async (method, route) => {
    const cancel = new AbortController();
    const { signal } = cancel;
    const scripts: Scripts = { [route]: busy({ "retry-after": "8" }) };
    // The wait begins right after `random` is called.
    const { service, rest } = await bridge(scripts, {
      random: () => (setImmediate(() => cancel.abort()), 0),
    });

    const call =
      method === "GET" ? service.getJob(JOB, { signal }) : service.generate({ topic: "x" }, { signal });

    expect(await failureOf(call)).toMatchObject({ code: "cancelled", outcome: "rejected", retryable: true });
    expect(rest.lines()).toEqual([route]);
  });
});

describe("a redirect", () => {
  test.each([300, 301, 302, 303, 307, 308])(
    "with %i is never followed, and only its origin is shown",
    async (status) => {
      const elsewhere = await scriptedService();
      const location = `${elsewhere.url.replace("//", "//user:secret@")}/path/secret?secret#secret`;
      const reply: Reply = { status, headers: { location } };
      const { service, rest } = await bridge({ [STATUS]: reply, [GENERATE]: reply });

      const get = await failureOf(service.getJob(JOB));
      const post = await failureOf(service.generate({ topic: "x" }));

      expect(get).toEqual({
        code: "redirected",
        message: `The service answered the request to read the job's status with a redirect to ${elsewhere.url}, which was not followed: the API key goes to one origin only.`,
        nextStep: "Set FACELESS_BASE_URL to the address at which the service itself answers.",
        outcome: "rejected",
        retryable: false,
        status,
      });
      expect(post).toMatchObject({ code: "redirected", outcome: "unknown", retryable: false });
      expect(elsewhere.requests).toEqual([]);
      expect(rest.lines()).toEqual([STATUS, GENERATE]);
      expect(JSON.stringify([get, post])).not.toMatch(new RegExp(`secret|${KEY}`));
    },
  );

  test.each([undefined, "/elsewhere", "javascript:alert(1)", "http://"])(
    "to %j shows no origin",
    async (location) => {
      const headers = location === undefined ? {} : { location };
      const { service } = await bridge({ [STATUS]: { status: 302, headers } });

      expect((await failureOf(service.getJob(JOB))).message).toContain(
        "with a redirect, which was not followed",
      );
    },
  );
});

test("If the network code can't be loaded, as after an update, nothing is sent and the next call tries again", async () => {
  const rest = await scriptedService({ [STATUS]: DONE });
  vi.doMock("../../src/service/http.ts", () => {
    throw new Error("Cannot find module");
  });
  const service = connect({ baseUrl: rest.url });

  expect(await failureOf(service.generate({ topic: "x" }))).toMatchObject({
    code: "internal",
    outcome: "not_sent",
  });

  vi.doUnmock("../../src/service/http.ts");
  expect(await service.getJob(JOB)).toMatchObject({ status: "completed" });
});

test.each([
  [12, 1, []],
  [8, 2, [8_000]],
] as const)(
  "A GET has 20 s: a wait of %i s after 10 s means %i requests",
  async (seconds, requests, slept) => {
    const clock = jumpingClock();
    const { service, rest } = await bridge(
      { [STATUS]: [() => (clock.advance(10_000), busy({ "retry-after": String(seconds) })), DONE] },
      { clock },
    );

    await service.getJob(JOB).catch(() => {});

    expect(rest.lines()).toHaveLength(requests);
    expect(clock.slept).toEqual(slept);
  },
);

test("Successes restore the retries that failures have used", async () => {
  const { service, rest } = await bridge({
    [STATUS]: { status: 503 },
    "GET /api/v1/videos": { json: { videos: [] } },
  });
  for (let call = 0; call < 5; call++) await failureOf(service.getJob(JOB));
  for (let call = 0; call < 20; call++) await service.listVideos({});
  const before = rest.lines(STATUS).length;

  await failureOf(service.getJob(JOB));

  expect(rest.lines(STATUS).length - before).toBe(3);
});

test("The base URL keeps its prefix, and queries are encoded", () => {
  const requests = new RequestSender({
    config: { apiKey: KEY, baseUrl: new URL("https://videos.example/a/"), proxies: {} },
    version: "1.2.3",
    now: Date.now,
    random: seededRandom(1),
  });

  expect(requests.address("/x", { a: "b&c", none: undefined }).href).toBe(
    "https://videos.example/a/x?a=b%26c",
  );
});
