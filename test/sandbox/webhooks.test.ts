// What the sandbox delivers, to a receiver that checks each signature by itself.

import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { createVirtualClock } from "../checks/bench/virtual-clock.ts";
import { freePort } from "../fixtures/free-port.ts";
import { until } from "../fixtures/until.ts";
import { startedAt, testSandbox } from "./fixture.ts";

interface Delivery {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** How the receiver answers: with a status, by hanging up, or not at all. */
type Answer = number | "hangs up" | "never";

/** A sandbox whose clock and timers the test advances, and the receiver that it delivers to. */
async function deliveringSandbox({ answers = [], port }: { answers?: Answer[]; port?: number } = {}) {
  const clock = createVirtualClock(Date.parse(startedAt));
  const deliveries: Delivery[] = [];
  const attempts: string[] = [];
  let givenUp = 0;
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString("utf8")));
    request.on("end", () => {
      const { method, url: path, headers } = request;
      deliveries.push({ method, path, headers, body });
      const answer = answers.shift() ?? 204;
      if (answer === "hangs up") response.destroy();
      else if (answer === "never") response.on("close", () => (givenUp += 1));
      else response.writeHead(answer, answer === 307 ? { Location: "/elsewhere" } : {}).end("thanks");
    });
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const ownPort = typeof address === "object" ? address?.port : undefined;
  const sandbox = await testSandbox({
    now: clock.now,
    renderSeconds: 20,
    webhook: {
      url: `http://127.0.0.1:${port ?? ownPort}/hook?of=me`,
      after: clock.after,
      onAttempt: ({ type, outcome, retryInSeconds }) =>
        attempts.push(`${type}: ${outcome}${retryInSeconds === undefined ? "" : `, ${retryInSeconds} s`}`),
    },
  });
  return {
    sandbox,
    clock,
    deliveries,
    attempts,
    /** How many deliveries the sandbox no longer waits for. */
    givenUp: () => givenUp,
    /** Advances the clock to the next timer, and waits for the attempt that it makes. */
    async attempt() {
      const before = attempts.length;
      await clock.runFor(20_000);
      await until(() => attempts.length > before);
    },
  };
}

