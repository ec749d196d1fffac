// What a caller is told when a paid or public request was held back, or when its answer was lost.

import { isEnded } from "../job.ts";
import { BridgeError, type ErrorCode } from "../errors.ts";
import type { Video } from "../service/responses.ts";
import { cleanServiceText, describeAge, inWords } from "../text.ts";

const MAX_CANDIDATES = 5;
/** Younger requests can't have a job that has already ended. */
const MIN_RENDER_MS = 60_000;

/** A request that was made before. */
interface Repeat {
  readonly ageMs: number;
  /** Confirms that it is to be sent again. */
  readonly code: string;
  /** The caller gave another code. */
  readonly isStale: boolean;
}

function notSent(code: ErrorCode, message: string, nextStep: string, retryable = false): BridgeError {
  return new BridgeError({ code, message, nextStep, outcome: "not_sent", retryable });
}

/** The same video was requested a short while ago, and its outcome is not known yet. */
export function generationInProgressError(ageMs: number): BridgeError {
  return notSent(
    "in_progress",
    `Not sent: the same video was requested ${describeAge(ageMs)}, and its outcome is not known yet.`,
    "Look with list_videos whether it is there, and follow it with get_video_status if it is. Otherwise make the same call again in a few minutes: it returns the outcome of that request.",
    true,
  );
}

/** The same job was sent to some of these platforms a short while ago, and the outcome is not known yet. */
export function publicationInProgressError(ageMs: number, platforms: readonly string[]): BridgeError {
  return notSent(
    "in_progress",
    `Not sent: ${describeAge(ageMs)} this video was sent to ${inWords(platforms)}, and the outcome is not known yet, so it may already be public there.`,
    `Tell the user to look at ${accountsOf(platforms)}. get_video_status says later what is known of the post.`,
  );
}

/** The same video was requested before, and what became of it is not known. */
export function duplicateGenerationError({ ageMs, code, isStale }: Repeat): BridgeError {
  return notSent(
    "duplicate",
    `${describeCode(isStale)}Not sent: the same video was requested ${describeAge(ageMs)} and its outcome is not known, so it may already be rendering.`,
    `Look with list_videos whether it is there. Only if it isn't, and the user still wants it, call generate_video again with confirmDuplicate: "${code}".`,
  );
}

/** The same job was sent to some of these platforms before, and what became of it is not known. */
export function duplicatePublicationError(
  { ageMs, code, isStale }: Repeat,
  platforms: Readonly<Record<"unknown" | "free" | "unposted", readonly string[]>>,
): BridgeError {
  const { unknown, free, unposted } = platforms;
  const others = ` To publish on ${inWords(free)} alone, call with platforms ${JSON.stringify(free)}.`;
  return notSent(
    "duplicate",
    `${describeCode(isStale)}Not sent: ${describeAge(ageMs)} this video was sent to ${inWords(unknown)} and the outcome is not known, so it may already be public there.`,
    `Ask the user to look at ${accountsOf(unknown)}. Only if the video isn't there, and they still want it, call publish_video again with platforms ${JSON.stringify(unposted)} and confirmDuplicate: "${code}".${free.length === 0 ? "" : others}`,
  );
}

function accountsOf(platforms: readonly string[]): string {
  return `the ${inWords(platforms)} ${platforms.length === 1 ? "account" : "accounts"}`;
}

function describeCode(isStale: boolean): string {
  return isStale ? "The confirmDuplicate code of this call is not valid. " : "";
}

/** This computer has started as many videos as its owner allows. */
export function limitError(max: number): BridgeError {
  return notSent(
    "limit_reached",
    `This computer has reached its limit of ${max} ${max === 1 ? "video" : "videos"} in 24 hours.`,
    "Tell the user: only they can raise FACELESS_MAX_GENERATIONS in this server's settings and restart the server.",
  );
}

/** The journal can't be used: a repeat could not be noticed. `path` is the file or the folder. */
export class JournalError extends BridgeError {
  /** As a predicate of the journal, with the file. */
  readonly problem: string;
  /** What the user can do, as a clause. */
  readonly fix: string;

  constructor(use: keyof typeof JOURNAL_FIXES, path: string, reason: string) {
    const problem = `can't be ${use} (${reason}: ${path})`;
    const fix = JOURNAL_FIXES[use];
    super({
      code: use === "written" ? "journal_unwritable" : "journal_unreadable",
      message: `The journal that guards against paying or posting twice ${problem}, so nothing was sent.`,
      nextStep: `Tell the user: ${fix}, then call again. FACELESS_STATE_DIR=off lets the server work without this guard, which only the user may decide.`,
      outcome: "not_sent",
      retryable: true,
    });
    this.problem = problem;
    this.fix = fix;
  }
}

const JOURNAL_FIXES = {
  read: "give this server the right to read it",
  written: "give this server the right to write it, and the disk some space",
  understood: "update this server, as a newer version has written that file",
} as const;

/** The failure of a confirmed second post. That waiting makes it safe is never said of one. */
export function withoutWaiting(error: unknown): unknown {
  if (!(error instanceof BridgeError) || !error.facts.retryable) return error;
  const { retryAfterSeconds: _, ...facts } = error.facts;
  const nextStep = "Ask the user whether they still want it posted a second time before you call again.";
  return new BridgeError({ ...facts, retryable: false, nextStep }, error);
}

/** The jobs that a request of that age may have started; `videos` is undefined if they can't be listed. */
export function describeCandidates(ageMs: number, videos: readonly Video[] | undefined): string {
  const possible = videos?.filter(({ status }) => ageMs >= MIN_RENDER_MS || !isEnded(status));
  if (possible === undefined) return "The newest videos could not be listed just now.";
  if (possible.length === 0) return "So far the video list shows no job that could be it.";
  const jobs = possible
    .slice(0, MAX_CANDIDATES)
    .map(({ jobId, status }) => `${cleanServiceText(jobId, 60)} (${cleanServiceText(status, 40)})`);
  return `The newest jobs that could be it: ${jobs.join(", ")}.`;
}
