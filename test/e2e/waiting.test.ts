// get_video_status with waitSeconds as a client sees it: the built file over real stdio, called by real clients of both protocol
// versions.

import { Ajv2020 } from "ajv/dist/2020.js";
import {
  type CallToolResult,
  CallToolResultSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test, vi } from "vitest";
import * as z from "zod";
import {
  connectModern,
  connectLegacy,
  factsOf,
  type ServerStart,
  type TestClient,
  textOf,
} from "../fixtures/clients.ts";
import { envelope, type Reply, scriptedService } from "../fixtures/scripted-service.ts";

interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

interface CallOptions {
  readonly onprogress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

interface WaitingClient extends TestClient {
  wait(args: Record<string, unknown>, options?: CallOptions): Promise<CallToolResult>;
  subscribe(uri: string): Promise<unknown>;
  /** URIs of the updates that were received. */
  readonly updates: readonly string[];
  /** Protocol errors that the client's SDK noticed, such as progress for a call that has returned. */
  readonly errors: readonly Error[];
  /** Methods of the notifications without a handler. */
  readonly strays: readonly string[];
}

async function connectWaitingLegacy(start: ServerStart): Promise<WaitingClient> {
  const client = await connectLegacy(start);
  const updates: string[] = [];
  client.raw.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    updates.push(params.uri);
  });
  return {
    ...client,
    updates,
    ...recordProtocolErrors(client.raw),
    subscribe: (uri) => client.raw.subscribeResource({ uri }),
    wait: async (args, options) =>
      CallToolResultSchema.parse(
        await client.raw.callTool({ name: "get_video_status", arguments: args }, undefined, options),
      ),
  };
}

async function connectWaitingModern(start: ServerStart): Promise<WaitingClient> {
  const client = await connectModern(start);
  const updates: string[] = [];
  client.raw.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    updates.push(params.uri);
  });
  return {
    ...client,
    updates,
    ...recordProtocolErrors(client.raw),
    subscribe: (uri) => client.raw.listen({ resourceSubscriptions: [uri] }),
    wait: async (args, options) =>
      CallToolResultSchema.parse(
        await client.raw.callTool({ name: "get_video_status", arguments: args }, options),
      ),
  };
}

function recordProtocolErrors(raw: {
  onerror?: ((error: Error) => void) | undefined;
  fallbackNotificationHandler?: ((notification: { method: string }) => Promise<void>) | undefined;
}) {
  const errors: Error[] = [];
  const strays: string[] = [];
  // eslint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's clients have no other way
  raw.onerror = (error) => errors.push(error);
  raw.fallbackNotificationHandler = async ({ method }) => void strays.push(method);
  return { errors, strays };
}

/**
 * Progress that a busy client has read together with the result: its SDK then no longer knows the call, and reports the notification
 * as an error.
 */
function lateProgress({ errors }: WaitingClient): Progress[] {
  return errors.map(({ message }) => {
    const { params } = lateSchema.parse(JSON.parse(/unknown token: (.*)$/.exec(message)?.[1] ?? "null"));
    return params;
  });
}

const lateSchema = z.object({
  params: z.object({ progress: z.number(), total: z.number(), message: z.string() }),
});

const VERSIONS = [
  ["a legacy client", connectWaitingLegacy],
  ["a modern client", connectWaitingModern],
] as const;

const JOB = "aaaaaaaa-0000-4000-8000-000000000001";
const OTHER = "bbbbbbbb-0000-4000-8000-000000000002";
/** Ends a wait for something that never happens. */
const WAIT = { timeout: 40_000, interval: 10 };

const processing = (completed = 0, total = 3) => ({
  status: "processing",
  videoUrls: Array.from({ length: completed }, (_, index) => `https://cdn.example/${index + 1}.mp4`),
  progress: { total, completed, failed: 0 },
});
const completed = { ...processing(3), status: "completed", finalVideoUrl: "https://cdn.example/final.mp4" };
const ended = { jobId: JOB, done: true, ...completed };

