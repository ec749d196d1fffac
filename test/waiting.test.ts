// get_video_status with waitSeconds as a client sees it: the built file over real stdio, called by real clients of both
// protocol eras.

import { Ajv2020 } from "ajv/dist/2020.js";
import {
  type CallToolResult,
  CallToolResultSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test, vi } from "vitest";
import { connectNew, connectOld, type ServerStart, type TestClient, textOf } from "./fixtures/clients.ts";
import { envelope, type Reply, scriptedService } from "./fixtures/scripted-service.ts";

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
  /** URIs of the updates that came. */
  readonly updates: readonly string[];
  /** What the client's SDK found wrong, such as progress of a call that is over. */
  readonly errors: readonly Error[];
  /** Methods of the notifications that reached no handler. */
  readonly strays: readonly string[];
}

async function connectWaitingOld(start: ServerStart): Promise<WaitingClient> {
  const client = await connectOld(start);
  const updates: string[] = [];
  client.raw.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    updates.push(params.uri);
  });
  return {
    ...client,
    updates,
    ...recordFaults(client.raw),
    subscribe: (uri) => client.raw.subscribeResource({ uri }),
    wait: async (args, options) =>
      CallToolResultSchema.parse(
        await client.raw.callTool({ name: "get_video_status", arguments: args }, undefined, options),
      ),
  };
}

async function connectWaitingNew(start: ServerStart): Promise<WaitingClient> {
  const client = await connectNew(start);
  const updates: string[] = [];
  client.raw.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    updates.push(params.uri);
  });
  return {
    ...client,
    updates,
    ...recordFaults(client.raw),
    subscribe: (uri) => client.raw.listen({ resourceSubscriptions: [uri] }),
    wait: async (args, options) =>
      CallToolResultSchema.parse(
        await client.raw.callTool({ name: "get_video_status", arguments: args }, options),
      ),
  };
}

function recordFaults(raw: {
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

const ERAS = [
  ["an old client", connectWaitingOld],
  ["a new client", connectWaitingNew],
] as const;

const JOB = "aaaaaaaa-0000-4000-8000-000000000001";
const OTHER = "bbbbbbbb-0000-4000-8000-000000000002";
const WAIT = { timeout: 10_000, interval: 10 };

const processing = (completed = 0, total = 3) => ({
  status: "processing",
  videoUrls: Array.from({ length: completed }, (_, index) => `https://cdn.example/${index + 1}.mp4`),
  progress: { total, completed, failed: 0 },
});
const completed = { ...processing(3), status: "completed", finalVideoUrl: "https://cdn.example/final.mp4" };
const ended = { jobId: JOB, done: true, ...completed };

/** A service whose job is as the test says at the moment. */
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
    polled: (times = 1) => {
      const sofar = polls();
      return vi.waitFor(() => expect(polls()).toBeGreaterThanOrEqual(sofar + times), WAIT);
    },
  };
}

