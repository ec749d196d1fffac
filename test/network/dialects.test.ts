// The answers of frameworks and gateways, tried on all five operations: their errors, whose words are shown and decide
// nothing, and their ways to write nothing.

import { expect, test } from "vitest";
import type { BridgeErrorFacts } from "../../src/errors.ts";
import type { Service } from "../../src/service/client.ts";
import { isInconclusive } from "../../src/service/retry.ts";
import { DOCUMENT, GENERATE, JOB_ID, OTHER_JOB_ID, PUBLISH, STATUS, VIDEOS } from "../fixtures/constants.ts";
import type { ScriptedAnswer } from "../fixtures/scripted-service.ts";
import { bridge, failureOf } from "./bridge.ts";

const ACCOUNTS = "GET /api/v1/links";
const TOLD = { paths: { "/api/v1/links": { get: { operationId: "list_connected_platforms" } } } };
const CLIP = "https://media.example/1.mp4";
const FINAL = "https://media.example/f.mp4";

const OPERATIONS: readonly (readonly [string, (service: Service) => Promise<unknown>])[] = [
  [GENERATE, (service) => service.generate({ topic: "Tides" })],
  [STATUS, (service) => service.getJob(JOB_ID)],
  [PUBLISH, (service) => service.publish({ jobId: JOB_ID, platforms: ["tiktok"] })],
  [VIDEOS, (service) => service.listVideos({})],
  [ACCOUNTS, (service) => service.listConnectedPlatforms()],
];

const TEXT = { "content-type": "text/plain; charset=utf-8" };
const page = (title: string, before = "<html>\r\n<head>") =>
  `${before}<title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n</body></html>`;
const TIME = "2026-11-28T05:26:00.000+00:00";

/** The name of what answers, its status, its body, and the words that the error shows. */
type Dialect = readonly [who: string, status: number, body: object | string, words: string];

