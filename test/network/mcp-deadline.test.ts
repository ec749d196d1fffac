// A call of the service's MCP endpoint ends in time, whatever the endpoint answers, or if it never does. In virtual
// time.

import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { field, legacyEndpoint, onCall } from "../fixtures/mcp-endpoints.ts";
import type { Handler, Reply } from "../fixtures/scripted-service.ts";
import { bridge, failureOf } from "./bridge.ts";
import { inVirtualTime, virtualClock } from "./virtual-time.ts";

// Modules that are loaded on first use would take virtual time.
beforeAll(async () => {
  await import("../../src/service/http.ts");
  await import("../../src/service/connected-platforms.ts");
});
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] }));
afterAll(() => void vi.useRealTimers());

const MCP = "POST /api/mcp";
const EVENTS = { "content-type": "text/event-stream" };
const nothing = () => ({ content: [] });
const nonsense: Handler = ({ json }) => ({
  json: { jsonrpc: "2.0", id: `not ${String(field(json, "id"))}`, result: {} },
});

test.each<[string, string, Reply | Handler, code: string]>([
  ["server/discover", "nothing", "hang", "timeout"],
  ["tools/call", "nothing", "hang", "timeout"],
  ["server/discover", "another id", nonsense, "bad_answer"],
  ["initialize", "202", { status: 202 }, "bad_answer"],
  ["initialize", "another id", nonsense, "bad_answer"],
  ["tools/call", "an empty stream", { headers: EVENTS, body: ": nothing\n\n" }, "bad_answer"],
  ["tools/call", "another id", nonsense, "bad_answer"],
])("a call whose %s is answered with %s ends within 20 s", async (method, _, reply, code) => {
  const answer: Handler = typeof reply === "function" ? reply : () => reply;
  const { service } = await bridge({ [MCP]: onCall(nothing, method, answer) }, { clock: virtualClock() });

  const { result, seconds } = await inVirtualTime(failureOf(service.listConnectedPlatforms()));

  expect(result).toMatchObject({ code, outcome: "unknown", retryable: true });
  expect(seconds).toBeLessThan(20);
});

test("a call whose answers are all nonsense ends within 20 s", async () => {
  const { service, rest } = await bridge({ [MCP]: nonsense }, { clock: virtualClock() });

  const { result, seconds } = await inVirtualTime(failureOf(service.listConnectedPlatforms()));

  expect(result).toMatchObject({ code: "bad_answer" });
  expect(seconds).toBeLessThan(20);
  expect(rest.lines(MCP).length).toBeGreaterThan(0);
});

test("the call waits for an endpoint that is slow, but not too slow", async () => {
  const legacy = legacyEndpoint(() => ({ content: [], structuredContent: { platforms: ["tiktok"] } }));
  const slow: Handler = async (request, raw) => {
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    return legacy(request, raw);
  };
  const { service } = await bridge({ [MCP]: slow }, { clock: virtualClock() });

  const { result } = await inVirtualTime(service.listConnectedPlatforms());

  expect(result).toEqual([{ platform: "tiktok" }]);
});