describe.each(ERAS)("%s", (_name, connect) => {
  test("is answered at once where the job has ended, whatever it would wait", async () => {
    const service = await jobService({ json: completed }, 3600);
    const client = await connect(service.start);
    const heard: Progress[] = [];
    const result = await client.wait(
      { jobId: JOB, waitSeconds: 50 },
      { onprogress: (told) => heard.push(told) },
    );
    expect(result.structuredContent).toEqual(ended);
    expect(service.polls()).toBe(1);
    expect(heard).toEqual([]);
    expect(client.errors).toEqual([]);
  });

  test.each([{}, { waitSeconds: 0 }])("is answered at once where it waits for nothing: %j", async (args) => {
    const service = await jobService({ json: processing(1) }, 3600);
    const client = await connect(service.start);
    const heard: Progress[] = [];
    const result = await client.wait({ jobId: JOB, ...args }, { onprogress: (told) => heard.push(told) });
    expect(result.structuredContent).toEqual({ jobId: JOB, done: false, ...processing(1) });
    expect(service.polls()).toBe(1);
    expect(heard).toEqual([]);
  });

  test("is answered as soon as the job ends, and hears of each change meanwhile in counts and words", async () => {
    const service = await jobService({ json: processing() });
    const client = await connect(service.start);
    const heard: Progress[] = [];
    const told = (count: number) => vi.waitFor(() => expect(heard).toHaveLength(count), WAIT);
    const calledMs = performance.now();
    const result = client.wait({ jobId: JOB, waitSeconds: 50 }, { onprogress: (one) => heard.push(one) });
    await told(1);
    service.become({ json: processing(1) });
    await told(2);
    service.become({ json: { ...processing(1), audioUrl: "https://cdn.example/voice.wav" } });
    await told(3);
    service.become({ json: { ...processing(1), progress: { total: 3, completed: 1, failed: 1 } } });
    await told(4);
    service.become({ json: completed });
    const answer = await result;
    expect(answer.structuredContent).toEqual(ended);
    expect(textOf(answer)).toBe(
      `Job ${JOB} is completed: 3 clips ready.\n${JSON.stringify(answer.structuredContent)}`,
    );
    expect(performance.now() - calledMs).toBeLessThan(20_000);
    expect(heard).toEqual([
      {
        progress: 0,
        total: 3,
        message: `Job ${JOB} is still rendering (processing): 0 of 3 clips finished.`,
      },
      {
        progress: 1,
        total: 3,
        message: `Job ${JOB} is still rendering (processing): 1 of 3 clips finished.`,
      },
      {
        progress: 1.01,
        total: 3,
        message: `Job ${JOB} is still rendering (processing): 1 of 3 clips finished.`,
      },
      {
        progress: 2,
        total: 3,
        message: `Job ${JOB} is still rendering (processing): 1 of 3 clips finished, 1 failed.`,
      },
    ]);
    expect(client.errors).toEqual([]);
  });

  test("hears of no progress where it sent no token", async () => {
    const service = await jobService({ json: processing() });
    const client = await connect(service.start);
    const result = client.wait({ jobId: JOB, waitSeconds: 50 });
    await service.polled(2);
    service.become({ json: processing(1) });
    await service.polled(2);
    service.become({ json: completed });
    expect((await result).structuredContent).toEqual(ended);
    expect({ errors: client.errors, strays: client.strays }).toEqual({ errors: [], strays: [] });
  });

  test("hears of progress that grows and never passes the whole, in a sandbox render to its end", async () => {
    const client = await connect({
      args: ["--sandbox"],
      env: { FACELESS_SANDBOX_SECONDS: "1.5", FACELESS_POLL_SECONDS: "0.1" },
    });
    const started = await client.call("generate_video", { topic: "Tides", duration: 30 });
    const heard: Progress[] = [];
    const result = await client.wait(
      { jobId: started.structuredContent?.["jobId"], waitSeconds: 30 },
      { onprogress: (told) => heard.push(told) },
    );
    expect(result.structuredContent).toMatchObject({ status: "completed", done: true });
    const counts = heard.map(({ progress }) => progress);
    expect(counts).toEqual([...new Set(counts)].toSorted((a, b) => a - b));
    expect(Math.max(...counts)).toBeLessThanOrEqual(4);
    for (const { total, message } of heard)
      expect({ total, message }).toEqual({ total: 4, message: expect.stringMatching(/^Job .*\.$/) });
  });

  test("gets the job as it stands when the time is over, with the words for a job that goes on", async () => {
    const service = await jobService({ json: processing() });
    const client = await connect(service.start);
    const calledMs = performance.now();
    const result = client.wait({ jobId: JOB, waitSeconds: 2 });
    await service.polled();
    service.become({ json: processing(2) });
    expect((await result).structuredContent).toEqual({ jobId: JOB, done: false, ...processing(2) });
    const tookMs = performance.now() - calledMs;
    expect(tookMs).toBeGreaterThanOrEqual(1_990);
    expect(tookMs).toBeLessThan(10_000);
    expect(textOf(await result)).toMatch(
      /^Job .* is still rendering \(processing\): 2 of 3 clips finished\.\n/,
    );
  });

  test("waits no longer than it said where asking for the job has taken a part of the time", async () => {
    let askings = 0;
    const service = await jobService({ json: processing() }, 3600);
    service.rest.on(`GET /api/v1/status/${JOB}`, async () => {
      askings += 1;
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      return { json: processing() };
    });
    const client = await connect(service.start);
    const calledMs = performance.now();
    const result = await client.wait({ jobId: JOB, waitSeconds: 3 });
    expect(performance.now() - calledMs).toBeLessThan(4_800);
    expect(result.structuredContent).toEqual({ jobId: JOB, done: false, ...processing() });
    expect(askings).toBe(1);
  });

  test.each<[string, Reply]>([
    ["fails", { status: 503 }],
    ["refuses the key", envelope(401, "unauthorized", "Who are you?")],
    ["denies the job", envelope(404, "not_found", "No such job.")],
    ["refuses for a while", { status: 429, headers: { "retry-after": "30" } }],
    ["answers nonsense", { body: "<html>" }],
    ["never answers", "hang"],
    ["breaks off", "reset"],
  ])("gets the job as it stands, and no error, where the service meanwhile %s", async (_what, reply) => {
    const service = await jobService({ json: processing(1) });
    const client = await connect(service.start);
    const result = client.wait({ jobId: JOB, waitSeconds: 0.6 });
    await service.polled();
    service.become(reply);
    const { isError, structuredContent } = await result;
    expect({ isError, structuredContent }).toEqual({
      isError: undefined,
      structuredContent: { jobId: JOB, done: false, ...processing(1) },
    });
  });

  test("is answered without more waiting where nobody watches the job any longer", async () => {
    const service = await jobService({ json: processing(1) });
    const client = await connect(service.start);
    const calledMs = performance.now();
    const result = client.wait({ jobId: JOB, waitSeconds: 50 });
    await service.polled();
    service.become(envelope(401, "unauthorized", "Who are you?"));
    expect((await result).structuredContent).toEqual({ jobId: JOB, done: false, ...processing(1) });
    expect(performance.now() - calledMs).toBeLessThan(20_000);
  });

  test.each([-0.1, -1, 50.1, 3600, "10", null, true])(
    "is refused waitSeconds of %j, and nothing is sent",
    async (waitSeconds) => {
      const service = await jobService({ json: processing() });
      const client = await connect(service.start);
      const result = await client.wait({ jobId: JOB, waitSeconds });
      expect(result).toMatchObject({
        isError: true,
        _meta: { "faceless/error": { code: "invalid_input", outcome: "not_sent", retryable: false } },
      });
      expect(textOf(result)).toMatch(
        typeof waitSeconds === "number"
          ? /waitSeconds: must be from 0 to 50 seconds/
          : /waitSeconds: .*expected number/,
      );
      expect(service.rest.requests).toEqual([]);
    },
  );

  test("ends the waiting by cancelling the call, and not the job", async () => {
    const service = await jobService({ json: processing() });
    const client = await connect(service.start);
    const caller = new AbortController();
    const heard: Progress[] = [];
    const call = client.wait(
      { jobId: JOB, waitSeconds: 50 },
      { signal: caller.signal, onprogress: (told) => heard.push(told) },
    );
    const outcome = call.catch((error: unknown) => error);
    await service.polled(2);
    caller.abort("enough");
    expect(await outcome).toBeInstanceOf(Error);
    // Answered behind the cancellation, so that one is through by then; what it polls shows the time that passes.
    await client.wait({ jobId: OTHER, waitSeconds: 0.1 });
    const polls = service.polls();
    await client.wait({ jobId: OTHER, waitSeconds: 0.5 });
    expect(service.polls(OTHER)).toBeGreaterThan(3);
    expect(service.polls()).toBe(polls);
    expect(new Set(service.rest.requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
    service.become({ json: completed });
    expect((await client.wait({ jobId: JOB, waitSeconds: 50 })).structuredContent).toEqual(ended);
    expect(heard).toHaveLength(1);
    expect({ errors: client.errors, strays: client.strays }).toEqual({ errors: [], strays: [] });
  });

  test("shares one poller among two calls that wait, and each is answered", async () => {
    const service = await jobService({ json: processing() }, 0.5);
    const client = await connect(service.start);
    const first = client.wait({ jobId: JOB, waitSeconds: 50 });
    const second = client.wait({ jobId: JOB, waitSeconds: 50 });
    const short = client.wait({ jobId: JOB, waitSeconds: 1.3 });
    // That which ends first ends nobody else's waiting, and none of them has made the polls more.
    expect((await short).structuredContent).toMatchObject({ done: false });
    expect(service.polls()).toBeGreaterThanOrEqual(2);
    expect(service.polls()).toBeLessThanOrEqual(5);
    service.become({ json: completed });
    for (const result of [first, second]) expect((await result).structuredContent).toEqual(ended);
  });

  test("keeps its subscription to a job polling when a call that waited for the same job is over", async () => {
    const service = await jobService({ json: processing() });
    const client = await connect(service.start);
    await client.subscribe(`faceless://jobs/${JOB}`);
    await client.wait({ jobId: JOB, waitSeconds: 0.3 });
    await service.polled(3);
    service.become({ json: completed });
    await vi.waitFor(() => expect(client.updates).toEqual([`faceless://jobs/${JOB}`]), WAIT);
  });

  test("gets what the advertised output schema allows, waited for or not", async () => {
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
    expect(done.structuredContent).toEqual({ ...ended, eta: 0 });
  });
});
