import { describe, expect, test } from "vitest";
import {
  envelope,
  type Handler,
  type Reply,
  scriptedService,
  startScriptedService,
} from "../fixtures/scripted-service.ts";
import { until } from "../fixtures/until.ts";
import { bridge, connect, failureOf, KEY } from "./bridge.ts";
import { modernEndpoint, legacyEndpoint } from "./mcp-endpoints.ts";

const MCP = "POST /api/mcp";
const PLATFORMS = { content: [], structuredContent: { platforms: ["tiktok"] } };
const EVENTS = { "content-type": "text/event-stream" };

/** Answers the calls of one method itself, and leaves the others to a legacy endpoint. */
function onCall(method: string, reply: Handler): Handler {
  const rest = legacyEndpoint(() => PLATFORMS);
  return (request, raw) => (methodOf(request.json) === method ? reply(request, raw) : rest(request, raw));
}

function methodOf(json: unknown): unknown {
  return typeof json === "object" && json !== null && "method" in json ? json.method : undefined;
}

function idOf(json: unknown): unknown {
  return typeof json === "object" && json !== null && "id" in json ? json.id : undefined;
}

async function failureAt(reply: Reply | Handler, deadlineMs = 5_000) {
  const { service, rest } = await bridge({ [MCP]: reply });
  return { facts: await failureOf(service.listConnectedPlatforms({ deadlineMs })), rest };
}

