// get_video_status with waitSeconds as real clients of both protocols see it.

import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  type CallOptions,
  factsOf,
  type Progress,
  TEST_CLIENTS,
  type TestClient,
  textOf,
} from "../fixtures/clients.ts";
import { JOB_ID, OTHER_JOB_ID } from "../fixtures/constants.ts";
import { envelope, type Reply } from "../fixtures/scripted-service.ts";
import { completed, jobService, processing } from "./job-service.ts";

const ended = { jobId: JOB_ID, done: true, ...completed };

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

/** What the client's SDK can't make sense of: its errors, and methods of notifications without a handler. */
function recordStrays({ raw }: TestClient) {
  const errors: Error[] = [];
  const strays: string[] = [];
  // eslint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's clients have no other way
  raw.onerror = (error) => errors.push(error);
  raw.fallbackNotificationHandler = async ({ method }) => void strays.push(method);
  return { errors, strays };
}

describe.each(TEST_CLIENTS)("With %s", (_, connect) => {
  /** A client of a server whose service has this job. */
  async function setUp(first: Reply, pollSeconds?: number) {
    const service = await jobService(pollSeconds);
    service.answer(JOB_ID, first);
    service.become(OTHER_JOB_ID, processing());
    const client = await connect(service.start);
    const { errors, strays } = recordStrays(client);
    const wait = (args: Record<string, unknown> = {}, options?: CallOptions) =>
      client.call("get_video_status", { jobId: JOB_ID, ...args }, options);
    return { service, client, wait, errors, strays };
  }

  test("a call is answered immediately if the job has ended, whatever waitSeconds is", async () => {
    const { service, wait, errors } = await setUp({ json: completed }, 3600);
    const notified: Progress[] = [];

    const result = await wait({ waitSeconds: 50 }, { onprogress: (one) => notified.push(one) });

    expect(factsOf(result.structuredContent)).toEqual(ended);
    expect({ polls: service.polls(JOB_ID), notified, errors }).toEqual({
      polls: 1,
      notified: [],
      errors: [],
    });
  });

  test("a call gets progress for each change, and the answer when the job ends", async () => {
    const { service, wait, errors } = await setUp({ json: processing() });
    const notified: Progress[] = [];
    const result = wait({ waitSeconds: 50 }, { onprogress: (one) => notified.push(one) });
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
    const answer = await result;

    expect(factsOf(answer.structuredContent)).toEqual(ended);
    expect(textOf(answer)).toMatch(
      /^Your video is ready: https:\/\/cdn\.example\/final\.mp4 .*Show the user/,
    );
    expect([...notified, ...lateProgress(errors)]).toEqual([
      { progress: 0, total: 4, message: "0 of 3 clips" },
      { progress: 1, total: 4, message: "1 of 3 clips" },
      { progress: 1.01, total: 4, message: "1 of 3 clips" },
      { progress: 2, total: 4, message: "1 of 3 clips, 1 failed" },
      { progress: 4, total: 4, message: "Ready: 3 clips" },
    ]);
  });

  test.each([
    [401, "Following ended: the service does not accept the API key."],
    [404, "Following ended. The service knows no job with this jobId."],
  ])(
    "a call gets the last known state, and why the wait is over, once HTTP %i ends it",
    async (status, followingEnded) => {
      const { service, wait } = await setUp({ json: processing(1) });
      const result = wait({ waitSeconds: 50 });
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

  test("a cancelled call ends the polling, and the job goes on", async () => {
    const { service, client, wait, errors, strays } = await setUp({ json: processing() });
    const caller = new AbortController();
    const notified: Progress[] = [];
    const call = wait(
      { waitSeconds: 50 },
      { signal: caller.signal, onprogress: (one) => notified.push(one) },
    );
    const outcome = call.catch((error: unknown) => error);
    await service.polled(JOB_ID, 2);
    caller.abort("enough");
    expect(await outcome).toBeInstanceOf(Error);
    // The answer to another call shows that the cancellation was received.
    await wait({ jobId: OTHER_JOB_ID });
    const polls = service.polls(JOB_ID);
    await service.letPollsPass(client);

    expect(service.polls(JOB_ID)).toBe(polls);
    expect(new Set(service.rest.requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
    expect(notified).toHaveLength(1);
    expect({ errors, strays }).toEqual({ errors: [], strays: [] });
    service.become(JOB_ID, completed);
    expect(factsOf((await wait({ waitSeconds: 50 })).structuredContent)).toEqual(ended);
  });
});
