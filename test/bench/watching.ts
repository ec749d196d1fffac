// What a thousand watched jobs cost in memory.

import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { jobIdOf, startSoakService } from "../fixtures/soak-service.ts";
import { startWithVitals } from "../fixtures/vitals.ts";

const JOBS = 1_000;
const POLL_SECONDS = 2;
/** Until each was polled several times. */
const WATCHED_MS = 10_000;
const MEGABYTE = 1024 * 1024;

/** Megabytes resident, both after garbage collection; idle is after the first call, when all code is loaded. */
export async function benchWatching(): Promise<{ idle: number; watching: number; updates: number }> {
  const service = await startSoakService();
  const { server, vitals } = startWithVitals({
    file: fileURLToPath(new URL("watching-server.ts", import.meta.url)),
    nodeArgs: ["--import", "tsx"],
    env: {
      FACELESS_API_KEY: "fl_bench_0123456789",
      FACELESS_BASE_URL: service.url,
      FACELESS_POLL_SECONDS: String(POLL_SECONDS),
    },
  });
  let updates = 0;
  server.hear(() => (updates += 1));
  try {
    await server.open("old");
    await server.ask("tools/call", { name: "get_video_status", arguments: { jobId: jobIdOf(1) } });
    const idle = await vitals();
    // None of those that the service calls done.
    for (let job = 0; job < JOBS; job += 1)
      await server.ask("resources/subscribe", { uri: `faceless://jobs/${jobIdOf(job * 10 + 1)}` });
    await sleep(WATCHED_MS);
    const watching = await vitals();
    return { idle: idle.rss / MEGABYTE, watching: watching.rss / MEGABYTE, updates };
  } finally {
    server.child.kill("SIGKILL");
    service.close();
  }
}
