// Waits in a call for a job to end, up to a given time. Ending the wait never ends the job.

import type { Job } from "../service/responses.ts";
import { type Clock, pause } from "../clock.ts";
import type { JobBook } from "./job-book.ts";
import type { Poller } from "./poller.ts";
import type { JobReader } from "./reader.ts";

export interface Wait {
  /** The job's current state. */
  readonly job: Job;
  readonly forMs: number;
  readonly signal: AbortSignal;
  /** Called with each change meanwhile, the end included. */
  readonly onChange: (job: Job) => void;
}

export interface WaitOptions {
  readonly poller: Poller;
  readonly reader: JobReader;
  readonly book: JobBook;
  readonly clock: Clock;
}

/** The last read begins this long before the time is over, so that its answer comes in time. */
const LAST_READ = { beforeEndMs: 1_000, maxShare: 0.25 } as const;
/** A poll this recent doubles as the last read. */
const FRESH_MS = 500;

/**
 * Returns the job when it has ended, or its state if the time is over, the signal fires or its polling ends.
 * Never rejects: if the last read fails or takes too long, the last known state is the answer.
 */
export async function waitForEnd(options: WaitOptions, wait: Wait): Promise<Job> {
  const { reader, book } = options;
  const { job, forMs, signal } = wait;
  if (job.done || forMs <= 0 || signal.aborted) return job;
  const latest = () => book.get(job.jobId).state ?? job;
  if (!latest().done) await waitUntilOver(options, wait, latest);
  if (!latest().done || signal.aborted) return latest();

  // The end without the final video is better than an error.
  await reader.readRecent(job.jobId, Infinity, signal).catch(() => {});
  return latest();
}

async function waitUntilOver(
  { poller, reader, book, clock }: WaitOptions,
  { job: { jobId }, forMs, signal, onChange }: Wait,
  latest: () => Job,
): Promise<void> {
  const end = new AbortController();
  const over = AbortSignal.any([signal, end.signal]);
  const cleanups = [
    book.on("change", (changed) => {
      if (changed !== jobId) return;
      if (latest().done || book.get(jobId).followingEnded !== undefined) end.abort();
      onChange(latest());
    }),
    poller.follow(jobId),
  ];
  const readMs = Math.min(LAST_READ.beforeEndMs, LAST_READ.maxShare * forMs);
  await pause(clock, forMs - readMs, over);
  if (!over.aborted) {
    // The book emits the result; a failure leaves the last known state.
    reader.readRecent(jobId, FRESH_MS, signal).catch(() => {});
    // Begins after the read even if the process slept through both.
    await pause(clock, readMs, over);
  }
  for (const cleanUp of cleanups) cleanUp();
}
