// What results say of a job: its state, what this computer knows of it, and what to do next.

import * as z from "zod";
import { meaningOf } from "../service/options.ts";
import type { JobHistory, Post } from "../idempotency/history.ts";
import type { SavedVideo } from "../saved-videos/saved-videos.ts";
import type { Job } from "../service/answers.ts";
import { describeAge, inWords, quote } from "../text.ts";
import type { Guidance, ToolContext, ToolOutcome } from "./tool.ts";

/** Much longer than renders usually take. */
const LONG_RENDER_MS = 10 * 60_000;

/** Describes a post's fields in words: a schema would make tools/list longer. */
export const publishedToField = () =>
  z.array(z.looseObject({})).describe("{platform, url, at, unknown}, known to this computer only").optional();

export const savedToField = () => ({
  savedTo: z.string().describe("File on the computer that runs this server").optional(),
});

/** The field, if the video is saved. */
export function savedToOf(saved: SavedVideo | undefined): { readonly savedTo?: string } {
  return saved?.state === "saved" ? { savedTo: saved.path } : {};
}

export type JobContext = Pick<ToolContext, "jobs" | "history" | "savedVideos" | "canPublish">;

/** A job with what this computer knows of it, and what that means to the caller. */
export async function describeJob(
  job: Job,
  { jobs, history, savedVideos, canPublish }: JobContext,
): Promise<ToolOutcome<Job>> {
  await savedVideos.refresh();
  const saved = savedVideos.stateOf(job.jobId);
  // A video that is still rendering was posted nowhere, and its arguments only serve the next one.
  const known = job.done ? (await history()).get(job.jobId.toLowerCase()) : undefined;
  const publishedTo = known?.publishedTo ?? [];
  const { isLinkUnread, watchEnded: reason } = jobs.get(job.jobId) ?? {};
  const watchEnded = job.done ? undefined : reason;
  const ageMs = jobs.ageMs(job.jobId);
  return {
    ...describeStatus(job, { ageMs, canPublish, publishedTo, saved, watchEnded, isLinkUnread }),
    result: {
      ...job,
      ...savedToOf(saved),
      ...(publishedTo.length > 0 && { publishedTo: [...publishedTo] }),
      ...(known?.arguments !== undefined && { arguments: known.arguments }),
      ...(watchEnded !== undefined && { watchEnded }),
    },
  };
}

export interface StatusFacts {
  /** Since the job was started, where that is known. */
  readonly ageMs: number | undefined;
  readonly canPublish: boolean;
  readonly publishedTo: JobHistory["publishedTo"];
  readonly saved: SavedVideo | undefined;
  /** Why the job is no longer polled though it has not ended, as a sentence. */
  readonly watchEnded?: string | undefined;
  /** The list, in which the final video's link would stand, could not be read. */
  readonly isLinkUnread?: boolean | undefined;
}

/** The summary and the next step. */
export function describeStatus(job: Job, facts: StatusFacts): Guidance {
  switch (meaningOf(job.status)) {
    case "ready":
      return describeCompleted(job, facts);
    case "refunded":
      return {
        summary: "The render failed, and the service refunds its credits by itself.",
        nextStep: "Tell the user. The same video may be generated again if they still want it.",
      };
    case "rendering":
    case "unclear":
      return describeUnfinished(job, facts);
  }
}

function describeUnfinished(job: Job, { ageMs, watchEnded }: StatusFacts): Guidance {
  const isLong = ageMs !== undefined && ageMs >= LONG_RENDER_MS;
  if (watchEnded !== undefined)
    return {
      summary: [
        watchEnded,
        `It was last seen as ${quote(job.status, 60)}: ${describeProgress(job)}.`,
        ageMs !== undefined && `Started ${describeAge(ageMs)}.`,
        describeUnsafe(job),
      ]
        .filter(Boolean)
        .join(" "),
      nextStep: "Tell the user. Look again with get_video_status when they ask, and don't generate it again.",
    };
  const state =
    meaningOf(job.status) === "rendering"
      ? `Still rendering: ${describeProgress(job)}.`
      : `The service gives the status ${quote(job.status, 60)}: ${describeProgress(job)}.`;
  const usual = isLong ? ", much longer than the usual 2 to 4 minutes." : "; renders take 2 to 4 minutes.";
  const age = ageMs === undefined ? "Renders take 2 to 4 minutes." : `Started ${describeAge(ageMs)}${usual}`;
  return {
    summary: [state, age, describeUnsafe(job)].filter(Boolean).join(" "),
    nextStep: isLong
      ? "Tell the user that it takes unusually long. Look again with get_video_status when they ask, and don't generate it again."
      : "Call get_video_status again with waitSeconds 50.",
  };
}

