// The experimental tasks of 2025-11-25.

import { expect, test } from "vitest";
import { connectModern } from "../fixtures/clients.ts";
import { JOB_ID, TIDES } from "../fixtures/constants.ts";
import { connectLegacyWithTasks } from "../fixtures/tasks-clients.ts";
import { completed, setUpStarting, startingService } from "./job-service.ts";

const refusedWith = (code: number) => expect.objectContaining({ code });

test("generate_video is the only tool that a legacy client can run as a task", async () => {
  const { start } = await startingService();
  const { raw } = await connectLegacyWithTasks(start);
  expect(raw.getServerCapabilities()?.tasks).toEqual({
    cancel: {},
    requests: { tools: { call: {} } },
  });
  const { tools } = await raw.listTools();
  expect(
    tools.flatMap(({ name, execution }) => (execution === undefined ? [] : [[name, execution]])),
  ).toEqual([["generate_video", { taskSupport: "optional" }]]);
});

test("a legacy client that does not declare tasks sees today's results, whatever it sends", async () => {
  const service = await startingService();
  const client = await connectLegacyWithTasks({ ...service.start, declares: false });
  const plain = await connectModern(service.start);
  expect(client.raw.getServerCapabilities()).not.toHaveProperty("tasks");
  expect((await client.raw.listTools()).tools).toEqual((await plain.raw.listTools()).tools);
  const { task, raw } = await client.call("generate_video", TIDES);
  expect(task).toBeUndefined();
  expect(Object.keys(raw).toSorted()).toEqual(["content", "structuredContent"]);
  for (const method of ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "tasks/update"])
    await expect(client.ask(method, { taskId: JOB_ID }), method).rejects.toEqual(refusedWith(-32_601));
});

test("tasks/result is answered when the video has ended", async () => {
  const { service, client } = await setUpStarting(connectLegacyWithTasks);
  await client.call("generate_video", TIDES);
  const result = client.ask("tasks/result", { taskId: JOB_ID });
  await service.polled(JOB_ID, 2);
  service.become(JOB_ID, completed);
  expect(await result).toMatchObject({
    structuredContent: { jobId: JOB_ID, done: true },
    _meta: { "io.modelcontextprotocol/related-task": { taskId: JOB_ID } },
  });
  await expect(client.ask("tasks/cancel", { taskId: JOB_ID })).rejects.toEqual(refusedWith(-32_602));
});