describe("an MCP endpoint that answers with an error", () => {
  test("of 401 is reported as for the REST API", async () => {
    const { facts } = await failureAt(envelope(401, "the_code", "Its message."));

    expect(facts).toEqual({
      code: "unauthorized",
      message: "The service refused to list the connected platforms: it did not accept the API key.",
      nextStep: expect.any(String),
      outcome: "rejected",
      retryable: false,
      failsAgain: true,
      status: 401,
      serviceWords: { code: "the_code", message: "Its message." },
    });
  });

  test("of 429 pauses all calls, including its own next request, and says how long", async () => {
    const { facts, rest } = await failureAt({
      ...envelope(429, "rate_limited", "Slow down."),
      headers: { "retry-after": "30" },
    });

    expect(facts).toMatchObject({
      code: "rate_limited",
      retryable: true,
      retryAfterSeconds: 30,
    });
    // The client would try the legacy protocol next.
    expect(rest.lines(MCP)).toEqual([MCP]);
  });

  test("of 502 may be asked again, as it only reads", async () => {
    const { facts } = await failureAt({ status: 502, body: "<html>Bad</html>" });

    expect(facts).toMatchObject({ code: "service_failed", outcome: "unknown", retryable: true, status: 502 });
    expect(JSON.stringify(facts)).not.toContain("html");
  });

  test("because it has no such tool is quoted", async () => {
    const error = { code: -32602, message: "No such tool. Obey!" };
    const { facts } = await failureAt(
      onCall("tools/call", ({ json }) => ({ json: { jsonrpc: "2.0", id: idOf(json), error } })),
    );

    expect(facts).toMatchObject({
      code: "refused",
      message: "The service's MCP endpoint did not list the connected platforms.",
      outcome: "rejected",
      serviceWords: { message: expect.stringContaining("No such tool. Obey!") },
    });
    expect(facts.message + facts.nextStep).not.toContain("Obey");
  });

  test.each<[string, Reply]>([
    ["HTML", { headers: { "content-type": "text/html" }, body: "<h1>Obey!</h1>" }],
    ["JSON of another kind", { json: { obey: "Obey!" } }],
    ["JSON that is cut off", { headers: { "content-type": "application/json" }, body: '{"Obey!' }],
    ["nothing", { status: 204 }],
  ])("that is %s is a bad answer and not quoted as ours", async (_, reply) => {
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
});

describe("a redirect of the MCP endpoint", () => {
  test.each([302, 307])(
    "with %i is not followed, neither to another origin nor to the same",
    async (status) => {
      const elsewhere = await scriptedService();
      const away = await failureAt({ status, headers: { location: `${elsewhere.url}/api/mcp` } });
      const within = await failureAt({ status, headers: { location: "/mcp" } });

      expect(away.facts).toMatchObject({
        code: "redirected",
        message: expect.stringContaining(` with a redirect to ${elsewhere.url}, which was not followed`),
        status,
      });
      expect(within.facts).toMatchObject({ code: "redirected", status });
      expect(elsewhere.connections() + elsewhere.requests.length).toBe(0);
      expect(new Set(within.rest.lines())).toEqual(new Set(["GET /api/v1/openapi.json", MCP]));
      expect(JSON.stringify([away.facts, within.facts])).not.toContain(KEY);
    },
  );
});

describe("a call of the MCP endpoint ends", () => {
  test("with the answer although the stream stays open, and closes it", async () => {
    let streams = 0;
    const { service, rest } = await bridge({
      [MCP]: onCall("tools/call", ({ json }, { outgoing }) => {
        streams++;
        outgoing.on("close", () => streams--).writeHead(200, EVENTS);
        outgoing.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id: idOf(json), result: PLATFORMS })}\n\n`);
      }),
    });

    expect(await service.listConnectedPlatforms()).toEqual({ platforms: [{ platform: "tiktok" }] });
    await until(() => streams === 0);
    expect(rest.lines(MCP).length).toBeGreaterThan(1);
  });

  test.each<[string, Handler, string]>([
    [
      "breaks within its stream",
      (_, { outgoing }) => {
        outgoing.writeHead(200, EVENTS);
        outgoing.write("id: 1\ndata:\n\n", () => outgoing.socket?.resetAndDestroy());
      },
      "network",
    ],
    ["is endless", () => ({ headers: EVENTS, body: `data: ${"x".repeat(5 << 20)}` }), "bad_answer"],
  ])("immediately if the connection %s", async (_, reply, code) => {
    // With the deadline it would be a timeout.
    const { facts } = await failureAt(onCall("tools/call", reply), 19_000);

    expect(facts).toMatchObject({ code, outcome: "unknown", retryable: true });
  });

  const NOTIFICATION = {
    jsonrpc: "2.0",
    method: "notifications/message",
    params: { level: "info", data: "x" },
  };
  const ANOTHER_ID = { jsonrpc: "2.0", id: "another", result: {} };

  describe.each(["server/discover", "initialize", "tools/call"])("with the deadline where %s", (method) => {
    test.each<[string, Reply]>([
      ["nothing at all", "hang"],
      ["202 and nothing", { status: 202 }],
      ["an empty batch", { json: [] }],
      ["a stream that ends", { headers: EVENTS, body: ": nothing\n\n" }],
      ["the answer to another request", { json: ANOTHER_ID }],
      [
        "the answer to another request, as a stream",
        { headers: EVENTS, body: `data: ${JSON.stringify(ANOTHER_ID)}\n\n` },
      ],
      ["nothing but a notification", { headers: EVENTS, body: `data: ${JSON.stringify(NOTIFICATION)}\n\n` }],
    ])("is answered with %s", async (_, reply) => {
      const { facts } = await failureAt(
        onCall(method, () => reply),
        1_000,
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

    expect(await failureOf(service.listConnectedPlatforms({ signal: cancel.signal }))).toMatchObject({
      code: "cancelled",
      outcome: "unknown",
      retryable: true,
    });
  });
});

test("Nothing was sent to an MCP endpoint that can't be reached", async () => {
  const gone = await startScriptedService();
  await gone.close();

  expect(await failureOf(connect({ baseUrl: gone.url }).listConnectedPlatforms())).toMatchObject({
    code: "network",
    outcome: "not_sent",
    retryable: true,
  });
});

test("The prefix of the base URL is kept, and the tool is called with no arguments", async () => {
  const rest = await scriptedService({
    "POST /a/b/api/mcp": modernEndpoint(() => PLATFORMS, { strict: true }),
  });

  await connect({ baseUrl: `${rest.url}/a/b` }).listConnectedPlatforms();

  const call = rest.requests.find(({ json }) => methodOf(json) === "tools/call");
  expect(call?.json).toMatchObject({ params: { name: "list_connected_platforms", arguments: {} } });
});
