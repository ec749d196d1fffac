// Errors of paid and public requests that were held back, and what to add when an answer was lost.

import { JOB_ID } from "../service/job.ts";
import { BridgeError, confirmOrder, notSent, STALE_CODE_SENTENCE } from "../errors.ts";
import { platformTitle } from "../service/platforms.ts";
import type { Video } from "../service/responses.ts";
import { fixForDisk } from "../disk.ts";
import { inSentences, say, type Text, toolOrCommand } from "../sentences.ts";
import { capitalized, describeAge, inWords, quote, quoteName, quoteWord } from "../text.ts";

const MAX_CANDIDATES = 5;
const FOLLOW_JOB = toolOrCommand("get_video_status", "--job-id ID --wait");
const CHECK_LIST = say`[Check list_videos for it|Look for it with ${toolOrCommand("list_videos")}]`;

/** The code that an error gives for sending the request anyway. */
interface GivenCode {
  readonly code: string;
  /** The caller gave another code. */
  readonly isStale: boolean;
}

interface Repeat extends GivenCode {
  readonly ageMs: number;
}

/** The order looks like a mistake. Not retryable: a client that repeats a call by itself would pay. */
export function checkOrderError(
  warnings: readonly { readonly finding: string; readonly advice: Text }[],
  { code, isStale }: GivenCode,
): BridgeError {
  return notSent(
    "check_order",
    inSentences(
      isStale && STALE_CODE_SENTENCE,
      say`Not sent, since it may not be what [the user means|you mean].`,
      ...warnings.map(({ finding }) => finding),
    ),
    inSentences(
      ...warnings.map(({ advice }) => advice),
      say`Only if [you have told the user this, and they then|you] want the order as it is, ${confirmOrder(code)}.`,
    ),
  );
}

export function orderInProgressError(ageMs: number): BridgeError {
  return notSent(
    "in_progress",
    `Not sent: a video of the same words was ordered ${describeAge(ageMs)}, and its outcome is not known yet.`,
    inSentences(
      say`${CHECK_LIST}, and follow it with ${FOLLOW_JOB} if it is there.`,
      say`If it isn't, [tell the user that |]it may still be starting.`,
      "Don't order it again, not even in other words or with other settings.",
    ),
  );
}

export function publicationInProgressError(ageMs: number, platforms: readonly string[]): BridgeError {
  return notSent(
    "in_progress",
    `Not sent: ${describeAge(ageMs)} this video was sent to ${titlesOf(platforms)}, and the outcome is not known yet, so it may already be public there.`,
    inSentences(
      say`[Tell the user to look|Look] at ${accountsOf(platforms)}.`,
      say`If the answer comes, [get_video_status|${toolOrCommand("list_videos")}] shows it.`,
    ),
  );
}

export function duplicateOrderError({ ageMs, code, isStale }: Repeat, count: number): BridgeError {
  const others = count > 1 ? ` (the newest of ${count})` : "";
  return notSent(
    "duplicate",
    inSentences(
      isStale && STALE_CODE_SENTENCE,
      `Not sent: a video of the same words was ordered ${describeAge(ageMs)}${others} and its answer never came, so it may have been made.`,
    ),
    inSentences(
      say`${CHECK_LIST}. Only if it isn't there, and [the user still wants|you still want] it, ${confirmOrder(code)}.`,
      "Don't order it in other words or with other settings instead.",
    ),
  );
}

export function duplicatePublicationError(
  { ageMs, code, isStale }: Repeat,
  platforms: Readonly<Record<"unknown" | "free" | "unposted", readonly string[]>>,
): BridgeError {
  const { unknown, free, unposted } = platforms;
  return notSent(
    "duplicate",
    inSentences(
      isStale && STALE_CODE_SENTENCE,
      `Not sent: ${describeAge(ageMs)} this video was sent to ${titlesOf(unknown)} and the outcome is not known, so it may already be public there.`,
    ),
    inSentences(
      say`[Ask the user to look|Look] at ${accountsOf(unknown)}.`,
      say`Only if [they|you] have looked since, the video isn't there, and [they|you] still want it, [call publish_video again with platforms ${JSON.stringify(unposted)} and confirm: "${code}"|repeat the call with --platforms ${quoteWord(unposted.join(","))} --confirm ${code}].`,
      unknown.length > 1 && "If it is missing on some of them, name those alone to get the code for them.",
      free.length > 0 &&
        say`To publish on ${titlesOf(free)} alone, [call with platforms ${JSON.stringify(free)}|repeat the call with --platforms ${quoteWord(free.join(","))}].`,
    ),
  );
}

function accountsOf(platforms: readonly string[]): string {
  return `the ${titlesOf(platforms)} ${platforms.length === 1 ? "account" : "accounts"}`;
}

function titlesOf(platforms: readonly string[]): string {
  return inWords(platforms.map(platformTitle));
}

export function limitError(max: number, ordered: number, failed: number): BridgeError {
  const videos = max === 1 ? "video" : "videos";
  const uncounted =
    failed === 1 ? "1 is known to have failed and doesn't" : `${failed} are known to have failed and don't`;
  const count = failed === 0 ? "" : `: ${ordered} were ordered, of which ${uncounted} count`;
  return notSent(
    "limit_reached",
    `The limit of ${max} ${videos} in 24 hours is reached${count}.`,
    say`[Tell the user: the limit is set in this server's settings, which only they can change|Raise FACELESS_MAX_GENERATIONS, which sets it, or call again later].`,
  );
}

/** The journal can't be used: a repeat could not be noticed. `place` is the file, the folder or the table. */
export class JournalError extends BridgeError {
  /** A predicate whose subject is the journal, with the file. */
  readonly problem: string;
  /** The user's fix, as a clause. */
  readonly fix: string;

  constructor(
    use: "read" | "written" | "understood",
    place: string,
    reason: string,
    fix = use === "understood" ? UPDATE_SERVER : fixForDisk(use, reason, place),
  ) {
    const problem = `can't be ${use} (${reason}: ${place})`;
    super({
      code: use === "written" ? "journal_unwritable" : "journal_unreadable",
      message: `The journal that guards against paying or posting twice ${problem}.`,
      nextStep: say`[Tell the user: ${fix}|${capitalized(fix)}], then call again.`,
      outcome: "not_sent",
      retryable: true,
    });
    this.problem = problem;
    this.fix = fix;
  }
}

const UPDATE_SERVER = "update this server, as a newer version has written it";

/** The failure of a confirmed second post. It must never say that waiting makes it safe. */
export function withoutWaiting(error: unknown): unknown {
  if (!(error instanceof BridgeError) || !error.facts.retryable) return error;
  const { retryAfterSeconds: _, ...facts } = error.facts;
  const nextStep = say`[Ask the user whether they|Call again only if you] still want it posted a second time[ before you call again|].`;
  return new BridgeError({ ...facts, retryable: false, nextStep }, error);
}

/** The jobs that a request may have started; undefined if they can't be listed. */
export function describeCandidates(videos: readonly Video[] | undefined): string {
  if (videos === undefined) return "The newest videos could not be listed just now.";
  if (videos.length === 0) return "So far the video list shows no job that could be it.";
  const jobs = videos
    .slice(0, MAX_CANDIDATES)
    .map(({ jobId, status }) => `${JOB_ID.test(jobId) ? jobId : quote(jobId, 60)} (${quoteName(status)})`);
  return `The newest jobs that could be it: ${jobs.join(", ")}.`;
}
