// Subscriptions as a client sees them: the built file over real stdio, with real clients of both protocol versions.

import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import {
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import {
  BUILT_FILE,
  SERVER_NODE,
  connectModern,
  connectLegacy,
  type ServerStart,
  type TestClient,
  factsOf,
} from "../fixtures/clients.ts";
import { freePort } from "../fixtures/free-port.ts";
import { envelope, type ScriptedAnswer, scriptedService } from "../fixtures/scripted-service.ts";

interface SubscribingClient extends TestClient {
  /** URIs of the updates, in the order in which they were received. */
  readonly updates: readonly string[];
  listChanges(): number;
  /** The returned function unsubscribes. */
  subscribe(...uris: string[]): Promise<() => Promise<unknown>>;
  listenForListChanges(): Promise<unknown>;
  read(uri: string): Promise<unknown>;
}

async function watchLegacy(start: ServerStart): Promise<SubscribingClient> {
  const client = await connectLegacy(start);
  const updates: string[] = [];
  let listChanges = 0;
  client.raw.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    updates.push(params.uri);
  });
  client.raw.setNotificationHandler(ResourceListChangedNotificationSchema, () => {
    listChanges += 1;
  });
  return {
    ...client,
    updates,
    listChanges: () => listChanges,
    async subscribe(...uris) {
      await Promise.all(uris.map((uri) => client.raw.subscribeResource({ uri })));
      return () => Promise.all(uris.map((uri) => client.raw.unsubscribeResource({ uri })));
    },
    // The legacy protocol sends them to every client.
    listenForListChanges: async () => {},
    read: async (uri) => soleContents(await client.raw.readResource({ uri })),
  };
}

async function watchModern(start: ServerStart): Promise<SubscribingClient> {
  const client = await connectModern(start);
  const updates: string[] = [];
  let listChanges = 0;
  client.raw.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    updates.push(params.uri);
  });
  client.raw.setNotificationHandler("notifications/resources/list_changed", () => {
    listChanges += 1;
  });
  return {
    ...client,
    updates,
    listChanges: () => listChanges,
    async subscribe(...uris) {
      const { honoredFilter, close } = await client.raw.listen({ resourceSubscriptions: uris });
      expect(honoredFilter).toEqual({ resourceSubscriptions: uris });
      return close;
    },
    listenForListChanges: () => client.raw.listen({ resourcesListChanged: true }),
    read: async (uri) => soleContents(await client.raw.readResource({ uri })),
  };
}

const VERSIONS = [
  ["a legacy client", watchLegacy],
  ["a modern client", watchModern],
] as const;

function soleContents({ contents }: { contents: readonly object[] }): unknown {
  const [first, ...rest] = contents;
  if (first === undefined || rest.length > 0 || !("text" in first) || typeof first.text !== "string")
    throw new Error("The resource has not just one text.");
  return factsOf(JSON.parse(first.text));
}

const JOB_A = "aaaaaaaa-0000-4000-8000-000000000001";
const JOB_B = "bbbbbbbb-0000-4000-8000-000000000002";
const CLOCK = "cccccccc-0000-4000-8000-000000000003";
const A = `faceless://jobs/${JOB_A}`;
const B = `faceless://jobs/${JOB_B}`;

const processing = (completed = 0) => ({
  status: "processing",
  videoUrls: Array.from({ length: completed }, (_, index) => `https://cdn.example/${index + 1}.mp4`),
  progress: { total: 3, completed, failed: 0 },
});
const completed = { ...processing(3), status: "completed", finalVideoUrl: "https://cdn.example/final.mp4" };

const UNAUTHORIZED = envelope(401, "unauthorized", "Who are you?");

