// Asks for a job's whole state: one flight a job at a time, however many ask, and the final video looked up once when the job
// is completed and its status names none.

import { BridgeError } from "../errors.ts";
import type { Job, Video } from "../service/schemas.ts";
import type { JobStore } from "./store.ts";

/** How the service is asked; `background` for requests that no person waits for. */
export interface JobSource {
  getJob(jobId: string, options: { readonly background: boolean }): Promise<Job>;
  listVideos(
    query: { readonly limit?: number; readonly cursor?: string },
    options: { readonly background: boolean },
  ): Promise<{ readonly videos: readonly Video[]; readonly nextCursor?: string | undefined }>;
}

export interface ReadOptions {
  /** Nobody waits for it. */
  readonly background: boolean;
  /** Ends this reader's waiting. The flight goes on, since others may share it. */
  readonly signal?: AbortSignal | undefined;
}

export interface JobReader {
  /** The job as the service has it now. Rejects as the source does, and with `cancelled` by the signal. */
  read(jobId: string, options: ReadOptions): Promise<Job>;
  /** The last answer if it is no older than that, and as `read` else. */
  readRecent(jobId: string, maxAgeMs: number, options: ReadOptions): Promise<Job>;
}

export interface JobReaderOptions {
  readonly source: JobSource;
  readonly store: JobStore;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export function createJobReader({ source, store, now }: JobReaderOptions): JobReader {
  const flights = new Map<string, Promise<Job>>();
  const lookedUp = new Set<string>();

  const ask = async (jobId: string, background: boolean): Promise<Job> => {
    const job = await source.getJob(jobId, { background });
    if (job.status === "completed") await lookUpFinalVideo(job, background);
    return store.put(job);
  };

  /** From the video list, once: a status answer has no final video by its documentation. */
  const lookUpFinalVideo = async ({ jobId, finalVideoUrl }: Job, background: boolean): Promise<void> => {
    if (finalVideoUrl !== undefined || store.get(jobId)?.finalVideoUrl !== undefined) return;
    if (lookedUp.has(jobId)) return;
    try {
      const { videos } = await source.listVideos({}, { background });
      lookedUp.add(jobId);
      store.list(videos, true);
    } catch {
      // The clips are there without it; the next reader tries again.
    }
  };

  const read = (jobId: string, { background, signal }: ReadOptions): Promise<Job> => {
    let flight = flights.get(jobId);
    if (flight === undefined) {
      flight = ask(jobId, background).finally(() => flights.delete(jobId));
      flights.set(jobId, flight);
    }
    return signal === undefined ? flight : withdrawable(flight, signal);
  };

  return {
    read,
    async readRecent(jobId, maxAgeMs, options) {
      const { job, fetchedAtMs = -Infinity } = store.get(jobId) ?? {};
      return job !== undefined && now() - fetchedAtMs <= maxAgeMs ? job : read(jobId, options);
    },
  };
}

async function withdrawable<Result>(flight: Promise<Result>, signal: AbortSignal): Promise<Result> {
  let withdraw = () => {};
  const withdrawn = new Promise<never>((_, reject) => {
    withdraw = () => reject(withdrawnError());
    if (signal.aborted) withdraw();
  });
  signal.addEventListener("abort", withdraw, { once: true });
  try {
    return await Promise.race([flight, withdrawn]);
  } finally {
    signal.removeEventListener("abort", withdraw);
  }
}

function withdrawnError(): BridgeError {
  return new BridgeError({
    code: "cancelled",
    message: "Asking for the job was cancelled.",
    nextStep: "Nobody waits for it any more.",
    outcome: "unknown",
    retryable: true,
  });
}
