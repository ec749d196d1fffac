import { expect, test } from "vitest";
import type { BridgeErrorFacts, ErrorCode, Outcome } from "../../src/errors.ts";
import { explainNetworkError } from "../../src/service/transport-failure.ts";
import { GENERATE, JOB_ID, PUBLISH, STATUS, VIDEOS } from "../fixtures/constants.ts";
import { envelope, type Reply, type ScriptedAnswer } from "../fixtures/scripted-service.ts";
import { bridge, failureOf, failures } from "./bridge.ts";

test("an error predicts no second failure where a firewall or the job may be the reason", async () => {
  const { service } = await bridge({
    [STATUS]: [400, 401, 403, 422].map((status) => ({ status, body: "<html>" })),
    [PUBLISH]: [400, 422].map((status) => envelope(status, "no", "Not ready.")),
  });

  for (let call = 0; call < 4; call++)
    expect(await failureOf(service.getJob(JOB_ID))).not.toHaveProperty("failsAgain");
  for (let call = 0; call < 2; call++)
    expect(await failureOf(service.publish({ jobId: JOB_ID, platforms: [] }))).not.toHaveProperty(
      "failsAgain",
    );
});

const USED_UP = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" };
const refused = (status: number, more: ScriptedAnswer = {}): ScriptedAnswer => ({
  ...envelope(status, "the_code", "Its message."),
  ...more,
});

test.each<[string, ScriptedAnswer, ErrorCode, Outcome, Outcome]>([
  ["400", refused(400), "refused", "rejected", "unknown"],
  ["401", refused(401), "unauthorized", "rejected", "rejected"],
  ["402", refused(402), "out_of_credits", "rejected", "rejected"],
  ["403", refused(403), "unauthorized", "rejected", "rejected"],
  ["404", refused(404), "not_found", "rejected", "rejected"],
  ["404 of a gateway", { status: 404, body: "<html>" }, "not_found", "rejected", "rejected"],
  ["409, as of the same post", refused(409), "refused", "unknown", "unknown"],
  ["410", refused(410), "refused", "rejected", "unknown"],
  ["422", refused(422), "refused", "rejected", "unknown"],
  ["422 and no request left", refused(422, { headers: USED_UP }), "refused", "rejected", "unknown"],
  ["429", refused(429), "rate_limited", "rejected", "unknown"],
  [
    "429 for a while",
    refused(429, { headers: { "retry-after": "9" } }),
    "rate_limited",
    "rejected",
    "unknown",
  ],
  ["429 before any request", refused(429, { headers: USED_UP }), "rate_limited", "rejected", "rejected"],
  ["408", refused(408), "service_failed", "unknown", "unknown"],
  ["499", refused(499), "service_failed", "unknown", "unknown"],
  ["503", refused(503), "service_failed", "unknown", "unknown"],
  ["200 and an error", refused(200), "refused", "rejected", "unknown"],
  ["200 and no credits", envelope(200, "out_of_credits", "None."), "out_of_credits", "rejected", "rejected"],
])(
  "a refusal with %s proves that nothing was posted on one platform, or on two, only where it can",
  async (_, reply, code, one, two) => {
    const publishing = async (...platforms: string[]) => {
      const { service } = await bridge({ [PUBLISH]: reply });
      return failureOf(service.publish({ jobId: JOB_ID, platforms }));
    };

    const [single, several] = [await publishing("tiktok"), await publishing("tiktok", "youtube")];

    const { status = 200 } = reply;
    expect(single).toMatchObject({ code, outcome: one, status });
    expect(several).toMatchObject({ code, outcome: two, status });
    // A caller that finds the reason can still tell it.
    expect(several.serviceMessage).toEqual(single.serviceMessage);
    for (const facts of [single, several].filter(({ outcome }) => outcome === "unknown")) {
      expect(facts).toMatchObject({
        retryable: false,
        nextStep: expect.stringContaining("ask the user to look at the accounts"),
      });
      expect(facts).not.toHaveProperty("retryAfterSeconds");
    }
    expect(/some of the platforms may already have it/.test(several.message)).toBe(
      two === "unknown" && code !== "service_failed",
    );
  },
);

// test/contract/errors.txt has the others.
test.each<[number, Partial<BridgeErrorFacts>]>([
  [408, { code: "service_failed", outcome: "unknown" }],
  [410, { code: "refused", outcome: "rejected" }],
  [418, { code: "refused", outcome: "rejected" }],
  // What the service says of the call itself, it will say again.
  [422, { code: "refused", outcome: "rejected", failsAgain: true }],
  [499, { code: "service_failed", outcome: "unknown" }],
  [599, { code: "service_failed", outcome: "unknown" }],
])("a refusal to start a video with %i is %j", async (status, facts) => {
  const { service } = await bridge({ [GENERATE]: refused(status) });

  expect(await failureOf(service.generate({ topic: "x" }))).toMatchObject(facts);
});

test.each<[string, ScriptedAnswer]>([
  ["with the service's words", refused(410)],
  ["without any", { status: 410 }],
])("a job that is gone, %s, is not found", async (_, reply) => {
  const { service } = await bridge({ [STATUS]: reply });

  expect(await failureOf(service.getJob(JOB_ID))).toMatchObject({
    code: "not_found",
    message: "The service knows no job with this jobId.",
    outcome: "rejected",
  });
});

