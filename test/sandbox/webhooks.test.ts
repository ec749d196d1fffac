// What the sandbox delivers, to a receiver that checks each signature by itself.

import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { createVirtualClock } from "../checks/bench/virtual-clock.ts";
import {
  type Handler,
  type RecordedRequest,
  type Script,
  scriptedService,
} from "../fixtures/scripted-service.ts";
import { until } from "../fixtures/until.ts";
import { startedAt, testSandbox } from "./fixture.ts";

/** A sandbox whose clock and timers the test advances, and the scripted receiver that it delivers to. */
async function deliveringSandbox({ answers = { status: 204 } }: { answers?: Script } = {}) {
  const clock = createVirtualClock(Date.parse(startedAt));
  const attempts: string[] = [];
  const receiver = await scriptedService({ "POST /hook": answers });
  const sandbox = await testSandbox({
    now: clock.now,
    renderSeconds: 20,
    webhook: {
      url: `http://127.0.0.1:${receiver.port}/hook?of=me`,
      after: clock.after,
      onAttempt: (line) => attempts.push(line.replace(/ of [\w-]{36}/, "")),
    },
  });
  return {
    sandbox,
    clock,
    deliveries: receiver.requests,
    attempts,
    /** Advances the clock to the next timer, and waits for the attempt that it makes. */
    async attempt() {
      const before = attempts.length;
      await clock.runFor(20_000);
      await until(() => attempts.length > before);
    },
  };
}

/** What a receiver does that follows https://www.standardwebhooks.com. */
function isGenuine({ headers, body }: RecordedRequest, { webhookSecret = "" }: Sandbox): boolean {
  const key = Buffer.from(webhookSecret.slice("whsec_".length), "base64");
  const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
  return headers["webhook-signature"] === `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
}

test("the end of a render is signed and delivered until it is accepted", async () => {
  const { sandbox, clock, deliveries, attempts, attempt } = await deliveringSandbox({
    answers: [{ status: 502 }, { status: 202 }],
  });
  const jobId = await sandbox.generate({ duration: 45 });
  await attempt();
  await attempt();
  expect([...attempts, clock.pending()]).toEqual([
    "render.completed: 502, again in 1 s",
    "render.completed: 202",
    0,
  ]);
  const [delivery] = deliveries;
  if (delivery === undefined) throw new Error("Nothing was delivered.");
  expect(delivery).toMatchObject({
    method: "POST",
    path: "/hook?of=me",
    headers: {
      "content-type": "application/json",
      "webhook-id": expect.stringMatching(/^msg_[\w-]{36}$/),
      "webhook-timestamp": String(Date.parse("2026-03-01T12:00:20.000Z") / 1000),
    },
  });
  expect(sandbox.webhookSecret).toMatch(/^whsec_[\w+/]{32}$/);
  expect(isGenuine(delivery, sandbox)).toBe(true);
  const event: unknown = JSON.parse(delivery.body);
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

test("a failed delivery is repeated unchanged five times, ever later", async () => {
  const { sandbox, clock, deliveries, attempts, attempt } = await deliveringSandbox({
    answers: [
      { status: 500 },
      { status: 404 },
      { status: 307, headers: { location: "/elsewhere" } },
      "hang up",
      { status: 300 },
      { status: 503 },
    ],
  });
  await sandbox.generate();
  for (let each = 0; each < 6; each++) await attempt();
  await clock.runFor(3_600_000);

  expect(attempts).toEqual([
    "render.completed: 500, again in 1 s",
    "render.completed: 404, again in 2 s",
    "render.completed: 307, again in 4 s",
    "render.completed: UND_ERR_SOCKET, again in 8 s",
    "render.completed: 300, again in 16 s",
    "render.completed: 503",
  ]);
  expect(new Set(deliveries.map(({ path }) => path))).toEqual(new Set(["/hook?of=me"]));
  expect(new Set(deliveries.map(({ body }) => body)).size).toBe(1);
  expect(new Set(deliveries.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  // The timestamp is that of the attempt, and signed.
  expect(new Set(deliveries.map(({ headers }) => headers["webhook-timestamp"])).size).toBe(6);
  expect(deliveries.filter((delivery) => !isGenuine(delivery, sandbox))).toEqual([]);
});

test("a closed sandbox delivers nothing more, and gives up what is not answered", async () => {
  let isGivenUp = false;
  const hang: Handler = (_, { outgoing }) => void outgoing.on("close", () => (isGivenUp = true));
  const { sandbox, clock, deliveries, attempts, attempt } = await deliveringSandbox({
    answers: [{ status: 500 }, hang],
  });
  await sandbox.generate({ topic: "The night train [fail]" });
  await attempt();
  await clock.runFor(1_000);
  await sandbox.generate();
  await until(() => deliveries.length === 2);
  await sandbox.close();
  await until(() => isGivenUp);

  expect(clock.pending()).toBe(0);
  expect(attempts).toEqual(["render.failed: 500, again in 1 s"]);
});