/** What a receiver does that follows https://www.standardwebhooks.com. */
function isGenuine({ headers, body }: Delivery, { webhookSecret = "" }: Sandbox): boolean {
  const key = Buffer.from(webhookSecret.slice("whsec_".length), "base64");
  const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
  return headers["webhook-signature"] === `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
}

test("the end of a render is delivered as documented, when the status says it too", async () => {
  const { sandbox, deliveries, attempt } = await deliveringSandbox();
  const jobId = await sandbox.generate({ duration: 45 });
  await attempt();
  const [delivery] = deliveries;
  expect(delivery).toMatchObject({
    method: "POST",
    path: "/hook?of=me",
    headers: { "content-type": "application/json" },
  });
  const event: unknown = JSON.parse(delivery?.body ?? "");
  const { body } = await sandbox.get("/api/v1/videos");
  expect(body).toMatchObject({ videos: [{ jobId, status: "completed" }] });
  expect(event).toEqual({
    type: "render.completed",
    jobId,
    videoUrl: `${sandbox.url}/media/final/${jobId}.mp4`,
    durationSeconds: 45,
    deliveredAt: "2026-03-01T12:00:20.000Z",
  });
});

test("a failed render is delivered too, without a video", async () => {
  const { sandbox, deliveries, attempt } = await deliveringSandbox();
  const jobId = await sandbox.generate({ topic: "The night train [fail]" });
  await attempt();

  expect(deliveries.map(({ body }) => JSON.parse(body))).toEqual([
    { type: "render.failed", jobId, deliveredAt: "2026-03-01T12:00:10.000Z" },
  ]);
});

test("a delivery is signed in the way of Standard Webhooks", async () => {
  const { sandbox, deliveries, attempt } = await deliveringSandbox();
  await sandbox.generate();
  await attempt();
  const [delivery] = deliveries;
  if (delivery === undefined) throw new Error("Nothing was delivered.");

  expect(sandbox.webhookSecret).toMatch(/^whsec_[\w+/]{32}$/);
  expect(delivery.headers).toMatchObject({
    "webhook-id": expect.stringMatching(/^msg_[\w-]{36}$/),
    "webhook-timestamp": String(Date.parse("2026-03-01T12:00:20.000Z") / 1000),
  });
  expect(isGenuine(delivery, sandbox)).toBe(true);
  expect(isGenuine({ ...delivery, body: delivery.body.replace("completed", "failed") }, sandbox)).toBe(false);
});

test("a delivery that is not answered with 2xx is sent again five times, ever later, and is the same", async () => {
  const { sandbox, clock, deliveries, attempts, attempt } = await deliveringSandbox({
    answers: [500, 404, 307, "hangs up", 300, 503],
  });
  await sandbox.generate();
  for (let each = 0; each < 6; each++) await attempt();
  await clock.runFor(3_600_000);

  expect(attempts).toEqual([
    "render.completed: 500, 1 s",
    "render.completed: 404, 2 s",
    "render.completed: 307, 4 s",
    "render.completed: UND_ERR_SOCKET, 8 s",
    "render.completed: 300, 16 s",
    "render.completed: 503",
  ]);
  expect(new Set(deliveries.map(({ path }) => path))).toEqual(new Set(["/hook?of=me"]));
  expect(new Set(deliveries.map(({ body }) => body)).size).toBe(1);
  expect(new Set(deliveries.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  // The timestamp is that of the attempt, and signed.
  expect(new Set(deliveries.map(({ headers }) => headers["webhook-timestamp"])).size).toBe(6);
  expect(deliveries.filter((delivery) => !isGenuine(delivery, sandbox))).toEqual([]);
});

test("a delivery is sent again until it is accepted", async () => {
  const { sandbox, clock, deliveries, attempts, attempt } = await deliveringSandbox({ answers: [502, 202] });
  await sandbox.generate();
  await attempt();
  await attempt();
  await clock.runFor(3_600_000);

  expect(attempts).toEqual(["render.completed: 502, 1 s", "render.completed: 202"]);
  expect(deliveries.length).toBe(2);
});

test("an address where nothing listens is tried again", async () => {
  const { sandbox, attempts, attempt } = await deliveringSandbox({ port: await freePort() });
  await sandbox.generate();
  await attempt();

  expect(attempts).toEqual(["render.completed: ECONNREFUSED, 1 s"]);
});

test("a timer that fires early delivers nothing yet", async () => {
  const timers: { delayMs: number; action: () => void }[] = [];
  const sandbox = await testSandbox({
    renderSeconds: 20,
    webhook: {
      url: "http://127.0.0.1:1/",
      after: (delayMs, action) => {
        timers.push({ delayMs, action });
        return () => {};
      },
    },
  });
  await sandbox.generate();
  sandbox.advance(19.5);
  timers[0]?.action();

  expect(timers.map(({ delayMs }) => delayMs)).toEqual([20_000, 500]);
});

test("a closed sandbox delivers nothing more, and gives up what is not answered", async () => {
  const { sandbox, clock, deliveries, attempts, attempt, givenUp } = await deliveringSandbox({
    answers: [500, "never"],
  });
  await sandbox.generate({ topic: "The night train [fail]" });
  await attempt();
  await clock.runFor(1_000);
  await sandbox.generate();
  await until(() => deliveries.length === 2);
  await sandbox.close();
  await until(() => givenUp() === 1);

  expect(clock.pending()).toBe(0);
  expect(attempts).toEqual(["render.failed: 500, 1 s"]);
});

test("a sandbox without an address delivers nothing and has no secret", async () => {
  const sandbox = await testSandbox();

  expect(sandbox.webhookSecret).toBeUndefined();
});
