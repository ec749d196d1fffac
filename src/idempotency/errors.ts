// What a caller is told when a paid or public request was held back, or when its answer was lost.

import { BridgeError } from "../errors.ts";
import { isEnded } from "../service/options.ts";
import type { Video } from "../service/answers.ts";
import { cleanServiceText, describeAge, inWords } from "../text.ts";

const MAX_CANDIDATES = 5;

/** A request that was made before. */
interface Repeat {
  readonly ageMs: number;
  /** Confirms that it is to be sent again. */
  readonly code: string;
  /** The caller gave another code. */
  readonly isStale: boolean;
}

/** The caller or the end of the process has ended a call that had sent nothing. */
export function cancelledError(): BridgeError {
  return new BridgeError({
    code: "cancelled",
    message: "The call was cancelled before anything was sent.",
    nextStep: "Call again if it is still wanted.",
    outcome: "not_sent",
    retryable: true,
  });
}

/** The same request is being made by another call or process, and has no outcome yet. */
export function inProgressError(): BridgeError {
  return new BridgeError({
    code: "in_progress",
    message:
      "Not sent: another call is making the same request at this moment, and its outcome is not known yet.",
    nextStep: "Make the same call again in a minute: it answers with what became of the other one.",
    outcome: "not_sent",
    retryable: true,
  });
}

/** The same video was requested before, and what became of it is not known. */
export function duplicateGenerationError({ ageMs, code, isStale }: Repeat): BridgeError {
  return duplicateError(
    isStale,
    `the same video was requested ${describeAge(ageMs)} and its outcome is not known, so it may already be rendering.`,
    `Look with list_videos whether it is there. Only if it isn't, and the user still wants it, call generate_video again with confirmDuplicate: "${code}".`,
  );
}

/** The same job was sent to some of these platforms before, and what became of it is not known. */
export function duplicatePublicationError(
  { ageMs, code, isStale }: Repeat,
  platforms: {
    readonly unknown: readonly string[];
    readonly free: readonly string[];
    /** The unknown and the free ones. */
    readonly unposted: readonly string[];
  },
): BridgeError {
  const { unknown, free, unposted } = platforms;
  const accounts = `the ${inWords(unknown)} ${unknown.length === 1 ? "account" : "accounts"}`;
  const others = ` To publish on ${inWords(free)} alone, call with platforms ${JSON.stringify(free)}.`;
  return duplicateError(
    isStale,
    `${describeAge(ageMs)} this video was sent to ${inWords(unknown)} and the outcome is not known, so it may already be public there.`,
    `Ask the user to look at ${accounts}. Only if the video isn't there, and they still want it, call publish_video again with platforms ${JSON.stringify(unposted)} and confirmDuplicate: "${code}".${free.length === 0 ? "" : others}`,
  );
}

function duplicateError(isStale: boolean, message: string, nextStep: string): BridgeError {
  const stale = isStale ? "The confirmDuplicate code of this call is not valid. " : "";
  return new BridgeError({
    code: "duplicate",
    message: `${stale}Not sent: ${message}`,
    nextStep,
    outcome: "not_sent",
    retryable: false,
  });
}

/** This computer has started as many videos as its owner allows. */
export function limitError(max: number): BridgeError {
  return new BridgeError({
    code: "limit_reached",
    message:
      max === 0
        ? "This server is set to start no videos."
        : `This computer has reached its limit of ${max} ${max === 1 ? "video" : "videos"} in 24 hours.`,
    nextStep:
      "Tell the user: only they can raise FACELESS_MAX_GENERATIONS in this server's settings and restart the server.",
    outcome: "not_sent",
    retryable: false,
  });
}

/** The same failure, of a request that could not be written to the journal. */
export function withoutRecord(error: unknown): unknown {
  if (!(error instanceof BridgeError) || error.facts.outcome !== "unknown") return error;
  const nextStep = `${error.facts.nextStep} This computer's journal could not be written, so a repeat from another client would not be noticed.`;
  return new BridgeError({ ...error.facts, nextStep }, error);
}

/** The failure of a confirmed second post. That waiting makes it safe is never said of one. */
export function withoutWaiting(error: unknown): unknown {
  if (!(error instanceof BridgeError) || !error.facts.retryable) return error;
  const { retryAfterSeconds: _, ...facts } = error.facts;
  return new BridgeError(
    {
      ...facts,
      retryable: false,
      nextStep: "Ask the user whether they still want it posted a second time before you call again.",
    },
    error,
  );
}

/** An error with an unknown outcome, with the jobs that could be its own, of those that `listNew` gives. */
export async function withCandidates(
  error: BridgeError,
  listNew: () => Promise<readonly Video[]>,
): Promise<BridgeError> {
  let found = "The newest videos could not be listed just now.";
  try {
    found = describeCandidates(await listNew());
  } catch {}
  return new BridgeError({ ...error.facts, nextStep: `${found} ${error.facts.nextStep}` }, error);
}

function describeCandidates(videos: readonly Video[]): string {
  // A render takes minutes, so a job that has ended is an older one, which a new process does not know yet.
  const running = videos.filter(({ status }) => !isEnded(status)).slice(0, MAX_CANDIDATES);
  if (running.length === 0) return "So far the video list shows no running job that could be it.";
  const jobs = running.map(
    ({ jobId, status }) => `${cleanServiceText(jobId, 60)} (${cleanServiceText(status, 40)})`,
  );
  return `The newest jobs that could be it: ${jobs.join(", ")}.`;
}
