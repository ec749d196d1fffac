// Measures the memory that as many jobs take as may be watched.

import { setTimeout as sleep } from "node:timers/promises";
import { jobIdOf, startSoakService } from "../../fixtures/soak-service.ts";
import { startWithVitals } from "../../fixtures/vitals.ts";

const JOBS = 200;
const POLL_SECONDS = 2;
/** Long enough to poll each job several times. */
const WATCHED_MS = 10_000;
const MEGABYTE = 1024 * 1024;

const ROUNDS = 3;

/** Megabytes of heap after garbage collection. */
interface Memory {
  readonly idle: number;
  readonly watching: number;
}

/** The round with the median growth. Idle means after the first call, when all code is loaded. */
export async function benchWatching(): Promise<Memory> {
  const rounds: Memory[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await watch());
  const byGrowth = rounds.toSorted((a, b) => a.watching - a.idle - (b.watching - b.idle));
  return byGrowth[Math.floor(ROUNDS / 2)] ?? { idle: Number.NaN, watching: Number.NaN };
}

async function watch(): Promise<Memory> {
  const service = await startSoakService();
  const { server, vitals } = startWithVitals({
    env: {
      FACELESS_API_KEY: "fl_bench_0123456789",
      FACELESS_BASE_URL: service.url,
      FACELESS_POLL_SECONDS: String(POLL_SECONDS),
    },
  });
  let updates = 0;
  server.onMessage(() => (updates += 1));
  try {
    await server.open("legacy");
    await server.ask("tools/call", { name: "get_video_status", arguments: { jobId: jobIdOf(1) } });
    const idle = await vitals();
    // Every tenth job is completed: these are the others.
    for (let job = 0; job < JOBS; job += 1) {
      const uri = `faceless://jobs/${jobIdOf(job * 10 + 1)}`;
      const { error } = await server.ask("resources/subscribe", { uri });
      if (error !== undefined) throw new Error(`Not subscribed: ${error.message}`);
    }
    await sleep(WATCHED_MS);
    if (updates < JOBS) throw new Error(`${JOBS} jobs were watched and changed ${updates} times.`);
    const watching = await vitals();
    return { idle: idle.heapUsed / MEGABYTE, watching: watching.heapUsed / MEGABYTE };
  } finally {
    server.child.kill("SIGKILL");
    service.close();
  }
}
