import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import type { ServiceConfig } from "../../src/config.ts";
import { ServiceClient } from "../../src/service/client.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";
import { JOB_ID, KEY, STATUS } from "../fixtures/constants.ts";
import { failureOf } from "./bridge.ts";

/** A client that connects to a service whose jobs are all completed. */
async function client(connect: (config: ServiceConfig) => Promise<ServiceConfig>) {
  const rest = await scriptedService({ [STATUS]: { json: { status: "completed" } } });
  const config = { apiKey: KEY, baseUrl: new URL(rest.url), proxies: {} };
  const service = new ServiceClient({
    connect: () => connect(config),
    clock: systemClock,
    random: () => 0,
  });
  return { service, rest };
}

test("the first call looks up the service, once for all calls", async () => {
  let connections = 0;
  const { service } = await client(async (config) => ((connections += 1), config));
  expect({ connections, waitMs: service.backgroundWaitMs() }).toEqual({ connections: 0, waitMs: 0 });

  const jobs = await Promise.all([service.getJob(JOB_ID), service.getJob(JOB_ID)]);
  service.close();

  expect(jobs.map(({ status }) => status)).toEqual(["completed", "completed"]);
  expect(connections).toBe(1);
});

test("a service that could not be started is started again by the next call", async () => {
  const failures = [new Error("no port")];
  const { service } = await client(async (config) => {
    const failure = failures.pop();
    if (failure !== undefined) throw failure;
    return config;
  });

  expect(await failureOf(service.generate({ topic: "x" }))).toMatchObject({
    code: "internal",
    outcome: "not_sent",
  });
  expect(await service.getJob(JOB_ID)).toMatchObject({ status: "completed" });
  service.close();
});
