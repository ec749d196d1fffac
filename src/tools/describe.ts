// A job in words, for results and errors, from its record alone. Pure. The tables have a sentence per item;
// those that don't apply are left out.

import type { Config } from "../config.ts";
import type { AlreadyStarted } from "../idempotency/generate-once.ts";
import { type JobState, jobUri, stateOf, UNLISTED_MS } from "../service/job.ts";
import { ageMs, type JobOrder, type JobPost, type JobRecord, lastState } from "../jobs/job-record.ts";
import { renderTime } from "../service/options.ts";
import { platformTitle } from "../service/platforms.ts";
import type { Job } from "../service/responses.ts";
import { inSentences, say, type Text, toolOrCommand } from "../sentences.ts";
import { cutText, describeAge, inWords, quote, quoteWord } from "../text.ts";
import { argumentFields, postFields, linkOf, newestOf, savedToOf } from "./record-fields.ts";
import { USUAL_WAIT_SECONDS } from "./listing.ts";
import type { ToolOutcome } from "./tool.ts";

/** Much longer than renders usually take. */
const LONG_RENDER_MS = 10 * 60_000;
const MAX_TOPIC_CHARS = 4_000;

export interface DescribeOptions {
  readonly config: Pick<Config, "sandbox" | "sandboxSeconds" | "readOnly">;
  readonly nowMs: number;
  /** How long the caller may wait in one call. */
  readonly maxWaitSeconds?: number;
  readonly wholeTopic?: boolean;
}

/** The facts from which the sentences are made. */
interface Facts extends DescribeOptions {
  readonly record: JobRecord;
  readonly job: Job;
  readonly ageMs: number | undefined;
  readonly isLong: boolean;
  /** Undefined if the journal can't be read. */
  readonly posts: readonly JobPost[] | undefined;
  /** True if the service has not given the final video's link. */
  readonly isLinkMissing: boolean;
}

type Sentence = (facts: Facts) => Text | false | undefined;

/** A job with what this computer knows of it. */
export function describeJob(record: JobRecord, options: DescribeOptions): ToolOutcome<Job> {
  const job = lastState(record);
  const age = ageMs(record, options.nowMs);
  const facts: Facts = {
    record,
    job,
    ageMs: age,
    isLong: age !== undefined && age >= LONG_RENDER_MS,
    posts: record.posts && newestOf(record.posts),
    isLinkMissing: job.finalVideoUrl === undefined && !hasUnsafeLinks(job),
    ...options,
  };
  const state = stateOf(job.status);
  const { posts = [] } = facts;
  const order = job.done && record.order !== undefined ? orderFields(record.order, options) : undefined;
  const { followingEnded } = record;
  return {
    summary: inSentences(
      ...SUMMARY[state].map((sentence) => sentence(facts)),
      order?.isCut === true && `The topic is cut here: ${jobUri(job.jobId)} has it whole.`,
    ),
    nextStep:
      NEXT_STEP[state].reduce<Text | false | undefined>(
        (first, sentence) => first || sentence(facts),
        false,
      ) || undefined,
    result: {
      ...job,
      ...savedToOf(record),
      ...(job.done && posts.length > 0 && { publishedTo: posts.map(postFields) }),
      ...(order !== undefined && { arguments: order.args }),
      ...(!job.done && followingEnded !== undefined && { followingEnded }),
    },
  };
}

const unsafeLinks: Sentence = ({ job }) =>
  hasUnsafeLinks(job) && "Links that are not safe to open were left out.";

const progress: Sentence = ({ job, record: { followingEnded } }) => {
  if (followingEnded === undefined && stateOf(job.status) === "rendering")
    return `Still rendering: ${describeProgress(job)}.`;
  const before =
    followingEnded === undefined ? "The service gives the status" : `${followingEnded} It was last seen as`;
  return `${before} ${quote(job.status, 60)}: ${describeProgress(job)}.`;
};

const age: Sentence = ({ ageMs, isLong, config }) => {
  const usual = renderTime(config);
  if (ageMs === undefined) return `Renders take ${usual}.`;
  return `Started ${describeAge(ageMs)}${isLong ? `, much longer than the usual ${usual}` : `; renders take ${usual}`}.`;
};

/** "Sample video" in the sandbox, so that nobody takes it for a real one. */
export function videoIn({ sandbox }: Pick<Config, "sandbox">): string {
  return sandbox ? "sample video" : "video";
}

