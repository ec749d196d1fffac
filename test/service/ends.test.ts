import { describe, expect, test } from "vitest";
import { envelope, type Reply, scriptedService } from "../fixtures/scripted-service.ts";
import { bridge, connect, failureOf, JOB, KEY, until } from "./bridge.ts";

const STATUS = `GET /api/v1/status/${JOB}`;
const GENERATE = "POST /api/v1/generate";
const DONE: Reply = { json: { status: "completed" } };
const GENERATED: Reply = { status: 201, json: { jobId: JOB, status: "processing" } };

describe("a redirect", () => {
  test.each([300, 301, 302, 303, 307, 308])(
    "with %i is never followed and shows the origin only",
    async (status) => {
      const elsewhere = await scriptedService();
      const location = `${elsewhere.url.replace("//", "//user:secret@")}/path/secret?secret#secret`;
      const reply: Reply = { status, headers: { location } };
      const { service, rest } = await bridge({ [STATUS]: reply, [GENERATE]: reply });

      const get = await failureOf(service.getJob(JOB));
      const post = await failureOf(service.generate({ topic: "x" }));

      const message = (what: string) =>
        `The service answered ${what} with a redirect to ${elsewhere.url}, which is never followed: the key goes to one origin only.`;
      expect(get).toEqual({
        code: "redirected",
        message: message("the status of the job"),
        nextStep: "Set FACELESS_BASE_URL to the address that the service really answers at.",
        outcome: "rejected",
        retryable: false,
        status,
      });
      expect(post).toMatchObject({
        code: "redirected",
        message: message("the new video"),
        outcome: "unknown",
      });
      expect(elsewhere.requests).toEqual([]);
      expect(rest.lines()).toEqual([STATUS, GENERATE]);
      expect(JSON.stringify([get, post])).not.toMatch(new RegExp(`secret|${KEY}`));
    },
  );

  test.each([undefined, "/elsewhere", "javascript:alert(1)", "http://"])(
    "to %j names no origin",
    async (location) => {
      const headers = location === undefined ? {} : { location };
      const { service } = await bridge({ [STATUS]: { status: 302, headers } });

      expect((await failureOf(service.getJob(JOB))).message).toBe(
        "The service answered the status of the job with a redirect, which is never followed: the key goes to one origin only.",
      );
    },
  );
});

describe("a deadline", () => {
  test.each([
    ["GET", "unknown", true],
    ["POST", "unknown", false],
  ] as const)("ends a %s that is never answered", async (method, outcome, retryable) => {
    const { service, rest } = await bridge({ [STATUS]: "hang", [GENERATE]: "hang" });
    const options = { deadlineMs: 60 };

    const call = method === "GET" ? service.getJob(JOB, options) : service.generate({ topic: "x" }, options);

    const what = method === "GET" ? "the status of the job" : "the new video";
    expect(await failureOf(call)).toMatchObject({
      code: "timeout",
      message: `The service gave no usable answer to ${what}: no answer within 1 s.`,
      outcome,
      retryable,
    });
    expect(rest.lines()).toHaveLength(1);
    await until(() => rest.connections() === 0);
  });

  test("ends a call whose answer stops half-way", async () => {
    const { service } = await bridge({
      [STATUS]: (_, { outgoing }) => {
        outgoing.writeHead(200, { "content-type": "application/json" });
        outgoing.write('{"status":');
      },
    });

    expect(await failureOf(service.getJob(JOB, { deadlineMs: 60 }))).toMatchObject({
      code: "timeout",
      outcome: "unknown",
      status: 200,
    });
  });

  test("holds for all attempts together", async () => {
    const { service, rest } = await bridge({ [STATUS]: [{ status: 503 }, "hang", DONE] });

    expect(await failureOf(service.getJob(JOB, { deadlineMs: 400 }))).toMatchObject({ code: "timeout" });
    expect(rest.lines()).toEqual([STATUS, STATUS]);
  });
});

describe("a cancellation", () => {
  test("of a GET ends it at once", async () => {
    const withdraw = new AbortController();
    const { service, rest } = await bridge({ [STATUS]: () => (withdraw.abort(), "hang") });

    expect(await failureOf(service.getJob(JOB, { signal: withdraw.signal }))).toEqual({
      code: "cancelled",
      message: "Asking the service for the status of the job was cancelled.",
      nextStep: "Call again if it is still wanted.",
      outcome: "unknown",
      retryable: true,
    });
    expect(rest.lines()).toEqual([STATUS]);
    await until(() => rest.connections() === 0);
  });

  test("of a POST that has left is too late: its answer is seen through", async () => {
    const withdraw = new AbortController();
    const { service } = await bridge({
      [GENERATE]: async () => {
        withdraw.abort();
        // Time enough for a client that gives up to do so.
        await new Promise((resolve) => setImmediate(resolve));
        return GENERATED;
      },
    });

    expect(await service.generate({ topic: "x" }, { signal: withdraw.signal })).toEqual({
      jobId: JOB,
      status: "processing",
    });
  });

  test.each([
    ["GET", STATUS],
    ["POST", GENERATE],
  ])("between two attempts of a %s is the end of it", async (method, route) => {
    const withdraw = new AbortController();
    const { signal } = withdraw;
    const rest = await scriptedService({
      [route]: { ...envelope(429, "x", "y"), headers: { "retry-after": "8" } },
    });
    // The wait begins right after random has been asked.
    const random = () => (setImmediate(() => withdraw.abort()), 0);
    const service = connect({ baseUrl: rest.url, random });

    const call =
      method === "GET" ? service.getJob(JOB, { signal }) : service.generate({ topic: "x" }, { signal });

    expect(await failureOf(call)).toMatchObject({ code: "cancelled", outcome: "rejected", retryable: true });
    expect(rest.lines()).toEqual([route]);
  });
});