/** A service with jobs whose states the test changes. */
async function jobService(pollSeconds = 0.1) {
  const rest = await scriptedService({ "GET /api/v1/videos": { json: { videos: [] } } });
  const states = new Map<string, ScriptedAnswer>();
  const set = (jobId: string, answer: ScriptedAnswer) => {
    states.set(jobId, answer);
    rest.on(`GET /api/v1/status/${jobId}`, () => states.get(jobId) ?? answer);
  };
  const polls = (jobId: string) => rest.lines(`GET /api/v1/status/${jobId}`).length;
  return {
    rest,
    start: {
      env: {
        FACELESS_API_KEY: "fl_test",
        FACELESS_BASE_URL: rest.url,
        FACELESS_POLL_SECONDS: String(pollSeconds),
      },
    },
    become: (jobId: string, json: object) => set(jobId, { json }),
    refuse: set,
    polls,
    polled: (jobId: string, times = 1) => {
      const before = polls(jobId);
      return vi.waitFor(() => expect(polls(jobId)).toBeGreaterThanOrEqual(before + times), WAIT);
    },
  };
}

type JobService = Awaited<ReturnType<typeof jobService>>;

/** Ends a wait for something that never happens. */
const WAIT = { timeout: 40_000, interval: 10 };

const notified = (client: SubscribingClient, updates: readonly string[]) =>
  vi.waitFor(() => expect(client.updates).toEqual(updates), WAIT);

/** Waits until another subscription was polled several times, so that all earlier polls and notifications are over. */
async function letPollsPass(client: SubscribingClient, service: JobService): Promise<void> {
  service.become(CLOCK, processing());
  const stop = await client.subscribe(`faceless://jobs/${CLOCK}`);
  await service.polled(CLOCK, 3);
  await stop();
}

