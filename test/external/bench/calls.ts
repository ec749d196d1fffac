// Measures get_video_status through the built server and through a minimal SDK server.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type RawServer, startRaw } from "../../fixtures/raw-server.ts";
import { jobIdOf } from "../../fixtures/soak-service.ts";
import { MEASURED, processorTime } from "./processor.ts";
import { inTurns, median } from "./sample.ts";

const ROUNDS = 11;
const JOBS = 200;
const ONE_BY_ONE = 1_000;
const AT_ONCE = 32;
const TOGETHER = 6_000;
const SERVICE = fileURLToPath(new URL("local-service.ts", import.meta.url));
const BARE = { PATH: process.env["PATH"], HOME: process.env["HOME"] };

/** The median of single calls in milliseconds, the calls per second with 32 in flight, and a call's processor time. */
export interface Calls {
  readonly p50Ms: number;
  readonly perSecond: number;
  readonly processorMs: number;
  readonly processorMsAtOnce: number;
}

/** One list of samples for each file, from turns. */
export async function benchCalls(files: readonly string[]): Promise<readonly Calls[][]> {
  const service = spawn(process.execPath, ["--import", "tsx", SERVICE], {
    stdio: ["ignore", "pipe", "inherit"],
    env: BARE,
  });
  const [printed]: unknown[] = await once(service.stdout, "data");
  const url = String(printed).trim();
  const env = { ...BARE, FACELESS_API_KEY: "fl_bench_0123456789", FACELESS_BASE_URL: url };
  const servers = files.map((file) => startRaw({ env, file, ...MEASURED }));
  try {
    for (const each of servers) {
      await each.open("legacy");
      // Clients list the tools before they call one, and schemas may be compiled then.
      await each.ask("tools/list");
    }
    return await inTurns(
      ROUNDS,
      servers.map((server) => () => measure(server)),
    );
  } finally {
    for (const { child } of servers) child.kill();
    service.kill();
  }
}

async function measure(server: RawServer): Promise<Calls> {
  const call = async (jobId: string) => {
    const { result } = await server.ask("tools/call", { name: "get_video_status", arguments: { jobId } });
    if (result?.["structuredContent"] === undefined) throw new Error(`No status. ${JSON.stringify(result)}`);
  };
  // Every tenth job is completed, and a completed job is requested only once.
  const jobs = (count: number) =>
    Array.from({ length: count }, (_, index) => jobIdOf((index % JOBS) * 10 + 1));
  const timesMs: number[] = [];
  const before = await processorTime(server);
  for (const jobId of jobs(ONE_BY_ONE)) {
    const startMs = performance.now();
    await call(jobId);
    timesMs.push(performance.now() - startMs);
  }
  const between = await processorTime(server);
  const waiting = jobs(TOGETHER);
  const startMs = performance.now();
  const work = async () => {
    for (let jobId = waiting.pop(); jobId !== undefined; jobId = waiting.pop()) await call(jobId);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const perSecond = TOGETHER / ((performance.now() - startMs) / 1000);
  const after = await processorTime(server);
  return {
    p50Ms: median(timesMs),
    perSecond,
    processorMs: (between.total - before.total) / ONE_BY_ONE,
    processorMsAtOnce: (after.total - between.total) / TOGETHER,
  };
}
