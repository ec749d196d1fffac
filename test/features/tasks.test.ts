// generate_video as a task, as real clients of both protocols that know tasks see it.

import { describe, expect, test } from "vitest";
import { valueAt } from "../../src/value-at.ts";
import { connectModern, factsOf, type Question, textOf } from "../fixtures/clients.ts";
import { GENERATE, JOB_ID, JOB_URI, OTHER_JOB_ID, TIDES } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { envelope } from "../fixtures/scripted-service.ts";
import { completed, processing, setUpStarting, startingService } from "../fixtures/job-service.ts";
import {
  connectLegacyWithTasks,
  connectModernWithTasks,
  TASK_CLIENTS,
  type TaskClient,
} from "../fixtures/tasks-clients.ts";

const UNKNOWN = "cccccccc-0000-4000-8000-000000000003";

const EXTENSION = "io.modelcontextprotocol/tasks";

const refusedWith = (code: number) => expect.objectContaining({ code });

/** The structured result of get_video_status. */
async function statusOf(client: TaskClient, jobId: string): Promise<Record<string, unknown>> {
  const { result } = await client.call("get_video_status", { jobId });
  return result.structuredContent ?? {};
}

describe.each(TASK_CLIENTS)("With %s", (_, connect) => {
  test("a task has the job's id, and ends with what get_video_status says", async () => {
    const { service, client } = await setUpStarting(connect);

    const { task, raw, result } = await client.call("generate_video", TIDES);

    expect(task).toEqual({
      taskId: JOB_ID,
      status: "working",
      statusMessage: expect.stringMatching(
        /^Still rendering: 0 clips so far\. Started .*; renders take 2 to 4/,
      ),
      createdAt: expect.any(String),
      lastUpdatedAt: expect.any(String),
    });
    expect(client.protocol === "modern" ? raw : raw["task"]).toMatchObject(
      client.protocol === "modern"
        ? { resultType: "task", ttlMs: null, pollIntervalMs: 2_000 }
        : { ttl: null, pollInterval: 2_000 },
    );
    expect(result.structuredContent).toMatchObject({ jobId: JOB_ID, status: "processing" });
    await service.polled(JOB_ID, 2);
    expect(await client.get(JOB_ID.toUpperCase())).toMatchObject({
      taskId: JOB_ID,
      status: "working",
      statusMessage: expect.stringMatching(/^Still rendering: 1 of 3 clips\. Started /),
    });

    service.become(JOB_ID, completed);
    const end = await client.end(JOB_ID);

    expect(factsOf(end.structuredContent)).toEqual({
      ...factsOf(await statusOf(client, JOB_ID)),
      resourceUri: `faceless://jobs/${JOB_ID}`,
    });
    expect(textOf(end)).toBe(
      `Your video is ready: https://cdn.example/final.mp4 Show the user the link.\n${JSON.stringify(factsOf(end.structuredContent))}`,
    );
    expect(await client.get(JOB_ID)).toMatchObject({
      status: "completed",
      statusMessage: "Your video is ready: https://cdn.example/final.mp4",
    });
  });

  test("a failed render completes its task with a result that says failed", async () => {
    const { service, client } = await setUpStarting(connect);
    await client.call("generate_video", TIDES);
    service.become(JOB_ID, { status: "failed", videoUrls: [] });

    const end = await client.end(JOB_ID);

    expect(end.isError).not.toBe(true);
    expect(end.structuredContent).toMatchObject({
      summary: expect.stringContaining("failed"),
      status: "failed",
      done: true,
    });
    expect(await client.get(JOB_ID)).toMatchObject({ status: "completed" });
  });

  test("a repeated call isn't a task: it says at once that nothing was charged", async () => {
    const { service, client } = await setUpStarting(connect);
    await client.call("generate_video", TIDES);

    for (const state of [processing(1), completed]) {
      service.become(JOB_ID, state);
      const { task, raw, result } = await client.call("generate_video", TIDES);

      expect([task, raw["resultType"] ?? "complete"]).toEqual([undefined, "complete"]);
      expect(result.structuredContent).toMatchObject({
        summary: expect.stringMatching(/^No new video was started or paid for: /),
        jobId: JOB_ID,
        status: state.status,
        alreadyStarted: true,
      });
    }
    expect((await client.end(JOB_ID)).structuredContent).toMatchObject({ jobId: JOB_ID, done: true });
    expect(service.rest.lines(GENERATE)).toEqual([GENERATE]);
  });

  test("cancelling a task ends the polling, and says that the paid render goes on", async () => {
    const { service, client } = await setUpStarting(connect);
    await client.call("generate_video", TIDES);
    await service.polled(JOB_ID, 1);

    const answer = await client.ask("tasks/cancel", { taskId: JOB_ID });

    expect(answer).toMatchObject({
      statusMessage: expect.stringMatching(/Its render goes on and was paid for: get_video_status shows it/),
    });
    expect(await client.get(JOB_ID)).toMatchObject({
      status: "cancelled",
      statusMessage: answer["statusMessage"],
    });
    // The polls of another job show that time passes. One poll of this job may still have been in flight.
    await client.call("generate_video", { topic: "Volcanoes" });
    await service.polled(OTHER_JOB_ID, 2);
    const polls = service.polls(JOB_ID);
    await service.polled(OTHER_JOB_ID, 4);
    expect(service.polls(JOB_ID)).toBe(polls);
    expect(new Set(service.rest.requests.map(({ method }) => method))).toEqual(new Set(["POST", "GET"]));
    service.become(JOB_ID, completed);
    expect(await statusOf(client, JOB_ID)).toMatchObject({ status: "completed", done: true });
    expect(await client.get(JOB_ID)).toMatchObject({ status: "cancelled" });
  });

  test.each([UNKNOWN, "nonsense", ""])(
    "a client with tasks gets an error for the unknown task %j",
    async (taskId) => {
      const { service, client } = await setUpStarting(connect);
      const methods = [
        "tasks/get",
        "tasks/cancel",
        client.protocol === "modern" ? "tasks/update" : "tasks/result",
      ];
      for (const method of methods)
        await expect(client.ask(method, { taskId }), method).rejects.toEqual(refusedWith(-32_602));
      expect(service.rest.requests.every(({ path }) => path.startsWith("/api/v1/status/"))).toBe(true);
    },
  );

  test("a client with tasks gets the end from a new server after the first has ended", async () => {
    const service = await startingService(undefined, { FACELESS_STATE_DIR: temporaryFolder() });
    const first = await connect(service.start);
    await first.call("generate_video", TIDES);
    await first.raw.close();
    const client = await connect(service.start);

    expect(await client.get(JOB_ID)).toMatchObject({ status: "working" });
    service.become(JOB_ID, completed);

    expect((await client.end(JOB_ID)).structuredContent).toMatchObject({
      summary: "Your video is ready: https://cdn.example/final.mp4",
      arguments: TIDES,
    });
    expect(service.rest.lines(GENERATE)).toEqual([GENERATE]);
  });

  test("a task says why it is no longer polled", async () => {
    const { service, client } = await setUpStarting(connect, undefined, {
      FACELESS_STATE_DIR: temporaryFolder(),
    });
    await client.call("generate_video", TIDES);
    service.answer(JOB_ID, envelope(401, "unauthorized", "Who are you?"));

    const end = await client.end(JOB_ID);

    expect(end.structuredContent).toMatchObject({
      jobId: JOB_ID,
      done: false,
      followingEnded: "Following ended: the service does not accept the API key.",
      nextStep: expect.stringMatching(/^Tell the user\. Look again with get_video_status/),
    });
    service.become(JOB_ID, processing(1));
    const again = client.call("get_video_status", { jobId: JOB_ID, waitSeconds: 50 });
    await service.polled(JOB_ID, 2);
    service.become(JOB_ID, completed);
    expect((await again).result.structuredContent).toMatchObject({ jobId: JOB_ID, done: true });
  });

  test("a job that another process just started is not called unknown", async () => {
    const service = await startingService(undefined, { FACELESS_STATE_DIR: temporaryFolder() });
    service.answer(JOB_ID, envelope(404, "not_found", "No such job."));
    const client = await connect(service.start);
    // The journal has nothing yet when this process reads it.
    await client.raw.listResources();
    await (await connect(service.start)).call("generate_video", TIDES);
    service.rest.on("POST /api/v1/publish", envelope(404, "not_found", "No such job."));
    const own =
      /This computer started the video [^,]+, and the service does not list it yet, or not with this key/;

    for (const [tool, args] of [
      ["get_video_status", {}],
      ["publish_video", { platforms: ["tiktok"] }],
    ] as const) {
      const { result } = await client.call(tool, { jobId: JOB_ID, ...args });
      expect(result.content).toEqual([{ type: "text", text: expect.stringMatching(own) }]);
    }
    await expect(client.get(JOB_ID)).rejects.toThrow(own);
    await expect(client.raw.readResource({ uri: JOB_URI })).rejects.toThrow(own);
  });

  test("a client with tasks gets no tasks from a read-only server", async () => {
    const service = await startingService();
    const client = await connect({ ...service.start, args: ["--read-only"] });
    const { tasks, extensions } = client.raw.getServerCapabilities() ?? {};
    expect({ tasks, extensions }).toEqual({});
    await expect(client.ask("tasks/get", { taskId: JOB_ID })).rejects.toEqual(refusedWith(-32_601));
  });
});

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

test("a legacy client that does not declare tasks gets plain results, whatever it sends", async () => {
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

describe.each(TASK_CLIENTS)("With %s, the user is asked about an order", (_, connect) => {
  test.each([
    ["a yes starts a task", "Pay for this video", 1],
    ["a no is an error and no task", "Don't start it", 0],
  ])("before there is a task: %s", async (_name, decision, paid) => {
    const questions: string[] = [];
    const user = async ({ message }: Question) => {
      questions.push(message);
      return { action: "accept" as const, content: { decision } };
    };
    const { client, service } = await setUpStarting((start) => connect({ ...start, user }));

    const { task, result } = await client.call("generate_video", TIDES);

    expect(questions).toMatchObject([expect.stringMatching(/^Pay for a video, /)]);
    expect(task?.status).toBe(paid === 1 ? "working" : undefined);
    expect(result.isError === true).toBe(paid === 0);
    expect(service.rest.lines(GENERATE)).toHaveLength(paid);
  });
});
