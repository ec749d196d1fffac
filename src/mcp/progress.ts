// notifications/progress of a call that waits for a job, for a client that sent a progressToken.

import type { ServerContext } from "@modelcontextprotocol/server";
import type { Job } from "../service/schemas.ts";

/** Less than a clip: what a change without a new clip counts, since progress must grow with every notification. */
const SMALL_STEP = 0.01;

export function createProgressReport(
  { _meta, notify }: ServerContext["mcpReq"],
  describe: (job: Job) => string,
): (job: Job) => void {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return () => {};
  let last = -SMALL_STEP;
  return (job) => {
    const { completed = 0, failed = 0, total } = job.progress ?? {};
    const counted = job.done && total !== undefined ? total : completed + failed;
    last = counted > last ? counted : last + SMALL_STEP;
    const params = {
      progressToken,
      progress: last,
      ...(total !== undefined && { total }),
      message: describe(job),
    };
    // Whoever left hears no more of it.
    notify({ method: "notifications/progress", params }).catch(() => {});
  };
}
