// Waits in a call for a job to end, up to a given time. Ending the wait never ends the job.

import type { Job } from "../service/schemas.ts";
import type { Clock } from "./clock.ts";
import type { JobReader } from "./job-reader.ts";
import type { JobStore } from "./job-store.ts";
import type { Poller } from "./poller.ts";

export interface Wait {
  /** The job as it stands now. */
  readonly job: Job;
  readonly forMs: number;
  readonly signal: AbortSignal;
  /** Called with each change meanwhile, the end included. */
  readonly onChange: (job: Job) => void;
}

export interface WaitOptions {
  readonly poller: Poller;
  readonly reader: JobReader;
  readonly store: JobStore;
  readonly clock: Clock;
}

/** The last look at the job comes on top of the wait, and the client's patience is not much longer than that. */
const LAST_LOOK_MS = 3_000;
/** A poll that is no older than this serves as the last look. */
const FRESH_MS = 500;

/**
 * The job when it has ended, or as it stands when the time is over, the signal fires or the job is no longer polled. Never rejects:
 * where the last look fails, the last known state is the answer.
 */
export async function waitForEnd(options: WaitOptions, wait: Wait): Promise<Job> {
  const { store } = options;
  const { job, forMs, signal } = wait;
  const latest = () => store.get(job.jobId)?.job ?? job;
  if (job.done || forMs <= 0 || signal.aborted) return job;
  const reason = latest().done ? "ended" : await waitForReason(options, wait, latest);
  if (reason !== "given up" && !signal.aborted) await lookOnce(options, wait, reason);
  return latest();
}

/** Why the waiting is over. Given up: the call was cancelled, or the job is not polled. */
type Reason = "ended" | "timed out" | "given up";

async function waitForReason(
  { poller, store, clock }: WaitOptions,
  { job: { jobId }, forMs, signal, onChange }: Wait,
  latest: () => Job,
): Promise<Reason> {
  let resolve: (reason: Reason) => void = () => {};
  const reason = new Promise<Reason>((resolveReason) => (resolve = resolveReason));
  const cancelTimer = clock.after(forMs, () => resolve("timed out"));
  const abort = () => resolve("given up");
  signal.addEventListener("abort", abort, { once: true });
  const unsubscribe = store.changes.on((changed) => {
    if (changed !== jobId) return;
    if (latest().done) resolve("ended");
    else if (store.get(jobId)?.watchEnded !== undefined) resolve("given up");
    onChange(latest());
  });
  let unwatch = () => {};
  try {
    unwatch = poller.watch(jobId);
    return await reason;
  } catch {
    // Too many jobs are watched.
    return "given up";
  } finally {
    cancelTimer();
    signal.removeEventListener("abort", abort);
    unsubscribe();
    unwatch();
  }
}

/** Updates the store with what the service says now, or with the final video of a job that has ended. */
async function lookOnce(
  { reader, clock }: WaitOptions,
  { job: { jobId }, signal }: Wait,
  reason: Reason,
): Promise<void> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  signal.addEventListener("abort", abort, { once: true });
  const cancelTimer = clock.after(LAST_LOOK_MS, abort);
  try {
    const maxAgeMs = reason === "ended" ? Infinity : FRESH_MS;
    await reader.readRecent(jobId, maxAgeMs, { background: false, signal: controller.signal });
  } catch {
    // What is known already has to do.
  } finally {
    cancelTimer();
    signal.removeEventListener("abort", abort);
  }
}
