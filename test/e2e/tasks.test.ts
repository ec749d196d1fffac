// A call of generate_video as a task, as a client of 2025-11-25 shows it to its user.

import { expect, test } from "vitest";
import { valueAt } from "../../src/value-at.ts";
import { BUILT_FILE } from "../fixtures/clients.ts";
import { JOB_ID, TIDES } from "../fixtures/constants.ts";
import { connectLegacyWithTasks } from "../fixtures/tasks-clients.ts";
import { completed, processing, startingService } from "../fixtures/job-service.ts";

test("the legacy SDK counts the clips of a task, and follows it to a result that fits the tool's schema", async () => {
  const service = await startingService(0.1);
  service.become(JOB_ID, processing(0));
  const { raw } = await connectLegacyWithTasks({
    ...service.start,
    file: BUILT_FILE,
    // The client asks again at the task's own interval.
    onMessage: (message) => void Object.assign(Object(valueAt(message, "result")), { pollInterval: 20 }),
  });
  if (!("experimental" in raw)) throw new Error("This is not the v1 SDK.");
  await raw.listTools();
  const shown: unknown[] = [];
  const states = [processing(1), processing(2), completed];
  const onprogress = (progress: unknown) => {
    shown.push(progress);
    service.become(JOB_ID, states.shift() ?? completed);
  };

  const stream = raw.experimental.tasks.callToolStream(
    { name: "generate_video", arguments: TIDES },
    undefined,
    { onprogress },
  );
  const messages: unknown[] = [];
  for await (const message of stream) messages.push(message);

  expect(messages.at(0)).toMatchObject({ type: "taskCreated", task: { taskId: JOB_ID, status: "working" } });
  expect(messages.at(-1)).toMatchObject({
    type: "result",
    result: { structuredContent: { jobId: JOB_ID, done: true } },
  });
  expect(shown).toEqual([
    { progress: 0, message: "0 clips so far" },
    { progress: 1, total: 4, message: "1 of 3 clips" },
    { progress: 2, total: 4, message: "2 of 3 clips" },
    { progress: 4, total: 4, message: "Ready: 3 clips" },
  ]);
});
