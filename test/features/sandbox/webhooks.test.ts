// Deliveries of the sandbox, to a receiver that checks each signature by itself.

import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type RecordedRequest, type Script, scriptedService } from "../../fixtures/scripted-service.ts";
import { until } from "../../fixtures/until.ts";
import { startedAt, testSandbox } from "./fixture.ts";

beforeAll(
  () => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.parse(startedAt) }),
);
afterAll(() => void vi.useRealTimers());

/** A sandbox whose clock and timers the test advances, and the scripted receiver that it delivers to. */
async function deliveringSandbox(answers: Script) {
  vi.setSystemTime(startedAt);
  const attempts: string[] = [];
  const receiver = await scriptedService({ "POST /hook": answers });
  const sandbox = await testSandbox({
    now: Date.now,
    renderSeconds: 20,
    webhook: {
      url: `http://127.0.0.1:${receiver.port}/hook?of=me`,
      onAttempt: (line) => attempts.push(line.replace(/ of [\w-]{36}/, "")),
    },
  });
  return {
    sandbox,
    deliveries: receiver.requests,
    attempts,
    /** Advances the clock to the next timer, and waits for the attempt that it makes. */
    async attempt() {
      const before = attempts.length;
      vi.advanceTimersByTime(20_000);
      await until(() => attempts.length > before);
    },
  };
}

/** Checks a delivery as https://www.standardwebhooks.com says. */
function isGenuine({ headers, body }: RecordedRequest, secret = ""): boolean {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
  return headers["webhook-signature"] === `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
}

test("the end of a render is signed and delivered", async () => {
  const { sandbox, deliveries, attempts, attempt } = await deliveringSandbox({ status: 202 });
  const jobId = await sandbox.generate({ duration: 45 });

  await attempt();

  expect(attempts).toEqual(["render.completed: 202"]);
  const [delivery] = deliveries;
  expect(delivery).toMatchObject({ path: "/hook?of=me", headers: { "content-type": "application/json" } });
  expect(delivery && isGenuine(delivery, sandbox.webhookSecret)).toBe(true);
  const event: unknown = JSON.parse(delivery?.body ?? "");
  expect(event).toEqual({
    type: "render.completed",
    jobId,
    videoUrl: `${sandbox.url}/media/final/${jobId}.mp4`,
    durationSeconds: 45,
    deliveredAt: "2026-03-01T12:00:20.000Z",
  });
});

test("a failed delivery is repeated unchanged five times, after longer and longer pauses", async () => {
  const { sandbox, deliveries, attempts, attempt } = await deliveringSandbox([
    { status: 500 },
    { status: 404 },
    { status: 307, headers: { location: "/elsewhere" } },
    "hang up",
    { status: 300 },
    { status: 503 },
  ]);
  await sandbox.generate({ topic: "The night train [fail]" });
  for (let each = 0; each < 6; each++) await attempt();
  vi.advanceTimersByTime(3_600_000);

  expect(attempts).toEqual([
    "render.failed: 500, again in 1 s",
    "render.failed: 404, again in 2 s",
    "render.failed: 307, again in 4 s",
    "render.failed: UND_ERR_SOCKET, again in 8 s",
    "render.failed: 300, again in 16 s",
    "render.failed: 503",
  ]);
  const distinct = (of: (delivery: RecordedRequest) => unknown) => new Set(deliveries.map(of)).size;
  expect([distinct(({ body }) => body), distinct(({ headers }) => headers["webhook-id"])]).toEqual([1, 1]);
  // The timestamp is that of the attempt, and signed.
  expect(distinct(({ headers }) => headers["webhook-timestamp"])).toBe(6);
  expect(deliveries.every((delivery) => isGenuine(delivery, sandbox.webhookSecret))).toBe(true);
});
