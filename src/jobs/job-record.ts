// Everything known of one job, as a value: the journal's entries and the service's answers become a record.
// Pure: knows no clock and sends nothing.

import { isEnded, MIN_RENDER_MS, stateOf } from "../service/job.ts";
import type { Job, Video } from "../service/responses.ts";
import { firstSpokenWords } from "../service/spoken-words.ts";
import { UNDER_WAY_MS } from "../service/time-budget.ts";

/** How far the age of a request may be off, by a database whose clock is read over a slow network. */
const MAX_JITTER_MS = 5_000;

/** A request for a video, as the journal holds it. Times are milliseconds since the epoch. */
export interface JobOrder {
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly client?: string | undefined;
  readonly atMs: number;
  /** Undefined as long as the answer is not known, and for good if it never came. */
  readonly jobId?: string | undefined;
}

/** A post of a job that was made, or may have been made. */
export interface JobPost {
  readonly platform: string;
  readonly atMs: number;
  /** The service's answer about it. Undefined if the outcome is not known. */
  readonly result: { readonly url?: unknown } | undefined;
}

/** The state of a finished video's file on this computer. */
export type SavedVideo =
  | { readonly state: "saving" | "saved"; readonly path: string }
  /** The user has removed it since it was saved. */
  | { readonly state: "removed" }
  /** `problem` is a clause that follows a colon. */
  | { readonly state: "failed"; readonly problem: string };

export interface JobRecord {
  readonly jobId: string;
  /** The request that started it, if it came from this computer. */
  readonly order?: JobOrder;
  /** Undefined if the journal can't be read. */
  readonly posts?: readonly JobPost[];
  /** The job's own last answer; for a job that this process started, at first the answer to the start. */
  readonly state?: Job;
  /** When the service gave that answer, on the monotonic clock. */
  readonly fetchedAtMs?: number;
  /** When the service gave that answer, in milliseconds since the epoch, to be shown. */
  readonly updatedAtMs?: number;
  /** The status in a list since then. */
  readonly listedStatus?: string;
  /** When the service says that it was created. */
  readonly createdAtMs?: number;
  /** When this process first saw it, and first saw it completed, in milliseconds since the epoch. */
  readonly firstSeenAtMs?: number;
  readonly seenReadyAtMs?: number;
  /** The last link that the service gave, and when, on the monotonic clock. */
  readonly link?: { readonly url: string; readonly atMs: number };
  /** True if the link is unknown or old because the list could not be read. */
  readonly isLinkUnread?: boolean;
  readonly saved?: SavedVideo | undefined;
  /** Why the job is no longer followed though it has not ended, as a sentence. */
  readonly followingEnded?: string | undefined;
}

/** Milliseconds since the epoch. This computer's own time wins: the service's clock may differ. */
export function startedAtMs({ order, createdAtMs }: JobRecord): number | undefined {
  return order?.atMs ?? createdAtMs;
}

/** Milliseconds since the job was started; undefined if that is not known. */
export function ageMs(record: JobRecord, nowMs: number): number | undefined {
  const atMs = startedAtMs(record);
  return atMs === undefined ? undefined : Math.max(0, nowMs - atMs);
}

/** The first spoken words of its topic; undefined if it was ordered elsewhere. */
export function jobTitle({ order }: JobRecord): string | undefined {
  return order && firstSpokenWords(String(order.arguments["topic"]));
}

export function hasEnded({ state }: JobRecord): boolean {
  return state?.done === true;
}

/** The last status in any of the service's answers. A list may lag behind an end. */
export function lastStatus({ state, listedStatus }: JobRecord): string | undefined {
  return state?.done === true ? state.status : (listedStatus ?? state?.status);
}

/**
 * The listed jobs, newest first, that a request of that time may have started if its answer was lost. The
 * service's clock may differ by some minutes.
 */
export function possibleJobs(listed: readonly JobRecord[], requestedAtMs: number): JobRecord[] {
  const startMs = requestedAtMs - UNDER_WAY_MS;
  // Below the job of an older order, all are older.
  const end = listed.findIndex(({ order }) => (order?.atMs ?? Infinity) < startMs);
  return listed
    .slice(0, end === -1 ? undefined : end)
    .filter(
      ({ order, createdAtMs = Infinity, firstSeenAtMs = Infinity, seenReadyAtMs = Infinity }) =>
        order === undefined &&
        createdAtMs >= startMs &&
        firstSeenAtMs >= requestedAtMs - MAX_JITTER_MS &&
        seenReadyAtMs >= requestedAtMs + MIN_RENDER_MS,
    );
}

