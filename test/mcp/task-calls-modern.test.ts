// The tasks extension of 2026-07-28.

import { expect, test } from "vitest";
import { valueAt } from "../../src/mcp/value-at.ts";
import { connectModern } from "../fixtures/clients.ts";
import { GENERATE, JOB_ID, TIDES } from "../fixtures/constants.ts";
import { connectModernWithTasks } from "../fixtures/tasks-clients.ts";
import { completed, startingService } from "./job-service.ts";

const EXTENSION = "io.modelcontextprotocol/tasks";

test("a modern client with tasks finds the extension declared", async () => {
  const { start } = await startingService();
  const { raw } = await connectModernWithTasks(start);
  expect(raw.getServerCapabilities()).toMatchObject({ extensions: { [EXTENSION]: {} } });
  const plain = await connectModern(start);
  expect((await raw.listTools()).tools).toEqual((await plain.raw.listTools()).tools);
});

test("a modern client is sent no progress of a task: the extension rules it out", async () => {
  const service = await startingService();
  const methods: unknown[] = [];
  const onMessage = (message: unknown) => void methods.push(valueAt(message, "method"));
  const client = await connectModernWithTasks({ ...service.start, onMessage });
  const called = client.raw.callTool({ name: "generate_video", arguments: TIDES }, { onprogress() {} });
  await expect(called).rejects.toThrow("task");
  service.become(JOB_ID, completed);
  await client.end(JOB_ID);
  expect(methods).not.toContain("notifications/progress");
});

test("a modern client without the extension gets a plain result, and an error for tasks/…", async () => {
  const service = await startingService();
  const client = await connectModernWithTasks({ ...service.start, declares: false });
  const { task, raw } = await client.call("generate_video", TIDES);
  expect(task).toBeUndefined();
  const { _meta, ...result } = raw;
  expect(result).toEqual({
    resultType: "complete",
    content: [expect.objectContaining({ type: "text" })],
    structuredContent: {
      summary: expect.stringMatching(/^The video was started: /),
      nextStep: expect.stringMatching(/^Follow it with get_video_status/),
      jobId: JOB_ID,
      status: "processing",
      resourceUri: `faceless://jobs/${JOB_ID}`,
    },
  });
  for (const method of ["tasks/get", "tasks/cancel", "tasks/update"])
    await expect(client.ask(method, { taskId: JOB_ID }), method).rejects.toMatchObject({
      code: -32_021,
      data: { requiredCapabilities: { extensions: { [EXTENSION]: {} } } },
    });
  expect(service.rest.lines()).toEqual([GENERATE]);
});