/** The sentences of the summary, in this order. */
const SUMMARY: Readonly<Record<JobState, readonly Sentence[]>> = {
  rendering: [progress, age, unsafeLinks],
  other: [progress, age, unsafeLinks],
  refunded: [
    ({ config }) =>
      config.sandbox
        ? "The render failed."
        : "The render failed, and its credits are refunded automatically.",
  ],
  ready: [
    ({ job, config }) =>
      job.finalVideoUrl === undefined
        ? `The ${videoIn(config)} is ready: ${describeClips(job)}.`
        : `Your ${videoIn(config)} is ready: ${job.finalVideoUrl}`,
    ({ isLinkMissing, record }) =>
      isLinkMissing &&
      (record.isLinkUnread === true
        ? "The link of the final video could not be looked up."
        : "The service has not listed the link of the final video yet."),
    ({ job, record }) =>
      job.finalVideoUrl !== undefined &&
      record.isLinkUnread === true &&
      "This link is an older one, and could not be looked up again.",
    ({ job }) => job.finalVideoUrl !== undefined && hasFailedClips(job) && `${describeFailedClips(job)}.`,
    ({ record: { saved } }) => {
      if (saved === undefined || saved.state === "removed") return undefined;
      if (saved.state === "failed")
        return say`It could not be saved on this computer: ${saved.problem}. A later ${toolOrCommand("get_video_status")} tries again.`;
      return `It ${saved.state === "saved" ? "is" : "will be"} saved as ${saved.path}.`;
    },
    ({ posts }) => posts === undefined && "Where it was posted is not known: the journal can't be read.",
    ({ posts, config }) => {
      const names = titlesOf(posts, ({ result }) => linkOf(result) !== undefined);
      return (
        names &&
        (config.sandbox
          ? `In this sandbox the sample counts as posted to ${names}.`
          : `It was posted to ${names}.`)
      );
    },
    ({ posts }) => {
      const names = titlesOf(posts, ({ result }) => result !== undefined && linkOf(result) === undefined);
      return names && `The service reports a post on ${names} but gave no link.`;
    },
    ({ posts }) => {
      const names = titlesOf(posts, ({ result }) => result === undefined);
      return names && `A post to ${names} was sent, and its outcome is not known.`;
    },
    unsafeLinks,
  ],
};

/** get_video_status, or the command that calls it for this job. */
function statusOf(jobId: string, options = ""): Text {
  return toolOrCommand("get_video_status", `--job-id ${quoteWord(jobId)} ${options}`);
}

/** get_video_status as a call that waits until the job has ended. */
export function waitFor(jobId: string, maxWaitSeconds: number): Text {
  return say`${statusOf(jobId, "--wait")}[ and waitSeconds ${maxWaitSeconds}|]`;
}

const whenLong: Sentence = ({ isLong, config, job: { jobId } }) =>
  isLong &&
  inSentences(
    say`[Tell the user that it takes unusually long.|]`,
    say`Look again with ${statusOf(jobId)} [when they ask|later]${config.readOnly ? "" : ", and don't generate it again"}.`,
  );
const whenNotFollowed: Sentence = ({ record, job: { jobId } }) =>
  record.followingEnded !== undefined &&
  inSentences(say`[Tell the user.|]`, say`Look again with ${statusOf(jobId)} [when they ask|later].`);
const wait: Sentence = ({ job: { jobId }, maxWaitSeconds = USUAL_WAIT_SECONDS }) =>
  say`[Call get_video_status again with waitSeconds ${maxWaitSeconds}|Follow it with ${statusOf(jobId, "--wait")}].`;

/** The next step is the first of these that applies. */
const NEXT_STEP: Readonly<Record<JobState, readonly Sentence[]>> = {
  rendering: [whenLong, whenNotFollowed, wait],
  other: [whenLong, whenNotFollowed, wait],
  refunded: [
    ({ config }) => config.readOnly && say`[Tell the user.|]`,
    () => say`[Tell the user. |]The same video can be generated again if [they|you] still want it.`,
  ],
  ready: [
    // A job of unknown age may be an old one, whose link never comes.
    ({ isLinkMissing, record, job: { jobId }, ageMs = Infinity }) =>
      isLinkMissing &&
      (record.isLinkUnread === true || ageMs >= LONG_RENDER_MS) &&
      inSentences(
        say`[Tell the user that it is ready.|]`,
        say`Look for the link with ${statusOf(jobId)} [when they ask for it|later].`,
      ),
    ({ isLinkMissing, job: { jobId } }) =>
      isLinkMissing &&
      say`[Call get_video_status again|Look with ${statusOf(jobId)}] in a few seconds for that link.`,
    ({ job }) =>
      job.finalVideoUrl === undefined && say`[Tell the user to watch|Watch] it on the service's website.`,
    ({ posts = [] }) => {
      const unseen = titlesOf(posts, ({ result }) => linkOf(result) === undefined);
      return (
        unseen && inSentences(showLinks(posts), say`[Tell them to look|Look] for the post on ${unseen}.`)
      );
    },
    ({ posts = [] }) => showLinks(posts),
  ],
};

