// A team on one key: twelve server processes share an account's rate limit without knowing of each other.

import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { BUILT_FILE, connectLegacy, type TestClient } from "../../fixtures/clients.ts";
import { temporaryFolder } from "../../fixtures/folder.ts";

const PROCESSES = 12;
const RENDER_SECONDS = 60;
/** Requests that the service may refuse in all. */
const MAX_REFUSED = 5;

type LegacyClient = Awaited<ReturnType<typeof connectLegacy>>;

const startedSchema = z.looseObject({ jobId: z.string(), resourceUri: z.string() });
type Started = z.infer<typeof startedSchema>;
const jobSchema = z.looseObject({ jobId: z.string(), status: z.string(), done: z.boolean() });
/** Node.js' message about each answer of the sandbox. */
const answeredSchema = z.object({
  request: z.object({ url: z.string() }),
  response: z.object({ statusCode: z.number() }),
});
type Sent = z.infer<typeof answeredSchema>;
const errorSchema = z.looseObject({
  retryable: z.boolean(),
  retryAfterSeconds: z.number().optional(),
});

test("twelve processes on one key pay for each video once, with five 429 at most", async () => {
  const { clients, sent } = await startProcesses();
  const ended = await Promise.all(
    clients.map(async (client, index) => {
      const started = await Promise.all(
        [1, 2, 3].map(async (job) => {
          const topic = `Topic ${job} of process ${index}`;
          return startedSchema.parse(await call(client, "generate_video", { topic }));
        }),
      );
      return index % 2 === 0 ? subscribeToAll(client, started) : waitForAll(client, started);
    }),
  );
  const refused = sent.filter(({ response }) => response.statusCode === 429).length;
  const completed = ended.flat().filter(({ status }) => status === "completed");
  expect(new Set(completed.map(({ jobId }) => jobId)).size).toBe(36);
  const paid = sent.filter(
    ({ request, response }) => request.url === "/api/v1/generate" && response.statusCode < 300,
  );
  expect(paid).toHaveLength(36);
  expect(refused).toBeLessThanOrEqual(MAX_REFUSED);
});

/** All run on one computer, so they share a journal. */
async function startProcesses(): Promise<{ clients: LegacyClient[]; sent: readonly Sent[] }> {
  const sent: Sent[] = [];
  const record = (message: unknown) => sent.push(answeredSchema.parse(message));
  subscribe("http.server.response.finish", record);
  const sandbox = await startSandbox({ renderSeconds: RENDER_SECONDS, credits: 1_000 });
  onTestFinished(async () => {
    await sandbox.close();
    unsubscribe("http.server.response.finish", record);
  });
  const env = {
    FACELESS_API_KEY: sandbox.apiKey,
    FACELESS_BASE_URL: sandbox.url,
    FACELESS_STATE_DIR: temporaryFolder(),
  };
  return {
    sent,
    clients: await Promise.all(
      Array.from({ length: PROCESSES }, () => connectLegacy({ file: BUILT_FILE, env })),
    ),
  };
}

/** Reads each job again whenever its client is told of a change, until it has ended. */
async function subscribeToAll(client: LegacyClient, started: readonly Started[]) {
  const ended = new Map<string, z.infer<typeof jobSchema>>();
  await new Promise<void>((resolve, reject) => {
    client.raw.setNotificationHandler(ResourceUpdatedNotificationSchema, async ({ params: { uri } }) => {
      const [contents] = (await client.raw.readResource({ uri })).contents;
      const job = jobSchema.parse(JSON.parse(z.object({ text: z.string() }).parse(contents).text));
      if (job.done) ended.set(uri, job);
      if (ended.size === started.length) resolve();
    });
    const subscriptions = started.map(({ resourceUri: uri }) => client.raw.subscribeResource({ uri }));
    Promise.all(subscriptions).catch(reject);
  });
  return [...ended.values()];
}

function waitForAll(client: LegacyClient, started: readonly Started[]) {
  return Promise.all(
    started.map(async ({ jobId }) => {
      for (;;) {
        // eslint-disable-next-line no-await-in-loop -- each wait follows the one before
        const job = jobSchema.parse(await call(client, "get_video_status", { jobId, waitSeconds: 50 }));
        if (job.done) return job;
      }
    }),
  );
}

/** Calls again after an error that is safe to repeat, such as `in_progress`, until it succeeds. */
async function call(
  client: TestClient,
  name: string,
  values: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  for (;;) {
    // eslint-disable-next-line no-await-in-loop -- the next attempt follows the one before
    const result = await client.call(name, values);
    if (result.isError !== true) return { ...result.structuredContent };
    const { retryable, retryAfterSeconds } = errorSchema.parse(result._meta?.["faceless/error"]);
    if (!retryable) throw new Error(JSON.stringify(result.content));
    // eslint-disable-next-line no-await-in-loop -- as the answer says
    await sleep(1_000 * (retryAfterSeconds ?? 1));
  }
}
