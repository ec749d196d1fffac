// The last known state of each job that this process started, read or saw in a list. Emits only real changes.
// Its size is bounded; it sends no requests.

import { isEnded, stateOf } from "../job.ts";
import type { Job, Video } from "../service/responses.ts";
import type { Clock } from "../clock.ts";

export interface KnownJob {
  readonly jobId: string;
  /** The last one seen: the list's where the job was never read, `unknown` where it was never seen. */
  readonly status: string;
  /** Known where the job was started on this computer. */
  readonly topic?: string;
  /** Milliseconds since the epoch, where known. */
  readonly createdAtMs?: number;
  /** The job's own last answer; for a job that this process started, at first what the start said. */
  readonly job?: Job;
  /** When the service gave that answer, on the monotonic clock. */
  readonly fetchedAtMs?: number;
  /** The same, in milliseconds since the epoch: for showing. */
  readonly updatedAtMs?: number;
  /** The last one that the service gave. */
  readonly finalVideoUrl?: string;
  /** When it did, on the monotonic clock. */
  readonly linkAtMs?: number;
}

/** Ends a subscription; calling it again does nothing. */
export type Unsubscribe = () => void;

/** A job of an earlier process. */
export type RestoredJob = Required<Pick<KnownJob, "jobId" | "topic" | "createdAtMs">>;

type Listener = (jobId: string) => void;

const MAX_KNOWN_JOBS = 2_000;

export class JobStore {
  readonly #clock: Pick<Clock, "now" | "monotonicMs">;
  /** The most recent last, as far as their order is known: the next one is then added without moving any. */
  #known = new Map<string, KnownJob>();
  readonly #listeners = { change: new Set<Listener>(), start: new Set<Listener>() };

  constructor(clock: Pick<Clock, "now" | "monotonicMs">) {
    this.#clock = clock;
  }

  /** Calls `listener` with each job that changes, its end being the last change, or that starts here. */
  on(event: "change" | "start", listener: Listener): Unsubscribe {
    this.#listeners[event].add(listener);
    return () => void this.#listeners[event].delete(listener);
  }

  get(jobId: string): KnownJob | undefined {
    return this.#known.get(jobId);
  }

  /** The job's own last answer, or what else is known of how it stands. */
  lastSeen(jobId: string): Job {
    const { job, status = "processing" } = this.#known.get(jobId) ?? {};
    return job ?? { jobId, status, done: isEnded(status), videoUrls: [] };
  }

