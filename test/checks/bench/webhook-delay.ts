// Measures how soon the end of a render is notified when the sandbox delivers webhooks: two processes and real sockets.

import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { freePort } from "../../fixtures/free-port.ts";
import { startRaw } from "../../fixtures/raw-server.ts";
import { type Delays, delaysOf } from "./virtual-world.ts";

const JOBS = 20;
/** The schedule's first poll would come after 12 s. */
const RENDER_SECONDS = 4;
/** Renders seldom end at the same moment. */
const APART_MS = 250;

export interface Deliveries extends Delays {
  readonly max: number;
  readonly requestsPerJob: number;
}

/** Delays in milliseconds. */
export async function measureDeliveries(): Promise<Deliveries> {
  const port = await freePort();
  const sandbox = await startSandbox({
    renderSeconds: RENDER_SECONDS,
    requestsPerMinute: 1_000,
    webhook: { url: `http://127.0.0.1:${port}/` },
  });
  const server = startRaw({
    file: fileURLToPath(new URL("../../../src/cli.ts", import.meta.url)),
    nodeArgs: ["--import", "tsx"],
    env: {
      FACELESS_API_KEY: sandbox.apiKey,
      FACELESS_BASE_URL: sandbox.url,
      FACELESS_WEBHOOK_PORT: String(port),
    },
  });
  try {
    const notifiedMs = new Map<string, number>();
    const allNotified = new Promise<void>((resolve) => {
      server.onMessage((message) => {
        if (typeof message === "string" || message.method !== "notifications/resources/updated") return;
        notifiedMs.set(String(message.params?.["uri"]).replace(/^.*\//, ""), Date.now());
        if (notifiedMs.size === JOBS) resolve();
      });
    });
    await server.open("legacy");
    for (let job = 1; job <= JOBS; job += 1) {
      const { result } = await server.ask("tools/call", {
        name: "generate_video",
        arguments: { topic: `Topic ${job}` },
      });
      const { resourceUri: uri } = Object(result?.["structuredContent"]);
      await server.ask("resources/subscribe", { uri });
      await sleep(APART_MS);
    }
    await allNotified;
    const response = await fetch(`${sandbox.url}/api/v1/videos?limit=${JOBS}`, {
      headers: { Authorization: `Bearer ${sandbox.apiKey}` },
    });
    const { videos } = Object(await response.json());
    const delays = Array.from(videos, (video) => {
      const { jobId, createdAt } = Object(video);
      const endedMs = Date.parse(createdAt) + RENDER_SECONDS * 1000;
      return (notifiedMs.get(jobId) ?? Number.NaN) - endedMs;
    });
    const polls = sandbox.requests().filter(({ path }) => path.includes("/status/"));
    return { ...delaysOf(delays), max: Math.max(...delays), requestsPerJob: polls.length / JOBS };
  } finally {
    server.child.kill("SIGKILL");
    await sandbox.close();
  }
}
