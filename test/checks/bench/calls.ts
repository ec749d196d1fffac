// Measures get_video_status through the built server and through the least one that the SDK allows, and the
// same request sent directly.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Agent, request } from "undici";
import { type RawServer, startRaw } from "../../fixtures/raw-server.ts";
import { jobIdOf } from "../../fixtures/soak-service.ts";
import { compare, inTurns, median } from "./sample.ts";

const ROUNDS = 11;
const JOBS = 200;
const ONE_BY_ONE = 1_000;
const AT_ONCE = 32;
const TOGETHER = 6_000;
const KEY = "fl_bench_0123456789";
const SDK_SERVER = fileURLToPath(new URL("sdk-server.ts", import.meta.url));
const SERVICE = fileURLToPath(new URL("local-service.ts", import.meta.url));
const BARE = { PATH: process.env["PATH"], HOME: process.env["HOME"] };

/** The median of single calls in milliseconds, and the calls per second with 32 in flight. */
interface Calls {
  readonly p50Ms: number;
  readonly perSecond: number;
}

export async function benchCalls() {
  const service = spawn(process.execPath, ["--import", "tsx", SERVICE], {
    stdio: ["ignore", "pipe", "inherit"],
    env: BARE,
  });
  const [printed]: unknown[] = await once(service.stdout, "data");
  const url = String(printed).trim();
  const env = { ...BARE, FACELESS_API_KEY: KEY, FACELESS_BASE_URL: url };
  const server = startRaw({ env });
  const least = startRaw({ env, nodeArgs: ["--import", "tsx"], file: SDK_SERVER });
  const agent = new Agent();
  const headers = { authorization: `Bearer ${KEY}` };

  const direct = async (jobId: string) => {
    const { body } = await request(`${url}/api/v1/status/${jobId}`, { dispatcher: agent, headers });
    if (Reflect.get(Object(await body.json()), "status") !== "processing") throw new Error("No status.");
  };
  const through = (raw: RawServer) => async (jobId: string) => {
    const { result } = await raw.ask("tools/call", { name: "get_video_status", arguments: { jobId } });
    if (result?.["structuredContent"] === undefined) throw new Error(`No status. ${JSON.stringify(result)}`);
  };
  try {
    await server.open("legacy");
    await least.open("legacy");
    const calls = [direct, through(server), through(least)];
    const [base = [], ours = [], leasts = []] = await inTurns(
      ROUNDS,
      calls.map((call) => () => measure(call)),
    );
    const compareCalls = (others: readonly Calls[]) => ({
      p50Ms: compare(base, others, ({ p50Ms }) => p50Ms),
      perSecond: compare(base, others, ({ perSecond }) => perSecond),
    });
    return { ours: compareCalls(ours), least: compareCalls(leasts) };
  } finally {
    server.child.kill();
    least.child.kill();
    service.kill();
    await agent.close();
  }
}

async function measure(call: (jobId: string) => Promise<void>): Promise<Calls> {
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
