// Asks for a job's whole state: one flight a job at a time, however many ask, and the final video looked up once for whoever
// reads a completed job whose status names none.

import { BridgeError } from "../errors.ts";
import type { Job, Video } from "../service/schemas.ts";
import type { JobStore } from "./job-store.ts";

export interface RequestOptions {
  /** No person waits for it: it is made once, and counts as a poll. */
  readonly background: boolean;
  readonly deadlineMs?: number;
}

/** How the service is asked. */
export interface JobSource {
  getJob(jobId: string, options: RequestOptions): Promise<Job>;
  listVideos(
    query: { readonly limit?: number; readonly cursor?: string },
    options: RequestOptions,
  ): Promise<{ readonly videos: readonly Video[]; readonly nextCursor?: string | undefined }>;
}

export interface ReadOptions {
  /** Nobody waits for it. A completed job may then lack its final video, which is looked up when somebody reads it. */
  readonly background: boolean;
  /** A poll, but somebody waits for the end in a call and wants the final video with it. */
  readonly awaited?: boolean;
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

interface Flight {
  readonly background: boolean;
  /** Someone who takes part wants the final video. */
  finalWanted: boolean;
  readonly answer: Promise<Job>;
}

/** The clips are there without it: nobody waits for it as long as for an answer. */
const LOOK_UP_DEADLINE_MS = 5_000;

export function createJobReader({ source, store, now }: JobReaderOptions): JobReader {
  const flights = new Map<string, Flight>();
  const lookUps = new Map<string, Promise<void>>();
  const lookedUp = new Set<string>();

  const depart = (jobId: string, background: boolean): Flight => {
    const ask = async () => {
      const job = await source.getJob(jobId, { background });
      if (flight.finalWanted) await lookUpFinalVideo(job);
      return store.put(job);
    };
    const answer = ask().finally(() => flights.delete(jobId));
    const flight: Flight = { background, finalWanted: false, answer };
    flights.set(jobId, flight);
    return flight;
  };

  /** From the video list, once: a status answer has no final video by its documentation. A person's request. */
  const lookUpFinalVideo = async ({ jobId, status, finalVideoUrl }: Job): Promise<void> => {
    if (status !== "completed" || finalVideoUrl !== undefined) return;
    if (lookedUp.has(jobId) || store.get(jobId)?.finalVideoUrl !== undefined) return;
    const lookUp = lookUps.get(jobId) ?? lookInList(jobId).finally(() => lookUps.delete(jobId));
    lookUps.set(jobId, lookUp);
    await lookUp;
  };

  const lookInList = async (jobId: string): Promise<void> => {
    try {
      const { videos } = await source.listVideos({}, { background: false, deadlineMs: LOOK_UP_DEADLINE_MS });
      lookedUp.add(jobId);
      store.list(videos, true);
    } catch {
      // The next reader tries again.
    }
  };

  const read = async (jobId: string, options: ReadOptions): Promise<Job> => {
    const { background, awaited = false, signal } = options;
    if (signal?.aborted === true) throw withdrawnError();
    const flight = flights.get(jobId) ?? depart(jobId, background);
    if (!background || awaited) flight.finalWanted = true;
    try {
      return await withdrawable(flight.answer, signal);
    } catch (error) {
      // A poll is made once, where a person's question is tried again: so who joined one asks for themselves.
      if (background || !flight.background || !mayPass(error)) throw error;
      return read(jobId, options);
    }
  };

  return {
    read,
    async readRecent(jobId, maxAgeMs, options) {
      const { job, fetchedAtMs = Number.NaN } = store.get(jobId) ?? {};
      const ageMs = now() - fetchedAtMs;
      // Less than none: the clock was set back.
      if (job === undefined || !(ageMs >= 0 && ageMs <= maxAgeMs)) return read(jobId, options);
      if (options.background) return job;
      await withdrawable(lookUpFinalVideo(job), options.signal);
      return store.get(jobId)?.job ?? job;
    },
  };
}

function mayPass(error: unknown): boolean {
  return error instanceof BridgeError && error.facts.retryable;
}

function withdrawable<Result>(flight: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return flight;
  return new Promise((resolve, reject) => {
    const withdraw = () => reject(withdrawnError());
    if (signal.aborted) withdraw();
    signal.addEventListener("abort", withdraw, { once: true });
    const stopHearing = () => signal.removeEventListener("abort", withdraw);
    void flight.then(resolve, reject).finally(stopHearing);
  });
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
