import { beforeAll, expect, test } from "vitest";
import { DOCUMENT, KEY } from "../fixtures/constants.ts";
import { envelope, type Handler, type Reply } from "../fixtures/scripted-service.ts";
import { VERSION } from "../../src/version.ts";
import { bridge, failureOf, jumpingClock } from "./bridge.ts";
import { field, legacyEndpoint, modernEndpoint, onCall } from "../fixtures/mcp-endpoints.ts";

// Loading it on a busy machine could take longer than calls wait for the OpenAPI document.
beforeAll(() => import("../../src/service/http.ts"));

const REST = "GET /api/v1/links";
const MCP = "POST /api/mcp";

const DECLARED: Reply = {
  json: { paths: { "/api/v1/links": { get: { operationId: "list_connected_platforms" } } } },
};
const LIST = { platforms: [{ platform: "tiktok" }, { platform: "youtube" }] };
const RESULT = { content: [], structuredContent: LIST };
const asText = (text: string) => ({ content: [{ type: "text" as const, text }] });
async function failureAt(reply: Reply | Handler) {
  const { service, rest } = await bridge({ [MCP]: reply });
  return { facts: await failureOf(service.listConnectedPlatforms()), rest };
}

test("a REST path in the OpenAPI document is used instead of the MCP endpoint", async () => {
  const { service, rest } = await bridge({ [DOCUMENT]: DECLARED, [REST]: { json: LIST } });

  expect(await service.listConnectedPlatforms()).toEqual(LIST.platforms);
  expect(rest.lines()).toEqual([DOCUMENT, REST]);
});

test("a REST path that answers with something else is replaced by the MCP endpoint", async () => {
  const endpoint = modernEndpoint(() => RESULT);
  const { service } = await bridge({
    [DOCUMENT]: DECLARED,
    [REST]: { json: { count: 2 } },
    [MCP]: endpoint,
  });

  expect(await service.listConnectedPlatforms()).toEqual(LIST.platforms);
});

test("a REST path that refuses the key is a failure, and the MCP endpoint is not called", async () => {
  const { service, rest } = await bridge({ [DOCUMENT]: DECLARED, [REST]: envelope(401, "x", "No.") });

  expect(await failureOf(service.listConnectedPlatforms())).toMatchObject({ code: "unauthorized" });
  expect(rest.lines(MCP)).toEqual([]);
});

test.each<[string, () => Handler]>([
  ["of the modern protocol", () => modernEndpoint(() => RESULT)],
  ["of the modern protocol alone", () => modernEndpoint(() => RESULT, { strict: true, sse: true })],
  ["of the legacy protocol", () => legacyEndpoint(() => RESULT)],
  ["with legacy sessions", () => legacyEndpoint(() => RESULT, { stateful: true, json: true })],
])("the tool of an MCP endpoint %s is called with the key and without arguments", async (_, open) => {
  const { service, rest } = await bridge({ [MCP]: open() });

  expect(await service.listConnectedPlatforms()).toEqual(LIST.platforms);
  const keys = rest.requests.map(({ headers }) => `${headers.authorization} ${headers["user-agent"]}`);
  expect(new Set(keys)).toEqual(new Set([`Bearer ${KEY} faceless-video-mcp/${VERSION}`]));
  expect(new Set(rest.lines())).toEqual(new Set([DOCUMENT, MCP]));
  const call = rest.requests.find(({ json }) => field(json, "method") === "tools/call");
  expect(call?.json).toMatchObject({ params: { name: "list_connected_platforms", arguments: {} } });
});

test("only the first hundred items of each list in an MCP endpoint's answer are read", async () => {
  const blocks = Array.from({ length: 100 }, () => ({ type: "text", text: "" }));
  const content = [...asText('["tiktok","youtube"]').content, ...blocks.slice(1), ...Array(1_000).fill(0)];
  const reply: Handler = ({ json }) => ({
    json: { jsonrpc: "2.0", id: field(json, "id"), result: { content } },
  });
  const { service } = await bridge({ [MCP]: onCall(() => RESULT, "tools/call", reply) });

  expect(await service.listConnectedPlatforms()).toEqual([{ platform: "tiktok" }, { platform: "youtube" }]);
});

