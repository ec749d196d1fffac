// After a generation of which nobody knows what became: the newest jobs that could be it.

import { BridgeError } from "../errors.ts";
import type { Video } from "../service/schemas.ts";
import { cleanServiceText } from "../text.ts";
import type { ToolContext } from "./tool.ts";

// A call has 45 s in all, and the request itself may have taken 38 of them.
const LOOK_DEADLINE_MS = 5_000;
const MOST_CANDIDATES = 5;

/** What `send` gives back; an error with outcome `unknown` comes with the jobs that were not there before. */
export async function withCandidates<Result>(
  { service, jobs }: Pick<ToolContext, "service" | "jobs">,
  send: () => Promise<Result>,
): Promise<Result> {
  const before = new Set(jobs.recent(Infinity).map(({ jobId }) => jobId));
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof BridgeError) || error.facts.outcome !== "unknown") throw error;
    const found = await service.listVideos({}, { deadlineMs: LOOK_DEADLINE_MS }).then(
      ({ videos }) => {
        jobs.list(videos, true);
        return describe(videos.filter(({ jobId }) => !before.has(jobId)));
      },
      () => "The newest jobs could not be listed just now.",
    );
    throw new BridgeError({ ...error.facts, nextStep: `${found} ${error.facts.nextStep}` }, error);
  }
}

function describe(videos: readonly Video[]): string {
  if (videos.length === 0) return "No job has appeared so far that could be it.";
  const jobs = videos
    .slice(0, MOST_CANDIDATES)
    .map(({ jobId, status }) => `${cleanServiceText(jobId, 60)} (${cleanServiceText(status, 40)})`);
  return `The newest jobs that could be it: ${jobs.join(", ")}.`;
}
