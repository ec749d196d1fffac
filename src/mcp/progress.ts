// notifications/progress of a call that waits for a job or for the user, for a client that sent a progressToken.

import type { ServerContext } from "@modelcontextprotocol/server";
import { pause, repeat } from "../clock.ts";
import type { Wait } from "../jobs/wait.ts";
import type { Job } from "../service/responses.ts";
import { describeProgress } from "../tools/describe.ts";
import type { Application } from "./application.ts";

/** The step for a change without a new clip, smaller than a clip's: progress must grow every time. */
const SMALL_STEP = 0.01;
const MAX_SILENCE_MS = 15_000;
/** A client that gets the last notification together with the result mistakes it for one of an unknown call. */
const BEFORE_RESULT_MS = 50;

type McpRequest = Pick<ServerContext["mcpReq"], "_meta" | "notify">;

/** Waits for a job as the application does, and notifies the client meanwhile. */
export async function waitWithProgress(
  { waitForEnd, clock }: Pick<Application, "waitForEnd" | "clock">,
  progress: Progress,
  wait: Omit<Wait, "onChange">,
): Promise<Job> {
  if (wait.job.done) return wait.job;
  let latest = wait.job;
  const onChange = (changed: Job) => {
    latest = changed;
    if (!changed.done) void progress.notify(changed);
  };
  onChange(latest);
  // Some clients give up on a call that is silent for long.
  const stop = repeat(clock, MAX_SILENCE_MS, () => onChange(latest));
  const job = await waitForEnd({ ...wait, onChange }).finally(stop);
  if (job.done && (await progress.notify(job))) await pause(clock, BEFORE_RESULT_MS);
  return job;
}

/** The progress of one request, which must grow with each notification. */
export class Progress {
  readonly #request: McpRequest;
  #last = -SMALL_STEP;

  constructor(request: McpRequest) {
    this.#request = request;
  }

  /**
   * Notifies the client of how far the job is: one step per clip, and one for the end. Without a job, the call waits
   * for the user. False if the client is not notified.
   */
  async notify(job?: Job): Promise<boolean> {
    const { _meta, notify } = this.#request;
    const progressToken = _meta?.progressToken;
    if (progressToken === undefined) return false;
    const { completed = 0, failed = 0, total = Infinity } = job?.progress ?? {};
    const end = total + 1;
    const isEnd = job?.done === true;
    const finished = isEnd && end < Infinity ? end : completed + failed;
    const progress = finished > this.#last ? finished : this.#last + SMALL_STEP;
    // The last step is reserved for the end.
    if (progress > (isEnd ? end : end - SMALL_STEP)) return false;
    this.#last = progress;
    const message = job === undefined ? "Waiting for the user's answer." : describeProgress(job);
    const params = { progressToken, progress, ...(end < Infinity && { total: end }), message };
    await notify({ method: "notifications/progress", params }).catch(() => {});
    return true;
  }
}
