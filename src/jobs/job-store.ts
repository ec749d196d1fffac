// The last known state of each job that this process started, asked for or saw in a list. Announces a change only where the
// state really changed. Its memory is bounded; it asks nobody.

import type { Job, Video } from "../service/schemas.ts";
import { type Announcer, createAnnouncer } from "./emitter.ts";

export interface KnownJob {
  readonly jobId: string;
  readonly status: string;
  /** Of a job that this process started. */
  readonly topic?: string;
  /** Milliseconds since the epoch, where anybody said when the job was created. */
  readonly createdAtMs?: number;
  readonly job?: Job;
  /** When the service last told the job's whole state. */
  readonly fetchedAtMs?: number;
  /** From the video list. */
  readonly finalVideoUrl?: string;
  /** Why nobody watches the job any longer though it has not ended, as a sentence. */
  readonly watchEnded?: string;
}

export interface JobStore {
  /** A job was started with this topic. */
  start(jobId: string, topic: string): void;
  /** A job's whole state, as the service has just told it. Returns it with the final video, if that is known. */
  put(job: Job): Job;
  /** Only the status is news, as the video list has it. Says nothing against an end that the job itself has told of. */
  putStatus(jobId: string, status: string, done: boolean): void;
  /** A page of the video list, newest first; `newest` for the first page. Nothing of it is announced. */
  list(videos: readonly Video[], newest: boolean): void;
  /** Nobody watches the job any longer. Announced, so that subscribers can read why. */
  endWatch(jobId: string, reason: string): void;
  /** Somebody watches it again. */
  resumeWatch(jobId: string): void;
  get(jobId: string): KnownJob | undefined;
  /** At most `limit` jobs, the most recent first. */
  recent(limit: number): readonly KnownJob[];
  uri(jobId: string): string;
  /** Every change of a job, by its id. */
  readonly changes: Pick<Announcer<string>, "listen">;
  /** Every job that this process starts, by its id. */
  readonly starts: Pick<Announcer<string>, "listen">;
}

const MOST_KNOWN_JOBS = 2_000;

/** A job of an earlier process. */
export type RecalledJob = Required<Pick<KnownJob, "jobId" | "topic" | "createdAtMs">>;

/**
 * @param now milliseconds since the epoch
 * @param recall the jobs of earlier processes, the most recent first; asked once, when the first job is needed
 */
export function createJobStore(now: () => number, recall: () => readonly RecalledJob[] = () => []): JobStore {
  // The most recent first, as far as their order is known.
  let known: Map<string, KnownJob> | undefined;
  const all = (): Map<string, KnownJob> =>
    (known ??= new Map(recall().map((job) => [job.jobId, { ...job, status: "processing" }])));
  const changes = createAnnouncer<string>();
  const starts = createAnnouncer<string>();

  const merge = (jobs: readonly KnownJob[], place: "first" | "last") => {
    const merged = jobs.map((job) => ({ ...all().get(job.jobId), ...job }));
    const named = new Set(jobs.map(({ jobId }) => jobId));
    const others = [...all().values()].filter(({ jobId }) => !named.has(jobId));
    const ordered = place === "first" ? [...merged, ...others] : [...others, ...merged];
    known = new Map(ordered.slice(0, MOST_KNOWN_JOBS).map((job) => [job.jobId, job]));
  };

  const set = (after: KnownJob) => {
    if (all().has(after.jobId)) all().set(after.jobId, after);
    else merge([after], "first");
  };

  /** What is learnt first is news only where it is the end, and what is learnt after the end is none. */
  const announceIfChanged = (before: Job | undefined, after: Job) => {
    if (before?.done === true && before.status === after.status) return;
    if (before === undefined ? after.done : !sameState(before, after)) changes.announce(after.jobId);
  };

  return {
    start(jobId, topic) {
      merge([{ jobId, status: "processing", topic, createdAtMs: now() }], "first");
      starts.announce(jobId);
    },

    put(told) {
      const { watchEnded, ...before }: Partial<KnownJob> = all().get(told.jobId) ?? {};
      const finalVideoUrl =
        told.finalVideoUrl ?? (told.status === "completed" ? before.finalVideoUrl : undefined);
      const job = finalVideoUrl === undefined ? told : { ...told, finalVideoUrl };
      set({
        ...before,
        jobId: job.jobId,
        status: job.status,
        job,
        fetchedAtMs: now(),
        // Why nobody watches it matters until it has ended: who hears of it reads it with the job's state.
        ...(watchEnded !== undefined && !job.done && { watchEnded }),
      });
      announceIfChanged(before.job, job);
      return job;
    },

    putStatus(jobId, status, done) {
      const { fetchedAtMs: _, ...before }: Partial<KnownJob> = all().get(jobId) ?? {};
      if (before.job?.done === true || before.job?.status === status) return;
      const job = { ...(before.job ?? { videoUrls: [] }), jobId, status, done };
      set({ ...before, jobId, status, job });
      announceIfChanged(before.job, job);
    },

    list(videos, newest) {
      merge(
        videos.map((video) => {
          const { jobId, status, finalVideoUrl } = video;
          const { job, createdAtMs } = all().get(jobId) ?? {};
          return {
            jobId,
            // A list may lag behind what the job itself has said.
            status: job?.done === true ? job.status : status,
            ...(finalVideoUrl !== undefined && { finalVideoUrl }),
            ...(finalVideoUrl !== undefined &&
              job?.status === "completed" && { job: { finalVideoUrl, ...job } }),
            // The service's clock may be off from ours, by which a job that was started here is timed.
            ...(createdAtMs === undefined && readCreatedAt(video["createdAt"], now())),
          };
        }),
        newest ? "first" : "last",
      );
    },

    endWatch(jobId, reason) {
      set({ ...(all().get(jobId) ?? { jobId, status: "unknown" }), watchEnded: reason });
      changes.announce(jobId);
    },

    resumeWatch(jobId) {
      const job = all().get(jobId);
      if (job?.watchEnded === undefined) return;
      const { watchEnded: _, ...watched } = job;
      set(watched);
    },

    get: (jobId) => all().get(jobId),
    recent: (limit) => [...all().values()].slice(0, limit),
    // A lone surrogate can't be encoded, and must not cost the person the answer that names their job.
    uri: (jobId) => `faceless://jobs/${encodeURIComponent(jobId.replace(/\p{Cs}/gu, "\uFFFD"))}`,
    changes,
    starts,
  };
}

/** The documented fields alone count: a service may stamp every answer, and sign its links anew each time. */
function sameState(a: Job, b: Job): boolean {
  return (
    a.status === b.status &&
    a.progress?.total === b.progress?.total &&
    a.progress?.completed === b.progress?.completed &&
    a.progress?.failed === b.progress?.failed &&
    a.videoUrls.length === b.videoUrls.length &&
    a.videoUrls.every((url, index) => sameLink(url, b.videoUrls[index])) &&
    sameLink(a.audioUrl, b.audioUrl) &&
    sameLink(a.finalVideoUrl, b.finalVideoUrl)
  );
}

/** But for what signs it. */
function sameLink(a: string | undefined, b: string | undefined): boolean {
  return a === b || a?.split(/[?#]/, 1)[0] === b?.split(/[?#]/, 1)[0];
}

/** A field that the documentation doesn't show, so any other shape of it is no error. */
function readCreatedAt(value: unknown, nowMs: number): { createdAtMs?: number } {
  const createdAtMs =
    typeof value === "string" && /^\d{4}-\d{2}-\d{2}T/.test(value) ? Date.parse(value) : Number.NaN;
  return createdAtMs <= nowMs ? { createdAtMs } : {};
}
