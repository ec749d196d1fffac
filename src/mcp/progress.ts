// notifications/progress of a call that waits for a job, for a client that sent a progressToken.

import type { ServerContext } from "@modelcontextprotocol/server";
import type { Job } from "../service/schemas.ts";

/** Less than a clip: the step of a change without a new clip, since progress must grow with every notification. */
const SMALL_STEP = 0.01;

type McpRequest = Pick<ServerContext["mcpReq"], "_meta" | "notify">;

export class ProgressReporter {
  readonly #request: McpRequest;
  readonly #describe: (job: Job) => string;
  #lastProgress = -SMALL_STEP;

  constructor(request: McpRequest, describe: (job: Job) => string) {
    this.#request = request;
    this.#describe = describe;
  }

  /** Notifies the client, if it asked for that, of a job that is still running. */
  report(job: Job): void {
    const { _meta, notify } = this.#request;
    const progressToken = _meta?.progressToken;
    // The end is in the result, and a client drops a notification that arrives together with it as one of an unknown call.
    if (progressToken === undefined || job.done) return;
    const { completed = 0, failed = 0, total } = job.progress ?? {};
    const finished = completed + failed;
    const progress = finished > this.#lastProgress ? finished : this.#lastProgress + SMALL_STEP;
    if (total !== undefined && progress > total) return;
    this.#lastProgress = progress;
    const params = {
      progressToken,
      progress,
      ...(total !== undefined && { total }),
      message: this.#describe(job),
    };
    // A client that has left needs no progress.
    notify({ method: "notifications/progress", params }).catch(() => {});
  }
}
