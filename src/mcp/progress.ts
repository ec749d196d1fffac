// notifications/progress of a call that waits for a job, for a client that sent a progressToken.

import type { ServerContext } from "@modelcontextprotocol/server";
import type { Job } from "../service/schemas.ts";

/** Less than a clip: what a change without a new clip counts, since progress must grow with every notification. */
const SMALL_STEP = 0.01;

export function createProgressReport(
  { _meta, notify }: Pick<ServerContext["mcpReq"], "_meta" | "notify">,
  describe: (job: Job) => string,
): (job: Job) => void {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return () => {};
  let last = -SMALL_STEP;
  return (job) => {
    // The answer says that, and clients drop a notification that comes together with it as one of an unknown call.
    if (job.done) return;
    const { completed = 0, failed = 0, total } = job.progress ?? {};
    const counted = completed + failed;
    const next = counted > last ? counted : last + SMALL_STEP;
    // It can't grow past the whole.
    if (total !== undefined && next > total) return;
    last = next;
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
