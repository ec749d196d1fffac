// Subscriptions as real clients of both protocols see them.

import { describe, expect, test } from "vitest";
import { type ClientStart, TEST_CLIENTS } from "../fixtures/clients.ts";
import { JOB_ID, JOB_URI, OTHER_JOB_ID, OTHER_JOB_URI } from "../fixtures/constants.ts";
import { completed, jobService, processing, UNAUTHORIZED, setUp } from "./job-service.ts";

describe.each(TEST_CLIENTS)("With %s", (_, connect) => {
  test("a client is notified of each change of a job, and once of its end", async () => {
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
    await service.letPollsPass(client);
    expect(client.updates).toEqual(expected);
  });

  test("a client is not notified of a job that it has only read", async () => {
    const { service, client } = await setUp(connect, processing());
    service.become(OTHER_JOB_ID, processing());
    await client.call("get_video_status", { jobId: JOB_ID });
    service.become(JOB_ID, processing(1));
    await client.call("get_video_status", { jobId: JOB_ID });
    await client.read(JOB_URI);
    await client.read(OTHER_JOB_URI);
    await client.subscribe(OTHER_JOB_URI);
    service.become(OTHER_JOB_ID, processing(1));
    await client.updated(OTHER_JOB_URI);
    service.become(JOB_ID, processing(2));
    await client.call("get_video_status", { jobId: JOB_ID });
    await client.subscribe(JOB_URI);
    await service.letPollsPass(client);
    expect(client.updates).toEqual([OTHER_JOB_URI]);
    service.become(JOB_ID, completed);
    await client.updated(OTHER_JOB_URI, JOB_URI);
  });

  test("a client is notified of the end once, even if the job changes afterwards", async () => {
    const { service, client } = await setUp(connect, processing());
    await client.subscribe(JOB_URI);
    await service.polled(JOB_ID);
    service.become(JOB_ID, completed);
    await client.updated(JOB_URI);
    service.become(JOB_ID, { ...completed, audioUrl: "https://cdn.example/late.wav" });
    const late = await client.call("get_video_status", { jobId: JOB_ID });
    expect(late.structuredContent).toMatchObject({ audioUrl: "https://cdn.example/late.wav" });
    await client.subscribe(JOB_URI);
    await service.letPollsPass(client);
    // A second listen is a second subscriber, and the SDK sends an update to both.
    expect(client.updates).toEqual(client.protocol === "legacy" ? [JOB_URI] : [JOB_URI, JOB_URI, JOB_URI]);
  });

  test("a client is notified once of an end before its subscription, without another request", async () => {
    const { service, client } = await setUp(connect, completed);
    await client.call("get_video_status", { jobId: JOB_ID });
    await client.subscribe(JOB_URI);
    await client.updated(JOB_URI);
    await service.letPollsPass(client);
    expect(client.updates).toEqual([JOB_URI]);
    expect(service.polls(JOB_ID)).toBe(1);
    expect(await client.read(JOB_URI)).toEqual({ jobId: JOB_ID, done: true, ...completed });
  });

  test("a client ends the polling with its last unsubscribe, and may unsubscribe twice", async () => {
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

  test("a client ends the polling when its connection closes", async () => {
    const { service, client } = await setUp(connect, processing());
    await client.subscribe(JOB_URI);
    await service.polled(JOB_ID, 2);
    await client.raw.close();
    const another = await connect(service.start);
    const polls = service.polls(JOB_ID);
    await service.letPollsPass(another);
    expect(service.polls(JOB_ID)).toBe(polls);
  });

  test("a client is notified with the URI exactly as it subscribed to it", async () => {
    const service = await jobService();
    const spelt = `faceless://jobs/${JOB_ID.toUpperCase()}`;
    service.become(JOB_ID, completed);
    const client = await connect(service.start);
    await client.subscribe(spelt);
    await client.updated(spelt);
    expect(service.polls(JOB_ID)).toBe(1);
    expect(await client.read(spelt)).toMatchObject({ jobId: JOB_ID, status: "completed" });
  });

  test("a client may subscribe to the catalog, which never changes", async () => {
    const service = await jobService();
    const client = await connect(service.start);
    const unsubscribe = await client.subscribe("faceless://catalog");
    await service.letPollsPass(client);
    await unsubscribe();
    expect(client.updates).toEqual([]);
  });

  test("a client is notified that the list has changed when a video is started", async () => {
    const client = await connect({ args: ["--sandbox"] });
    await client.followList();
    await client.call("generate_video", { topic: "Refused [out_of_credits]" });
    const { structuredContent } = await client.call("generate_video", { topic: "Tides" });
    const uri = String(structuredContent?.["resourceUri"]);
    await expect.poll(client.listChanges).toBe(1);
    const { resources } = await client.raw.listResources();
    expect(resources.map((resource) => resource.uri)).toEqual(["faceless://catalog", uri]);
    await client.call("get_video_status", { jobId: uri.replace(/^.*\//, "") });
    expect({ updates: client.updates, lists: client.listChanges() }).toEqual({ updates: [], lists: 1 });
  });

  test("reading a job that was never fetched and is no longer polled is an error", async () => {
    const service = await jobService();
    service.answer(JOB_ID, UNAUTHORIZED);
    const client = await connect(service.start);
    await client.subscribe(JOB_URI);
    await client.updated(JOB_URI);
    await expect(client.read(JOB_URI)).rejects.toMatchObject({
      message: expect.stringMatching(/API key.*FACELESS_API_KEY/),
    });
  });
});

test.each(TEST_CLIENTS)(
  "%s reads why polling ended, even if the last state is old and can't be fetched again",
  async (_, connect) => {
    // A state that was fetched a few milliseconds ago is old.
    const connectOld = (start: ClientStart) => connect({ ...start, clockSpeed: 10_000 });
    const { service, client } = await setUp(connectOld, processing(1));
    await client.read(JOB_URI);
    service.answer(JOB_ID, UNAUTHORIZED);
    await client.subscribe(JOB_URI);
    await client.updated(JOB_URI);

    expect(await client.read(JOB_URI)).toEqual({
      jobId: JOB_ID,
      done: false,
      ...processing(1),
      followingEnded: "Following ended: the service does not accept the API key.",
    });
  },
);
