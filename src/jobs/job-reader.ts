// Reads a job's whole state from the service: concurrent reads of one job share one request, and a completed
// job whose status names no final video gets it from the video list. Explains why a new job is not found.

import { stateOf, UNLISTED_MS } from "../job.ts";
import { BridgeError, cancelledError } from "../errors.ts";
import type { Job } from "../service/responses.ts";
import type { Service } from "../service/client.ts";
import { describeAge } from "../text.ts";
import type { Clock } from "../clock.ts";
import type { JobStore } from "./job-store.ts";

/** What reading and polling need of the service. */
export type JobSource = Pick<
  Service,
  "getJob" | "listNewestVideos" | "hasSpareRequests" | "backgroundWaitMs"
>;

export interface ReadOptions {
  /** No user waits: a completed job may lack its final video, which the next read for a user looks up. */
  readonly background: boolean;
  /** Ends this caller's waiting. The request goes on, since others may share it. */
  readonly signal?: AbortSignal | undefined;
}

export interface JobReaderOptions {
  readonly source: JobSource;
  readonly store: JobStore;
  readonly clock: Pick<Clock, "now" | "monotonicMs">;
  /** When this computer started the job, whichever process it was, in milliseconds since the epoch. */
  readonly startedAtMs: (jobId: string) => Promise<number | undefined>;
}

interface InFlightRead {
  readonly background: boolean;
  /** One of the callers is a user, who wants the final video. */
  wantsFinalVideo: boolean;
  readonly answer: Promise<Job>;
}

const CANCELLED = "Reading the job was cancelled.";
/** The list only adds a link to what is known, which is not worth a long wait. */
const LIST_DEADLINE_MS = 3_000;
/** A link that the list lacks is looked up again after this: the list may lag behind the status. */
const LOOKUP_INTERVAL_MS = 5_000;
/** A link may be signed for a limited time, so an older one is looked up again. */
const MAX_LINK_AGE_MS = 60_000;
/** An answer of this age will do while few requests are left: rate limits are usually per minute. */
const MAX_AGE_WHEN_SHORT_MS = 60_000;

export class JobReader {
  readonly #options: JobReaderOptions;
  /** Status requests that are not answered yet, by job. */
  readonly #inFlight = new Map<string, InFlightRead>();
  /** The last request for the video list. */
  #list: { readonly startedMs: number; readonly done: Promise<void> } | undefined;
  /** Whether the video list, in which links are looked up, could not be read the last time. */
  #isListUnread = false;

  constructor(options: JobReaderOptions) {
    this.#options = options;
  }

  /** The job as it stands now. Rejects as the source does, and with `cancelled` by the signal. */
  async read(jobId: string, options: ReadOptions): Promise<Job> {
    const latest = await this.readLatest(jobId, options);
    // A job that has ended stays so.
    return this.#options.store.get(jobId)?.job ?? latest;
  }

  /** Returns what the service says, even where it denies an end that is already known. Else as `read`. */
  async readLatest(jobId: string, options: ReadOptions): Promise<Job> {
    const { background, signal } = options;
    if (signal?.aborted === true) throw cancelledError(CANCELLED);
    const inFlight = this.#inFlight.get(jobId) ?? this.#send(jobId, background);
    if (!background) inFlight.wantsFinalVideo = true;
    try {
      return await untilAborted(inFlight.answer, signal);
    } catch (error) {
      // A poll is sent once, a user's request is retried: a user who joined a failed poll sends their own.
      const mayRetry = error instanceof BridgeError && error.facts.retryable;
      if (background || !inFlight.background || !mayRetry) throw error;
      return this.readLatest(jobId, options);
    }
  }

