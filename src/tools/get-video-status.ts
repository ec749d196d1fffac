// get_video_status: how far a job is, and its clips.

import * as z from "zod";
import { BridgeError } from "../errors.ts";
import type { SavedVideo } from "../jobs/saved-videos.ts";
import type { Job } from "../service/answers.ts";
import { describeAge, inWords } from "../text.ts";
import { asJobId, asNumber, jobIdArgument } from "./arguments.ts";
import { describeSaved, savedToField, savedToOf } from "./saved-to.ts";
import { defineTool, type Guidance, guidanceFields, type ToolContext, type ToolOutcome } from "./tool.ts";

// A client gives a call 60 s; what the service takes comes on top of the wait.
const MAX_WAIT_SECONDS = 50;
/** A wait begins with an earlier answer of at most this age, such as that of the wait before: it looks again anyway. */
const RECENT_MS = 5_000;
const OUT_OF_BOUNDS = `must be from 0 to ${MAX_WAIT_SECONDS} seconds`;

const count = () => z.number().optional();

export const getVideoStatus = defineTool({
  name: "get_video_status",
  title: "Get a video's status",
  description:
    "Reports a video's progress: its status, the clips that are ready, the voiceover and the final video. With waitSeconds (50 is good) it waits until the render has completed or failed, at most that long: if it is still running then, call this again, and don't generate the video again. done means completed or failed; a failed render refunds its credits. Costs nothing.",
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  effect: "reads",
  input: () =>
    z.strictObject({
      jobId: jobIdArgument(),
      waitSeconds: z
        .number()
        .min(0, OUT_OF_BOUNDS)
        .max(MAX_WAIT_SECONDS, OUT_OF_BOUNDS)
        .meta({ default: 0, description: "Maximum seconds to wait" })
        .optional(),
    }),
  readers: {
    jobId: asJobId,
    waitSeconds(value) {
      const seconds = asNumber(value);
      return typeof seconds === "number" ? Math.min(seconds, MAX_WAIT_SECONDS) : seconds;
    },
  },
  output: () =>
    z.looseObject({
      ...guidanceFields(),
      jobId: z.string(),
      status: z.string(),
      done: z.boolean(),
      videoUrls: z.array(z.string()),
      audioUrl: z.string().optional(),
      finalVideoUrl: z.string().optional(),
      ...savedToField(),
      progress: z.looseObject({ total: count(), completed: count(), failed: count() }).optional(),
      publishedTo: z.array(z.string()).describe("Posted there, as far as this computer knows").optional(),
      settings: z
        .looseObject({})
        .describe("Arguments of generate_video, if it was called on this computer; defaults are left out")
        .optional(),
    }),
  async run({ jobId, waitSeconds = 0 }, context) {
    const { reader, signal, savedVideos } = context;
    const options = { background: false, signal };
    if (waitSeconds === 0) return describeJob(await reader.read(jobId, options), context);
    // A wait outlasts a service that fails for a moment.
    const now = await reader
      .readRecent(jobId, RECENT_MS, options)
      .catch((error: unknown) => lastKnown(jobId, error, context));
    savedVideos.want(jobId);
    const job = await context.waitForEnd(now, waitSeconds * 1000, describeProgress);
    const { result, ...guidance } = await describeJob(job, context);
    // A caller that waits has just started it and knows its settings.
    const { settings: _, ...state } = result;
    return { ...guidance, result: state };
  },
});

/** The job as it was last seen, if it may be read a little later; else throws the error on. */
function lastKnown(jobId: string, error: unknown, { jobs, signal }: ToolContext): Job {
  const job = jobs.get(jobId)?.job;
  const isBrief = error instanceof BridgeError && error.facts.retryable && !signal.aborted;
  if (job === undefined || !isBrief) throw error;
  return job;
}

/** A job with what this computer knows of it, and what that means to the caller. */
export async function describeJob(
  job: Job,
  {
    jobs,
    history,
    savedVideos,
    canPublish,
  }: Pick<ToolContext, "jobs" | "history" | "savedVideos" | "canPublish">,
): Promise<ToolOutcome<Job>> {
  await savedVideos.refresh();
  const saved = savedVideos.stateOf(job.jobId);
  // Nothing to say of a video that is still rendering: where it was posted can't be known yet, and its settings serve the next one.
  const known = job.done ? (await history()).get(job.jobId.toLowerCase()) : undefined;
  const { publishedTo = [], settings } = known ?? {};
  return {
    ...describeStatus(job, { ageMs: jobs.ageMs(job.jobId), canPublish, publishedTo, saved }),
    result: {
      ...job,
      ...savedToOf(saved),
      ...(publishedTo.length > 0 && { publishedTo: [...publishedTo] }),
      ...(settings !== undefined && { settings }),
    },
  };
}

/** Renders that take longer than this take much longer than usual. */
const LONG_RENDER_MS = 10 * 60_000;

export interface StatusFacts {
  /** Since the job was started, where that is known. */
  readonly ageMs: number | undefined;
  readonly canPublish: boolean;
  readonly publishedTo: readonly string[];
  readonly saved: SavedVideo | undefined;
}

/** The summary and the next step. */
export function describeStatus(job: Job, { ageMs, canPublish, publishedTo, saved }: StatusFacts): Guidance {
  const unsafe =
    job["unsafeLinksLeftOut"] === undefined ? "" : " Links that are not safe to open were left out.";
  if (job.status === "failed")
    return {
      summary: "The render failed, and the service refunds its credits by itself.",
      nextStep: "Tell the user. The same video may be generated again if they still want it.",
    };
  if (job.status !== "completed")
    return {
      summary: `Still rendering: ${describeProgress(job)}. ${describeRenderTime(ageMs)}${unsafe}`,
      nextStep: "Call get_video_status again with waitSeconds 50.",
    };
  if (job.finalVideoUrl === undefined)
    return {
      summary: `The video is ready: ${countClips(job)}. The service has not listed the link of the final video yet.${describeSaved(saved)}${unsafe}`,
      nextStep:
        "Call get_video_status again in a few seconds for that link. If the video is an older one, look for the link with list_videos.",
    };
  const isPublic = publishedTo.length === 0 ? "" : ` It is public on ${inWords(publishedTo)}.`;
  return {
    summary: `Your video is ready: ${job.finalVideoUrl}${describeSaved(saved)}${isPublic}${unsafe}`,
    nextStep:
      canPublish && publishedTo.length === 0
        ? "Show the user the link, and ask whether and where to publish it."
        : "Show the user the link.",
  };
}

/** The state in a few words, for a progress bar. */
export function describeProgress(job: Job): string {
  if (job.status === "completed") return `Ready: ${countClips(job)}`;
  if (job.status === "failed") return "Failed, credits are refunded";
  const { total, completed, failed = 0 } = job.progress ?? {};
  if (total === undefined || completed === undefined) return `${countClips(job)} so far`;
  return `${completed} of ${total} clips${failed === 0 ? "" : `, ${failed} failed`}`;
}

function countClips({ videoUrls: { length } }: Job): string {
  return `${length} ${length === 1 ? "clip" : "clips"}`;
}

function describeRenderTime(ageMs: number | undefined): string {
  if (ageMs === undefined) return "Renders take 2 to 4 minutes.";
  return ageMs < LONG_RENDER_MS
    ? `Started ${describeAge(ageMs)}; renders take 2 to 4 minutes.`
    : `Started ${describeAge(ageMs)}, much longer than the usual 2 to 4 minutes.`;
}
