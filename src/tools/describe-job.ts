// Describes a job for results: its state, what this computer knows of it, and what to do next.

import * as z from "zod";
import { jobUri, stateOf } from "../job.ts";
import { RENDER_TIME } from "../service/options.ts";
import type { OrderEntry } from "../idempotency/journal.ts";
import { type EarlierPost, sameOrders } from "../idempotency/same-request.ts";
import type { SavedVideo } from "../saved-videos/saved-videos.ts";
import type { Job } from "../service/responses.ts";
import {
  cleanServiceText,
  cutText,
  describeAge,
  inSentences,
  inWords,
  quote,
  quoteName,
  stripUnsafeCharacters,
} from "../text.ts";
import type { Guidance, ToolContext, ToolOutcome } from "./tool.ts";

/** Much longer than renders usually take. */
const LONG_RENDER_MS = 10 * 60_000;
/** The model mostly wrote the topic itself: what is repeated costs its context. */
const MAX_TOPIC_CHARACTERS = 500;

/** A post, as results name it. */
export interface Post {
  readonly platform: string;
  readonly url?: string;
  /** ISO 8601. */
  readonly at: string;
  /** It was sent, and what became of it is not known. */
  readonly unknown?: true;
}

/** Whoever may write to the journal may write anything. */
export function describePost({ platform: name, atMs, result }: EarlierPost): Post {
  const platform = cleanServiceText(name, 100);
  const at = new Date(atMs).toISOString();
  if (result === undefined) return { platform, at, unknown: true };
  const { url = "" } = result;
  const isLink = /^https?:\/\/\S{1,4096}$/i.test(url) && stripUnsafeCharacters(url) === url;
  return { platform, ...(isLink && { url }), at };
}

/** What was ordered, without unsafe characters. */
export function describeArguments(order: OrderEntry): OrderEntry["arguments"] {
  const clean = (value: unknown) => (typeof value === "string" ? stripUnsafeCharacters(value) : value);
  return Object.fromEntries(
    Object.entries(order.arguments).map(([name, value]) => [stripUnsafeCharacters(name), clean(value)]),
  );
}

/** Describes a post's fields in words: a schema would make tools/list longer. */
export const publishedToField = () =>
  z.array(z.looseObject({})).describe("{platform, url, at, unknown}, known to this computer only").optional();

export const savedToField = () => ({
  savedTo: z.string().describe("File on the computer that runs this server").optional(),
});

export function savedToOf(saved: SavedVideo | undefined): { readonly savedTo?: string } {
  return saved?.state === "saved" ? { savedTo: saved.path } : {};
}

export type JobContext = Pick<
  ToolContext,
  "config" | "jobs" | "reader" | "poller" | "history" | "savedVideos"
>;

/** A job with what this computer knows of it, and what that means to the caller. */
export async function describeJob(
  job: Job,
  { config, jobs, reader, poller, history, savedVideos }: JobContext,
  { suggestsPublishing = false, wholeTopic = false } = {},
): Promise<ToolOutcome<Job>> {
  const saved = savedVideos.stateOf(job.jobId);
  // A video that is still rendering was posted nowhere, and its arguments only serve the next one.
  const read = job.done ? await history() : undefined;
  const known = read?.jobs.get(job.jobId.toLowerCase());
  // Nobody knows where the video was posted if the journal can't be read.
  const publishedTo = job.done && read === undefined ? undefined : (known?.posts ?? []).map(describePost);
  const watchEnded = job.done ? undefined : poller.watchEnded(job.jobId);
  const facts = {
    ageMs: jobs.ageMs(job.jobId),
    isReadOnly: config.readOnly,
    suggestsPublishing,
    publishedTo,
    saved,
    watchEnded,
    isLinkUnread: reader.isLinkUnread(job.jobId),
    earlierTries: stateOf(job.status) === "refunded" ? earlierTries(job.jobId, read?.orders ?? [], jobs) : 0,
  };
  const { summary, nextStep } = describeStatus(job, facts);
  const order = known?.order && describeArguments(known.order);
  const topic = cutText(String(order?.["topic"]), MAX_TOPIC_CHARACTERS);
  const isCut = !wholeTopic && order !== undefined && topic !== order["topic"];
  return {
    summary: inSentences(summary, isCut && `The topic is cut here: ${jobUri(job.jobId)} has it whole.`),
    nextStep,
    result: {
      ...job,
      ...savedToOf(saved),
      ...(publishedTo !== undefined && publishedTo.length > 0 && { publishedTo }),
      ...(order !== undefined && { arguments: isCut ? { ...order, topic } : order }),
      ...(watchEnded !== undefined && { watchEnded }),
    },
  };
}

