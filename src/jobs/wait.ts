// Waits in a call for a job to end, for so long and no longer. Ending the wait never ends the job.

import type { Job } from "../service/schemas.ts";
import type { Clock } from "./clock.ts";
import type { JobStore } from "./job-store.ts";
import type { Watcher } from "./poller.ts";

export interface Wait {
  /** The job as it stands now. */
  readonly job: Job;
  readonly forMs: number;
  readonly signal: AbortSignal;
  /** Hears of each change meanwhile, the end included. */
  readonly onChange: (job: Job) => void;
}

export interface WaitOptions {
  readonly watcher: Watcher;
  readonly store: JobStore;
  readonly clock: Clock;
}

/** The job when it has ended, or as it stands when the time is over, the signal fires or nobody watches it any longer. */
export async function waitForEnd({ watcher, store, clock }: WaitOptions, wait: Wait): Promise<Job> {
  const { job, forMs, signal, onChange } = wait;
  const { jobId } = job;
  if (job.done || forMs <= 0 || signal.aborted) return job;
  const latest = () => store.get(jobId)?.job ?? job;
  if (latest().done) return latest();
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const cancelTimer = clock.after(forMs, end);
  const stopHearing = store.changes.listen((changed) => {
    if (changed !== jobId) return;
    if (latest().done || store.get(jobId)?.watchEnded !== undefined) end();
    onChange(latest());
  });
  signal.addEventListener("abort", end, { once: true });
  let unwatch = () => {};
  try {
    unwatch = watcher.watch(jobId, { awaited: true });
    await ended;
  } catch {
    // Too many are watched: the job as it stands is the answer.
  } finally {
    cancelTimer();
    stopHearing();
    unwatch();
    signal.removeEventListener("abort", end);
  }
  return latest();
}
