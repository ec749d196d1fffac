// Reads a job's whole state from the service: concurrent reads of one job share one request, and a completed
// job whose status names no final video gets it from the video list. Explains why a new job is not found.
// Paces the reads of polls and waits, so that no loop around them can flood a service that fails.

import { stateOf, UNLISTED_MS } from "../service/job.ts";
import { type Clock, pause } from "../clock.ts";
import { BridgeError, cancelledError, endWithAnswer } from "../errors.ts";
import type { Job } from "../service/responses.ts";
import type { Service } from "../service/client.ts";
import { say, toolOrCommand } from "../sentences.ts";
import { describeAge, quoteWord } from "../text.ts";
import { CHECK_BEFORE_MS } from "../service/time-budget.ts";
import type { JobBook } from "./job-book.ts";

/** The part of the service that reading and polling need. */
export type JobSource = Pick<Service, "getJob" | "listNewestVideos" | "backgroundWaitMs">;

export interface ReadOptions {
  /** True if no user waits: then the final video of a completed job isn't looked up. */
  readonly background: boolean;
  /** True if the caller may read in a loop. A poll is always paced. */
  readonly isPaced?: boolean;
  /** Replaces the usual time of the request. */
  readonly deadlineMs?: number;
  /** Ends this caller's waiting. The request goes on, since others may share it. */
  readonly signal?: AbortSignal | undefined;
}

export interface JobReaderOptions {
  readonly source: JobSource;
  readonly book: JobBook;
  readonly clock: Clock;
  /** True in the sandbox, which knows its jobs at once. */
  readonly isSandbox?: boolean;
}

interface InFlightRead {
  readonly background: boolean;
  /** True if one of the callers is a user, who wants the final video. */
  wantsFinalVideo: boolean;
  readonly answer: Promise<Job>;
}

const CANCELLED = "Reading the job was cancelled.";
/** A paced request for a job is sent no sooner than this after one that failed. */
const FAILURE_PAUSE_MS = 1_000;
/** The list only adds a link to what is known, which is not worth a long wait. */
const LIST_DEADLINE_MS = 3_000;
/** A link that the list lacks is looked up again after this: the list may lag behind the status. */
const LOOKUP_INTERVAL_MS = 5_000;
/** A link may be signed for a limited time, so an older one is looked up again. */
const MAX_LINK_AGE_MS = 60_000;

export class JobReader {
  readonly #options: JobReaderOptions;
  /** Status requests that are not answered yet, by job. */
  readonly #inFlight = new Map<string, InFlightRead>();
  /** The pauses after failed requests, by job. */
  readonly #pauses = new Map<string, Promise<unknown>>();
  /** The last request for the video list, which resolves to whether it was answered. */
  #list: { readonly startedMs: number; readonly isRead: Promise<boolean> } | undefined;

  constructor(options: JobReaderOptions) {
    this.#options = options;
  }

  /**
   * Reads the job's current state. A job that has ended stays ended. Rejects as the source does, and with
   * `cancelled` by the signal.
   */
  async read(jobId: string, options: ReadOptions): Promise<Job> {
    const { background, signal } = options;
    if (signal?.aborted === true) throw cancelledError(CANCELLED);
    const inFlight = this.#inFlight.get(jobId) ?? this.#send(jobId, options);
    if (!background) inFlight.wantsFinalVideo = true;
    try {
      return await untilAborted(inFlight.answer, signal);
    } catch (error) {
      // A poll is sent once, a user's request is retried: a user who joined a failed poll sends their own.
      const mayRetry = error instanceof BridgeError && error.facts.retryable;
      if (background || !inFlight.background || !mayRetry) throw error;
      return this.read(jobId, options);
    }
  }

