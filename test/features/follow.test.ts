// Following a video as clients of both protocols see it: subscriptions, waits, progress, and what a failed read says.

import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  type CallOptions,
  connectLegacy,
  connectModern,
  factsOf,
  type Progress,
  TEST_CLIENTS,
  textOf,
} from "../fixtures/clients.ts";
import { JOB_ID, JOB_URI, OTHER_JOB_ID, OTHER_JOB_URI, PUBLISH, STATUS } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { completed, jobService, processing, setUp, UNAUTHORIZED } from "../fixtures/job-service.ts";
import { startLocal } from "../fixtures/local-server.ts";
import { connectRaw } from "../fixtures/raw-server.ts";
import { envelope } from "../fixtures/scripted-service.ts";

const KEY_REFUSED = "Following ended: the service does not accept the API key.";
const ended = { jobId: JOB_ID, done: true, ...completed };

describe.each(TEST_CLIENTS)("With %s", (_, connect) => {
  test("a subscriber is notified of each change of a video, and once of its end", async () => {
    const { service, client } = await setUp(connect, processing());
    await client.read(JOB_URI);
    await client.subscribe(JOB_URI);
    const expected: string[] = [];
    const audioUrl = "https://cdn.example/voice.wav";
    for (const state of [{ ...processing(), audioUrl }, processing(1), processing(2), completed]) {
      service.become(JOB_ID, state);
      expected.push(JOB_URI);
      await client.updated(...expected);
      expect(await client.read(JOB_URI)).toEqual({ jobId: JOB_ID, done: state === completed, ...state });
    }
    service.become(JOB_ID, { ...completed, audioUrl });
    expect((await client.call("get_video_status", { jobId: JOB_ID })).structuredContent).toMatchObject({
      audioUrl,
    });
    await service.letPollsPass(client);

    expect(client.updates).toEqual(expected);
  });

  test("a subscriber after the end is notified once, without another request, under the URI it named", async () => {
    const { service, client } = await setUp(connect, completed);
    const uri = `faceless://jobs/${JOB_ID.toUpperCase()}`;
    await client.call("get_video_status", { jobId: JOB_ID });
    await client.subscribe(uri);
    await client.updated(uri);
    await service.letPollsPass(client);

    expect({ updates: client.updates, polls: service.polls(JOB_ID) }).toEqual({ updates: [uri], polls: 1 });
    expect(await client.read(uri)).toEqual(ended);
  });

  test("nothing is polled after the last unsubscribe, and the next subscription polls again", async () => {
    const { service, client } = await setUp(connect, processing());
    const unsubscribe = await client.subscribe(JOB_URI);
    await service.polled(JOB_ID, 2);
    await unsubscribe();
    await unsubscribe();
    await service.letPollsPass(client);
    const polls = service.polls(JOB_ID);
    await service.letPollsPass(client);
    expect(service.polls(JOB_ID)).toBe(polls);

    service.become(JOB_ID, completed);
    await client.subscribe(JOB_URI);
    await client.updated(JOB_URI);
  });

  test("nothing is polled after the connection has closed", async () => {
    const { service, client } = await setUp(connect, processing());
    await client.subscribe(JOB_URI);
    await service.polled(JOB_ID, 2);
    await client.raw.close();
    const another = await connect(service.start);
    const polls = service.polls(JOB_ID);
    await service.letPollsPass(another);

    expect(service.polls(JOB_ID)).toBe(polls);
  });

  test("a subscriber reads why following ended", async () => {
    const { service, client } = await setUp(connect, processing(1));
    await client.read(JOB_URI);
    service.answer(JOB_ID, UNAUTHORIZED);
    await client.subscribe(JOB_URI);
    await client.updated(JOB_URI);

    const last = { jobId: JOB_ID, done: false, ...processing(1), followingEnded: KEY_REFUSED };
    expect(await client.read(JOB_URI)).toEqual(last);
  });

  test("the list of resources changes when a video is started, and has it by its first spoken words", async () => {
    const client = await connect({ args: ["--sandbox"] });
    await client.followList();
    await client.call("generate_video", { topic: "Refused [out_of_credits]" });
    const { structuredContent } = await client.call("generate_video", {
      topic: "[a beach] The tide comes in.",
    });
    await expect.poll(client.listChanges).toBe(1);

    const { resources } = await client.raw.listResources();
    expect(resources.map(({ uri, title }) => [uri, title])).toEqual([
      ["faceless://catalog", "Options of a video"],
      [structuredContent?.["resourceUri"], "The tide comes in."],
    ]);
  });

  test("a wait for a video that has ended returns at once", async () => {
    const { service, client } = await setUp(connect, completed, 3600);
    const notified: Progress[] = [];
    const result = await client.call(
      "get_video_status",
      { jobId: JOB_ID, waitSeconds: 50 },
      { onprogress: (one) => notified.push(one) },
    );

    expect(factsOf(result.structuredContent)).toEqual(ended);
    expect({ polls: service.polls(JOB_ID), notified }).toEqual({ polls: 1, notified: [] });
  });

  test("a wait gets progress for each change, and the answer when the video ends", async () => {
    const { service, client } = await setUp(connect, processing());
    const errors: Error[] = [];
    // eslint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's clients have no other way
    client.raw.onerror = (error) => errors.push(error);
    const notified: Progress[] = [];
    const options: CallOptions = { onprogress: (one) => notified.push(one) };
    const result = client.call("get_video_status", { jobId: JOB_ID, waitSeconds: 50 }, options);
    const changes = [
      processing(1),
      { ...processing(1), audioUrl: "https://cdn.example/voice.wav" },
      { ...processing(1), progress: { total: 3, completed: 1, failed: 1 } },
      completed,
    ];
    for (const [count, change] of changes.entries()) {
      await expect.poll(() => notified).toHaveLength(count + 1);
      service.become(JOB_ID, change);
    }

    expect(factsOf((await result).structuredContent)).toEqual(ended);
    expect([...notified, ...lateProgress(errors)]).toEqual([
      { progress: 0, total: 4, message: "0 of 3 clips" },
      { progress: 1, total: 4, message: "1 of 3 clips" },
      { progress: 1.01, total: 4, message: "1 of 3 clips" },
      { progress: 2, total: 4, message: "1 of 3 clips, 1 failed" },
      { progress: 4, total: 4, message: "Ready: 3 clips" },
    ]);
  });

  test.each([
    [401, KEY_REFUSED],
    [404, "Following ended. The service knows no job with this id (service code refused, HTTP 404)."],
  ])(
    "a wait that HTTP %i ends returns the last known state and the reason",
    async (status, followingEnded) => {
      const { service, client } = await setUp(connect, processing(1));
      const result = client.call("get_video_status", { jobId: JOB_ID, waitSeconds: 50 });
      await service.polled(JOB_ID);
      service.answer(JOB_ID, envelope(status, "refused", "No."));

      const { structuredContent } = await result;
      expect(structuredContent?.["summary"]).toContain(followingEnded);
      expect(factsOf(structuredContent)).toEqual({
        jobId: JOB_ID,
        done: false,
        ...processing(1),
        followingEnded,
      });
    },
  );

  test("cancelling a wait ends the polling, not the render", async () => {
    const { service, client } = await setUp(connect, processing());
    const caller = new AbortController();
    const wait = client.call(
      "get_video_status",
      { jobId: JOB_ID, waitSeconds: 50 },
      { signal: caller.signal },
    );
    const outcome = wait.catch((error: unknown) => error);
    await service.polled(JOB_ID, 2);
    caller.abort("enough");
    expect(await outcome).toBeInstanceOf(Error);
    // The answer to another call shows that the cancellation was received.
    service.become(OTHER_JOB_ID, processing());
    await client.call("get_video_status", { jobId: OTHER_JOB_ID });
    const polls = service.polls(JOB_ID);
    await service.letPollsPass(client);

    expect(service.polls(JOB_ID)).toBe(polls);
    expect(new Set(service.rest.requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
  });

  test("a failed read says that it only reads, and names the journal's posts apart from the service's words", async () => {
    const service = await jobService(undefined, { FACELESS_STATE_DIR: temporaryFolder() });
    service.become(JOB_ID, completed);
    const url = "https://tiktok.example/1";
    service.rest.on(PUBLISH, { json: { results: [{ platform: "tiktok", ok: true, url }] } });
    const client = await connect(service.start);
    await client.call("publish_video", { jobId: JOB_ID, platforms: ["tiktok"] });
    service.answer(JOB_ID, envelope(403, "forbidden", "Not now."));

    const read = await client.call("get_video_status", { jobId: JOB_ID });
    expect(read.isError).toBe(true);
    expect(textOf(read)).toContain(
      `(service code forbidden, HTTP 403). The service's words: "Not now." The journal has these posts of the video: TikTok ${url}. No tool can see whether a post is still there. This call only reads: it spent and published nothing.`,
    );
  });
});

/** Progress that was read together with the result: the SDK has forgotten the call and reports an error. */
function lateProgress(errors: readonly Error[]): Progress[] {
  return errors.map(({ message }) => {
    const { params } = lateSchema.parse(JSON.parse(/unknown token: (.*)$/.exec(message)?.[1] ?? "null"));
    return params;
  });
}

const lateSchema = z.object({
  params: z.object({ progress: z.number(), total: z.number(), message: z.string() }),
});

test("a legacy client can subscribe only to URIs of videos, and one unsubscribe ends two subscribes", async () => {
  const { service, client } = await setUp(connectLegacy, processing());
  for (const uri of ["faceless://jobs/42", `${JOB_URI}?x=1`, "https://example.com", ""])
    // Clients recognise an unknown resource by the code and exactly this data.
    await expect(client.subscribe(uri)).rejects.toMatchObject({ code: -32602, data: { uri } });
  expect(service.rest.requests).toEqual([]);

  await client.read(JOB_URI);
  await client.subscribe(JOB_URI);
  await client.subscribe(JOB_URI);
  service.become(JOB_ID, processing(1));
  await client.updated(JOB_URI);
  await client.raw.unsubscribeResource({ uri: JOB_URI });
  await service.letPollsPass(client);
  const polls = service.polls(JOB_ID);
  service.become(JOB_ID, completed);
  await service.letPollsPass(client);
  expect({ updates: client.updates, polls: service.polls(JOB_ID) }).toEqual({ updates: [JOB_URI], polls });
});

test("a legacy client that subscribes again after every update is notified of the end once", async () => {
  const { service, client } = await setUp(connectLegacy, processing());
  await client.subscribe(JOB_URI);
  await service.polled(JOB_ID);
  service.become(JOB_ID, completed);
  await client.updated(JOB_URI);
  await client.subscribe(JOB_URI);
  await service.letPollsPass(client);

  expect(client.updates).toEqual([JOB_URI]);
});

test("a modern client that closes one of two listens is notified by the other", async () => {
  const { service, client } = await setUp(connectModern, processing());
  service.become(OTHER_JOB_ID, processing());
  await client.read(JOB_URI);
  const closeFirst = await client.subscribe(JOB_URI, OTHER_JOB_URI, "https://example.com");
  await client.subscribe(JOB_URI);
  service.become(JOB_ID, processing(1));
  await client.updated(JOB_URI, JOB_URI);
  await closeFirst();
  service.become(JOB_ID, completed);
  await client.updated(JOB_URI, JOB_URI, JOB_URI);

  expect(service.rest.lines(STATUS).length).toBeGreaterThan(2);
});

test("a client that stops reading finds one update per video, and reads the current states", async () => {
  const service = await jobService();
  const uris = [JOB_URI, OTHER_JOB_URI];
  const local = startLocal({ ...service.start, pipeBytes: 1 });
  const server = connectRaw(local);
  await server.open("legacy");
  let changes = 0;
  for (const jobId of [JOB_ID, OTHER_JOB_ID])
    service.answer(jobId, () => ({
      json: { ...processing(), progress: { total: 99, completed: ++changes } },
    }));
  for (const uri of uris) await server.ask("resources/subscribe", { uri });
  const updates: unknown[] = [];
  server.onMessage((message) => {
    if (typeof message !== "string") updates.push(message.params?.["uri"]);
  });

  local.stdout.pause();
  await service.polled(JOB_ID, 10);
  await service.polled(OTHER_JOB_ID, 10);
  for (const jobId of [JOB_ID, OTHER_JOB_ID]) service.become(jobId, completed);
  await service.polled(JOB_ID, 1);
  local.stdout.resume();

  for (const uri of uris)
    await expect
      .poll(async () => (await server.ask("resources/read", { uri })).result)
      .toHaveProperty("contents.0.text", expect.stringContaining('"done":true'));
  expect(changes).toBeGreaterThan(20);
  // One update that the pipe took, one that waited, and that of the end.
  for (const uri of uris) expect(updates.filter((one) => one === uri).length).toBeLessThanOrEqual(3);
});

test("cancelling a listen before its acknowledgement ends the polling", async () => {
  const service = await jobService();
  for (const jobId of [JOB_ID, OTHER_JOB_ID]) service.become(jobId, processing());
  const { send, request } = connectRaw(startLocal(service.start), "modern");
  const listen = (id: number, uri: string) =>
    request(id, "subscriptions/listen", { notifications: { resourceSubscriptions: [uri] } });
  send(
    listen(1, JOB_URI),
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
    listen(2, OTHER_JOB_URI),
  );

  await service.polled(OTHER_JOB_ID, 4);
  // The first poll may have been sent before the cancellation came.
  expect(service.polls(JOB_ID)).toBeLessThanOrEqual(1);
});
