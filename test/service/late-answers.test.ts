import type { Socket } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { BridgeErrorFacts } from "../../src/errors.ts";
import type { Generation } from "../../src/service/answers.ts";
import type { Service } from "../../src/service/client.ts";
import { JOB_ID } from "../fixtures/constants.ts";
import { until } from "../fixtures/until.ts";
import { connect, failureOf, jumpingClock } from "./bridge.ts";
import { faultServer } from "./fault-server.ts";

// Faked before undici starts its first timer, so that its timeouts are part of what is tested.
beforeAll(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterAll(() => void vi.useRealTimers());

const UNKNOWN = { code: "timeout", outcome: "unknown", retryable: false };
const TIDES = { topic: "Tides" };
const DEADLINE_MS = 38_000;

const answer = (status: number, json: unknown) => {
  const body = JSON.stringify(json);
  return `HTTP/1.1 ${status} Late\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
};
const STARTED = answer(201, { jobId: JOB_ID, status: "processing" });
const HALF = STARTED.slice(0, STARTED.indexOf("{") + 10);

/** A service that answers with `before`, and goes on only when the test writes to `sockets`. */
async function slowService(before = "") {
  const sockets: Socket[] = [];
  const server = await faultServer({
    requested: (socket) => void socket.write(before, () => sockets.push(socket)),
  });
  return { server, sockets, service: connect({ baseUrl: server.url }) };
}

/** Lets the deadline of generate pass. Returns how it failed, and the late answers promised by then. */
async function tooSlow(service: Service, hasArrived: () => boolean, deadlineMs = DEADLINE_MS) {
  const late: Promise<Generation>[] = [];
  const calling = failureOf(service.generate(TIDES, { deadlineMs, onLate: (each) => void late.push(each) }));
  await until(hasArrived);
  vi.advanceTimersByTime(deadlineMs);
  return { facts: await calling, late };
}

test.each([
  ["as a whole", ""],
  ["from its second half on", HALF],
])("An answer that comes after the deadline of generate, %s, is still taken", async (_, before) => {
  const { server, sockets, service } = await slowService(before);
  const { facts, late } = await tooSlow(service, () => sockets.length === 1);
  expect(facts).toMatchObject(UNKNOWN);

  sockets[0]?.write(STARTED.slice(before.length));

  expect(await Promise.all(late)).toEqual([{ jobId: JOB_ID, status: "processing" }]);
  expect(server.received).toHaveLength(1);
});

test("An answer that comes after the deadline of publish is still taken", async () => {
  const { sockets, service } = await slowService();
  const late: Promise<unknown>[] = [];
  const onLate = (each: Promise<unknown>) => void late.push(each);
  const calling = failureOf(service.publish({ jobId: JOB_ID, platforms: ["x"] }, { onLate }));
  await until(() => sockets.length === 1);

  vi.advanceTimersByTime(DEADLINE_MS);
  expect(await calling).toMatchObject(UNKNOWN);
  sockets[0]?.write(answer(500, { results: [{ platform: "x", ok: true }] }));

  expect(await Promise.all(late)).toEqual([{ results: [{ platform: "x", ok: true }] }]);
});

test.each<[string, (socket: Socket) => unknown, Partial<BridgeErrorFacts>]>([
  [
    "refuses",
    (socket) => socket.write(answer(402, { error: { code: "out_of_credits", message: "None." } })),
    { code: "out_of_credits", outcome: "rejected" },
  ],
  ["fails", (socket) => socket.write(answer(503, {})), { code: "service_failed", outcome: "unknown" }],
  [
    "is not as documented",
    (socket) => socket.write(answer(200, {})),
    { code: "bad_answer", outcome: "unknown" },
  ],
  [
    "never comes, as the connection breaks",
    (socket) => socket.end(),
    { code: "network", outcome: "unknown" },
  ],
])("A late answer that %s is the error that it means", async (_, act, expected) => {
  const { sockets, service } = await slowService();
  const { late } = await tooSlow(service, () => sockets.length === 1);

  for (const socket of sockets) act(socket);

  expect(await Promise.all(late.map(failureOf))).toMatchObject([expected]);
});

test.each([
  ["that never comes", ""],
  ["that stops half way", HALF],
])("A late answer %s is awaited for five minutes, and its outcome is unknown then", async (_, before) => {
  const { server, sockets, service } = await slowService(before);
  const { facts, late } = await tooSlow(service, () => sockets.length === 1);
  expect(facts).toMatchObject(UNKNOWN);
  const ended = vi.fn<() => void>();
  const failing = late.map((each) => failureOf(each).finally(ended));

  for (let second = 0; second < 299; second++) {
    vi.advanceTimersByTime(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect([server.open(), ended.mock.calls.length]).toEqual([1, 0]);
  vi.advanceTimersByTime(1_000);

  expect(await Promise.all(failing)).toMatchObject([UNKNOWN]);
  await until(() => server.open() === 0);
});

test("A late answer is given up when the client is closed, whether or not anyone waits for it", async () => {
  const { server, sockets, service } = await slowService();
  const unheeded = failureOf(service.generate(TIDES, { onLate: () => {} }));
  const { late } = await tooSlow(service, () => sockets.length === 2);
  await unheeded;

  service.close();

  expect(await Promise.all(late.map(failureOf))).toMatchObject([{ code: "network", outcome: "unknown" }]);
  await until(() => server.open() === 0);
});

test("A deadline applies to all attempts together, and closes the connection", async () => {
  const clock = jumpingClock();
  const unanswered: Socket[] = [];
  const server = await faultServer({
    requested(socket, request) {
      if (request === 2) unanswered.push(socket);
      else socket.write(answer(503, {}), () => clock.advance(12_000));
    },
  });
  const calling = failureOf(connect({ baseUrl: server.url, clock }).getJob(JOB_ID));
  await until(() => unanswered.length === 1);

  clock.advance(8_000);
  vi.advanceTimersByTime(8_000);

  expect(await calling).toMatchObject({ code: "timeout", outcome: "unknown", retryable: true });
  expect(server.received).toHaveLength(2);
  await until(() => server.open() === 0);
});

test("A request that was not sent by the deadline is given up, and no late answer is promised", async () => {
  // A TLS handshake without an answer.
  const server = await faultServer({});
  const baseUrl = server.url.replace("http:", "https:");
  // No time is left for a second attempt.
  const service = connect({ baseUrl, clock: jumpingClock(), random: () => 0.5, minPostMs: 3_000 });

  const { facts, late } = await tooSlow(service, () => server.accepted() === 1, 3_000);

  expect(facts).toMatchObject({ code: "timeout", outcome: "not_sent" });
  expect([late, server.received]).toEqual([[], []]);
});

test("An answer in time, and one that is whole JSON at the deadline, is no late answer", async () => {
  const { sockets, service } = await slowService();
  const onLate = vi.fn<() => void>();
  const inTime = service.generate(TIDES, { onLate });
  const whole = service.generate(TIDES, { onLate });
  await until(() => sockets.length === 2);

  const [first, second] = sockets;
  second?.write(STARTED.replace(/(?<=content-length: )\d+/, "999"));
  first?.write(STARTED);
  await inTime;
  vi.advanceTimersByTime(DEADLINE_MS);

  const started = { jobId: JOB_ID, status: "processing" };
  expect(await Promise.all([inTime, whole])).toEqual([started, started]);
  expect(onLate).not.toHaveBeenCalled();
});