/** How many jobs of the same order were started before this one and are known to have failed too. */
function earlierTries(jobId: string, orders: readonly OrderEntry[], jobs: JobContext["jobs"]): number {
  const index = orders.findIndex((order) => order.jobId?.toLowerCase() === jobId.toLowerCase());
  const order = orders[index];
  if (order === undefined) return 0;
  return sameOrders(order.arguments)(orders.slice(0, index)).filter(
    ({ jobId }) => jobId !== undefined && stateOf(jobs.get(jobId)?.status ?? "") === "refunded",
  ).length;
}

export interface StatusFacts {
  /** Since the job was started, where that is known. */
  readonly ageMs: number | undefined;
  /** The caller is not offered generate_video, which no text may name then. */
  readonly isReadOnly?: boolean;
  /** The next step may be to ask the user about publishing. */
  readonly suggestsPublishing?: boolean;
  /** Undefined if that can't be read. */
  readonly publishedTo: readonly Post[] | undefined;
  readonly saved: SavedVideo | undefined;
  readonly earlierTries?: number;
  /** Why the job is no longer polled though it has not ended, as a sentence. */
  readonly watchEnded?: string | undefined;
  /** The final video's link is not known or an older one, and the list could not be read. */
  readonly isLinkUnread?: boolean | undefined;
}

export function describeStatus(job: Job, facts: StatusFacts): Guidance {
  switch (stateOf(job.status)) {
    case "ready":
      return describeCompleted(job, facts);
    case "refunded":
      return describeFailed(facts);
    case "rendering":
    case "other":
      return describeUnfinished(job, facts);
  }
}

function describeFailed({ earlierTries = 0, isReadOnly = false }: StatusFacts): Guidance {
  if (earlierTries === 0)
    return {
      summary: "The render failed, and its credits are refunded automatically.",
      nextStep: isReadOnly
        ? "Tell the user."
        : "Tell the user. The same video can be generated again if they still want it.",
    };
  return {
    summary: `The render failed again: this was attempt ${earlierTries + 1} of the same order. Its credits are refunded automatically.`,
    nextStep: isReadOnly
      ? "Tell the user."
      : "Tell the user, and suggest trying another topic or stopping: the same order would probably fail again.",
  };
}

function describeUnfinished(job: Job, { ageMs, watchEnded, isReadOnly = false }: StatusFacts): Guidance {
  const isLong = ageMs !== undefined && ageMs >= LONG_RENDER_MS;
  const status = quote(job.status, 60);
  const now =
    stateOf(job.status) === "rendering" ? "Still rendering" : `The service gives the status ${status}`;
  const state = watchEnded === undefined ? now : `${watchEnded} It was last seen as ${status}`;
  const usual = isLong ? `, much longer than the usual ${RENDER_TIME}.` : `; renders take ${RENDER_TIME}.`;
  const age = ageMs === undefined ? `Renders take ${RENDER_TIME}.` : `Started ${describeAge(ageMs)}${usual}`;
  const nextStep =
    watchEnded === undefined
      ? "Call get_video_status again with waitSeconds 50."
      : "Tell the user. Look again with get_video_status when they ask.";
  return {
    summary: inSentences(`${state}: ${describeProgress(job)}.`, age, describeUnsafe(job)),
    nextStep: isLong
      ? `Tell the user that it takes unusually long. Look again with get_video_status when they ask${isReadOnly ? "" : ", and don't generate it again"}.`
      : nextStep,
  };
}

