// Measures get_video_status through the built server and through a minimal one of the SDK.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type RawServer, startRaw } from "../../fixtures/raw-server.ts";
import { jobIdOf } from "../../fixtures/soak-service.ts";
import { compare, inTurns, median } from "./sample.ts";

const ROUNDS = 11;
const JOBS = 200;
const ONE_BY_ONE = 1_000;
const AT_ONCE = 32;
const TOGETHER = 6_000;
const SERVICE = fileURLToPath(new URL("local-service.ts", import.meta.url));
const BARE = { PATH: process.env["PATH"], HOME: process.env["HOME"] };

/** The median of single calls in milliseconds, and the calls per second with 32 in flight. */
interface Calls {
  readonly p50Ms: number;
  readonly perSecond: number;
}

export async function benchCalls(sdkServer: string) {
  const service = spawn(process.execPath, ["--import", "tsx", SERVICE], {
    stdio: ["ignore", "pipe", "inherit"],
    env: BARE,
  });
  const [printed]: unknown[] = await once(service.stdout, "data");
  const url = String(printed).trim();
  const env = { ...BARE, FACELESS_API_KEY: "fl_bench_0123456789", FACELESS_BASE_URL: url };
  const server = startRaw({ env });
  const minimal = startRaw({ env, file: sdkServer });
  try {
    for (const each of [minimal, server]) {
      await each.open("legacy");
      // Clients list the tools before they call one, and schemas may be compiled then.
      await each.ask("tools/list");
    }
    const [base = [], ours = []] = await inTurns(ROUNDS, [() => measure(minimal), () => measure(server)]);
    return {
      p50Ms: compare(base, ours, ({ p50Ms }) => p50Ms),
      perSecond: compare(base, ours, ({ perSecond }) => perSecond),
    };
  } finally {
    server.child.kill();
    minimal.child.kill();
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
  for (const jobId of jobs(ONE_BY_ONE)) {
    const startMs = performance.now();
    await call(jobId);
    timesMs.push(performance.now() - startMs);
  }
  const waiting = jobs(TOGETHER);
  const startMs = performance.now();
  const work = async () => {
    for (let jobId = waiting.pop(); jobId !== undefined; jobId = waiting.pop()) await call(jobId);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { p50Ms: median(timesMs), perSecond: TOGETHER / ((performance.now() - startMs) / 1000) };
}
