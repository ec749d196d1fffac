import { describe, expect, test } from "vitest";
import { envelope, type Handler, type Reply, scriptedService } from "../fixtures/scripted-service.ts";
import { bridge, connect, failureOf, KEY } from "./bridge.ts";
import { modernEndpoint, legacyEndpoint } from "./mcp-endpoints.ts";

const MCP = "POST /api/mcp";
const PLATFORMS = { content: [], structuredContent: { platforms: ["tiktok"] } };
const EVENTS = { "content-type": "text/event-stream" };

/** Answers the calls of one method itself, and leaves the others to a legacy endpoint. */
function onCall(method: string, reply: Handler): Handler {
  const rest = legacyEndpoint(() => PLATFORMS);
  return (request, raw) =>
    fieldOf(request.json, "method") === method ? reply(request, raw) : rest(request, raw);
}

function fieldOf(json: unknown, name: string): unknown {
  return new Map<string, unknown>(Object.entries(json ?? {})).get(name);
}

async function failureAt(reply: Reply | Handler, deadlineMs = 5_000) {
  const { service, rest } = await bridge({ [MCP]: reply });
  return { facts: await failureOf(service.listConnectedPlatforms({ deadlineMs })), rest };
}

describe("an MCP endpoint that answers with", () => {
  test.each([
    [401, "unauthorized", "rejected", false],
    [402, "out_of_credits", "rejected", false],
    [404, "not_found", "rejected", false],
    [503, "service_failed", "unknown", true],
  ])("%i is reported as for the REST API", async (status, code, outcome, retryable) => {
    const { facts } = await failureAt(envelope(status, "the_code", "Its message."));

    const serviceWords = { code: "the_code", message: "Its message." };
    expect(facts).toMatchObject({ code, outcome, retryable, status, serviceWords });
  });

  test("429 is reported with the wait, and the other version of the protocol is not tried", async () => {
    const { facts, rest } = await failureAt({
      ...envelope(429, "rate_limited", "Slow down."),
      headers: { "retry-after": "1" },
    });

    expect(facts).toMatchObject({ code: "rate_limited", status: 429, retryAfterSeconds: 1 });
    expect(rest.lines(MCP)).toEqual([MCP]);
  });

  test("a JSON-RPC error, as it has no such tool, is quoted", async () => {
    const error = { code: -32602, message: "No such tool. Obey!" };
    const { facts } = await failureAt(
      onCall("tools/call", ({ json }) => ({ json: { jsonrpc: "2.0", id: fieldOf(json, "id"), error } })),
    );

    expect(facts).toMatchObject({
      code: "refused",
      message: "The service's MCP endpoint did not list the connected platforms.",
      outcome: "rejected",
      serviceWords: { message: expect.stringContaining("No such tool. Obey!") },
    });
  });

  test.each<[string, Reply]>([
    ["HTML", { headers: { "content-type": "text/html" }, body: "<h1>Obey!</h1>" }],
    ["JSON of another kind", { json: { obey: "Obey!" } }],
    ["JSON that is cut off", { headers: { "content-type": "application/json" }, body: '{"Obey!' }],
    ["nothing", { status: 204 }],
  ])("%s is a bad answer and not quoted as ours", async (_, reply) => {
    const { facts } = await failureAt(onCall("tools/call", () => reply));

    expect(facts).toEqual({
      code: "bad_answer",
      message:
        "The answer of the service's MCP endpoint could not be used: it does not speak MCP as documented.",
      nextStep: "Try again in a minute, or look at the service's website.",
      outcome: "unknown",
      retryable: true,
    });
  });

  test.each([301, 303, 307])(
    "a %i is not followed, neither to another origin nor to the same",
    async (status) => {
      const elsewhere = await scriptedService();
      const away = await failureAt({ status, headers: { location: `${elsewhere.url}/api/mcp` } });
      const within = await failureAt({ status, headers: { location: "/mcp" } });

      expect([away.facts.code, within.facts.code]).toEqual(["redirected", "redirected"]);
      expect(elsewhere.connections()).toBe(0);
      expect(new Set(within.rest.lines())).toEqual(new Set(["GET /api/v1/openapi.json", MCP]));
      expect(JSON.stringify([away.facts, within.facts])).not.toContain(KEY);
    },
  );
});

describe("a call of the MCP endpoint ends", () => {
  test.each<[string, Handler, string]>([
    ["is reset", () => "reset", "network"],
    [
      "breaks within its stream",
      (_, { outgoing }) => {
        outgoing.writeHead(200, EVENTS);
        outgoing.write("id: 1\ndata:\n\n", () => outgoing.socket?.resetAndDestroy());
      },
      "network",
    ],
    ["is endless", () => ({ headers: EVENTS, body: `data: ${"x".repeat(5 << 20)}` }), "bad_answer"],
  ])("long before the deadline if the connection %s", async (_, reply, code) => {
    // With the deadline it would be a timeout.
    const { facts } = await failureAt(onCall("tools/call", reply), 300_000);

    expect(facts).toMatchObject({ code, outcome: "unknown", retryable: true });
  });

  const ANOTHER_ID = { jsonrpc: "2.0", id: "another", result: {} };

  describe.each(["server/discover", "initialize", "tools/call"])("with the deadline where %s", (method) => {
    test.each<[string, Reply]>([
      ["nothing", "hang"],
      ["202 and nothing", { status: 202 }],
      ["an empty batch", { json: [] }],
      ["a stream that ends", { headers: EVENTS, body: ": nothing\n\n" }],
      ["the answer to another request", { json: ANOTHER_ID }],
      ["such a stream", { headers: EVENTS, body: `data: ${JSON.stringify(ANOTHER_ID)}\n\n` }],
    ])("is answered with %s", async (_, reply) => {
      const { facts } = await failureAt(
        onCall(method, () => reply),
        500,
      );

      // Some of it the client recognises at once.
      expect(facts).toMatchObject({
        code: expect.toBeOneOf(["timeout", "bad_answer"]),
        outcome: "unknown",
        retryable: true,
      });
    });
  });

  test("with a cancellation", async () => {
    const cancel = new AbortController();
    const { service } = await bridge({ [MCP]: onCall("tools/call", () => (cancel.abort(), "hang")) });

    const options = { signal: cancel.signal, deadlineMs: 300_000 };
    expect(await failureOf(service.listConnectedPlatforms(options))).toMatchObject({
      code: "cancelled",
      outcome: "unknown",
      retryable: true,
    });
  });

  test("when the client is closed", async () => {
    const { service } = await bridge({ [MCP]: onCall("tools/call", () => (service.close(), "hang")) });

    expect(await failureOf(service.listConnectedPlatforms())).toMatchObject({ code: "network" });
  });
});

test("An MCP endpoint may answer a notification with 204", async () => {
  const { service } = await bridge({ [MCP]: onCall("notifications/initialized", () => ({ status: 204 })) });

  expect(await service.listConnectedPlatforms()).toEqual({ platforms: [{ platform: "tiktok" }] });
});

test("The prefix of the base URL is kept, and the tool is called with no arguments", async () => {
  const rest = await scriptedService({
    "POST /a/b/api/mcp": modernEndpoint(() => PLATFORMS, { strict: true }),
  });

  await connect({ baseUrl: `${rest.url}/a/b` }).listConnectedPlatforms();

  const call = rest.requests.find(({ json }) => fieldOf(json, "method") === "tools/call");
  expect(call?.json).toMatchObject({ params: { name: "list_connected_platforms", arguments: {} } });
});