function describeCompleted(job: Job, facts: StatusFacts): Guidance {
  const { publishedTo, saved, isLinkUnread = false, ageMs = 0 } = facts;
  const link = job.finalVideoUrl;
  const isMissing = link === undefined && !hasUnsafeLinks(job);
  return {
    summary: inSentences(
      link === undefined ? `The video is ready: ${describeClips(job)}.` : `Your video is ready: ${link}`,
      isMissing &&
        (isLinkUnread
          ? "The link of the final video could not be looked up."
          : "The service has not listed the link of the final video yet."),
      link !== undefined && isLinkUnread && "This link is an older one, and could not be looked up again.",
      link !== undefined && hasFailedClips(job) && `${describeFailedClips(job)}.`,
      describeSaved(saved),
      describePosts(publishedTo),
      describeUnsafe(job),
    ),
    nextStep: isMissing
      ? isLinkUnread || ageMs >= LONG_RENDER_MS
        ? "Tell the user that it is ready. Look for the link with get_video_status when they ask for it."
        : "Call get_video_status again in a few seconds for that link. If the video is an older one, look for the link with list_videos."
      : nextStepWhenReady(link, facts),
  };
}

function nextStepWhenReady(
  link: string | undefined,
  { suggestsPublishing, publishedTo }: StatusFacts,
): string {
  if (link === undefined) return "Tell the user to watch it on the service's website.";
  const links = publishedTo?.some(({ url }) => url !== undefined) ? ", and those of the posts." : ".";
  const unseen = namesOf(publishedTo ?? [], ({ url }) => url === undefined);
  if (unseen !== "") return `Show the user the link${links} Tell them to look for the post on ${unseen}.`;
  return suggestsPublishing && publishedTo?.length === 0
    ? "Show the user the link. If they haven't said yet, ask whether and where to publish it."
    : `Show the user the link${links}`;
}

function describeSaved(saved: SavedVideo | undefined): string {
  if (saved === undefined) return "";
  if (saved.state === "failed")
    return `It could not be saved on this computer: ${saved.problem}. A later get_video_status tries again.`;
  return saved.state === "saved" ? `It is saved as ${saved.path}.` : `It is being saved as ${saved.path}.`;
}

function describePosts(posts: readonly Post[] | undefined): string {
  if (posts === undefined) return "Where it was posted is not known: the journal can't be read.";
  const linked = namesOf(posts, ({ url }) => url !== undefined);
  const unlinked = namesOf(posts, ({ url, unknown }) => url === undefined && unknown !== true);
  const unknown = namesOf(posts, (post) => post.unknown === true);
  return inSentences(
    linked !== "" && `It was posted to ${linked}.`,
    unlinked !== "" && `The service reports a post on ${unlinked} but gave no link.`,
    unknown !== "" && `It may have been posted to ${unknown}: what became of it is not known.`,
  );
}

/** Each platform once, though each post on it is an entry. */
function namesOf(posts: readonly Post[], isWanted: (post: Post) => boolean): string {
  return inWords([...new Set(posts.filter(isWanted).map(({ platform }) => quoteName(platform)))]);
}

function hasUnsafeLinks(job: Job): boolean {
  return job["unsafeLinksLeftOut"] !== undefined;
}

function describeUnsafe(job: Job): string {
  return hasUnsafeLinks(job) ? "Links that are not safe to open were left out." : "";
}

/** The state in a few words, for a progress bar. */
export function describeProgress(job: Job): string {
  switch (stateOf(job.status)) {
    case "ready":
      return `Ready: ${describeClips(job)}`;
    case "refunded":
      return "Failed, credits are refunded";
    case "rendering":
    case "other":
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
  return stateOf(job.status) === "ready" && hasFailedClips(job)
    ? `${clips}. ${describeFailedClips(job)}`
    : clips;
}

function hasFailedClips({ progress }: Job): boolean {
  return (progress?.failed ?? 0) > 0;
}

function describeFailedClips({ progress: { failed = 0, total } = {} }: Job): string {
  return total === undefined ? `${failed} clips failed` : `${failed} of ${total} clips failed`;
}
