// What this computer's journal knows of jobs: how they were ordered, and where they were posted.

import type { GenerationEntry, JournalEntry, PublicationEntry } from "./journal.ts";
import { mayHaveBeenCarriedOut, platformsOf, stateAfter } from "./same-request.ts";

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
  readonly arguments?: GenerationEntry["arguments"] | undefined;
  /** When it was ordered, in milliseconds since the epoch. */
  readonly createdAtMs?: number | undefined;
  readonly publishedTo: readonly Post[];
}

/** A video that was, or may have been, ordered by this computer. */
export interface Order {
  readonly topic: string;
  /** In milliseconds since the epoch. */
  readonly createdAtMs: number;
  readonly ageMs: number;
  /** Equal for orders of the same video. */
  readonly fingerprint: string;
  /** Undefined where no answer has named it. */
  readonly jobId: string | undefined;
}

/** In the journal's order. */
export function ordersOf(entries: readonly JournalEntry[], nowMs: number): Order[] {
  return entries.flatMap((entry) => {
    if (entry.operation !== "generate" || !mayHaveBeenCarriedOut(entry)) return [];
    const { fingerprint, jobId, atMs: createdAtMs } = entry;
    const topic = String(entry.arguments["topic"]);
    return { topic, createdAtMs, ageMs: Math.max(0, nowMs - createdAtMs), fingerprint, jobId };
  });
}

/** By job id in lower case; the jobs that were started first come first. */
export function jobHistories(entries: readonly JournalEntry[]): ReadonlyMap<string, JobHistory> {
  const histories = new Map<string, JobHistory>();
  for (const entry of entries) {
    const jobId = entry.jobId?.toLowerCase();
    if (jobId === undefined || !mayHaveBeenCarriedOut(entry)) continue;
    const before = histories.get(jobId);
    const { publishedTo = [] } = before ?? {};
    if (entry.operation === "publish")
      histories.set(jobId, { ...before, publishedTo: [...publishedTo, ...postsOf(entry)] });
    else if (before?.createdAtMs === undefined)
      histories.set(jobId, { arguments: entry.arguments, createdAtMs: entry.atMs, publishedTo });
  }
  return histories;
}

function postsOf(publication: PublicationEntry): Post[] {
  return platformsOf(publication).flatMap((platform): Post[] => {
    const state = stateAfter(publication, platform);
    if (state.kind === "free") return [];
    const at = new Date(state.atMs).toISOString();
    if (state.kind === "unknown") return [{ platform, at, unknown: true }];
    const { url } = state.result;
    return [{ platform, ...(typeof url === "string" && { url }), at }];
  });
}
