import { once } from "node:events";
import type { Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { type BridgeErrorFacts, DeadlineError } from "../../src/errors.ts";
import type { Service } from "../../src/service/client.ts";
import { JOB_ID } from "../fixtures/constants.ts";
import { until } from "../fixtures/until.ts";
import { connect, failureOf, jumpingClock } from "./bridge.ts";
import { faultServer } from "../fixtures/fault-server.ts";

// A POST needs 10 s to begin, which a test can't wait for.
vi.mock("../../src/service/time-budget.ts", async (load) => ({
  ...(await load<object>()),
  MIN_POST_MS: 3_000,
}));

// Faked before undici starts its first timer, so that its timeouts are part of what is tested.
beforeAll(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterAll(() => void vi.useRealTimers());

const UNKNOWN = { code: "timeout", outcome: "unknown", retryable: false };
const TIDES = { topic: "Tides" };
const DEADLINE_MS = 38_000;

const answer = (status: number, json: unknown, headers: readonly string[] = []) => {
  const body = JSON.stringify(json);
  return [`HTTP/1.1 ${status} Late`, ...headers, `content-length: ${body.length}`, "", body].join("\r\n");
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

/** Lets the deadline of generate, or of another call, pass. Returns its failure and the late answer. */
async function tooSlow(
  service: Service,
  hasArrived: () => boolean,
  deadlineMs = DEADLINE_MS,
  calling: Promise<unknown> = service.generate(TIDES, { deadlineMs }),
) {
  const failing = failureOf(calling);
  await until(hasArrived);
  vi.advanceTimersByTime(deadlineMs);
  const error = await calling.catch((reason: unknown) => reason);
  const late: Promise<unknown> | undefined = error instanceof DeadlineError ? error.late : undefined;
  return { facts: await failing, late };
}

test.each([
  ["as a whole", ""],
  ["from its second half on", HALF],
])("an answer that comes after the deadline of generate, %s, still counts", async (_, before) => {
  const { server, sockets, service } = await slowService(before);
  const { facts, late } = await tooSlow(service, () => sockets.length === 1);
  expect(facts).toMatchObject(UNKNOWN);

  sockets[0]?.write(STARTED.slice(before.length));

  expect(await late).toEqual({ jobId: JOB_ID, status: "processing" });
  expect(server.received).toHaveLength(1);
});

test("an answer that comes after the deadline of publish still counts", async () => {
  const { sockets, service } = await slowService();
  const calling = service.publish({ jobId: JOB_ID, platforms: ["x"] });
  const { facts, late } = await tooSlow(service, () => sockets.length === 1, DEADLINE_MS, calling);
  expect(facts).toMatchObject(UNKNOWN);

  sockets[0]?.write(answer(500, { results: [{ platform: "x", ok: true }] }));

  expect(await late).toEqual({ results: [{ platform: "x", ok: true }] });
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
])("a late answer that %s becomes the matching error", async (_, act, expected) => {
  const { sockets, service } = await slowService();
  const { late } = await tooSlow(service, () => sockets.length === 1);

  for (const socket of sockets) act(socket);

  expect(await failureOf(Promise.resolve(late))).toMatchObject(expected);
});

test.each([
  ["that never comes", ""],
  ["that stops half way", HALF],
])("a late answer %s is awaited for five minutes, and its outcome is unknown then", async (_, before) => {
  const { server, sockets, service } = await slowService(before);
  const { facts, late } = await tooSlow(service, () => sockets.length === 1);
  expect(facts).toMatchObject(UNKNOWN);
  const ended = vi.fn<() => void>();
  const failing = failureOf(Promise.resolve(late)).finally(ended);

  for (let second = 0; second < 299; second++) {
    vi.advanceTimersByTime(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect([server.open(), ended.mock.calls.length]).toEqual([1, 0]);
  vi.advanceTimersByTime(1_000);

  expect(await failing).toMatchObject(UNKNOWN);
  await until(() => server.open() === 0);
});

test("a request whose answer comes late stops counting in the rate limit once", async () => {
  const { sockets, service } = await slowService();
  const { late } = await tooSlow(service, () => sockets.length === 1);
  sockets[0]?.write(STARTED);
  await late;
  const last = service.getJob(JOB_ID);
  await until(() => sockets.length === 2);
  const limits = ["limit: 10", "remaining: 4", "reset: 60"].map((limit) => `x-ratelimit-${limit}`);
  sockets[1]?.write(answer(200, { status: "processing" }, limits));
  await last;

  expect(service.backgroundWaitMs()).toBeGreaterThan(0);
});

test("closing the client gives up late answers", async () => {
  const { server, sockets, service } = await slowService();
  const failure = failureOf(service.generate(TIDES));
  const { late } = await tooSlow(service, () => sockets.length === 2);
  await failure;

  service.close();

  expect(await failureOf(Promise.resolve(late))).toMatchObject({ code: "network", outcome: "unknown" });
  await until(() => server.open() === 0);
});

test("a deadline applies to all attempts together, and closes the connection", async () => {
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

test("a request that was not sent by the deadline promises no late answer", async () => {
  // A TLS handshake without an answer.
  const server = await faultServer({});
  const baseUrl = server.url.replace("http:", "https:");
  // No time is left for a second attempt.
  const service = connect({ baseUrl, clock: jumpingClock(), random: () => 0.5 });

  const { facts, late } = await tooSlow(service, () => server.accepted() === 1, 3_000);

  expect(facts).toMatchObject({ code: "timeout", outcome: "not_sent" });
  expect([late, server.received]).toEqual([undefined, []]);
});

/** A service in a thread of its own, which answers only while `sleepUntilAnswered` blocks this one. */
async function serviceInThread(json: unknown) {
  const signals = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(
    `const { createServer } = require("node:http");
     const { parentPort, workerData: { signals, body } } = require("node:worker_threads");
     const server = createServer((_, response) => {
       parentPort.postMessage("requested");
       Atomics.wait(signals, 0, 0);
       response.end(body, () => { Atomics.store(signals, 1, 1); Atomics.notify(signals, 1); });
     }).listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));`,
    { eval: true, workerData: { signals, body: JSON.stringify(json) } },
  );
  onTestFinished(() => void worker.terminate());
  const [port]: unknown[] = await once(worker, "message");
  return {
    service: connect({ baseUrl: `http://127.0.0.1:${String(port)}` }),
    requested: once(worker, "message"),
    sleepUntilAnswered() {
      Atomics.store(signals, 0, 1);
      Atomics.notify(signals, 0);
      Atomics.wait(signals, 1, 0);
    },
  };
}

test.each([
  ["a paid request", (service: Service) => service.generate(TIDES, { deadlineMs: DEADLINE_MS })],
  ["a look", (service: Service) => service.getJob(JOB_ID, { deadlineMs: DEADLINE_MS })],
])("the answer to %s that came while the process slept past its deadline counts", async (_, call) => {
  const json = { jobId: JOB_ID, status: "processing" };
  const { service, requested, sleepUntilAnswered } = await serviceInThread(json);
  const calling = call(service).catch((error: unknown) => error);
  await requested;
  sleepUntilAnswered();
  vi.advanceTimersByTime(DEADLINE_MS);

  expect(await calling).toMatchObject(json);
});