  /**
   * The last answer if it is no older than `maxAgeMs`, else as `read`. While little of the rate limit is
   * left, an answer of the last minute will do, and so will the start of a job within that minute.
   */
  async readRecent(jobId: string, maxAgeMs: number, options: ReadOptions): Promise<Job> {
    const { source, store, clock } = this.#options;
    const { job, fetchedAtMs } = store.get(jobId) ?? {};
    const isShort = !source.hasSpareRequests();
    const allowedAgeMs = isShort ? Math.max(maxAgeMs, MAX_AGE_WHEN_SHORT_MS) : maxAgeMs;
    const startAgeMs = isShort && job?.done === false ? store.ageMs(jobId) : undefined;
    const ageMs = fetchedAtMs === undefined ? startAgeMs : clock.monotonicMs() - fetchedAtMs;
    if (job === undefined || ageMs === undefined || ageMs > allowedAgeMs) return this.read(jobId, options);
    if (options.background) return job;
    await untilAborted(this.#lookUpLink(job, ageMs), options.signal);
    return store.get(jobId)?.job ?? job;
  }

  /**
   * Updates the store from the newest page of the video list, unless it was requested in the last `maxAgeMs`.
   * Sent as a user's request. Never rejects.
   */
  refreshFromList(maxAgeMs: number): Promise<void> {
    const { source, store, clock } = this.#options;
    const startedMs = clock.monotonicMs();
    if (this.#list === undefined || startedMs - this.#list.startedMs > maxAgeMs) {
      const done = source.listNewestVideos({ background: false, deadlineMs: LIST_DEADLINE_MS }).then(
        ({ videos }) => {
          store.updateFromPage(videos, { isFirstPage: true });
          this.#isListUnread = false;
        },
        () => void (this.#isListUnread = true),
      );
      this.#list = { startedMs, done };
    }
    return this.#list.done;
  }

  /** Whether the job's link is not known, or may be outdated, since the list could not be read. */
  isLinkUnread(jobId: string): boolean {
    return this.#isListUnread && this.#isLinkOld(jobId);
  }

  #isLinkOld(jobId: string): boolean {
    const { store, clock } = this.#options;
    const { linkAtMs = -Infinity } = store.get(jobId) ?? {};
    return clock.monotonicMs() - linkAtMs > MAX_LINK_AGE_MS;
  }

  /** The service may need a moment until it finds a job that it has just started. */
  async explainNotFound(jobId: string, error: BridgeError): Promise<BridgeError> {
    const { store, clock, startedAtMs } = this.#options;
    const { topic, createdAtMs, job } = store.get(jobId) ?? {};
    const atMs = topic === undefined ? await startedAtMs(jobId) : createdAtMs;
    const ageMs = Math.max(0, clock.now() - (atMs ?? -Infinity));
    if (ageMs > UNLISTED_MS) return error;
    return new BridgeError(
      {
        ...error.facts,
        // Another process may have started it with another key.
        message: `This computer started the video ${describeAge(ageMs)}, and the service does not list it yet${job === undefined ? ", or not with this key" : ""}.`,
        nextStep: "Call get_video_status in half a minute, and don't generate the video again.",
        retryable: true,
      },
      error,
    );
  }

  #send(jobId: string, background: boolean): InFlightRead {
    const request = async () => {
      const { source, store } = this.#options;
      const latest = await source.getJob(jobId, { background }).catch(async (error: unknown) => {
        const isUnknown = error instanceof BridgeError && error.facts.code === "not_found";
        throw isUnknown ? await this.explainNotFound(jobId, error) : error;
      });
      if (inFlight.wantsFinalVideo && latest.finalVideoUrl === undefined) await this.#lookUpLink(latest, 0);
      const job = store.put(latest);
      return latest.done ? job : latest;
    };
    const answer = request().finally(() => this.#inFlight.delete(jobId));
    const inFlight: InFlightRead = { background, wantsFinalVideo: false, answer };
    this.#inFlight.set(jobId, inFlight);
    return inFlight;
  }

  /** The documented status has no final video; a list that is no older than that answer may have it. */
  async #lookUpLink({ jobId, status }: Job, ageMs: number): Promise<void> {
    if (stateOf(status) !== "ready" || !this.#isLinkOld(jobId)) return;
    await this.refreshFromList(Math.min(ageMs, LOOKUP_INTERVAL_MS));
  }
}

function untilAborted<Result>(answer: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return answer;
  return new Promise((resolve, reject) => {
    const abort = () => reject(cancelledError(CANCELLED));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    void answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