/** A service with a job whose state the test changes. */
async function jobService(first: Reply, pollSeconds = 0.1) {
  let now = first;
  const rest = await scriptedService({
    "GET /api/v1/videos": { json: { videos: [] } },
    [`GET /api/v1/status/${JOB}`]: () => now,
    [`GET /api/v1/status/${OTHER}`]: { json: processing() },
  });
  const polls = (jobId = JOB) => rest.lines(`GET /api/v1/status/${jobId}`).length;
  return {
    rest,
    start: {
      env: {
        FACELESS_API_KEY: "fl_test",
        FACELESS_BASE_URL: rest.url,
        FACELESS_POLL_SECONDS: String(pollSeconds),
      },
    },
    become(reply: Reply) {
      now = reply;
    },
    polls,
    polled: (times = 1, jobId = JOB) => {
      const before = polls(jobId);
      return vi.waitFor(() => expect(polls(jobId)).toBeGreaterThanOrEqual(before + times), WAIT);
    },
  };
}

describe.each(VERSIONS)("%s", (_name, connect) => {
  test("is answered immediately if the job has ended, whatever waitSeconds is", async () => {
    const service = await jobService({ json: completed }, 3600);
    const client = await connect(service.start);
    const notified: Progress[] = [];
    const result = await client.wait(
      { jobId: JOB, waitSeconds: 50 },
      { onprogress: (one) => notified.push(one) },
    );
    expect(factsOf(result.structuredContent)).toEqual(ended);
    expect(service.polls()).toBe(1);
    expect(notified).toEqual([]);
    expect(client.errors).toEqual([]);
  });

  test.each([{}, { waitSeconds: 0 }])("is answered immediately without waitSeconds: %j", async (args) => {
    const service = await jobService({ json: processing(1) }, 3600);
    const client = await connect(service.start);
    const notified: Progress[] = [];
    const result = await client.wait({ jobId: JOB, ...args }, { onprogress: (one) => notified.push(one) });
    expect(factsOf(result.structuredContent)).toEqual({ jobId: JOB, done: false, ...processing(1) });
    expect(service.polls()).toBe(1);
    expect(notified).toEqual([]);
  });

  test("gets progress in numbers and words for each change, and the answer when the job ends", async () => {
    const service = await jobService({ json: processing() });
    const client = await connect(service.start);
    const notified: Progress[] = [];
    const notifiedOf = (count: number) => vi.waitFor(() => expect(notified).toHaveLength(count), WAIT);
    const result = client.wait({ jobId: JOB, waitSeconds: 50 }, { onprogress: (one) => notified.push(one) });
    await notifiedOf(1);
    service.become({ json: processing(1) });
    await notifiedOf(2);
    service.become({ json: { ...processing(1), audioUrl: "https://cdn.example/voice.wav" } });
    await notifiedOf(3);
    service.become({ json: { ...processing(1), progress: { total: 3, completed: 1, failed: 1 } } });
    await notifiedOf(4);
    service.become({ json: completed });
    const answer = await result;
    expect(factsOf(answer.structuredContent)).toEqual(ended);
    expect(textOf(answer)).toBe(
      `Your video is ready: https://cdn.example/final.mp4 Show the user the link, and ask whether and where to publish it.\n${JSON.stringify(factsOf(answer.structuredContent))}`,
    );
    expect([...notified, ...lateProgress(client)]).toEqual([
      { progress: 0, total: 4, message: "0 of 3 clips" },
      { progress: 1, total: 4, message: "1 of 3 clips" },
      { progress: 1.01, total: 4, message: "1 of 3 clips" },
      { progress: 2, total: 4, message: "1 of 3 clips, 1 failed" },
      { progress: 4, total: 4, message: "Ready: 3 clips" },
    ]);
  });

  test("gets no progress without a progress token", async () => {
    const service = await jobService({ json: processing() });
    const client = await connect(service.start);
    const result = client.wait({ jobId: JOB, waitSeconds: 50 });
    await service.polled(2);
    service.become({ json: processing(1) });
    await service.polled(2);
    service.become({ json: completed });
    expect(factsOf((await result).structuredContent)).toEqual(ended);
    expect({ errors: client.errors, strays: client.strays }).toEqual({ errors: [], strays: [] });
  });

  test("gets increasing progress that never exceeds the total during a sandbox render", async () => {
    const client = await connect({
      args: ["--sandbox"],
      env: { FACELESS_SANDBOX_SECONDS: "1.5", FACELESS_POLL_SECONDS: "0.1" },
    });
    const started = await client.call("generate_video", { topic: "Tides", duration: 30 });
    const notified: Progress[] = [];
    const result = await client.wait(
      { jobId: started.structuredContent?.["jobId"], waitSeconds: 30 },
      { onprogress: (one) => notified.push(one) },
    );
    expect(result.structuredContent).toMatchObject({ status: "completed", done: true });
    const all = [...notified, ...lateProgress(client)];
    const counts = all.map(({ progress }) => progress);
    expect(counts).toEqual([...new Set(counts)].toSorted((a, b) => a - b));
    expect(counts.at(-1)).toBe(5);
    for (const { total, message } of all)
      expect({ total, message }).toEqual({
        total: 5,
        message: expect.stringMatching(/^(\d of 4 clips|Ready: 4 clips)$/),
      });
  });

  test("gets the current state of a job that is still running when the time is over", async () => {
    const service = await jobService({ json: processing() });
    const client = await connect(service.start);
    const calledMs = performance.now();
    const result = client.wait({ jobId: JOB, waitSeconds: 2 });
    await service.polled();
    service.become({ json: processing(2) });
    expect(factsOf((await result).structuredContent)).toEqual({ jobId: JOB, done: false, ...processing(2) });
    expect(performance.now() - calledMs).toBeGreaterThanOrEqual(1_990);
    expect(textOf(await result)).toMatch(
      /^Still rendering: 2 of 3 clips\. Renders take 2 to 4 minutes\. Call get_video_status again with waitSeconds 50\.\n/,
    );
  });

  test("gets an end that came after the last poll, because the job is read once more", async () => {
    const service = await jobService({ json: processing() }, 3600);
    const client = await connect(service.start);
    const result = client.wait({ jobId: JOB, waitSeconds: 5 });
    await service.polled();
    service.become({ json: completed });
    expect(factsOf((await result).structuredContent)).toEqual(ended);
    expect(service.polls()).toBe(2);
  });

  test("still gets a completed job after the service reports it as running again", async () => {
    const service = await jobService({ json: completed });
    const client = await connect(service.start);
    await client.wait({ jobId: JOB });
    service.become({ json: processing(1) });
    expect(factsOf((await client.wait({ jobId: JOB, waitSeconds: 1 })).structuredContent)).toEqual(ended);
  });

  test.each<[string, Reply]>([
    ["fails", { status: 503 }],
    ["limits the rate", { status: 429, headers: { "retry-after": "30" } }],
    ["answers with HTML", { body: "<html>" }],
    ["doesn't answer", "hang"],
    ["resets the connection", "reset"],
  ])("gets the last known state and no error if the service %s during the wait", async (_what, reply) => {
    const service = await jobService({ json: processing(1) });
    const client = await connect(service.start);
    const result = client.wait({ jobId: JOB, waitSeconds: 0.6 });
    await service.polled();
    service.become(reply);
    const { isError, structuredContent } = await result;
    expect(isError).toBeUndefined();
    expect(factsOf(structuredContent)).toEqual({ jobId: JOB, done: false, ...processing(1) });
  });

  test.each([
    [401, "the service does not accept the API key"],
    [404, "the service says that it knows no such job"],
  ])("gets the last known state, and why the wait is over, once HTTP %i ends it", async (status, reason) => {
    const service = await jobService({ json: processing(1) });
    const client = await connect(service.start);
    const result = client.wait({ jobId: JOB, waitSeconds: 50 });
    await service.polled();
    service.become(envelope(status, "refused", "No."));
    const { structuredContent } = await result;
    const watchEnded = `Watching ended: ${reason}.`;
    expect(structuredContent?.["summary"]).toContain(watchEnded);
    expect(factsOf(structuredContent)).toEqual({ jobId: JOB, done: false, ...processing(1), watchEnded });
  });

  test.each([
    [-0.1, "-0.1 must be from 0 to 50 seconds"],
    ["ten", '"ten" must be a number'],
    [true, "true must be a number"],
  ])("is refused waitSeconds of %j by its value, and nothing is sent", async (waitSeconds, refusal) => {
    const service = await jobService({ json: processing() });
    const client = await connect(service.start);
    const result = await client.wait({ jobId: JOB, waitSeconds });
    expect(result).toMatchObject({
      isError: true,
      _meta: { "faceless/error": { code: "invalid_input", outcome: "not_sent", retryable: false } },
    });
    expect(textOf(result)).toContain(`can't be used: waitSeconds: ${refusal}.`);
    expect(service.rest.requests).toEqual([]);
  });

  test("ends the polling by cancelling the call, and the job goes on", async () => {
    const service = await jobService({ json: processing() });
    const client = await connect(service.start);
    const caller = new AbortController();
    const notified: Progress[] = [];
    const call = client.wait(
      { jobId: JOB, waitSeconds: 50 },
      { signal: caller.signal, onprogress: (one) => notified.push(one) },
    );
    const outcome = call.catch((error: unknown) => error);
    await service.polled(2);
    caller.abort("enough");
    expect(await outcome).toBeInstanceOf(Error);
    // The answer to another call shows that the cancellation was received, and the polls of another job that time passes.
    await client.wait({ jobId: OTHER, waitSeconds: 0.1 });
    const polls = service.polls();
    const other = new AbortController();
    const watching = client.wait({ jobId: OTHER, waitSeconds: 50 }, { signal: other.signal }).catch(() => {});
    await service.polled(4, OTHER);
    expect(service.polls()).toBe(polls);
    other.abort();
    await watching;
    expect(new Set(service.rest.requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
    service.become({ json: completed });
    expect(factsOf((await client.wait({ jobId: JOB, waitSeconds: 50 })).structuredContent)).toEqual(ended);
    expect(notified).toHaveLength(1);
    expect({ errors: client.errors, strays: client.strays }).toEqual({ errors: [], strays: [] });
  });

  test("shares one poller among all calls that wait for the same job, and each call is answered", async () => {
    const service = await jobService({ json: processing() }, 0.5);
    const client = await connect(service.start);
    const startMs = performance.now();
    const first = client.wait({ jobId: JOB, waitSeconds: 50 });
    const second = client.wait({ jobId: JOB, waitSeconds: 50 });
    const short = client.wait({ jobId: JOB, waitSeconds: 1.3 });
    expect((await short).structuredContent).toMatchObject({ done: false });
    // One read shared by the three calls, one poll per half second, and the short call's last look.
    const polls = service.polls();
    expect(polls).toBeLessThanOrEqual(2 + Math.ceil((performance.now() - startMs) / 500));
    service.become({ json: completed });
    for (const result of [first, second]) expect(factsOf((await result).structuredContent)).toEqual(ended);
  });

  test("stays subscribed to a job after a call that waited for it has returned", async () => {
    const service = await jobService({ json: processing() });
    const client = await connect(service.start);
    await client.subscribe(`faceless://jobs/${JOB}`);
    await client.wait({ jobId: JOB, waitSeconds: 0.3 });
    await service.polled(3);
    service.become({ json: completed });
    await vi.waitFor(() => expect(client.updates).toEqual([`faceless://jobs/${JOB}`]), WAIT);
  });

  test("gets results that match the output schema of the tool", async () => {
    const service = await jobService({ json: { ...processing(), eta: 12, audioUrl: null } });
    const client = await connect(service.start);
    const { tools } = await client.raw.listTools();
    const schema: object = tools.find(({ name }) => name === "get_video_status")?.outputSchema ?? {};
    const validate = new Ajv2020({ strict: false }).compile(schema);
    const running = await client.wait({ jobId: JOB, waitSeconds: 0.2 });
    service.become({ json: { ...completed, eta: 0 } });
    const done = await client.wait({ jobId: JOB, waitSeconds: 50 });
    for (const { structuredContent } of [running, done])
      expect(validate(structuredContent), JSON.stringify(validate.errors)).toBe(true);
    expect(factsOf(done.structuredContent)).toEqual({ ...ended, eta: 0 });
  });
});
