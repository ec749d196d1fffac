// generate_video as a task, as real clients of both protocols that know tasks see it.

import { describe, expect, test } from "vitest";
import { factsOf, textOf } from "../fixtures/clients.ts";
import { GENERATE, JOB_ID, JOB_URI, OTHER_JOB_ID, TIDES } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { envelope } from "../fixtures/scripted-service.ts";
import { TASK_CLIENTS, type TaskClient } from "../fixtures/tasks-clients.ts";
import { completed, processing, setUpStarting, startingService } from "./job-service.ts";

const UNKNOWN = "cccccccc-0000-4000-8000-000000000003";

const refusedWith = (code: number) => expect.objectContaining({ code });

/** What the client is told by get_video_status. */
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

  test("a client with tasks sees a failed render end as completed, with that status", async () => {
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

  test("a repeated call is no task: it says at once that nothing was charged", async () => {
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
    // The polls of another job show that time passes. One of this job may still have been on its way.
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
    "a client with tasks is refused the unknown task %j",
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

  test("a client is told why a task is no longer polled", async () => {
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

  test("a client with tasks gets no tasks from a server that only reads", async () => {
    const service = await startingService();
    const client = await connect({ ...service.start, args: ["--read-only"] });
    const { tasks, extensions } = client.raw.getServerCapabilities() ?? {};
    expect({ tasks, extensions }).toEqual({});
    await expect(client.ask("tasks/get", { taskId: JOB_ID })).rejects.toEqual(refusedWith(-32_601));
  });
});
