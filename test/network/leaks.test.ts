import { expect, test, vi } from "vitest";
import { GENERATE, JOB_ID, STATUS, VIDEOS } from "../fixtures/constants.ts";
import { type Scripts, startScriptedService } from "../fixtures/scripted-service.ts";
import { until } from "../fixtures/until.ts";
import { connect, failureOf } from "./bridge.ts";

// A POST needs 10 s to begin, which a test can't wait for.
vi.mock("../../src/service/time-budget.ts", async (load) => ({ ...(await load<object>()), MIN_POST_MS: 50 }));

/** The resources that keep this process alive, according to Node. */
const activeResources = () =>
  process
    .getActiveResourcesInfo()
    .filter((kind) => /TCP|Timeout|TLS|Immediate/.test(kind))
    .sort();

const SCRIPTS: Scripts = {
  [STATUS]: [{ json: { status: "completed" } }, "reset", { status: 503 }, "hang"],
  [VIDEOS]: { json: { videos: [] } },
  [GENERATE]: [{ json: { jobId: JOB_ID } }, "hang up", { status: 302 }, "hang"],
};

/** A client from its first call to its close, with every way for a call to end. */
async function life(): Promise<void> {
  await using rest = await startScriptedService(SCRIPTS);
  const service = connect({ baseUrl: rest.url });
  // Long enough for a request to reach the service on a busy machine.
  const short = { deadlineMs: 500 };
  await service.getJob(JOB_ID);
  await service.listVideos({ limit: 1 });
  await service.generate({ topic: "x" });
  await failureOf(service.generate({ topic: "x" }));
  await failureOf(service.generate({ topic: "x" }));
  const late = service.generate({ topic: "x" }, short);
  await Promise.all([failureOf(late), failureOf(service.getJob(JOB_ID, short))]);
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
  const before = activeResources();

  await life();

  expect(activeResources()).toEqual(before);
});
