// What a caller is told when a paid or public request was held back, or when its answer was lost.

import { BridgeError } from "../errors.ts";
import type { Video, VideoPage } from "../service/answers.ts";
import { cleanServiceText, describeAge, inWords } from "../text.ts";

const MAX_CANDIDATES = 5;
const STALE_CODE = "This confirmDuplicate code is out of date. ";

/** The same video was requested before, and what became of it is not known. */
export function duplicateGenerationError(earlier: {
  readonly ageMs: number;
  readonly code: string;
  /** The caller gave a code that does not fit. */
  readonly isRefusal: boolean;
}): BridgeError {
  const { ageMs, code, isRefusal } = earlier;
  return new BridgeError({
    code: "duplicate",
    message: `${isRefusal ? STALE_CODE : ""}Not sent: the same video was requested ${describeAge(ageMs)} and its outcome is not known, so it may already be rendering.`,
    nextStep: `Look with list_videos whether it is there. Only if it isn't, and the user still wants it, call generate_video again with confirmDuplicate: "${code}".`,
    outcome: "not_sent",
    retryable: false,
  });
}

/** The same job was sent to some of these platforms before, and what became of it is not known. */
export function duplicatePublicationError(earlier: {
  readonly unknown: readonly string[];
  /** The unknown and the free ones. */
  readonly unposted: readonly string[];
  readonly free: readonly string[];
  readonly ageMs: number;
  readonly code: string;
  readonly isRefusal: boolean;
}): BridgeError {
  const { unknown, unposted, free, ageMs, code, isRefusal } = earlier;
  const accounts = `the ${inWords(unknown)} ${unknown.length === 1 ? "account" : "accounts"}`;
  const others =
    free.length === 0
      ? ""
      : ` To publish on ${inWords(free)} alone, call with platforms ${JSON.stringify(free)}.`;
  return new BridgeError({
    code: "duplicate",
    message: `${isRefusal ? STALE_CODE : ""}Not sent: ${describeAge(ageMs)} this video was sent to ${inWords(unknown)} and the outcome is not known, so it may already be public there.`,
    nextStep: `Ask the user to look at ${accounts}. Only if the video isn't there, and they still want it, call publish_video again with platforms ${JSON.stringify(unposted)} and confirmDuplicate: "${code}".${others}`,
    outcome: "not_sent",
    retryable: false,
  });
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

/** What `generate` gives. An error of unknown outcome is thrown on with the jobs that could be the lost one. */
export async function withCandidates<Result>(
  generate: () => Promise<Result>,
  listVideos: () => Promise<VideoPage>,
  jobs: {
    /** The jobs that this process knows at the moment. */
    readonly knownJobIds: () => ReadonlySet<string>;
    readonly onListed: (videos: readonly Video[]) => void;
  },
): Promise<Result> {
  // Taken before the request: while it was under way, a look at the video list may have made its job known.
  const known = jobs.knownJobIds();
  try {
    return await generate();
  } catch (error) {
    if (!(error instanceof BridgeError) || error.facts.outcome !== "unknown") throw error;
    const found = await listVideos().then(
      ({ videos }) => {
        // A render takes minutes, so a job that has ended is an older one, which a new process merely does not know yet.
        const candidates = videos.filter(({ jobId, status }) => !known.has(jobId) && !isEnded(status));
        jobs.onListed(videos);
        return describeCandidates(candidates);
      },
      () => "The newest videos could not be listed just now.",
    );
    throw new BridgeError({ ...error.facts, nextStep: `${found} ${error.facts.nextStep}` }, error);
  }
}

function isEnded(status: string): boolean {
  return status === "completed" || status === "failed";
}

function describeCandidates(videos: readonly Video[]): string {
  if (videos.length === 0) return "So far the video list shows no running job that could be it.";
  const jobs = videos
    .slice(0, MAX_CANDIDATES)
    .map(({ jobId, status }) => `${cleanServiceText(jobId, 60)} (${cleanServiceText(status, 40)})`);
  return `The newest jobs that could be it: ${jobs.join(", ")}.`;
}