/** The job's own last answer; if there is none, or a list has shown the end since, what is known. */
export function lastState(record: JobRecord): Job {
  const { jobId, state, link } = record;
  const status = lastStatus(record) ?? "processing";
  const done = isEnded(status);
  if (state !== undefined && state.done === done) return state;
  const isLinked = link !== undefined && stateOf(status) === "ready";
  return { videoUrls: [], ...state, jobId, status, done, ...(isLinked && { finalVideoUrl: link.url }) };
}

/** Times are those of the answer: `atMs` on the monotonic clock, `nowMs` since the epoch. */
export interface AnsweredAt {
  readonly atMs: number;
  readonly nowMs: number;
}

/**
 * Adds the job's own answer. A job that had ended stays ended: a lagging replica of the service may answer
 * with an older state. The final video that a list gave stays, too.
 */
export function withAnswer(record: JobRecord, answer: Job, { atMs, nowMs }: AnsweredAt): JobRecord {
  const { listedStatus: _, ...before } = record;
  if (hasEnded(record) && !answer.done) return record;
  const url = answer.finalVideoUrl ?? (stateOf(answer.status) === "ready" ? record.link?.url : undefined);
  const state = url === undefined ? answer : { ...answer, finalVideoUrl: url };
  // Not spread, which takes ten times as long.
  return Object.assign(
    before,
    { state, fetchedAtMs: atMs, updatedAtMs: nowMs },
    seen(record, answer.status, nowMs),
    answer.finalVideoUrl === undefined ? {} : linkOf(answer.finalVideoUrl, atMs),
  );
}

/** Adds what the video list says of the job. */
export function withListed(record: JobRecord, video: Video, { atMs, nowMs }: AnsweredAt): JobRecord {
  const { status, finalVideoUrl: url } = video;
  const { state } = record;
  const isReady = state !== undefined && stateOf(state.status) === "ready";
  return {
    ...record,
    listedStatus: status,
    ...seen(record, status, nowMs),
    ...(record.createdAtMs === undefined && readCreatedAt(video["createdAt"], nowMs)),
    ...(url !== undefined && linkOf(url, atMs)),
    ...(url !== undefined && isReady && { state: { ...state, finalVideoUrl: url } }),
  };
}

function seen(
  { firstSeenAtMs, seenReadyAtMs }: JobRecord,
  status: string,
  nowMs: number,
): Partial<JobRecord> {
  const isReady = stateOf(status) === "ready";
  return {
    firstSeenAtMs: firstSeenAtMs ?? nowMs,
    ...(isReady && { seenReadyAtMs: seenReadyAtMs ?? nowMs }),
  };
}

function linkOf(url: string, atMs: number) {
  return { link: { url, atMs }, isLinkUnread: false };
}

/** The first answer is a change only if it is the end; after the end nothing is. */
export function hasChanged({ state: before }: JobRecord, { state: after }: JobRecord): boolean {
  if (after === undefined || before === after) return false;
  if (before === undefined) return after.done;
  // The answer to the start names no total, so the first total isn't a change.
  const [one, other] = [before.progress?.total, after.progress?.total];
  const [old, young] = [contentOf(before, other), contentOf(after, one)];
  return !before.done && (old.length !== young.length || old.some((value, index) => value !== young[index]));
}

/** The documented fields alone: a service may stamp every answer, and sign its links again each time. */
function contentOf({ status, progress, videoUrls, audioUrl, finalVideoUrl }: Job, otherTotal = 0) {
  const links = [audioUrl, finalVideoUrl, ...videoUrls].map((link) => link?.split(/[?#]/, 1)[0]);
  const { total = otherTotal, completed = 0, failed = 0 } = progress ?? {};
  return [status, total, completed, failed, ...links];
}

/** Reads an undocumented field, so any other shape of it is ignored. */
function readCreatedAt(value: unknown, nowMs: number): { createdAtMs?: number } {
  const createdAtMs =
    typeof value === "string" && /^\d{4}-\d{2}-\d{2}T/.test(value) ? Date.parse(value) : Number.NaN;
  return createdAtMs <= nowMs ? { createdAtMs } : {};
}
