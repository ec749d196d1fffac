// What this computer's journal knows of jobs: how they were ordered, and where they were posted.

import type { GenerationArguments, JournalEntry } from "./journal.ts";
import { mayHaveBeenCarriedOut, platformState } from "./same-request.ts";

/** A post of a job. */
export interface Post {
  readonly platform: string;
  readonly url?: string;
  /** ISO 8601. */
  readonly at: string;
  /** It was sent, and what became of it is not known. */
  readonly unknown?: true;
}

export interface JobHistory {
  /** Of a job that this computer started: how it was ordered, the whole topic among it. */
  readonly arguments?: GenerationArguments;
  /** When it was ordered, in milliseconds since the epoch. */
  readonly createdAtMs?: number;
  readonly publishedTo: readonly Post[];
}

export interface StartedJob {
  readonly jobId: string;
  readonly topic: string;
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number;
}

/** By job id in lower case; the jobs that were started first come first. */
export function jobHistories(entries: readonly JournalEntry[]): ReadonlyMap<string, JobHistory> {
  const byJob = new Map<string, JournalEntry[]>();
  for (const entry of entries) {
    const jobId = entry.jobId?.toLowerCase();
    if (jobId === undefined || !mayHaveBeenCarriedOut(entry)) continue;
    byJob.set(jobId, [...(byJob.get(jobId) ?? []), entry]);
  }
  const jobs = new Map<string, JobHistory>();
  for (const [jobId, ofJob] of byJob) {
    const start = ofJob.find(({ operation }) => operation === "generate");
    const publications = ofJob.filter(({ operation }) => operation === "publish");
    const platforms = new Set(publications.flatMap((entry) => entry.platforms ?? []));
    jobs.set(jobId, {
      ...(start?.arguments !== undefined && {
        arguments: start.arguments,
        createdAtMs: start.atMs,
      }),
      publishedTo: [...platforms].flatMap((platform) => postOn(publications, platform)),
    });
  }
  return jobs;
}

/** The jobs that this computer has started for an account, the latest first. */
export function startedJobs(entries: readonly JournalEntry[], account: string): readonly StartedJob[] {
  return entries
    .filter((entry) => entry.operation === "generate" && entry.account === account)
    .flatMap(({ jobId, arguments: { topic = "" } = {}, atMs }) =>
      jobId === undefined ? [] : [{ jobId, topic: String(topic), createdAtMs: atMs }],
    )
    .reverse();
}

function postOn(publications: readonly JournalEntry[], platform: string): Post[] {
  const state = platformState(publications, platform);
  if (state.kind !== "posted" && state.kind !== "unknown") return [];
  const at = new Date(state.atMs).toISOString();
  if (state.kind === "unknown") return [{ platform, at, unknown: true }];
  const { url } = state.result;
  return [{ platform, ...(typeof url === "string" && { url }), at }];
}
