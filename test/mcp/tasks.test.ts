// What waiting for a task costs the service, on a virtual clock with the real poller, schedule and rate limiter.

import { InMemoryTransport, type JSONRPCMessage, McpServer } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import * as z from "zod";
import { waitForEnd } from "../../src/jobs/wait.ts";
import { NOTHING_SAVED } from "../../src/saved-videos/saved-videos.ts";
import { Tasks } from "../../src/mcp/tasks/tasks.ts";
import { createWorld } from "../checks/bench/virtual-world.ts";
import { DURATIONS, seededRandom } from "../fixtures/durations.ts";

const JOBS = 40;
const ASKED_EVERY_MS = 2_000;
const MINUTE_MS = 60_000;
const log = { debug() {}, info() {}, warn() {}, error() {} };

type World = ReturnType<typeof createWorld>;

/** A server with nothing but tasks, and a client that declares them and asks it. */
async function connect({ store, reader, poller, clock }: World) {
  const tasks = new Tasks({
    jobs: store,
    reader,
    poller,
    waitForEnd: (wait) => waitForEnd({ poller, reader, store, clock }, wait),
    savedVideos: NOTHING_SAVED,
    recallJobs: async () => {},
    history: async () => new Map(),
    canPublish: true,
    config: { readOnly: false, sandbox: false },
    log,
  });
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  const asked = new Map<unknown, (answer: unknown) => void>();
  // eslint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's transports have no other way
  clientSide.onmessage = (message: JSONRPCMessage) => {
    if ("id" in message && "result" in message) asked.get(message.id)?.(message.result);
  };
  let serial = 0;
  const ask = (method: string, params: Record<string, unknown>) => {
    const id = (serial += 1);
    const message = { jsonrpc: "2.0" as const, id, method, params };
    tasks.hooks[method]?.inbound?.(message);
    return new Promise<unknown>((resolve) => {
      asked.set(id, resolve);
      void clientSide.send(message);
    });
  };
  const initialize = {
    protocolVersion: "2025-11-25",
    capabilities: { tasks: {} },
    clientInfo: { name: "client", version: "1" },
  };
  // The server is told what the client declares before it is made, as over stdio.
  tasks.hooks["initialize"]?.inbound?.({ jsonrpc: "2.0", id: 0, method: "initialize", params: initialize });
  const server = new McpServer({ name: "server", version: "1" });
  tasks.attach(server, "legacy");
  await server.connect(serverSide);
  await ask("initialize", initialize);
  return { ask };
}

const statusSchema = z.looseObject({ status: z.string() });

/** All requests of `JOBS` jobs, one after the other, each waited for in the same way. */
async function countRequests(wait: (world: World, jobId: string) => Promise<void>): Promise<number> {
  const random = seededRandom(7);
  let requests = 0;
  for (let index = 0; index < JOBS; index += 1) {
    const world = createWorld({ random: seededRandom(index), limitPerMinute: 1_000 });
    const job = world.start(DURATIONS.MIX(random));
    await wait(world, job.jobId);
    await world.clock.runUntil(job.endsMs + MINUTE_MS);
    requests += world.counts.polls + world.counts.reads;
  }
  return requests;
}

test("a client that asks every two seconds costs the service no more than a subscriber", async () => {
  const subscribed = await countRequests(async ({ store, reader }, jobId) => {
    store.on("change", () => {
      if (store.get(jobId)?.job?.done === true) void reader.readRecent(jobId, 5_000, { background: false });
    });
  });
  let answers = 0;
  const ended: string[] = [];

  const asTasks = await countRequests(async (world, jobId) => {
    const { ask } = await connect(world);
    const askAgain = async () => {
      const { status } = statusSchema.parse(await ask("tasks/get", { taskId: jobId }));
      answers += 1;
      if (status === "working") world.clock.after(ASKED_EVERY_MS, () => void askAgain());
      else ended.push(status);
    };
    void askAgain();
  });

  expect(ended).toEqual(Array.from({ length: JOBS }, () => "completed"));
  // About one in three minutes of render.
  expect(answers).toBeGreaterThan(60 * JOBS);
  expect(asTasks / subscribed).toBeGreaterThan(0.95);
  expect(asTasks / subscribed).toBeLessThan(1.05);
});
