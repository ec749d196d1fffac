// A service with jobs whose states a test changes, for servers that poll them quickly.

import { expect } from "vitest";
import { GENERATE, JOB_ID, KEY, OTHER_JOB_ID, VIDEOS } from "../fixtures/constants.ts";
import type { ClientStart, TestClient } from "../fixtures/clients.ts";
import { envelope, type Reply, scriptedService } from "../fixtures/scripted-service.ts";

/** With so many of three clips ready. */
export const processing = (completed = 0) => ({
  status: "processing",
  videoUrls: Array.from({ length: completed }, (_, index) => `https://cdn.example/${index + 1}.mp4`),
  progress: { total: 3, completed, failed: 0 },
});
export const completed = {
  ...processing(3),
  status: "completed",
  finalVideoUrl: "https://cdn.example/final.mp4",
};
export const UNAUTHORIZED = envelope(401, "unauthorized", "Who are you?");

const CLOCK = "cccccccc-0000-4000-8000-000000000003";

/** Seconds between polls of a server in this process. The setting of the built file allows 0.1 or more. */
const POLL_SECONDS = 0.02;

/** `start` is how a server for it is started, with this environment besides. */
export async function jobService(pollSeconds = POLL_SECONDS, env: Readonly<Record<string, string>> = {}) {
  const rest = await scriptedService({ [VIDEOS]: { json: { videos: [] } } });
  const replies = new Map<string, Reply>();
  const answer = (jobId: string, reply: Reply) => {
    replies.set(jobId, reply);
    rest.on(`GET /api/v1/status/${jobId}`, () => replies.get(jobId) ?? reply);
  };
  const polls = (jobId: string) => rest.lines(`GET /api/v1/status/${jobId}`).length;
  const polled = async (jobId: string, times = 1) => {
    const before = polls(jobId);
    await expect.poll(() => polls(jobId)).toBeGreaterThanOrEqual(before + times);
  };
  return {
    rest,
    start: {
      pollSeconds,
      env: {
        FACELESS_API_KEY: KEY,
        FACELESS_BASE_URL: rest.url,
        FACELESS_POLL_SECONDS: String(Math.max(0.1, pollSeconds)),
        ...env,
      },
    },
    /** What the status of this job is from now on. */
    become: (jobId: string, json: object) => answer(jobId, { json }),
    /** How each request for the status of this job is answered from now on. */
    answer,
    /** Requests for the status of this job so far. */
    polls,
    /** Resolves after so many more of them. */
    polled,
    /** Resolves after several polls of another job: all earlier polls and notifications are over by then. */
    async letPollsPass({ subscribe }: Pick<TestClient, "subscribe">) {
      answer(CLOCK, { json: processing() });
      const stop = await subscribe(`faceless://jobs/${CLOCK}`);
      await polled(CLOCK, 3);
      await stop();
    },
  };
}

/** The service with one job, and a client of a server for it. */
export async function setUp<Client>(
  connect: (start: ClientStart) => Promise<Client>,
  json: object,
  pollSeconds?: number,
) {
  const service = await jobService(pollSeconds);
  service.become(JOB_ID, json);
  return { service, client: await connect(service.start) };
}

/** The same service, which starts one job and then the other. */
export async function startingService(...options: Parameters<typeof jobService>) {
  const service = await jobService(...options);
  const started = (jobId: string) => ({ json: { jobId, status: "processing" } });
  service.rest.on(GENERATE, [JOB_ID, OTHER_JOB_ID].map(started));
  for (const jobId of [JOB_ID, OTHER_JOB_ID]) service.become(jobId, processing(1));
  return service;
}

/** That service, and a client of a server for it. */
export async function setUpStarting<Client>(
  connect: (start: ClientStart) => Promise<Client>,
  ...options: Parameters<typeof jobService>
) {
  const service = await startingService(...options);
  return { service, client: await connect(service.start) };
}
