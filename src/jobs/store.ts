// What this process knows of the jobs that it started, asked for or saw in a list. Its memory is bounded; it asks nobody.

import type { Job, Video } from "../service/schemas.ts";

export interface KnownJob {
  readonly jobId: string;
  readonly status: string;
  /** Of a job that this process started. */
  readonly topic?: string;
}

export interface JobStore {
  /** A job was started with this topic. */
  start(jobId: string, topic: string): void;
  /** A job's whole state, as the service has just told it. */
  put(job: Job): void;
  /** A page of the video list, newest first; `newest` for the first page. */
  list(videos: readonly Video[], newest: boolean): void;
  /** At most `limit` jobs, the most recent first. */
  recent(limit: number): readonly KnownJob[];
  uri(jobId: string): string;
}

const MOST_KNOWN_JOBS = 500;

export function createJobStore(): JobStore {
  // The most recent first, as far as their order is known.
  let known = new Map<string, KnownJob>();

  const merge = (jobs: readonly KnownJob[], place: "first" | "last") => {
    const merged = jobs.map((job) => ({ ...known.get(job.jobId), ...job }));
    const named = new Set(jobs.map(({ jobId }) => jobId));
    const others = [...known.values()].filter(({ jobId }) => !named.has(jobId));
    const all = place === "first" ? [...merged, ...others] : [...others, ...merged];
    known = new Map(all.slice(0, MOST_KNOWN_JOBS).map((job) => [job.jobId, job]));
  };

  return {
    start: (jobId, topic) => merge([{ jobId, status: "processing", topic }], "first"),
    put({ jobId, status }) {
      const before = known.get(jobId);
      if (before === undefined) merge([{ jobId, status }], "first");
      else known.set(jobId, { ...before, status });
    },
    list: (videos, newest) =>
      merge(
        videos.map(({ jobId, status }) => ({ jobId, status })),
        newest ? "first" : "last",
      ),
    recent: (limit) => [...known.values()].slice(0, limit),
    // A lone surrogate can't be encoded, and must not cost the person the answer that names their job.
    uri: (jobId) => `faceless://jobs/${encodeURIComponent(jobId.replace(/\p{Cs}/gu, "\uFFFD"))}`,
  };
}