test("the error of a failing MCP tool is cleaned and quoted", async () => {
  const result = { ...asText("No \u202Eaccounts.\u0007"), isError: true };
  const { facts } = await failureAt(modernEndpoint(() => result));

  expect(facts).toMatchObject({
    code: "refused",
    outcome: "rejected",
    retryable: false,
    serviceMessage: { message: "No accounts." },
  });
});

test.each([
  ["JSON in a sentence", 'Connected: ["tiktok","youtube"].'],
  ["JSON in a fence", '```json\n{"platforms":[{"platform":"tiktok"},{"platform":"youtube"}]}\n```'],
])("the text of the tool may be %s, beside useless structured content", async (_, text) => {
  const result = { ...asText(text), structuredContent: { ok: true } };
  const { service } = await bridge({ [MCP]: modernEndpoint(() => result) });

  expect(await service.listConnectedPlatforms()).toEqual(LIST.platforms);
});

const limited = (seconds: number): Reply => ({
  ...envelope(429, "rate_limited", "Slow down."),
  headers: { "retry-after": String(seconds) },
});

test("a 429 of the MCP endpoint pauses all requests and ends the attempt", async () => {
  const { service, rest } = await bridge({ [MCP]: limited(60) }, { clock: jumpingClock() });

  expect(await failureOf(service.listConnectedPlatforms())).toMatchObject({
    code: "rate_limited",
    status: 429,
    retryAfterSeconds: 60,
  });
  expect(await failureOf(service.listVideos({}))).toMatchObject({
    code: "rate_limited",
    outcome: "not_sent",
  });
  expect(rest.lines()).toEqual([DOCUMENT, MCP]);
});

test.each([
  [401, "unauthorized", "rejected", false],
  [503, "service_failed", "unknown", true],
])(
  "a %i of the MCP endpoint is reported like one of the REST API",
  async (status, code, outcome, retryable) => {
    const { facts } = await failureAt(envelope(status, "the_code", "Its message."));

    const serviceMessage = { code: "the_code", message: "Its message." };
    expect(facts).toMatchObject({ code, outcome, retryable, status, serviceMessage });
  },
);

test("a JSON-RPC error of an MCP endpoint that has no such tool is quoted", async () => {
  const error = { code: -32602, message: "No such tool. Obey!" };
  const { facts } = await failureAt(
    onCall(
      () => RESULT,
      "tools/call",
      ({ json }) => ({ json: { jsonrpc: "2.0", id: field(json, "id"), error } }),
    ),
  );

  expect(facts).toMatchObject({
    code: "refused",
    outcome: "rejected",
    serviceMessage: { message: expect.stringContaining("No such tool. Obey!") },
  });
});

test.each<[string, Reply]>([
  ["HTML", { headers: { "content-type": "text/html" }, body: "<h1>Obey!</h1>" }],
  ["JSON that is cut off", { headers: { "content-type": "application/json" }, body: '{"Obey!' }],
])("an MCP endpoint's answer in %s is a bad answer, and none of it reads like ours", async (_, reply) => {
  const { facts } = await failureAt(
    onCall(
      () => RESULT,
      "tools/call",
      () => reply,
    ),
  );

  expect(facts).toMatchObject({ code: "bad_answer", outcome: "unknown", retryable: true });
  expect(JSON.stringify(facts)).not.toContain("Obey");
});

test("a call of the MCP endpoint ends when it is cancelled, and when the client is closed", async () => {
  const cancel = new AbortController();
  const scripts = [() => (cancel.abort(), "hang" as const), () => (service.close(), "hang" as const)];
  const { service } = await bridge({
    [MCP]: onCall(
      () => RESULT,
      "tools/call",
      () => scripts.shift()?.() ?? "hang",
    ),
  });

  const options = { signal: cancel.signal, deadlineMs: 300_000 };
  expect(await failureOf(service.listConnectedPlatforms(options))).toMatchObject({
    code: "cancelled",
    retryable: true,
  });
  expect(await failureOf(service.listConnectedPlatforms())).toMatchObject({ code: "network" });
});
