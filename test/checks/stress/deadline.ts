// How long the built file waits for a service that accepts every connection and never answers.

import * as z from "zod";
import { GENERATE, JOB_ID, ON_TIKTOK, PUBLISH, STATUS, TIDES, VIDEOS } from "../../fixtures/constants.ts";
import { startRaw } from "../../fixtures/raw-server.ts";
import { startScriptedService } from "../../fixtures/scripted-service.ts";

const LIMIT_SECONDS = 45;
const failureSchema = z.object({ _meta: z.object({ "faceless/error": z.object({ outcome: z.string() }) }) });
const CALLS = { generate_video: TIDES, publish_video: ON_TIKTOK, get_video_status: { jobId: JOB_ID } };
const ROUTES = [GENERATE, PUBLISH, STATUS, VIDEOS];

export async function deadline() {
  await using silent = await startScriptedService(Object.fromEntries(ROUTES.map((route) => [route, "hang"])));
  const server = startRaw({ env: { FACELESS_BASE_URL: silent.url, FACELESS_API_KEY: "fl_example" } });
  await server.open("legacy");
  // Ends a call that breaks the promise.
  const timer = setTimeout(() => server.child.kill("SIGKILL"), (LIMIT_SECONDS + 5) * 1000);
  const rows = Object.entries(CALLS).map(async ([tool, args]) => {
    const startMs = performance.now();
    const asked = server.ask("tools/call", { name: tool, arguments: args });
    const answer = await Promise.race([asked, server.ended.then(() => ({ result: undefined }))]);
    const seconds = Math.round((performance.now() - startMs) / 100) / 10;
    const outcome = failureSchema.safeParse(answer.result).data?._meta["faceless/error"].outcome;
    return {
      test: `${tool} at a service that never answers`,
      promised: `ends within ${LIMIT_SECONDS} s and reports the outcome`,
      measured: `${seconds} s, ${outcome ?? "no outcome"}`,
      met: seconds <= LIMIT_SECONDS && outcome === "unknown",
    };
  });
  try {
    return await Promise.all(rows);
  } finally {
    clearTimeout(timer);
    server.child.kill("SIGKILL");
  }
}
