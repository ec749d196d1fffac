// Connections that have died without a sign, as by a sleep, a VPN or a router that forgot them: over real sockets, in
// virtual time.

import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import type { Service } from "../../src/service/client.ts";
import { DOCUMENT, GENERATE, JOB_ID, PUBLISH, STATUS, VIDEOS } from "../fixtures/constants.ts";
import { faultServer } from "../fixtures/fault-server.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";
import { startTcpProxy } from "../fixtures/tcp-proxy.ts";
import { connect } from "./bridge.ts";
import { openTools } from "./faults/tools-under-test.ts";
import { inVirtualTime, virtualClock } from "./virtual-time.ts";

// Modules that are loaded on first use would take virtual time.
beforeAll(async () => {
  await import("../../src/service/http.ts");
  await import("../../src/service/connected-platforms.ts");
});
// Faked before undici starts its first timer, and for good: it keeps that timer.
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] }));
afterAll(() => void vi.useRealTimers());

const ACCOUNTS = "GET /api/v1/links";
const TOLD = { paths: { "/api/v1/links": { get: { operationId: "list_connected_platforms" } } } };

/** A service behind a relay. */
async function relayed() {
  const rest = await scriptedService({
    [STATUS]: { json: { status: "completed", finalVideoUrl: "https://media.example/f.mp4" } },
    [VIDEOS]: { json: { videos: [] } },
    [DOCUMENT]: { json: TOLD },
    [ACCOUNTS]: { json: { platforms: ["tiktok"] } },
    [GENERATE]: { status: 201, json: { jobId: JOB_ID, status: "processing" } },
    [PUBLISH]: { json: { results: [{ platform: "tiktok", ok: true }] } },
  });
  const relay = await startTcpProxy(rest.port);
  const baseUrl = `http://127.0.0.1:${relay.port}`;
  return { rest, relay, baseUrl };
}

/** A client with kept connections, which then die. */
async function withDeadConnections() {
  const { rest, relay, baseUrl } = await relayed();
  const service = connect({ baseUrl, clock: virtualClock() });
  const warmUp = Promise.all([service.getJob(JOB_ID), service.listVideos({}), service.getJob(JOB_ID)]);
  await inVirtualTime(warmUp);
  const connections = relay.made;
  relay.abandon();
  return { rest, relay, service, connections };
}

test.each<[string, (service: Service) => Promise<unknown>, maxSeconds: number]>([
  ["a read of a job", (service) => service.getJob(JOB_ID), 8],
  ["a list", (service) => service.listVideos({}), 8],
  ["a page", (service) => service.listVideos({ limit: 5 }), 8],
  ["a list that has three seconds", (service) => service.listVideos({}, { deadlineMs: 3_000 }), 1],
  ["a poll", (service) => service.getJob(JOB_ID, { background: true }), 1],
  ["a poll of the list", (service) => service.listNewestVideos({ background: true }), 1],
  ["the accounts before a post", (service) => service.listConnectedPlatforms({ deadlineMs: 10_000 }), 1],
  ["a paid request", (service) => service.generate({ topic: "Tides" }), 1],
  ["a post", (service) => service.publish({ jobId: JOB_ID, platforms: ["tiktok"] }), 1],
])("%s succeeds though all kept connections are dead", async (_, call, maxSeconds) => {
  const { relay, service, connections } = await withDeadConnections();

  const { seconds } = await inVirtualTime(call(service));

  expect(seconds).toBeLessThanOrEqual(maxSeconds);
  expect(relay.made).toBeGreaterThan(connections);
});

test("after one dead connection, the other kept ones cause no delay", async () => {
  const { service } = await withDeadConnections();
  await inVirtualTime(service.getJob(JOB_ID));

  const { seconds } = await inVirtualTime(Promise.all([service.getJob(JOB_ID), service.listVideos({})]));

  expect(seconds).toBeLessThanOrEqual(1);
});

test("a post is checked first even if all kept connections are dead", async () => {
  const { rest, relay, baseUrl } = await relayed();
  rest.on(ACCOUNTS, { json: { platforms: ["youtube"] } });
  const tools = openTools({ baseUrl, keepsJournal: false });
  onTestFinished(() => tools.close());
  await inVirtualTime(Promise.all([tools.status(JOB_ID), tools.list(), tools.list()]));
  relay.abandon();

  const { result, seconds } = await inVirtualTime(tools.publish(JOB_ID));

  expect(result.error).toMatchObject({ code: "not_connected", outcome: "not_sent" });
  expect(rest.lines(PUBLISH)).toEqual([]);
  expect(seconds).toBeLessThanOrEqual(8);
});

test("a connection is kept for ten seconds at most, whatever the service offers", async () => {
  const body = JSON.stringify({ status: "processing" });
  const server = await faultServer({
    requested: (socket) =>
      void socket.write(
        `HTTP/1.1 200 OK\r\nkeep-alive: timeout=600\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      ),
  });
  const service = connect({ baseUrl: server.url, clock: virtualClock() });
  await inVirtualTime(service.getJob(JOB_ID));

  await inVirtualTime(new Promise((resolve) => setTimeout(resolve, 12_000)));
  await inVirtualTime(service.getJob(JOB_ID));

  expect(server.accepted()).toBe(2);
});