test.each([400, 402, 429, 500])(
  "an answer with the code out_of_credits and status %i means too few credits and is not retried",
  async (status) => {
    const { service, rest } = await bridge({
      [GENERATE]: envelope(status, "out_of_credits", "No credits remain."),
    });

    expect(await failureOf(service.generate({ topic: "x" }))).toMatchObject({
      code: "out_of_credits",
      isForUser: true,
      outcome: "rejected",
      retryable: false,
      status,
    });
    expect(rest.lines()).toEqual([GENERATE]);
  },
);

test.each<[string, unknown, BridgeErrorFacts["serviceMessage"] | undefined]>([
  ["only a message", { error: { message: "No." } }, { message: "No." }],
  ["only a code", { error: { code: "no" } }, { code: "no" }],
  ["nulls", { error: { code: null, message: null } }, {}],
  ["a numeric code", { error: { code: 4221, message: "Bad field" } }, { code: "4221", message: "Bad field" }],
  ["a code of another type", { error: { code: ["x"], message: "No." } }, { message: "No." }],
  ["a message of another type", { error: { code: "no", message: { en: "No." } } }, { code: "no" }],
  ["an error that is a string", { error: "No." }, undefined],
  ["another shape", { detail: "No." }, undefined],
])("an error answer with %s in its body is read as far as possible", async (_, json, words) => {
  const { get } = await failures({ status: 422, json });

  expect(get.serviceMessage).toEqual(words);
  expect(get.code).toBe("refused");
});

test("the service's words for an error are cleaned and cut before they are shown", async () => {
  const message = `\u001B[31mRed\u001B[0m \u202Eevil\u202C\u200B\r\nnext line ${"x".repeat(2_000)}`;

  const { get } = await failures(envelope(400, `bad\u0000_\u2066code`, message));

  expect(get.serviceMessage?.code).toBe("bad_code");
  expect(get.serviceMessage?.message).toMatch(/^Red evil next line x+…$/);
  expect(Array.from(get.serviceMessage?.message ?? "")).toHaveLength(500);
  expect(get.message).not.toContain("evil");
});

test.each<[string, Reply]>([
  ["is not JSON", { body: "<html>Welcome</html>" }],
  ["is empty", { status: 204 }],
  ["is a list", { json: [] }],
  ["lacks a jobId and a status", { json: { note: "hello" } }],
  ["has empty ones", { json: { jobId: "", status: "" } }],
])("a 2xx answer that %s is a bad answer, and its outcome is unknown for a POST", async (_, reply) => {
  const { get, post } = await failures(reply);

  const bad = {
    code: "bad_answer",
    message: expect.any(String),
    nextStep: expect.any(String),
    status: expect.any(Number),
  };
  expect(get).toEqual({ ...bad, isForUser: true, outcome: "unknown", retryable: true });
  expect(post).toEqual({ ...bad, outcome: "unknown", retryable: false });
  expect(post.nextStep).toContain("list_videos");
});

test("a jobId of more than 500 characters is a bad answer: the job may have been started", async () => {
  const start = async (length: number) => {
    const { service } = await bridge({ [GENERATE]: { json: { jobId: "x".repeat(length) } } });
    return service.generate({ topic: "x" });
  };

  expect((await start(500)).jobId).toHaveLength(500);
  const facts = await failureOf(start(501));
  expect(facts).toMatchObject({ code: "bad_answer", outcome: "unknown", retryable: false });
  expect(JSON.stringify(facts)).not.toContain("xxx");
});

test.each([{}, { status: null }, { status: 7 }, { status: {} }, { status: "" }])(
  "a paid job with an undocumented status is still a started job: %j",
  async (fields) => {
    const { service } = await bridge({ [GENERATE]: { json: { jobId: JOB_ID, ...fields } } });

    expect(await service.generate({ topic: "x" })).toEqual({ jobId: JOB_ID, status: "processing" });
  },
);

test("an answer that begins with a byte order mark is read", async () => {
  const { service } = await bridge({ [VIDEOS]: { body: '\uFEFF{"videos":[]}' } });

  expect(await service.listVideos({})).toEqual({ videos: [] });
});

const coded = (code: unknown, name = "Error", message = "why") =>
  Object.assign(new Error(message), { code, name });

test.each<[unknown, string, RegExp]>([
  [coded("ECONNREFUSED"), "network", /^connection refused \(ECONNREFUSED\)$/],
  [coded("ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION"), "network", /^TLS failed \(ERR_SSL_TLSV1/],
  [coded("HPE_INVALID_CONSTANT", "HTTPParserError"), "network", /is not HTTP/],
  [coded("UND_ERR_ABORTED", "AbortError", "Proxy response (407)"), "network", /user name and a password/],
  [coded("UND_ERR_ABORTED", "AbortError", "Proxy response (502)"), "network", /the proxy refused/],
  [coded(23, "TimeoutError"), "network", /^the connection failed \(TimeoutError\)$/],
  [coded("constructor"), "network", /^the connection failed \(constructor\)$/],
  ["no error at all", "network", /^the connection failed \(unknown error\)$/],
])("a failure of the network such as %s is explained with how to fix it", (error, kind, reason) => {
  expect(explainNetworkError(error)).toEqual({
    kind,
    reason: expect.stringMatching(reason),
    fix: expect.stringMatching(/^[A-Z].+\.$/),
  });
});