  /** Like `read`, but resolves to undefined if the job couldn't be read in a few seconds. Never rejects. */
  async tryRead(jobId: string, signal: AbortSignal): Promise<Job | "not found" | undefined> {
    const options = { background: false, deadlineMs: CHECK_BEFORE_MS, signal };
    const read = this.read(jobId, options).catch((error: unknown) => {
      if (!(error instanceof BridgeError) || error.facts.code !== "not_found") return undefined;
      // A gateway's 404, for which the user has to check the address, says nothing of the job.
      return error.facts.isForUser === true ? undefined : ("not found" as const);
    });
    return Promise.race([read, pause(this.#options.clock, CHECK_BEFORE_MS).then(() => undefined)]);
  }

  /** Returns the last answer if its age is at most `maxAgeMs`, else reads the job. Paced. */
  async readRecent(jobId: string, maxAgeMs: number, signal: AbortSignal): Promise<Job> {
    const { book, clock } = this.#options;
    const { state, fetchedAtMs = -Infinity } = book.get(jobId);
    const ageMs = clock.monotonicMs() - fetchedAtMs;
    if (state === undefined || ageMs > maxAgeMs)
      return this.read(jobId, { background: false, isPaced: true, signal });
    await untilAborted(this.#lookUpLink(state, ageMs), signal);
    return book.get(jobId).state ?? state;
  }

  /**
   * Updates the book from the newest page of the video list, unless it was requested in the last `maxAgeMs`.
   * Sent as a user's request. Resolves to whether the list could be read.
   */
  refreshFromList(maxAgeMs: number): Promise<boolean> {
    const { source, book, clock } = this.#options;
    const startedMs = clock.monotonicMs();
    if (this.#list === undefined || startedMs - this.#list.startedMs > maxAgeMs) {
      const isRead = source.listNewestVideos({ background: false, deadlineMs: LIST_DEADLINE_MS }).then(
        ({ videos }) => {
          book.updateFromPage(videos, { isFirstPage: true });
          return true;
        },
        () => false,
      );
      this.#list = { startedMs, isRead };
    }
    return this.#list.isRead;
  }

  /** Explains a 404 for a new job, which the service may take a moment to find. */
  async explainNotFound(jobId: string, error: BridgeError): Promise<BridgeError> {
    const { book, isSandbox = false } = this.#options;
    if (isSandbox) return error;
    // Another process may have started it.
    if (book.get(jobId).order === undefined) await book.readJournal();
    const { order, state } = book.get(jobId);
    const ageMs = book.ageMs(jobId);
    if (order === undefined || ageMs === undefined || ageMs > UNLISTED_MS) return error;
    // The job may belong to another key.
    const notMine = state === undefined ? ", or not with this key" : "";
    const again = toolOrCommand("get_video_status", `--job-id ${quoteWord(jobId)}`);
    // The next read is the model's own step, whatever the refusal asks of the user.
    const { isForUser: _, ...facts } = error.facts;
    return new BridgeError(
      {
        ...facts,
        message: endWithAnswer(
          `This computer started the video ${describeAge(ageMs)}, and the service does not list it yet${notMine}`,
          facts,
        ),
        nextStep: say`[Call|Look with] ${again} in half a minute, and don't generate the video again.`,
        retryable: true,
      },
      error,
    );
  }

  #send(jobId: string, { background, isPaced = background, deadlineMs }: ReadOptions): InFlightRead {
    const { source, book, clock } = this.#options;
    const options = { background, deadlineMs, minPauseMs: isPaced ? FAILURE_PAUSE_MS : 0 };
    const request = async () => {
      if (isPaced) await this.#pauses.get(jobId);
      try {
        const latest = await source.getJob(jobId, options);
        const isLinkWanted = inFlight.wantsFinalVideo && latest.finalVideoUrl === undefined;
        if (isLinkWanted) await this.#lookUpLink(latest, 0);
        return book.update(latest).state ?? latest;
      } catch (error) {
        const paused = pause(clock, FAILURE_PAUSE_MS).then(() => this.#pauses.delete(jobId));
        if (!this.#pauses.has(jobId)) this.#pauses.set(jobId, paused);
        const isUnknown = error instanceof BridgeError && error.facts.code === "not_found";
        throw isUnknown ? await this.explainNotFound(jobId, error) : error;
      } finally {
        this.#inFlight.delete(jobId);
      }
    };
    const inFlight: InFlightRead = { background, wantsFinalVideo: false, answer: request() };
    this.#inFlight.set(jobId, inFlight);
    return inFlight;
  }

  /** The documented status has no final video. A list that was read after it may have it. */
  async #lookUpLink({ jobId, status }: Job, ageMs: number): Promise<void> {
    const { book, clock } = this.#options;
    if (stateOf(status) !== "ready") return;
    const { link } = book.get(jobId);
    if (link !== undefined && clock.monotonicMs() - link.atMs <= MAX_LINK_AGE_MS) return;
    const isRead = await this.refreshFromList(Math.min(ageMs, LOOKUP_INTERVAL_MS));
    book.note(jobId, { isLinkUnread: !isRead });
  }
}

function untilAborted<Result>(answer: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return answer;
  return new Promise((resolve, reject) => {
    const abort = () => reject(cancelledError(CANCELLED));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