function showLinks(posts: readonly JobPost[]): Text {
  const hasLinks = posts.some(({ result }) => linkOf(result) !== undefined);
  return say`[Show the user the link${hasLinks ? ", and those of the posts" : ""}.|]`;
}

/** The posts of a job that the journal knows, with their links, as a sentence for a read that failed. */
export function describePosts({ posts = [] }: JobRecord): string | undefined {
  const sent = newestOf(posts).map(({ platform, result }) => {
    const title = platformTitle(platform);
    return result === undefined
      ? `${title} (outcome not known)`
      : `${title} ${linkOf(result) ?? "(no link)"}`;
  });
  return sent.length === 0
    ? undefined
    : `The journal has these posts of the video: ${sent.join(", ")}. No tool can see whether a post is still there.`;
}

/** Names each platform once, even if it has several posts. */
function titlesOf(posts: readonly JobPost[] = [], isWanted: (post: JobPost) => boolean): string {
  return inWords([...new Set(posts.filter(isWanted).map(({ platform }) => platformTitle(platform)))]);
}

function orderFields(order: JobOrder, { wholeTopic = false }: DescribeOptions) {
  const args = argumentFields(order);
  const topic = cutText(String(args["topic"]), MAX_TOPIC_CHARS);
  const isCut = !wholeTopic && topic !== args["topic"];
  return { args: isCut ? { ...args, topic } : args, isCut };
}

function hasUnsafeLinks(job: Job): boolean {
  return job["unsafeLinksLeftOut"] !== undefined;
}

/** The state in a few words, for a progress bar. */
export function describeProgress(job: Job): string {
  const state = stateOf(job.status);
  if (state === "refunded") return "Failed, credits are refunded";
  return state === "ready" ? `Ready: ${describeClips(job)}` : describeClipsSoFar(job);
}

/** The job of an earlier order, as a clause with its full stop. `ordered`: "ordered 3 minutes ago". */
export function describeEarlierJob(
  { job, jobId, ageMs }: Pick<AlreadyStarted, "job" | "jobId" | "ageMs">,
  ordered: string,
): readonly [state: string, nextStep: Text] {
  const earlier = (how: string, next = say`Follow it with ${statusOf(jobId, "--wait")}.`) =>
    [`a video of the same words was ${ordered}, and ${how}.`, next] as const;
  if (job === undefined) return earlier("its status could not be read just now");
  if (job === "not found")
    return ageMs < UNLISTED_MS
      ? earlier("the service does not list it yet, or not with this key")
      : earlier("the service does not know it with this key", say`[Tell the user.|]`);
  const { status, finalVideoUrl: link } = job;
  switch (stateOf(status)) {
    case "rendering":
      return earlier("it is still rendering");
    case "other":
    case "refunded":
      return earlier(`the service gives its status as ${quote(status, 60)}`);
    case "ready":
      return link === undefined
        ? earlier("it is ready", say`Get its link with ${statusOf(jobId)}.`)
        : [`a video of the same words is ready: ${link} It was ${ordered}.`, showLinks([])];
  }
}

type Obstacle = readonly [message: string, nextStep: Text, isTemporary: boolean];

/** Explains why the video can't be published; undefined if it can. */
export function obstacleOf(job: Job, maxWaitSeconds: number): Obstacle | undefined {
  return OBSTACLES[stateOf(job.status)](job, maxWaitSeconds);
}

const OBSTACLES: Readonly<Record<JobState, (job: Job, maxWaitSeconds: number) => Obstacle | undefined>> = {
  rendering: ({ jobId }, maxWaitSeconds) => [
    "The video is still rendering.",
    say`Wait with ${waitFor(jobId, maxWaitSeconds)} until it is done, then publish once.`,
    true,
  ],
  other: ({ jobId, status }) => [
    `The video is not ready: the service gives its status as ${quote(status, 60)}.`,
    say`[Tell the user. |]Look again with ${statusOf(jobId)}, and publish only when the video is completed.`,
    true,
  ],
  refunded: () => [
    "The render of this video failed.",
    say`[Tell the user. |]The video can be generated again if [they|you] still want it.`,
    false,
  ],
  ready: () => undefined,
};

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