function describeCompleted(job: Job, facts: StatusFacts): Guidance {
  const { canPublish, publishedTo, saved, isLinkUnread = false } = facts;
  const link = job.finalVideoUrl;
  const ready =
    link === undefined ? `The video is ready: ${describeClips(job)}.` : `Your video is ready: ${link}`;
  const isMissing = link === undefined && !hasUnsafeLinks(job);
  const sentences = [
    isMissing &&
      (isLinkUnread
        ? "The link of the final video could not be looked up."
        : "The service has not listed the link of the final video yet."),
    link !== undefined && hasFailedClips(job) && `${describeFailedClips(job)}.`,
    describeSaved(saved),
    describePosts(publishedTo),
    describeUnsafe(job),
  ];
  return {
    summary: [ready, ...sentences].filter(Boolean).join(" "),
    nextStep: isMissing
      ? isLinkUnread
        ? "Tell the user that it is ready. Look for the link with get_video_status when they ask for it."
        : "Call get_video_status again in a few seconds for that link. If the video is an older one, look for the link with list_videos."
      : nextStepWhenReady(link, { canPublish, publishedTo }),
  };
}

function nextStepWhenReady(
  link: string | undefined,
  { canPublish, publishedTo }: Pick<StatusFacts, "canPublish" | "publishedTo">,
): string {
  if (link === undefined) return "Tell the user to watch it on the service's website.";
  if (publishedTo.length > 0) return "Show the user the link, and those of the posts.";
  return canPublish
    ? "Show the user the link, and ask whether and where to publish it."
    : "Show the user the link.";
}

function describeSaved(saved: SavedVideo | undefined): string {
  if (saved === undefined) return "";
  if (saved.state === "failed")
    return `It could not be saved on this computer: ${saved.problem}. A later get_video_status tries again.`;
  return saved.state === "saved" ? `It is saved as ${saved.path}.` : `It is being saved as ${saved.path}.`;
}

function describePosts(posts: readonly Post[]): string {
  const namesOf = (isWanted: (post: Post) => boolean) =>
    inWords(posts.filter(isWanted).map(({ platform }) => platform));
  const posted = namesOf(({ unknown }) => unknown !== true);
  const unknown = namesOf((post) => post.unknown === true);
  const sentences = [
    posted !== "" && `It was posted to ${posted}.`,
    unknown !== "" && `It may have been posted to ${unknown}: the answer was lost.`,
  ];
  return sentences.filter(Boolean).join(" ");
}

function hasUnsafeLinks(job: Job): boolean {
  return job["unsafeLinksLeftOut"] !== undefined;
}

function describeUnsafe(job: Job): string {
  return hasUnsafeLinks(job) ? "Links that are not safe to open were left out." : "";
}

/** The state in a few words, for a progress bar. */
export function describeProgress(job: Job): string {
  switch (meaningOf(job.status)) {
    case "ready":
      return `Ready: ${describeClips(job)}`;
    case "refunded":
      return "Failed, credits are refunded";
    case "rendering":
    case "unclear":
      return describeClipsSoFar(job);
  }
}

function describeClipsSoFar(job: Job): string {
  const { total, completed } = job.progress ?? {};
  if (total === undefined || completed === undefined) return `${describeClips(job)} so far`;
  const failed = hasFailedClips(job) ? `, ${job.progress?.failed} failed` : "";
  return `${completed} of ${total} clips${failed}`;
}

function describeClips(job: Job): string {
  const { length } = job.videoUrls;
  const clips = `${length} ${length === 1 ? "clip" : "clips"}`;
  return meaningOf(job.status) === "ready" && hasFailedClips(job)
    ? `${clips}. ${describeFailedClips(job)}`
    : clips;
}

function hasFailedClips({ progress }: Job): boolean {
  return (progress?.failed ?? 0) > 0;
}

function describeFailedClips({ progress: { failed = 0, total } = {} }: Job): string {
  return total === undefined ? `${failed} clips failed` : `${failed} of ${total} clips failed`;
}
