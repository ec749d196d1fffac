// Holds what is known of every job, and emits what changes: the one place to get a job's state. Its two
// sources are the journal and the service's answers. Sends no requests.

import type { Clock } from "../clock.ts";
import { isEnded, stateOf } from "../service/job.ts";
import type { Log } from "../log.ts";
import type { Job, Video } from "../service/responses.ts";
import {
  ageMs,
  hasChanged,
  type JobOrder,
  type JobPost,
  type JobRecord,
  lastStatus,
  possibleJobs,
  withAnswer,
  withListed,
} from "./job-record.ts";

/** Ends a subscription; calling it again does nothing. */
export type Unsubscribe = () => void;

/** The journal's orders and jobs. Times are this computer's. */
export interface JournalFacts {
  /** The requests that started a video, or may have; the oldest first. */
  readonly orders: readonly JobOrder[];
  readonly jobs: ReadonlyMap<
    string,
    { readonly order?: JobOrder | undefined; readonly posts: readonly JobPost[] }
  >;
}

export interface JobBookOptions {
  readonly clock: Pick<Clock, "now" | "monotonicMs">;
  readonly log: Pick<Log, "info">;
  /** Rejects if the journal can't be read. */
  readonly readJournal: () => Promise<JournalFacts>;
}

/** `change`: a documented field has changed, or following has ended. `start`: this process started it. */
type JobEvent = "change" | "start";
type Listener = (jobId: string) => void;

const MAX_RECORDS = 2_000;

export class JobBook {
  readonly #options: JobBookOptions;
  /** By job id, the most recent last as far as their order is known. */
  #records = new Map<string, JobRecord>();
  /** The orders as last read; undefined if the journal can't be read. */
  #journal: JournalFacts | undefined;
  readonly #listeners = { change: new Set<Listener>(), start: new Set<Listener>() };
  readonly #advised = new Set<string>();

  constructor(options: JobBookOptions) {
    this.#options = options;
  }

  on(event: JobEvent, listener: Listener): Unsubscribe {
    this.#listeners[event].add(listener);
    return () => void this.#listeners[event].delete(listener);
  }

  /** All that is known of the job now. The journal's part is as fresh as the last `readJournal`. */
  get(jobId: string): JobRecord {
    const { order, posts = this.#journal && [] } = this.#journal?.jobs.get(jobId) ?? {};
    return {
      jobId,
      ...(order !== undefined && { order }),
      ...(posts !== undefined && { posts }),
      ...this.#records.get(jobId),
    };
  }

  /** All requests for videos of this computer, the oldest first; undefined if the journal can't be read. */
  async readJournal(): Promise<readonly JobOrder[] | undefined> {
    try {
      this.#journal = await this.#options.readJournal();
    } catch (error) {
      this.#journal = undefined;
      this.#options.log.info("The journal can't be read.", error);
    }
    return this.#journal?.orders;
  }

  /** Resolves when the jobs of earlier processes are known, as far as the journal can be read. */
  async restore(): Promise<void> {
    if (this.#journal === undefined) await this.readJournal();
  }

  /** Returns at most `limit` jobs, the most recent first: those of earlier processes come last. */
  recent(limit: number): readonly JobRecord[] {
    const orders = this.#journal?.orders ?? [];
    const ordered = orders.flatMap(({ jobId }) => (jobId === undefined ? [] : [jobId])).reverse();
    const ids = new Set([...[...this.#records.keys()].reverse(), ...ordered]);
    return [...ids].slice(0, limit).map((jobId) => this.get(jobId));
  }

  /** True if the job's render is known to have failed. */
  hasFailed(jobId: string): boolean {
    return stateOf(lastStatus(this.get(jobId)) ?? "") === "refunded";
  }

  /**
   * The videos among these, newest first, that a request of this age may have started; undefined if the
   * journal can't be read.
   */
  async possibleJobs(videos: readonly Video[], requestAgeMs: number): Promise<readonly Video[] | undefined> {
    const requestedAtMs = this.#options.clock.now() - requestAgeMs;
    if ((await this.readJournal()) === undefined) return undefined;
    const records = videos.map(({ jobId }) => this.get(jobId));
    const possible = possibleJobs(records, requestedAtMs);
    const ids = new Set(possible.map(({ jobId }) => jobId));
    return videos.filter(({ jobId }) => ids.has(jobId));
  }

  ageMs(jobId: string): number | undefined {
    return ageMs(this.get(jobId), this.#options.clock.now());
  }

  /** Adds a job that was started just now. */
  addStarted(
    jobId: string,
    { arguments: args, client }: Pick<JobOrder, "arguments" | "client">,
    status = "processing",
  ): void {
    const state: Job = { jobId, status, done: isEnded(status), videoUrls: [] };
    const started = { arguments: args, client, jobId, atMs: this.#options.clock.now() };
    this.#put([{ state, ...this.#recordOf(jobId), order: started }], "first");
    this.#emit("start", jobId);
  }

  /** Updates a job from its own answer. */
  update(answer: Job): JobRecord {
    const before = this.#recordOf(answer.jobId);
    const after = withAnswer(before, answer, this.#now());
    this.#set(after);
    if (hasChanged(before, after)) this.#emit("change", after.jobId);
    return after;
  }

  /** Updates the jobs of a page of the video list. Emits nothing: only a job's own answer is a change. */
  updateFromPage(videos: readonly Video[], { isFirstPage }: { readonly isFirstPage: boolean }): void {
    const listed = videos.map((video) => withListed(this.#recordOf(video.jobId), video, this.#now()));
    this.#put(listed, isFirstPage ? "first" : "last");
  }

  /** Remembers these facts of the job, and emits nothing. */
  note(jobId: string, part: Partial<Omit<JobRecord, "jobId">>): void {
    this.#set({ ...this.#recordOf(jobId), ...part });
  }

  /** Remembers why the job is no longer followed, and emits a change: its subscribers read it again. */
  endFollowing(jobId: string, reason: string): void {
    this.note(jobId, { followingEnded: reason });
    this.#emit("change", jobId);
  }

  /** Records that some advice was given. Returns false if it was given before. */
  adviseOnce(about: string): boolean {
    const isNew = !this.#advised.has(about);
    this.#advised.add(about);
    return isNew;
  }

  /** The service's part of the record. */
  #recordOf(jobId: string): JobRecord {
    return this.#records.get(jobId) ?? { jobId };
  }

  #now() {
    const { clock } = this.#options;
    return { atMs: clock.monotonicMs(), nowMs: clock.now() };
  }

  #emit(event: JobEvent, jobId: string): void {
    for (const listener of this.#listeners[event]) {
      try {
        listener(jobId);
      } catch {
        // A listener handles its own errors: they must not cost a caller the answer to a paid request.
      }
    }
  }

  #set(record: JobRecord): void {
    if (this.#records.has(record.jobId)) this.#records.set(record.jobId, record);
    else this.#put([record], "first");
  }

  /** Adds records, the most recent first. */
  #put(records: readonly JobRecord[], place: "first" | "last"): void {
    const added = new Map(records.map((record) => [record.jobId, record] as const).reverse());
    const others = [...this.#records].filter(([jobId]) => !added.has(jobId));
    const all = place === "last" ? [...added, ...others] : [...others, ...added];
    this.#records = new Map(all.slice(-MAX_RECORDS));
  }
}
