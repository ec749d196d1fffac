import { expect, test } from "vitest";
import { BridgeError } from "../../src/errors.ts";
import { lazyService, unconfiguredService } from "../../src/service/lazy-service.ts";
import { JOB_ID } from "../fixtures/constants.ts";
import { bridge, failureOf } from "./bridge.ts";

const SCRIPTS = { [`GET /api/v1/status/${JOB_ID}`]: { json: { status: "completed" } } };

test("The service is loaded with the first call, and once for all calls", async () => {
  const { service } = await bridge(SCRIPTS);
  let loads = 0;
  const deferred = lazyService(async () => ((loads += 1), service));
  expect({ loads, waitMs: deferred.backgroundWaitMs() }).toEqual({ loads: 0, waitMs: 0 });

  const jobs = await Promise.all([deferred.getJob(JOB_ID), deferred.getJob(JOB_ID)]);

  expect(jobs.map(({ status }) => status)).toEqual(["completed", "completed"]);
  expect(loads).toBe(1);
});

test("A service that could not be loaded is loaded again by the next call", async () => {
  const { service } = await bridge(SCRIPTS);
  const loads = [() => Promise.reject(new Error("no port")), () => Promise.resolve(service)];
  const deferred = lazyService(() => loads.shift()?.() ?? Promise.reject(new Error("loaded too often")));

  expect(await failureOf(deferred.generate({ topic: "x" }))).toMatchObject({
    code: "internal",
    outcome: "not_sent",
  });
  expect(await deferred.getJob(JOB_ID)).toMatchObject({ status: "completed" });
});

test("A service that was closed before it was loaded sends nothing", async () => {
  const { service, rest } = await bridge(SCRIPTS);
  const deferred = lazyService(() => Promise.resolve(service));

  deferred.close();

  expect(await failureOf(deferred.getJob(JOB_ID))).toMatchObject({ code: "network", outcome: "not_sent" });
  expect(rest.requests).toEqual([]);
});

test("Without settings each call names what is missing and how to set it", async () => {
  const problems = [
    { variable: "FACELESS_API_KEY", problem: "is not set", fix: "Set it to your key" },
    { variable: "FACELESS_BASE_URL", problem: "is not a URL", fix: "Set it to the service's address" },
  ];
  const service = unconfiguredService(problems);

  const errors = await Promise.all(
    [
      service.generate({ topic: "x" }),
      service.getJob(JOB_ID),
      service.publish({ jobId: JOB_ID, platforms: ["tiktok"] }),
      service.listVideos({}),
      service.listNewestVideos(),
      service.listConnectedPlatforms(),
    ].map((call) => call.catch((error: unknown) => error)),
  );

  for (const error of errors)
    expect(error instanceof BridgeError ? error.facts : error).toEqual({
      code: "not_configured",
      message: "This server is not set up: FACELESS_API_KEY is not set; FACELESS_BASE_URL is not a URL.",
      nextStep:
        "FACELESS_API_KEY: Set it to your key. FACELESS_BASE_URL: Set it to the service's address. Then restart this server. To try it without an account, start it with --sandbox.",
      outcome: "not_sent",
      retryable: false,
      failsAgain: true,
    });
});