  /** The most recent last. */
  ids(): ReadonlySet<string> {
    return new Set(this.#known.keys());
  }

  /** Milliseconds since the job was started; undefined where that is not known. */
  ageMs(jobId: string): number | undefined {
    const createdAtMs = this.#known.get(jobId)?.createdAtMs;
    return createdAtMs === undefined ? undefined : Math.max(0, this.#clock.now() - createdAtMs);
  }

  /** Returns at most `limit` jobs, the most recent first. */
  recent(limit: number): readonly KnownJob[] {
    return [...this.#known.values()].reverse().slice(0, limit);
  }

  /** Adds a job that was started just now with this topic. */
  addStarted(jobId: string, topic: string, status = "processing"): void {
    const job: Job = { jobId, status, done: isEnded(status), videoUrls: [] };
    this.#merge(
      [{ status, job, ...this.#known.get(jobId), jobId, topic, createdAtMs: this.#clock.now() }],
      "first",
    );
    this.#emit("start", jobId);
  }

  /** Adds jobs of earlier processes, the most recent first, below those that are known. Emits nothing. */
  restore(jobs: readonly RestoredJob[]): void {
    const restored = jobs
      .slice(0, MAX_KNOWN_JOBS)
      .map((job) => ({ ...job, status: "unknown", ...this.#known.get(job.jobId) }));
    for (const job of restored) if (this.#known.has(job.jobId)) this.#known.set(job.jobId, job);
    this.#merge(
      restored.filter(({ jobId }) => !this.#known.has(jobId)),
      "last",
    );
  }

  /**
   * Updates a job from its own answer and returns it as now known: with the final video from the list, and
   * still ended where it had ended, since a lagging replica of the service may answer with an older state.
   */
  put(answer: Job): Job {
    const before: Partial<KnownJob> = this.#known.get(answer.jobId) ?? {};
    if (before.job?.done === true && !answer.done) return before.job;
    const finalVideoUrl =
      answer.finalVideoUrl ?? (stateOf(answer.status) === "ready" ? before.finalVideoUrl : undefined);
    const job = finalVideoUrl === undefined ? answer : { ...answer, finalVideoUrl };
    this.#set({
      ...before,
      jobId: job.jobId,
      status: job.status,
      job,
      fetchedAtMs: this.#clock.monotonicMs(),
      updatedAtMs: this.#clock.now(),
      ...(answer.finalVideoUrl !== undefined && this.#linkOf(answer.finalVideoUrl)),
    });
    if (hasChanged(before.job, job)) this.#emit("change", job.jobId);
    return job;
  }

  /** Updates the jobs of a page of the video list. Emits nothing: only a job's own answer is a change. */
  updateFromPage(videos: readonly Video[], { isFirstPage }: { readonly isFirstPage: boolean }): void {
    const jobs = videos.map((video): KnownJob => {
      const { jobId, finalVideoUrl } = video;
      const { job, createdAtMs, status } = this.#known.get(jobId) ?? {};
      return {
        jobId,
        // A list may lag behind.
        status: status !== undefined && isEnded(status) ? status : video.status,
        ...(finalVideoUrl !== undefined && this.#linkOf(finalVideoUrl)),
        ...(finalVideoUrl !== undefined &&
          job !== undefined &&
          stateOf(job.status) === "ready" && { job: { ...job, finalVideoUrl } }),
        // The service's clock may differ from ours, by which a job that was started here is timed.
        ...(createdAtMs === undefined && readCreatedAt(video["createdAt"], this.#clock.now())),
      };
    });
    this.#merge(jobs, isFirstPage ? "first" : "last");
  }

  /** Has all who follow a job look at it again: something else than its state has changed. */
  notify(jobId: string): void {
    this.#emit("change", jobId);
  }

  #linkOf(finalVideoUrl: string) {
    return { finalVideoUrl, linkAtMs: this.#clock.monotonicMs() };
  }

  #emit(event: "change" | "start", jobId: string): void {
    for (const listener of this.#listeners[event]) {
      try {
        listener(jobId);
      } catch {
        // A listener handles its own errors: they must not cost a caller the answer to a paid request.
      }
    }
  }

  #set(job: KnownJob): void {
    if (this.#known.has(job.jobId)) this.#known.set(job.jobId, job);
    else this.#merge([job], "first");
  }

  #merge(jobs: readonly KnownJob[], place: "first" | "last"): void {
    const merged = jobs
      .map((job) => [job.jobId, { ...this.#known.get(job.jobId), ...job }] as const)
      .reverse();
    for (const [jobId] of merged) this.#known.delete(jobId);
    if (place === "last") this.#known = new Map([...merged, ...this.#known]);
    else for (const [jobId, job] of merged) this.#known.set(jobId, job);
    for (const jobId of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN_JOBS) break;
      this.#known.delete(jobId);
    }
  }
}

/** The first answer is a change only if it is the end; after the end nothing is. */
function hasChanged(before: Job | undefined, after: Job): boolean {
  if (before === undefined) return after.done;
  // The start of a job names no total: the first one that is named is no change.
  const { total = after.progress?.total } = before.progress ?? {};
  return !before.done && (!isSameContent(before, after) || total !== (after.progress?.total ?? total));
}

/** By the documented fields: a service may stamp every answer, and sign its links anew each time. */
function isSameContent(before: Job, after: Job): boolean {
  const [one, other] = [contentOf(before), contentOf(after)];
  return (
    one.length === other.length &&
    one.every((value, index) => value === other[index] || unsigned(value) === unsigned(other[index]))
  );
}

function contentOf({ status, progress, videoUrls, audioUrl, finalVideoUrl }: Job) {
  return [status, progress?.completed ?? 0, progress?.failed ?? 0, audioUrl, finalVideoUrl, ...videoUrls];
}

function unsigned(value: string | number | undefined): string | number | undefined {
  return typeof value === "string" ? value.split(/[?#]/, 1)[0] : value;
}

/** Reads an undocumented field, so any other shape of it is no error. */
function readCreatedAt(value: unknown, nowMs: number): { createdAtMs?: number } {
  const createdAtMs =
    typeof value === "string" && /^\d{4}-\d{2}-\d{2}T/.test(value) ? Date.parse(value) : Number.NaN;
  return createdAtMs <= nowMs ? { createdAtMs } : {};
}
