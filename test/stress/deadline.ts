// Stress test: how long the built file waits for a service that accepts every connection and never answers. Prints one row per tool
// as JSON, and fails if a call takes longer than 45 s, or if a paid or public one reports anything but an unknown outcome.

import * as z from "zod";
import { startScriptedService } from "../fixtures/scripted-service.ts";
import { startRaw } from "../fixtures/raw-server.ts";

const LIMIT_SECONDS = 45;
const JOB = "0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";
const failure = z.object({ _meta: z.object({ "faceless/error": z.object({ outcome: z.string() }) }) });
const CALLS = [
  { tool: "generate_video", args: { topic: "Why cats knead" }, paid: true },
  { tool: "publish_video", args: { jobId: JOB, platforms: ["tiktok"] }, paid: true },
  { tool: "get_video_status", args: { jobId: JOB }, paid: false },
] as const;

await using silent = await startScriptedService({
  "POST /api/v1/generate": "hang",
  "POST /api/v1/publish": "hang",
  [`GET /api/v1/status/${JOB}`]: "hang",
  "GET /api/v1/videos": "hang",
});
const server = startRaw({
  env: {
    FACELESS_BASE_URL: silent.url,
    FACELESS_API_KEY: "fl_example",
    FACELESS_LOG_LEVEL: "silent",
  },
});
await server.open("legacy");

const rows = await Promise.all(
  CALLS.map(async ({ tool, args, paid }) => {
    const startMs = performance.now();
    // The timer only fires if the promise is broken.
    const answer = await Promise.race([
      server.ask("tools/call", { name: tool, arguments: args }),
      server.ended.then(() => undefined),
      after(LIMIT_SECONDS + 5),
    ]);
    const seconds = Math.round((performance.now() - startMs) / 100) / 10;
    const outcome = outcomeOf(answer?.result);
    const isRight = paid ? outcome === "unknown" : outcome !== undefined;
    return { tool, seconds, outcome, met: seconds <= LIMIT_SECONDS && isRight };
  }),
);
server.child.kill("SIGKILL");
await server.ended;

const met = rows.every((row) => row.met);
process.stdout.write(`${JSON.stringify({ rows, met }, undefined, 2)}\n`);
process.exitCode = met ? 0 : 1;

function outcomeOf(result: unknown): unknown {
  const parsed = failure.safeParse(result);
  return parsed.success ? parsed.data._meta["faceless/error"].outcome : undefined;
}

function after(seconds: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), seconds * 1000).unref());
}
