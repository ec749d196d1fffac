import { describe, expect, test } from "vitest";
import {
  envelope,
  type Handler,
  type Reply,
  scriptedService,
  startScriptedService,
} from "../fixtures/scripted-service.ts";
import { bridge, connect, failureOf, KEY, until } from "./bridge.ts";
import { newEndpoint, oldEndpoint } from "./mcp-endpoints.ts";

const MCP = "POST /api/mcp";
const PLATFORMS = { content: [], structuredContent: { platforms: ["tiktok"] } };
const EVENTS = { "content-type": "text/event-stream" };

/** Answers the calls of one method itself, and leaves the others to an endpoint of the old era. */
function onCall(method: string, reply: Handler): Handler {
  const rest = oldEndpoint(() => PLATFORMS);
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
  test.each([
    [401, "unauthorized", "The service did not accept the API key."],
    [403, "unauthorized", "The service does not allow this key the connected platforms."],
    [404, "not_found", "The service offers no list of the connected platforms."],
    [402, "out_of_credits", "The account has no credits left."],
  ])("of %i says so as the REST API would", async (status, code, message) => {
    const { facts } = await failureAt(envelope(status, "the_code", "Its message."));

    expect(facts).toEqual({
      code,
      message,
      nextStep: expect.any(String),
      outcome: "rejected",
      retryable: false,
      status,
      serviceWords: { code: "the_code", message: "Its message." },
    });
  });

  test("of 429 passes the wait on", async () => {
    const { facts } = await failureAt({
      ...envelope(429, "rate_limited", "Slow down."),
      headers: { "retry-after": "30" },
    });

    expect(facts).toMatchObject({
      code: "rate_limited",
      retryable: true,
      retryAfterSeconds: 30,
      status: 429,
    });
  });

  test.each([500, 502, 503])("of %i may be asked again, as it only reads", async (status) => {
    const { facts } = await failureAt({ status, body: "<html>Bad</html>" });

    expect(facts).toMatchObject({ code: "service_failed", outcome: "unknown", retryable: true, status });
    expect(JSON.stringify(facts)).not.toContain("html");
  });

  test("that has no such tool is quoted as the service's words", async () => {
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
  ])("that answers with %s is a bad answer whose words are not ours", async (_, reply) => {
    const { facts } = await failureAt(onCall("tools/call", () => reply));

    expect(facts).toEqual({
      code: "bad_answer",
      message: "The service's MCP endpoint gave no usable answer: it does not speak MCP as documented.",
      nextStep: "Try again in a minute, or look at the service's website.",
      outcome: "unknown",
      retryable: true,
    });
  });
});

describe("a redirect of the MCP endpoint", () => {
  test.each([301, 302, 303, 307, 308])(
    "with %i is not followed, neither elsewhere nor within",
    async (status) => {
      const elsewhere = await scriptedService();
      const away = await failureAt({ status, headers: { location: `${elsewhere.url}/api/mcp` } });
      const within = await failureAt({ status, headers: { location: "/mcp" } });

      expect(away.facts).toMatchObject({
        code: "redirected",
        message: expect.stringContaining(` with a redirect to ${elsewhere.url}, which`),
        status,
      });
      expect(within.facts).toMatchObject({ code: "redirected", status });
      expect(elsewhere.connections() + elsewhere.requests.length).toBe(0);
      expect(new Set(within.rest.lines())).toEqual(new Set(["GET /api/v1/openapi.json", MCP]));
      expect(JSON.stringify([away.facts, within.facts])).not.toContain(KEY);
    },
  );
});

describe("the end of asking an MCP endpoint", () => {
  test("comes with the answer, though the stream stays open, and closes it", async () => {
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

  test.each(["server/discover", "initialize", "tools/call"])(
    "comes with the deadline where %s is never answered",
    async (method) => {
      const { facts } = await failureAt(
        onCall(method, () => "hang"),
        300,
      );

      expect(facts).toMatchObject({ code: "timeout", outcome: "unknown", retryable: true });
    },
  );

  test.each<[string, Handler, string]>([
    ["is reset", () => "reset", "network"],
    ["is closed", () => "hang up", "network"],
    [
      "breaks off within its stream",
      (_, { outgoing }) => {
        outgoing.writeHead(200, EVENTS);
        outgoing.write("id: 1\ndata:\n\n", () => outgoing.socket?.resetAndDestroy());
      },
      "network",
    ],
    ["is endless", () => ({ headers: EVENTS, body: `data: ${"x".repeat(5 << 20)}` }), "bad_answer"],
  ])("comes at once where the connection %s", async (_, reply, code) => {
    const started = performance.now();

    const { facts } = await failureAt(onCall("tools/call", reply));

    expect(facts).toMatchObject({ code, outcome: "unknown", retryable: true });
    expect(performance.now() - started).toBeLessThan(2_500);
  });

  test("comes with the deadline where a stream ends without an answer", async () => {
    const { facts } = await failureAt(
      onCall("tools/call", () => ({ headers: EVENTS, body: ": nothing\n\n" })),
      300,
    );

    expect(facts).toMatchObject({ code: "timeout", outcome: "unknown", retryable: true });
  });

  test("comes with a cancellation", async () => {
    const withdraw = new AbortController();
    const { service } = await bridge({ [MCP]: onCall("tools/call", () => (withdraw.abort(), "hang")) });

    expect(await failureOf(service.listConnectedPlatforms({ signal: withdraw.signal }))).toMatchObject({
      code: "cancelled",
      outcome: "unknown",
      retryable: true,
    });
  });

  test("comes with the close of the client", async () => {
    const { service } = await bridge({ [MCP]: onCall("tools/call", () => (service.close(), "hang")) });

    expect(await failureOf(service.listConnectedPlatforms())).toMatchObject({ code: "network" });
  });
});

test("An MCP endpoint that is not there is a request that never left", async () => {
  const gone = await startScriptedService();
  await gone.close();

  expect(await failureOf(connect({ baseUrl: gone.url }).listConnectedPlatforms())).toMatchObject({
    code: "network",
    outcome: "not_sent",
    retryable: true,
  });
});

test("The prefix of the base URL is kept, and the tool is called with no arguments", async () => {
  const rest = await scriptedService({ "POST /a/b/api/mcp": newEndpoint(() => PLATFORMS, { strict: true }) });

  await connect({ baseUrl: `${rest.url}/a/b` }).listConnectedPlatforms();

  const call = rest.requests.find(({ json }) => methodOf(json) === "tools/call");
  expect(call?.json).toMatchObject({ params: { name: "list_connected_platforms", arguments: {} } });
});
