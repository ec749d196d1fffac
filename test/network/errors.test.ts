import { expect, test } from "vitest";
import type { BridgeErrorFacts } from "../../src/errors.ts";
import { explainNetworkError } from "../../src/service/transport-failure.ts";
import { GENERATE, JOB_ID, KEY, PUBLISH, STATUS, VIDEOS } from "../fixtures/constants.ts";
import { envelope, type Reply, type ScriptedAnswer } from "../fixtures/scripted-service.ts";
import { bridge, failureOf, failures } from "./bridge.ts";

const refused = (status: number): ScriptedAnswer => envelope(status, "the_code", "Its message.");

test("an error predicts no second failure if a firewall or the job may be the reason", async () => {
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

test.each<[string, ScriptedAnswer]>([
  ["with the service's words", refused(410)],
  ["without any", { status: 410 }],
])("a job that is gone, %s, is not found", async (_, reply) => {
  const { service } = await bridge({ [STATUS]: reply });

  expect(await failureOf(service.getJob(JOB_ID))).toMatchObject({
    code: "not_found",
    message: expect.stringMatching(/^The service knows no job with this id \(.*HTTP 410\)\.$/),
    outcome: "rejected",
  });
});

test.each([[500, "unknown"]])(
  "an answer with the code out_of_credits and status %i means too few credits and is %s",
  async (status, outcome) => {
    const { service, rest } = await bridge({
      [GENERATE]: envelope(status, "out_of_credits", "No credits remain."),
    });

    expect(await failureOf(service.generate({ topic: "x" }))).toMatchObject({
      code: "out_of_credits",
      outcome,
      retryable: false,
      status,
    });
    expect(rest.lines()).toEqual([GENERATE]);
  },
);

test.each<[string, unknown, BridgeErrorFacts["serviceMessage"] | undefined]>([
  ["only a message", { error: { message: "No." } }, { message: "No." }],
  ["only a code", { error: { code: "no" } }, { code: "no" }],
  ["a code that is a number", { error: { code: 4711, message: "No." } }, { code: "4711", message: "No." }],
  ["a code that is the status", { error: { code: 422, message: "No." } }, { message: "No." }],
  ["neither", { error: { reason: 7 } }, undefined],
])("an error answer with %s in its body is read as far as possible", async (_, json, words) => {
  const { get } = await failures({ status: 422, json });

  expect(get.serviceMessage).toEqual(words);
  expect(get.code).toBe("refused");
});

const TITLED = "<html><head><title lang=en>Just a\n moment...</title></head><body>x</body></html>";

test.each([
  [401, "rejected", "refused"],
  [402, "rejected", "refused"],
  [403, "rejected", "refused"],
  [511, "unknown", "service_failed"],
])(
  "a %i without the service's own error is blamed on something in front of it, and stays %s",
  async (status, outcome, code) => {
    const { get, post } = await failures({ status, body: TITLED });

    for (const facts of [get, post])
      expect(facts).toMatchObject({ code, outcome, status, serviceMessage: undefined });
    expect(post.message).toBe(
      `A firewall, VPN or proxy in front of the service probably refused the request to start the video, with the words "Just a moment..." (HTTP ${status}).`,
    );
    expect(get.isForUser).toBe(true);
    expect(JSON.stringify(get)).not.toMatch(/create a key|Add credits/);
  },
);

test("no part of the key is shown even if a page's title or text is cut within it", async () => {
  const { get } = await failures({ status: 403, body: `<title>${"x".repeat(195)}${KEY}</title>` });
  const { post } = await failures({ status: 400, body: `${"x".repeat(495)}${KEY}` });

  expect(JSON.stringify([get, post])).not.toContain(KEY.slice(0, 4));
});

test("the service's error in an answer with status 200 leaves the outcome of a POST unknown", async () => {
  const { get, post } = await failures(envelope(200, "out_of_credits", "None left."));

  const said = { code: "bad_answer", outcome: "unknown", serviceMessage: { message: "None left." } };
  expect(get).toMatchObject({ ...said, retryable: true });
  expect(post).toMatchObject({ ...said, retryable: false, serviceMessage: { code: "out_of_credits" } });
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
  ["lacks a jobId and a status", { json: { note: "hello" } }],
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

test.each([{}, { status: 7 }])(
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
  [coded("ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED"), "network", /wants a certificate of this computer/],
  [coded("HPE_INVALID_CONSTANT", "HTTPParserError"), "network", /is not valid HTTP/],
  [coded("HPE_INVALID_HEADER_TOKEN", "HTTPParserError"), "network", /^the answer is not valid HTTP \(HPE_/],
  [coded("ERR_ASSERTION"), "network", /^the answer is not valid HTTP \(ERR_/],
  [coded("UND_ERR_RES_CONTENT_LENGTH_MISMATCH"), "network", /^the answer is not valid HTTP \(UND_/],
  [coded("UND_ERR_ABORTED", "AbortError", "Proxy response (502)"), "network", /the proxy refused/],
  [coded("ECONNABORTED"), "network", /^the connection failed \(ECONNABORTED\)$/],
  [coded("EMFILE"), "internal", /^this computer failed \(EMFILE\)$/],
  [coded("UND_ERR_INVALID_ARG", "InvalidArgumentError"), "internal", /^this server itself failed \(UND_/],
  [new RangeError("WebAssembly.Instance(): Out of memory"), "internal", /^Node\.js has no WebAssembly/],
  [new ReferenceError("WebAssembly is not defined"), "internal", /^Node\.js has no WebAssembly/],
  [new TypeError("x is undefined"), "internal", /^this server itself failed \(TypeError\)$/],
  [coded("constructor"), "internal", /^this server itself failed \(constructor\)$/],
  ["no error at all", "internal", /^this server itself failed \(unknown error\)$/],
])("a failed connection is told as what it is, with how to fix it: %s", (error, kind, reason) => {
  expect(explainNetworkError(error)).toEqual({
    kind,
    reason: expect.stringMatching(reason),
    fix: expect.stringMatching(/^[A-Z].+\.$/),
  });
});