describe.each(VERSIONS)("%s", (_name, watch) => {
  test("is notified of every change of a job, once of its end, and of nothing after that", async () => {
    let aheadMs = 0;
    const sandbox = await startSandbox({
      now: () => Date.now() + aheadMs,
      renderSeconds: 200,
      requestsPerMinute: 1_000_000,
    });
    onTestFinished(() => sandbox.close());
    const client = await watch({
      env: {
        FACELESS_API_KEY: sandbox.apiKey,
        FACELESS_BASE_URL: sandbox.url,
        FACELESS_POLL_SECONDS: "0.1",
      },
    });
    const { structuredContent } = await client.call("generate_video", { topic: "Tides", duration: 22.5 });
    const jobId = String(structuredContent?.["jobId"]);
    const uri = `faceless://jobs/${jobId}`;
    await client.read(uri);
    await client.subscribe(uri);

    const clip = (number: number) => expect.stringMatching(new RegExp(`/${number}\\.mp4$`));
    const audioUrl = expect.stringMatching(/\.wav$/);
    const running = { jobId, status: "processing", done: false, audioUrl };
    const progress = (count: number) => ({ total: 3, completed: count, failed: 0 });
    const timeline: readonly (readonly [number, object])[] = [
      [35, { ...running, videoUrls: [], progress: progress(0) }],
      [95, { ...running, videoUrls: [clip(1)], progress: progress(1) }],
      [140, { ...running, videoUrls: [clip(1), clip(2)], progress: progress(2) }],
      [185, { ...running, videoUrls: [clip(1), clip(2), clip(3)], progress: progress(3) }],
      [
        201,
        {
          ...running,
          status: "completed",
          done: true,
          videoUrls: [clip(1), clip(2), clip(3)],
          progress: progress(3),
          finalVideoUrl: expect.stringMatching(/\/final\/.*\.mp4$/),
          arguments: { topic: "Tides", duration: 22.5 },
        },
      ],
    ];
    const expected: string[] = [];
    for (const [atSeconds, state] of timeline) {
      aheadMs = atSeconds * 1000;
      expected.push(uri);
      await notified(client, expected);
      expect(await client.read(uri)).toEqual(state);
    }
    const another = await client.call("generate_video", { topic: "Another [fail]", duration: 10 });
    const anotherUri = String(another.structuredContent?.["resourceUri"]);
    await client.subscribe(anotherUri);
    aheadMs *= 2;
    await notified(client, [...expected, anotherUri]);
  });

  test("is not notified of a job that it has only read", async () => {
    const service = await jobService();
    service.become(JOB_A, processing());
    service.become(JOB_B, processing());
    const client = await watch(service.start);
    await client.call("get_video_status", { jobId: JOB_A });
    service.become(JOB_A, processing(1));
    await client.call("get_video_status", { jobId: JOB_A });
    await client.read(A);
    await client.read(B);
    await client.subscribe(B);
    service.become(JOB_B, processing(1));
    await notified(client, [B]);
    service.become(JOB_A, processing(2));
    await client.call("get_video_status", { jobId: JOB_A });
    await client.subscribe(A);
    await letPollsPass(client, service);
    expect(client.updates).toEqual([B]);
    service.become(JOB_A, completed);
    await notified(client, [B, A]);
  });

  test("is notified of the end once, even if the job changes afterwards", async () => {
    const service = await jobService();
    service.become(JOB_A, processing());
    const client = await watch(service.start);
    await client.subscribe(A);
    await service.polled(JOB_A);
    service.become(JOB_A, completed);
    await notified(client, [A]);
    service.become(JOB_A, { ...completed, audioUrl: "https://cdn.example/late.wav" });
    const late = await client.call("get_video_status", { jobId: JOB_A });
    expect(late.structuredContent).toMatchObject({ audioUrl: "https://cdn.example/late.wav" });
    await client.subscribe(A);
    await letPollsPass(client, service);
    // A second listen is a second subscriber, and the SDK sends an update to both.
    expect(client.updates).toEqual(client.protocol === "legacy" ? [A] : [A, A, A]);
  });

  test("is notified once of an end before its subscription, without another request", async () => {
    const service = await jobService();
    service.become(JOB_A, completed);
    const client = await watch(service.start);
    await client.call("get_video_status", { jobId: JOB_A });
    await client.subscribe(A);
    await notified(client, [A]);
    await letPollsPass(client, service);
    expect(client.updates).toEqual([A]);
    expect(service.polls(JOB_A)).toBe(1);
    expect(await client.read(A)).toEqual({ jobId: JOB_A, done: true, ...completed });
  });

  test("is notified once of an end that the first poll finds, and reads it without another request", async () => {
    const service = await jobService();
    service.become(JOB_A, completed);
    const client = await watch(service.start);
    await client.subscribe(A);
    await notified(client, [A]);
    expect(await client.read(A)).toEqual({ jobId: JOB_A, done: true, ...completed });
    await letPollsPass(client, service);
    expect(client.updates).toEqual([A]);
    expect(service.polls(JOB_A)).toBe(1);
  });

  test("stays subscribed to one of two jobs when it unsubscribes from the other", async () => {
    const service = await jobService();
    service.become(JOB_A, processing());
    service.become(JOB_B, processing());
    const client = await watch(service.start);
    await client.read(A);
    await client.read(B);
    const unsubscribeA = await client.subscribe(A);
    await client.subscribe(B);
    await unsubscribeA();
    await service.polled(JOB_B, 2);
    const pollsOfA = service.polls(JOB_A);
    service.become(JOB_A, processing(1));
    service.become(JOB_B, processing(1));
    await notified(client, [B]);
    service.become(JOB_B, completed);
    await notified(client, [B, B]);
    expect(service.polls(JOB_A)).toBe(pollsOfA);
  });

  test("ends the polling with its last unsubscribe, and may unsubscribe twice", async () => {
    const service = await jobService();
    service.become(JOB_A, processing());
    const client = await watch(service.start);
    const unsubscribe = await client.subscribe(A);
    await service.polled(JOB_A, 2);
    await unsubscribe();
    await unsubscribe();
    await letPollsPass(client, service);
    const polls = service.polls(JOB_A);
    await letPollsPass(client, service);
    expect(service.polls(JOB_A)).toBe(polls);
    service.become(JOB_A, completed);
    await client.subscribe(A);
    await notified(client, [A]);
  });

  test("ends the polling when its connection closes", async () => {
    const service = await jobService();
    service.become(JOB_A, processing());
    const client = await watch(service.start);
    await client.subscribe(A);
    await service.polled(JOB_A, 2);
    await client.raw.close();
    const another = await watch(service.start);
    const polls = service.polls(JOB_A);
    await letPollsPass(another, service);
    expect(service.polls(JOB_A)).toBe(polls);
  });

  test("causes at most two requests by reading and subscribing ten times", async () => {
    const service = await jobService(3600);
    service.become(JOB_A, processing());
    const client = await watch(service.start);
    for (let time = 0; time < 10; time += 1) {
      expect(await client.read(A)).toEqual({ jobId: JOB_A, done: false, ...processing() });
      await client.subscribe(A);
    }
    // One for the reads, and perhaps one for the first poll.
    expect(service.polls(JOB_A)).toBeLessThanOrEqual(2);
    expect(service.rest.lines("GET /api/v1/videos")).toEqual([]);
    expect(client.updates).toEqual([]);
  });

  test("is notified of an end that the video list shows first, and not of one that the job itself denies", async () => {
    const service = await jobService(1);
    for (const jobId of [JOB_A, JOB_B]) service.become(jobId, processing());
    const client = await watch(service.start);
    await client.subscribe(A, B);
    await service.polled(JOB_B);
    service.become(JOB_A, completed);
    service.rest.on("GET /api/v1/videos", {
      json: { videos: [JOB_B, JOB_A].map((jobId) => ({ jobId, status: "completed" })) },
    });
    await service.polled(JOB_B);
    await notified(client, [A]);
    expect(await client.read(A)).toEqual({ jobId: JOB_A, done: true, ...completed });
  });

  test("is notified with the URI exactly as it subscribed to it", async () => {
    const service = await jobService();
    const spelt = JOB_A.toUpperCase();
    service.become(spelt, completed);
    const client = await watch(service.start);
    await client.subscribe(`faceless://jobs/${spelt}`);
    await notified(client, [`faceless://jobs/${spelt}`]);
    expect(service.polls(spelt)).toBe(1);
  });

  test("may subscribe to the catalog, which never changes", async () => {
    const service = await jobService();
    const client = await watch(service.start);
    const unsubscribe = await client.subscribe("faceless://catalog");
    await letPollsPass(client, service);
    await unsubscribe();
    expect(client.updates).toEqual([]);
  });

  test("is notified that the list has changed when a video is started", async () => {
    const client = await watch({ args: ["--sandbox"] });
    await client.listenForListChanges();
    await client.call("generate_video", { topic: "Refused [out_of_credits]" });
    const { structuredContent } = await client.call("generate_video", { topic: "Tides" });
    const uri = String(structuredContent?.["resourceUri"]);
    await vi.waitFor(() => expect(client.listChanges()).toBe(1), WAIT);
    const { resources } = await client.raw.listResources();
    expect(resources.map((resource) => resource.uri)).toEqual(["faceless://catalog", uri]);
    await client.call("get_video_status", { jobId: uri.replace(/^.*\//, "") });
    expect({ updates: client.updates, lists: client.listChanges() }).toEqual({ updates: [], lists: 1 });
  });

  test("reads that a 201st job is not watched, and why", async () => {
    const service = await jobService(3600);
    service.become(JOB_A, processing());
    const client = await watch(service.start);
    await client.subscribe(...MANY, A);
    await notified(client, [A]);
    expect(await client.read(A)).toEqual({
      jobId: JOB_A,
      done: false,
      ...processing(),
      watchEnded: "Not watched. The limit of 200 watched jobs is reached.",
    });
    expect(client.stderr()).toContain(`${JOB_A}: Not watched. The limit of 200 watched jobs`);
  });

  test("reads why polling ended when the key is refused", async () => {
    const service = await jobService();
    service.become(JOB_A, processing(1));
    const client = await watch(service.start);
    await client.subscribe(A);
    await service.polled(JOB_A);
    service.refuse(JOB_A, UNAUTHORIZED);
    await notified(client, [A]);
    const ended = {
      jobId: JOB_A,
      done: false,
      ...processing(1),
      watchEnded: "Watching ended: the service does not accept the API key.",
    };
    expect(await client.read(A)).toEqual(ended);
    const polls = service.polls(JOB_A);
    await letPollsPass(client, service);
    expect(service.polls(JOB_A)).toBe(polls);
    expect(client.updates).toEqual([A]);
  });

  test("reads why polling ended at the second 404, and is not notified at the first", async () => {
    const service = await jobService();
    service.become(JOB_A, processing());
    const client = await watch(service.start);
    await client.subscribe(A);
    await service.polled(JOB_A);
    const unknown = envelope(404, "not_found", "No such job.");
    let answerAgain = () => {};
    const second = new Promise<ScriptedAnswer>((resolve) => (answerAgain = () => resolve(unknown)));
    service.rest.on(`GET /api/v1/status/${JOB_A}`, [unknown, () => second]);
    await service.polled(JOB_A, 2);
    await client.raw.listTools();
    expect(client.updates).toEqual([]);
    answerAgain();
    await notified(client, [A]);
    expect(await client.read(A)).toEqual({
      jobId: JOB_A,
      done: false,
      ...processing(),
      watchEnded: "Watching ended: the service says that it knows no such job.",
    });
    const polls = service.polls(JOB_A);
    await letPollsPass(client, service);
    expect(service.polls(JOB_A)).toBe(polls);
  });

  test("gets the error when it reads a job that was never fetched and is no longer polled", async () => {
    const service = await jobService();
    service.refuse(JOB_A, UNAUTHORIZED);
    const client = await watch(service.start);
    await client.subscribe(A);
    await notified(client, [A]);
    await expect(client.read(A)).rejects.toMatchObject({
      message: expect.stringMatching(/API key.*FACELESS_API_KEY/),
    });
  });

  test("restarts the polling by subscribing again after it ended", async () => {
    const service = await jobService();
    service.refuse(JOB_A, UNAUTHORIZED);
    const client = await watch(service.start);
    await client.subscribe(A);
    await notified(client, [A]);
    service.become(JOB_A, processing(1));
    await client.subscribe(A);
    await service.polled(JOB_A, 2);
    service.become(JOB_A, completed);
    // A modern client listens twice by now.
    await notified(client, client.protocol === "legacy" ? [A, A] : [A, A, A]);
    expect(await client.read(A)).toEqual({ jobId: JOB_A, done: true, ...completed });
  });
});

const MANY = Array.from(
  { length: 200 },
  (_, index) => `faceless://jobs/dddddddd-0000-4000-8000-${String(index).padStart(12, "0")}`,
);

describe("a legacy client", () => {
  test("can subscribe to a 201st job again after an unsubscribe", async () => {
    const service = await jobService(3600);
    service.become(JOB_A, completed);
    const client = await watchLegacy(service.start);
    await client.subscribe(...MANY, A);
    await notified(client, [A]);
    await client.raw.unsubscribeResource({ uri: MANY[7] ?? "" });
    await client.subscribe(A);
    await notified(client, [A, A]);
    expect(await client.read(A)).toEqual({ jobId: JOB_A, done: true, ...completed });
  });

  test("cannot subscribe to a URI that is not a job: it is an unknown resource", async () => {
    const service = await jobService();
    const client = await watchLegacy(service.start);
    const wrong = [
      "faceless://jobs/42",
      `${A}/`,
      `${A}?x=1`,
      "faceless://jobs/",
      "faceless://catalogue",
      "https://example.com",
      "",
    ];
    for (const uri of wrong) {
      const refusal = await client.subscribe(uri).catch((error: unknown) => error);
      // Clients recognise an unknown resource by the code and exactly this data.
      expect(refusal).toMatchObject({
        code: -32602,
        message: expect.stringContaining(`Resource not found: ${uri}`),
        data: { uri },
      });
      expect(refusal).not.toHaveProperty(["data", "faceless/error"]);
      await expect(client.raw.unsubscribeResource({ uri })).resolves.toEqual({});
    }
    expect(service.rest.requests).toEqual([]);
  });

  test("is notified of each change once after subscribing twice, and of none after one unsubscribe", async () => {
    const service = await jobService();
    service.become(JOB_A, processing());
    const client = await watchLegacy(service.start);
    await client.read(A);
    await client.subscribe(A);
    await client.subscribe(A);
    service.become(JOB_A, processing(1));
    await notified(client, [A]);
    await client.raw.unsubscribeResource({ uri: A });
    await letPollsPass(client, service);
    const polls = service.polls(JOB_A);
    service.become(JOB_A, completed);
    await letPollsPass(client, service);
    expect({ updates: client.updates, polls: service.polls(JOB_A) }).toEqual({ updates: [A], polls });
  });

  test("is notified of an end once, even if it subscribes again after each update", async () => {
    const service = await jobService();
    service.become(JOB_A, completed);
    const client = await watchLegacy(service.start);
    for (let time = 0; time < 3; time += 1) {
      const unsubscribe = await client.subscribe(A);
      await notified(client, [A]);
      await unsubscribe();
    }
    await letPollsPass(client, service);
    expect(client.updates).toEqual([A]);
  });
});

describe("a modern client", () => {
  test("is notified of the first clip of each of two jobs that nobody has read before", async () => {
    const service = await jobService(3600);
    const port = await freePort();
    service.rest.on("GET /api/v1/videos", {
      json: { videos: [JOB_A, JOB_B].map((jobId) => ({ jobId, status: "processing" })) },
    });
    for (const jobId of [JOB_A, JOB_B]) service.become(jobId, processing());
    const client = await watchModern({
      env: { ...service.start.env, FACELESS_WEBHOOK_PORT: String(port) },
    });
    await client.subscribe(A, B);
    await vi.waitFor(() => expect([JOB_A, JOB_B].map(service.polls)).toEqual([1, 1]), WAIT);
    for (const jobId of [JOB_A, JOB_B]) {
      service.become(jobId, processing(1));
      await fetch(`http://127.0.0.1:${port}`, { method: "POST", body: JSON.stringify({ jobId }) });
    }
    await vi.waitFor(() => expect(client.updates.toSorted()).toEqual([A, B]), WAIT);
  });

  test("may name URIs that are not jobs, which are ignored", async () => {
    const service = await jobService();
    service.become(JOB_A, completed);
    const client = await watchModern(service.start);
    await client.subscribe("faceless://jobs/42", `${A}?x=1`, "https://example.com", A);
    await notified(client, [A]);
    expect(service.rest.lines()).toEqual([`GET /api/v1/status/${JOB_A}`]);
  });

  test("is still notified by one of two listens to a job after it closes the other", async () => {
    const service = await jobService();
    service.become(JOB_A, processing());
    service.become(JOB_B, processing());
    const client = await watchModern(service.start);
    await client.read(A);
    const closeFirst = await client.subscribe(A, B);
    await client.subscribe(A);
    service.become(JOB_A, processing(1));
    await notified(client, [A, A]);
    await closeFirst();
    service.become(JOB_A, processing(2));
    await notified(client, [A, A, A]);
    service.become(JOB_A, completed);
    await notified(client, [A, A, A, A]);
    expect(await client.read(A)).toEqual({ jobId: JOB_A, done: true, ...completed });
  });

  test("is notified again of an end when it listens again", async () => {
    const service = await jobService();
    service.become(JOB_A, completed);
    const client = await watchModern(service.start);
    const close = await client.subscribe(A);
    await notified(client, [A]);
    await close();
    await client.subscribe(A);
    await notified(client, [A, A]);
    expect(service.polls(JOB_A)).toBe(1);
  });

  test("is not notified of list changes unless it listens to them", async () => {
    const client = await watchModern({ args: ["--sandbox"], env: { FACELESS_SANDBOX_SECONDS: "0" } });
    await client.call("generate_video", { topic: "Waves" });
    const { structuredContent } = await client.call("generate_video", { topic: "Tides" });
    const uri = String(structuredContent?.["resourceUri"]);
    await client.subscribe(uri);
    await client.call("get_video_status", { jobId: uri.replace(/^.*\//, "") });
    await client.call("generate_video", { topic: "Moons" });
    await notified(client, [uri]);
    expect(client.listChanges()).toBe(0);
  });
});

describe("on the wire of the modern protocol", () => {
  const META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "wire", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const STAMP = "io.modelcontextprotocol/subscriptionId";

  async function connectWire({ env }: { env: Record<string, string> }) {
    const transport = new StdioClientTransport({
      command: SERVER_NODE,
      args: [BUILT_FILE],
      env,
      stderr: "ignore",
    });
    const received: unknown[] = [];
    // eslint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's transports have no other way
    transport.onmessage = (message) => received.push(message);
    onTestFinished(() => transport.close());
    await transport.start();
    const listen = (id: string | number, ...uris: string[]) =>
      transport.send({
        jsonrpc: "2.0",
        id,
        method: "subscriptions/listen",
        params: { _meta: META, notifications: { resourceSubscriptions: uris } },
      });
    const cancel = (requestId: string | number) =>
      transport.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
    const got = (message: unknown) => vi.waitFor(() => expect(received).toContainEqual(message), WAIT);
    return {
      received,
      send: transport.send.bind(transport),
      listen,
      cancel,
      acknowledged: (id: string | number, ...uris: string[]) =>
        got({
          jsonrpc: "2.0",
          method: "notifications/subscriptions/acknowledged",
          params: { notifications: { resourceSubscriptions: uris }, _meta: { [STAMP]: id } },
        }),
      updated: (id: string | number, uri: string) =>
        got({
          jsonrpc: "2.0",
          method: "notifications/resources/updated",
          params: { uri, _meta: { [STAMP]: id } },
        }),
      refused: (id: string | number, code: number) =>
        got({ jsonrpc: "2.0", id, error: expect.objectContaining({ code }) }),
    };
  }

  test('the ids 1 and "1" are two listens, and cancelling one keeps the other', async () => {
    const service = await jobService();
    service.become(JOB_A, processing());
    service.become(JOB_B, processing());
    const wire = await connectWire(service.start);
    await wire.listen(1, A);
    await wire.listen("1", B);
    await wire.acknowledged(1, A);
    await wire.acknowledged("1", B);
    await wire.cancel("one");
    await wire.cancel("1");
    await wire.cancel("1");
    await service.polled(JOB_A, 2);
    const polls = service.polls(JOB_B);
    await service.polled(JOB_A, 4);
    expect(service.polls(JOB_B)).toBe(polls);
    service.become(JOB_A, completed);
    await wire.updated(1, A);
  });

  test("after a listen that is cancelled before its acknowledgement nothing is polled", async () => {
    const service = await jobService();
    service.become(JOB_A, processing());
    service.become(JOB_B, processing());
    const wire = await connectWire(service.start);
    await Promise.all([wire.listen(1, A), wire.cancel(1), wire.listen(2, B)]);
    await wire.acknowledged(2, B);
    await service.polled(JOB_B, 4);
    expect(service.polls(JOB_A)).toBe(0);
  });

  test("after a refused listen or a legacy subscribe nothing is polled", async () => {
    const service = await jobService();
    service.become(JOB_A, processing());
    service.become(JOB_B, completed);
    const wire = await connectWire(service.start);
    await wire.listen(1, B);
    await wire.updated(1, B);
    await wire.send({
      jsonrpc: "2.0",
      id: 2,
      method: "subscriptions/listen",
      params: { _meta: META, notifications: { resourceSubscriptions: A } },
    });
    await wire.refused(2, -32602);
    await wire.send({
      jsonrpc: "2.0",
      id: 3,
      method: "subscriptions/listen",
      params: { notifications: { resourceSubscriptions: [A] } },
    });
    await wire.refused(3, -32602);
    await wire.send({
      jsonrpc: "2.0",
      id: 4,
      method: "resources/subscribe",
      params: { _meta: META, uri: A },
    });
    await wire.refused(4, -32601);
    expect(service.rest.lines()).toEqual([`GET /api/v1/status/${JOB_B}`]);
  });
});

test("a subscriber reads why polling ended, even if the last state is old and can't be fetched again", async () => {
  const readEnd = async (watch: (start: ServerStart) => Promise<SubscribingClient>) => {
    // Longer than a fetched state counts as recent.
    const service = await jobService(5.2);
    service.become(JOB_A, processing(1));
    const client = await watch(service.start);
    await client.read(A);
    service.refuse(JOB_A, UNAUTHORIZED);
    await client.subscribe(A);
    await notified(client, [A]);
    return client.read(A);
  };
  const ended = {
    jobId: JOB_A,
    done: false,
    ...processing(1),
    watchEnded: "Watching ended: the service does not accept the API key.",
  };
  expect(await Promise.all(VERSIONS.map(([, watch]) => readEnd(watch)))).toEqual([ended, ended]);
});