const DIALECTS: readonly Dialect[] = [
  ["FastAPI, no such path", 404, { detail: "Not Found" }, "Not Found"],
  ["FastAPI, no key", 401, { detail: "Not authenticated" }, "Not authenticated"],
  [
    "FastAPI, validation",
    422,
    {
      detail: [
        { type: "string_too_long", loc: ["body", "topic"], msg: "At most 500 characters", input: "x" },
      ],
    },
    "topic: At most 500 characters",
  ],
  ["FastAPI, an object as detail", 400, { detail: { reason: "x", message: "Too long." } }, "Too long."],
  ["Django, by argument", 400, { topic: ["Ensure it has 500 characters."] }, "topic: Ensure it has 500"],
  ["Django, no argument", 400, { non_field_errors: ["Not now."] }, "non_field_errors: Not now."],
  [
    "Laravel, validation",
    422,
    { message: "The topic field is required.", errors: { topic: ["The topic field is required."] } },
    "The topic field is required.",
  ],
  ["Laravel, no key", 401, { message: "Unauthenticated." }, "Unauthenticated."],
  ["Laravel, a fault", 500, { message: "Server Error" }, "Server Error"],
  ["Rails, by argument", 422, { errors: { topic: ["is too long"] } }, "topic: is too long"],
  ["Rails, a list", 422, { errors: ["Topic is too long"] }, "Topic is too long"],
  ["Rails, no such path", 404, { status: 404, error: "Not Found" }, "Not Found"],
  ["Go, http.Error", 400, "topic: too long\n", "topic: too long"],
  ["Go, no such path", 404, "404 page not found\n", "404 page not found"],
  ["Gin", 403, { error: "no access" }, "no access"],
  ["Echo", 400, { message: "Bad Request" }, "Bad Request"],
  ["grpc-gateway", 400, { code: 3, message: "topic is too long", details: [] }, "topic is too long"],
  [
    "Spring, without a message",
    400,
    { timestamp: TIME, status: 400, error: "Bad Request", message: "", path: "/api/v1/x" },
    "Bad Request",
  ],
  [
    "Spring, binding errors",
    400,
    {
      timestamp: TIME,
      status: 400,
      errors: [{ codes: ["Size"], defaultMessage: "at most 500", field: "topic" }],
    },
    "topic: at most 500",
  ],
  [
    "Spring, problem+json",
    422,
    { type: "about:blank", title: "Unprocessable", status: 422, detail: "Too long.", instance: "/api/v1/x" },
    "Too long.",
  ],
  ["problem+json, only a title", 409, { type: "about:blank", title: "Conflict", status: 409 }, "Conflict"],
  [
    "ASP.NET",
    400,
    { title: "One or more validation errors occurred.", status: 400, errors: { Topic: ["Too long."] } },
    "Topic: Too long.",
  ],
  ["JSON:API", 422, { errors: [{ status: "422", title: "Invalid", detail: "Too long." }] }, "Too long."],
  ["GraphQL", 400, { data: null, errors: [{ message: "Too long." }] }, "Too long."],
  ["OAuth", 401, { error: "invalid_token", error_description: "It expired" }, "It expired"],
  ["an envelope with a number as code", 400, { error: { code: 4711, message: "No." } }, "No."],
  ["an envelope with objects", 400, { error: { code: {}, message: { text: "No." } } }, ""],
  ["a code like ours outside of the envelope", 400, { code: "out_of_credits", message: "No." }, "No."],
  ["credits outside of the envelope", 403, { error: "out_of_credits" }, "out_of_credits"],
  ["JSON that is a text", 400, JSON.stringify("Too long."), "Too long."],
  ["nothing at all", 400, "", ""],
  ["nginx, forbidden", 403, page("403 Forbidden"), "403 Forbidden"],
  ["nginx, too large", 413, page("413 Request Entity Too Large"), "413 Request Entity Too Large"],
  ["nginx, no upstream", 502, page("502 Bad Gateway"), "502 Bad Gateway"],
  [
    "Cloudflare, a challenge",
    403,
    page("Just a moment...", '<!DOCTYPE html><html lang="en-US"><head>'),
    "Just a",
  ],
  ["Cloudflare, by number", 403, "error code: 1020", "error code: 1020"],
  ["Cloudflare, no origin", 520, page("videos.example | 520: Web server error"), "520: Web server error"],
  ["API Gateway, forbidden", 403, { message: "Forbidden" }, "Forbidden"],
  ["API Gateway, a policy", 403, { Message: "User is not authorized" }, "User is not authorized"],
  ["API Gateway, null", 403, { message: null }, ""],
  ["API Gateway, too slow", 504, { message: "Endpoint request timed out" }, "Endpoint request timed out"],
  ["ALB", 401, page("401 Authorization Required"), "401 Authorization Required"],
  ["CloudFront", 403, "<!DOCTYPE HTML><HTML><HEAD><META><TITLE>ERROR: x</TITLE>\n</HEAD>", "ERROR: x"],
  [
    "S3",
    403,
    '<?xml version="1.0"?>\n<Error><Code>AccessDenied</Code><Message>Access Denied</Message>',
    "Access",
  ],
  ["Envoy", 503, "upstream connect error or disconnect/reset before headers", "upstream connect error"],
  ["Istio", 403, "RBAC: access denied", "RBAC: access denied"],
  ["Kong, no key", 401, { message: "Unauthorized", request_id: "f00" }, "Unauthorized"],
  ["Kong, no route", 404, { message: "no Route matched with those values" }, "no Route matched"],
  ["Traefik", 504, "Gateway Timeout", "Gateway Timeout"],
  ["a paused deployment", 402, "Payment required\n\nDEPLOYMENT_DISABLED", "DEPLOYMENT_DISABLED"],
  ["a captive portal", 511, page("Hotel Wi-Fi"), "Hotel Wi-Fi"],
];

function codeOf(status: number): BridgeErrorFacts["code"] {
  if (status === 511 || isInconclusive(status)) return "service_failed";
  return status === 404 ? "not_found" : "refused";
}

test.each(DIALECTS)(
  "%s: the error for its %i quotes its words, which decide nothing",
  async (_, status, body, words) => {
    const reply: ScriptedAnswer =
      typeof body === "string" ? { status, body, headers: TEXT } : { status, json: body };
    const { service } = await bridge({
      [DOCUMENT]: { json: TOLD },
      ...Object.fromEntries(OPERATIONS.map(([route]) => [route, reply])),
    });

    for (const [route, call] of OPERATIONS) {
      // eslint-disable-next-line no-await-in-loop -- one at a time, as a user calls
      const facts = await failureOf(call(service));

      expect(facts, route).toMatchObject({
        code: codeOf(status),
        outcome: isInconclusive(status) ? "unknown" : "rejected",
        status,
      });
      const { code, message } = facts.serviceMessage ?? {};
      expect(`${facts.message} ${code} ${message}`, route).toContain(words);
      expect(facts.nextStep, route).not.toMatch(/create a key|Add credits to the account/);
      expect(message === undefined || words !== "", route).toBe(true);
    }
  },
);

/** Each operation's answer and its reading; `same` if the two are equal. */
interface Writer {
  readonly who: string;
  readonly answers: Readonly<Record<"generate" | "status" | "publish" | "videos" | "accounts", unknown>>;
  readonly read: readonly unknown[];
}

