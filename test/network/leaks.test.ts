import { expect, test, vi } from "vitest";
import { GENERATE, JOB_ID, STATUS, VIDEOS } from "../fixtures/constants.ts";
import { type Scripts, startScriptedService } from "../fixtures/scripted-service.ts";
import { until } from "../fixtures/until.ts";
import { connect, failureOf } from "./bridge.ts";
import { inVirtualTime, virtualClock } from "./virtual-time.ts";

/** The resources that keep this process alive, according to Node. */
const activeResources = () =>
  process
    .getActiveResourcesInfo()
    .filter((kind) => /TCP|Timeout|TLS|Immediate/.test(kind))
    .sort();

/** The resources that remain once the last event-loop turns of an ended call are over. */
async function settledResources(): Promise<readonly string[]> {
  await until(() => !activeResources().includes("Immediate"));
  return activeResources();
}

const SCRIPTS: Scripts = {
  [STATUS]: [{ json: { status: "completed" } }, "reset", { status: 503 }, "hang"],
  [VIDEOS]: { json: { videos: [] } },
  [GENERATE]: [{ json: { jobId: JOB_ID } }, "hang up", { status: 302 }, "hang"],
};

/** A client from its first call to its close, with every way for a call to end. */
async function life(): Promise<void> {
  await using rest = await startScriptedService(SCRIPTS);
  const service = connect({ baseUrl: rest.url, clock: virtualClock() });
  await service.getJob(JOB_ID);
  await service.listVideos({ limit: 1 });
  await service.generate({ topic: "x" });
  await failureOf(service.generate({ topic: "x" }));
  await failureOf(service.generate({ topic: "x" }));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  const answered = rest.requests.length;
  const calls = [service.generate({ topic: "x" }), service.getJob(JOB_ID)];
  await inVirtualTime(Promise.all(calls.map(failureOf)), () => rest.requests.length - answered);
  vi.useRealTimers();
  await failureOf(service.listConnectedPlatforms());
  const sent = rest.requests.length;
  const pending = failureOf(service.getJob(JOB_ID));
  await until(() => rest.requests.length > sent);

  service.close();

  expect(await pending).toMatchObject({ code: "network" });
  await until(() => rest.connections() === 0);
}

test("no socket and no timer remains after close, whatever the outcome of the calls", async () => {
  // The first one loads modules, for which the test runner keeps timers of its own.
  await life();
  const before = await settledResources();

  await life();

  expect(await settledResources()).toEqual(before);
});
