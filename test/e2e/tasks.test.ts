// generate_video as a task: the built file over real stdio, with real clients of both protocols that know tasks.

import { ProgressNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { connectModern, factsOf, SERVER_NODE, textOf, BUILT_FILE } from "../fixtures/clients.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { startRaw } from "../fixtures/raw-server.ts";
import { run } from "../fixtures/run.ts";
import { envelope, type Reply, scriptedService } from "../fixtures/scripted-service.ts";
import {
  connectLegacyWithTasks,
  connectModernWithTasks,
  TASK_CLIENTS,
  type TaskClient,
} from "../fixtures/tasks-clients.ts";
import { jobIdOf } from "../fixtures/soak-service.ts";
import { until } from "../fixtures/until.ts";

const JOB = "aaaaaaaa-0000-4000-8000-000000000001";
const OTHER = "bbbbbbbb-0000-4000-8000-000000000002";
const UNKNOWN = "cccccccc-0000-4000-8000-000000000003";
const GENERATE = "POST /api/v1/generate";
const VIDEOS = "GET /api/v1/videos";
const TIDES = { topic: "Tides" };
const EXTENSION = "io.modelcontextprotocol/tasks";

const rendering = { json: { status: "processing", videoUrls: [], progress: { total: 3, completed: 1 } } };
const completed = { json: { status: "completed", videoUrls: ["https://cdn.example/1.mp4"] } };
const failed = { json: { status: "failed", videoUrls: [] } };
const videoOf = (jobId: string) => ({
  jobId,
  status: "completed",
  finalVideoUrl: `https://cdn.example/${jobId}.mp4`,
});

/** A service that starts JOB, then OTHER, and whose jobs end when the test says so. */
async function taskService(more: Readonly<Record<string, string>> = {}) {
  const states = new Map<string, Reply>([
    [JOB, rendering],
    [OTHER, rendering],
  ]);
  const startOf = (jobId: string) => ({ json: { jobId, status: "processing" } });
  const rest = await scriptedService({
    [GENERATE]: [startOf(JOB), startOf(OTHER)],
    [VIDEOS]: () => ({
      json: { videos: [...states].flatMap(([id, state]) => (state === completed ? [videoOf(id)] : [])) },
    }),
    ...Object.fromEntries(
      [JOB, OTHER].map((jobId) => [`GET /api/v1/status/${jobId}`, () => states.get(jobId) ?? rendering]),
    ),
  });
  const polls = (jobId: string) => rest.lines(`GET /api/v1/status/${jobId}`).length;
  return {
    rest,
    start: {
      env: {
        FACELESS_API_KEY: "fl_test",
        FACELESS_BASE_URL: rest.url,
        FACELESS_POLL_SECONDS: "0.1",
        ...more,
      },
    },
    become: (jobId: string, reply: Reply) => void states.set(jobId, reply),
    polls,
    async polled(jobId: string, times: number) {
      const before = polls(jobId);
      await until(() => polls(jobId) >= before + times);
    },
  };
}

const refusedWith = (code: number) => expect.objectContaining({ code });

/** What the client is told by get_video_status. */
async function statusOf(client: TaskClient, jobId: string): Promise<Record<string, unknown>> {
  const { result } = await client.call("get_video_status", { jobId });
  return result.structuredContent ?? {};
}

describe.each(TASK_CLIENTS)("%s", (_name, connect) => {
  test("gets a task under the job's id at once, and at its end what get_video_status says", async () => {
    const service = await taskService();
    const client = await connect(service.start);

    const { task, raw, result } = await client.call("generate_video", TIDES);

    expect(task).toEqual({
      taskId: JOB,
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
    expect(result.structuredContent).toMatchObject({ jobId: JOB, status: "processing" });
    await service.polled(JOB, 2);
    expect(await client.get(JOB)).toMatchObject({
      status: "working",
      statusMessage: expect.stringMatching(/^Still rendering: 1 of 3 clips\. Started /),
    });

    service.become(JOB, completed);
    const end = await client.end(JOB);

    expect(end.structuredContent).toEqual({
      ...(await statusOf(client, JOB)),
      resourceUri: `faceless://jobs/${JOB}`,
    });
    expect(end.structuredContent).toMatchObject({
      summary: `Your video is ready: https://cdn.example/${JOB}.mp4`,
      nextStep: "Show the user the link, and ask whether and where to publish it.",
      jobId: JOB,
      status: "completed",
      done: true,
    });
    expect(textOf(end)).toBe(
      `Your video is ready: https://cdn.example/${JOB}.mp4 Show the user the link, and ask whether and where to publish it.\n${JSON.stringify(factsOf(end.structuredContent))}`,
    );
    expect(await client.get(JOB)).toMatchObject({
      status: "completed",
      statusMessage: `Your video is ready: https://cdn.example/${JOB}.mp4`,
    });
  });

  test("sees a failed render end as completed, with that status", async () => {
    const service = await taskService();
    const client = await connect(service.start);
    await client.call("generate_video", TIDES);
    service.become(JOB, failed);

    const end = await client.end(JOB);

    expect(end.isError).not.toBe(true);
    expect(end.structuredContent).toMatchObject({
      summary: "The render failed, and the service refunds its credits by itself.",
      status: "failed",
      done: true,
    });
    expect(await client.get(JOB)).toMatchObject({ status: "completed" });
  });

  test("gets a plain error without credits", async () => {
    const service = await taskService();
    service.rest.on(GENERATE, envelope(402, "out_of_credits", "No credits remain."));
    const client = await connect(service.start);

    const { task, raw } = await client.call("generate_video", TIDES);

    expect(task).toBeUndefined();
    expect(raw).toMatchObject({
      isError: true,
      _meta: { "faceless/error": { code: "out_of_credits", outcome: "rejected" } },
    });
    expect(raw["resultType"] ?? "complete").toBe("complete");
  });

  test("is told at once that a repeated call charged nothing, whether its video renders or is ready", async () => {
    const service = await taskService();
    const client = await connect(service.start);
    await client.call("generate_video", TIDES);

    for (const state of [rendering, completed]) {
      service.become(JOB, state);
      const { task, raw, result } = await client.call("generate_video", TIDES);

      expect([task, raw["resultType"] ?? "complete"]).toEqual([undefined, "complete"]);
      expect(result.structuredContent).toMatchObject({
        summary: expect.stringMatching(/so nothing was started or charged now\.$/),
        jobId: JOB,
        status: state.json.status,
        alreadyStarted: true,
      });
    }
    expect((await client.end(JOB)).structuredContent).toMatchObject({ jobId: JOB, done: true });
    expect(service.rest.lines(GENERATE)).toEqual([GENERATE]);
  });

  test("waits for two videos at once, and each ends with its own", async () => {
    const service = await taskService();
    const client = await connect(service.start);
    const first = await client.call("generate_video", TIDES);
    const second = await client.call("generate_video", { topic: "Volcanoes" });
    expect([first.task?.taskId, second.task?.taskId]).toEqual([JOB, OTHER]);
    service.become(OTHER, completed);

    expect((await client.end(OTHER)).structuredContent).toMatchObject({ jobId: OTHER, done: true });
    expect(await client.get(JOB)).toMatchObject({ status: "working" });
    service.become(JOB, completed);
    expect((await client.end(JOB)).structuredContent).toMatchObject({ jobId: JOB, done: true });
  });

  test("ends the polling by a cancellation, and is told that the render goes on and was paid", async () => {
    const service = await taskService();
    const client = await connect(service.start);
    await client.call("generate_video", TIDES);
    await service.polled(JOB, 1);

    const answer = await client.ask("tasks/cancel", { taskId: JOB });

    expect(answer).toMatchObject({
      statusMessage: expect.stringMatching(/Its render goes on and was paid for: get_video_status shows it/),
    });
    expect(await client.get(JOB)).toMatchObject({
      status: "cancelled",
      statusMessage: answer["statusMessage"],
    });
    // The polls of another job show that time passes. One of this job may still have been on its way.
    await client.call("generate_video", { topic: "Volcanoes" });
    await service.polled(OTHER, 2);
    const polls = service.polls(JOB);
    await service.polled(OTHER, 4);
    expect(service.polls(JOB)).toBe(polls);
    expect(new Set(service.rest.requests.map(({ method }) => method))).toEqual(new Set(["POST", "GET"]));
    service.become(JOB, completed);
    expect(await statusOf(client, JOB)).toMatchObject({ status: "completed", done: true });
    expect(await client.get(JOB)).toMatchObject({ status: "cancelled" });
  });

  test.each([UNKNOWN, "nonsense", ""])("is refused an unknown task %j", async (taskId) => {
    const service = await taskService();
    const client = await connect(service.start);
    const methods = [
      "tasks/get",
      "tasks/cancel",
      client.protocol === "modern" ? "tasks/update" : "tasks/result",
    ];
    for (const method of methods)
      await expect(client.ask(method, { taskId }), method).rejects.toEqual(refusedWith(-32_602));
    expect(service.rest.requests.every(({ path }) => path.startsWith("/api/v1/status/"))).toBe(true);
  });

  test("gets the end from a new server after the first was killed", async () => {
    const service = await taskService({ FACELESS_STATE_DIR: temporaryFolder() });
    const killed = await connect(service.start);
    await killed.call("generate_video", TIDES);
    process.kill(killed.pid(), "SIGKILL");
    const client = await connect(service.start);

    expect(await client.get(JOB)).toMatchObject({ status: "working" });
    service.become(JOB, completed);

    expect((await client.end(JOB)).structuredContent).toMatchObject({
      summary: `Your video is ready: https://cdn.example/${JOB}.mp4`,
      arguments: TIDES,
    });
    expect(service.rest.lines(GENERATE)).toEqual([GENERATE]);
  });

  test("can ask a thousand times without one more request to the service, and gets the same times", async () => {
    const service = await taskService({ FACELESS_POLL_SECONDS: "3600" });
    const client = await connect(service.start);
    await client.call("generate_video", TIDES);
    const askOften = async () => {
      const updates = new Set<string>();
      // eslint-disable-next-line no-await-in-loop -- one after the other
      for (let times = 0; times < 1_000; times += 1) updates.add((await client.get(JOB)).lastUpdatedAt);
      return updates.size;
    };
    expect(await askOften()).toBe(1);
    expect(service.rest.lines()).toEqual([GENERATE]);
    service.become(JOB, completed);
    await statusOf(client, JOB);
    const requests = service.rest.lines().length;

    expect(await askOften()).toBe(1);

    expect(service.rest.lines()).toHaveLength(requests);
  });

  test("is told why a task is no longer polled, and waits again with get_video_status", async () => {
    const service = await taskService({ FACELESS_STATE_DIR: temporaryFolder() });
    const client = await connect(service.start);
    await client.call("generate_video", TIDES);
    service.become(JOB, envelope(401, "unauthorized", "Who are you?"));

    const end = await client.end(JOB);

    expect(end.structuredContent).toMatchObject({
      jobId: JOB,
      done: false,
      watchEnded: "Watching ended: the service does not accept the API key.",
      nextStep: expect.stringMatching(/^Tell the user\. Look again with get_video_status/),
    });
    service.become(JOB, rendering);
    const again = client.call("get_video_status", { jobId: JOB, waitSeconds: 50 });
    await service.polled(JOB, 2);
    service.become(JOB, completed);
    expect((await again).result.structuredContent).toMatchObject({ jobId: JOB, done: true });
  });

  test("is told that a video can't be watched, since too many are", async () => {
    const service = await taskService({ FACELESS_POLL_SECONDS: "3600" });
    const client = await connect(service.start);
    const uris = Array.from({ length: 200 }, (_, job) => `faceless://jobs/${jobIdOf(job)}`);
    await client.subscribe(uris);

    await client.call("generate_video", TIDES);

    expect((await client.end(JOB)).structuredContent).toMatchObject({
      jobId: JOB,
      status: "processing",
      watchEnded: "Not watched. The limit of 200 watched jobs is reached.",
    });
  });

  test("gets no tasks from a server that only reads", async () => {
    const service = await taskService();
    const client = await connect({ ...service.start, args: ["--read-only"] });
    const { tasks, extensions } = client.raw.getServerCapabilities() ?? {};
    expect({ tasks, extensions }).toEqual({});
    await expect(client.ask("tasks/get", { taskId: JOB })).rejects.toEqual(refusedWith(-32_601));
  });
});

describe("a modern client", () => {
  test("finds the extension declared, and no task in the list of tools", async () => {
    const { start } = await taskService();
    const { raw } = await connectModernWithTasks(start);
    expect(raw.getServerCapabilities()).toMatchObject({ extensions: { [EXTENSION]: {} } });
    const plain = await connectModern(start);
    expect((await raw.listTools()).tools).toEqual((await plain.raw.listTools()).tools);
  });

  test("has its input acknowledged", async () => {
    const service = await taskService();
    const client = await connectModernWithTasks(service.start);
    await client.call("generate_video", TIDES);
    const { _meta, ...result } = await client.ask("tasks/update", { taskId: JOB, inputResponses: {} });
    expect(result).toEqual({});
  });

  test("is refused the methods of the legacy tasks", async () => {
    const { start } = await taskService();
    const server = startRaw(start);
    onTestFinished(() => void server.child.kill("SIGKILL"));
    await server.open("modern");
    for (const method of ["tasks/result", "tasks/list"])
      expect(await server.ask(method, { taskId: JOB }), method).toMatchObject({ error: { code: -32_601 } });
  });

  test("that does not declare the extension gets a plain result, and is told what tasks/… requires", async () => {
    const service = await taskService();
    const client = await connectModernWithTasks({ ...service.start, declares: false });
    const { task, raw } = await client.call("generate_video", TIDES);
    expect(task).toBeUndefined();
    const { _meta, ...result } = raw;
    expect(result).toEqual({
      resultType: "complete",
      content: [expect.objectContaining({ type: "text" })],
      structuredContent: {
        summary:
          "The video was started: 30 s, English, story, voice charlotte, no music, normal pacing. Renders take 2 to 4 minutes.",
        nextStep: expect.stringMatching(/^Follow it with get_video_status/),
        jobId: JOB,
        status: "processing",
        resourceUri: `faceless://jobs/${JOB}`,
      },
    });
    for (const method of ["tasks/get", "tasks/cancel", "tasks/update"])
      await expect(client.ask(method, { taskId: JOB }), method).rejects.toMatchObject({
        code: -32_021,
        data: { requiredCapabilities: { extensions: { [EXTENSION]: {} } } },
      });
    expect(service.rest.lines()).toEqual([GENERATE]);
  });
});

describe("a legacy client", () => {
  test("that declares tasks finds generate_video alone a task, in a list below 7,500 bytes", async () => {
    const { start } = await taskService();
    const { raw } = await connectLegacyWithTasks(start);
    expect(raw.getServerCapabilities()?.tasks).toEqual({
      cancel: {},
      requests: { tools: { call: {} } },
    });
    const { tools } = await raw.listTools();
    expect(
      tools.flatMap(({ name, execution }) => (execution === undefined ? [] : [[name, execution]])),
    ).toEqual([["generate_video", { taskSupport: "optional" }]]);
    expect(Buffer.byteLength(JSON.stringify({ tools }))).toBeLessThan(7_500);
  });

  test("that does not declare tasks sees today's results, whatever it sends", async () => {
    const service = await taskService();
    const client = await connectLegacyWithTasks({ ...service.start, declares: false });
    const plain = await connectModern(service.start);
    expect(client.raw.getServerCapabilities()).not.toHaveProperty("tasks");
    expect((await client.raw.listTools()).tools).toEqual((await plain.raw.listTools()).tools);
    const { task, raw } = await client.call("generate_video", TIDES);
    expect(task).toBeUndefined();
    expect(Object.keys(raw).toSorted()).toEqual(["content", "structuredContent"]);
    for (const method of ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "tasks/update"])
      await expect(client.ask(method, { taskId: JOB }), method).rejects.toEqual(refusedWith(-32_601));
  });

  test("that calls without `task` gets today's result", async () => {
    const service = await taskService();
    const client = await connectLegacyWithTasks(service.start);
    const raw = await client.ask("tools/call", { name: "generate_video", arguments: TIDES });
    expect(Object.keys(raw).toSorted()).toEqual(["content", "structuredContent"]);
  });

  test("that sent a progress token is told of each clip, and of the end, while its task goes on", async () => {
    const service = await taskService();
    const client = await connectLegacyWithTasks(service.start);
    const told: unknown[] = [];
    client.raw.setNotificationHandler(ProgressNotificationSchema, ({ params }) => void told.push(params));
    const _meta = { progressToken: "video" };
    await client.ask("tools/call", { name: "generate_video", arguments: TIDES, task: {}, _meta });
    await until(() => told.length === 1);
    service.become(JOB, completed);
    await client.end(JOB);
    expect(told).toEqual([
      { progressToken: "video", progress: 1, total: 4, message: "1 of 3 clips" },
      { progressToken: "video", progress: expect.any(Number), message: "Ready: 1 clip" },
    ]);
  });

  test("is answered tasks/result when the video has ended, with the task named", async () => {
    const service = await taskService();
    const client = await connectLegacyWithTasks(service.start);
    await client.call("generate_video", TIDES);
    const result = client.ask("tasks/result", { taskId: JOB });
    await service.polled(JOB, 2);
    service.become(JOB, completed);
    expect(await result).toMatchObject({
      structuredContent: { jobId: JOB, done: true },
      _meta: { "io.modelcontextprotocol/related-task": { taskId: JOB } },
    });
    await expect(client.ask("tasks/cancel", { taskId: JOB })).rejects.toEqual(refusedWith(-32_602));
  });

  test("is answered tasks/result when the task is cancelled", async () => {
    const service = await taskService();
    const client = await connectLegacyWithTasks(service.start);
    await client.call("generate_video", TIDES);
    const result = client.ask("tasks/result", { taskId: JOB });
    await service.polled(JOB, 2);
    await client.ask("tasks/cancel", { taskId: JOB });
    expect(await result).toMatchObject({ structuredContent: { jobId: JOB, done: false } });
  });

  test("follows a task with its SDK's stream, and gets a result that fits the tool's schema", async () => {
    const service = await taskService();
    const { raw } = await connectLegacyWithTasks(service.start);
    if (!("experimental" in raw)) throw new Error("This is not the v1 SDK.");
    await raw.listTools();
    const stream = raw.experimental.tasks.callToolStream({ name: "generate_video", arguments: TIDES });
    const messages: unknown[] = [];
    for await (const message of stream) {
      messages.push(message);
      if (message.type === "taskCreated") service.become(JOB, completed);
    }
    expect(messages.at(0)).toMatchObject({ type: "taskCreated", task: { taskId: JOB, status: "working" } });
    expect(messages.at(-1)).toMatchObject({
      type: "result",
      result: { structuredContent: { jobId: JOB, done: true } },
    });
  });
});

test("one call of the MCP Inspector lasts for a whole render and returns the finished video", async () => {
  const manifest = createRequire(import.meta.url).resolve("@modelcontextprotocol/inspector/package.json");
  const inspector = join(dirname(manifest), "..", "..", ".bin", "mcp-inspector");
  const settings = ["FACELESS_STATE_DIR=off", "FACELESS_SANDBOX_SECONDS=2", "FACELESS_POLL_SECONDS=0.2"];
  const server = ["env", ...settings, SERVER_NODE, BUILT_FILE, "--sandbox", "--"];
  const asked = ["--method", "tools/call", "--tool-name", "generate_video", "--tool-arg", "topic=The tide"];
  const modern = ["--protocol-era", "modern", "--format", "json"];

  const { code, stdout, stderr } = await run(inspector, ["--cli", ...server, ...modern, ...asked]);

  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({
    result: { structuredContent: { status: "completed", done: true, finalVideoUrl: expect.any(String) } },
  });
});