const RUNNING = { jobId: JOB_ID, status: "processing", done: false, videoUrls: [] };
const STARTED = { jobId: JOB_ID, status: "processing" };

const WRITERS: readonly Writer[] = [
  {
    who: "Go, whose empty values are null and blank",
    answers: {
      generate: { ...STARTED, error: null, finalVideoUrl: "" },
      status: { status: "processing", videoUrls: null, audioUrl: "", finalVideoUrl: "", progress: null },
      publish: { results: [{ platform: "tiktok", ok: true, url: "", error: "" }] },
      videos: { videos: null, nextCursor: "" },
      accounts: { platforms: null },
    },
    read: [STARTED, RUNNING, { results: [{ platform: "tiktok", ok: true, error: "" }] }, { videos: [] }, []],
  },
  {
    who: "PHP, whose empty objects are lists, and whose empty values are false",
    answers: {
      generate: { ...STARTED, progress: [] },
      status: {
        status: "processing",
        videoUrls: [CLIP],
        audioUrl: false,
        finalVideoUrl: "",
        progress: [],
      },
      publish: { results: [{ platform: "tiktok", ok: true, url: CLIP }] },
      videos: { videos: [{ ...STARTED, finalVideoUrl: false }], nextCursor: false },
      accounts: { platforms: [{ platform: "tiktok" }, { platform: "youtube" }] },
    },
    read: [
      { ...STARTED, progress: [] },
      { ...RUNNING, videoUrls: [CLIP] },
      { results: [{ platform: "tiktok", ok: true, url: CLIP }] },
      { videos: [STARTED] },
      [{ platform: "tiktok" }, { platform: "youtube" }],
    ],
  },
  {
    who: "Jackson and Pydantic, which write every field, and times as numbers",
    answers: {
      generate: { ...STARTED, createdAt: 1_795_383_562_046, error: null },
      status: { status: "processing", videoUrls: [null, CLIP], audioUrl: null, progress: { total: null } },
      publish: { results: [{ platform: "tiktok", ok: false, url: null, error: null }] },
      videos: { videos: [{ ...STARTED, finalVideoUrl: null }], nextCursor: 1_795_383_562_046 },
      accounts: [{ platform: "tiktok", handle: null }],
    },
    read: [
      { ...STARTED, createdAt: 1_795_383_562_046 },
      { ...RUNNING, videoUrls: [CLIP], progress: {} },
      { results: [{ platform: "tiktok", ok: false }] },
      { videos: [STARTED], nextCursor: "1795383562046" },
      [{ platform: "tiktok" }],
    ],
  },
  {
    who: "a serializer of objects, with one item that has another form",
    answers: {
      generate: { jobId: JOB_ID },
      status: {
        status: "processing",
        videoUrls: [{ id: 1 }, CLIP],
        finalVideoUrl: FINAL,
      },
      publish: { results: [{ platform: "tiktok", ok: true }, { error: "x" }, "youtube"] },
      videos: { videos: [{ status: "failed" }, STARTED, 7], nextCursor: { after: OTHER_JOB_ID } },
      accounts: { accounts: ["tiktok", 7, null], count: 2 },
    },
    read: [
      STARTED,
      { ...RUNNING, videoUrls: [CLIP], finalVideoUrl: FINAL },
      { results: [{ platform: "tiktok", ok: true }] },
      { videos: [STARTED] },
      [{ platform: "tiktok" }],
    ],
  },
];

test.each(WRITERS)("$who: all five operations are read", async ({ answers, read }) => {
  const { service } = await bridge({
    [DOCUMENT]: { json: TOLD },
    [GENERATE]: { json: answers.generate },
    [STATUS]: { json: answers.status },
    [PUBLISH]: { json: answers.publish },
    [VIDEOS]: { json: answers.videos },
    [ACCOUNTS]: { json: answers.accounts },
  });

  expect(await Promise.all(OPERATIONS.map(([, call]) => call(service)))).toEqual(read);
});

test.each<[string, unknown, BridgeErrorFacts["outcome"]]>([
  ["null results", { results: null }, "unknown"],
  ["no results", {}, "unknown"],
  ["results that can't be read", { results: [{ platform: "tiktok", ok: 1 }] }, "unknown"],
])("a post that is answered with %s may have been made", async (_, json, outcome) => {
  const { service } = await bridge({ [PUBLISH]: { json } });

  expect(await failureOf(service.publish({ jobId: JOB_ID, platforms: ["tiktok"] }))).toMatchObject({
    code: "bad_answer",
    outcome,
    retryable: false,
  });
});
