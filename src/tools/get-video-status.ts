// get_video_status: how far a job is, and its clips.

import * as z from "zod";
import { SETTINGS } from "../config.ts";
import { BridgeError } from "../errors.ts";
import type { Job } from "../service/responses.ts";
import { inSentences } from "../text.ts";
import { asJobId, asSeconds, jobIdArgument } from "./arguments.ts";
import { describeJob, publishedToField, savedToField } from "./describe-job.ts";
import { defineTool, guidanceFields, type ToolContext } from "./tool.ts";

// A client gives a call 60 s, and the service's answer takes time beside the wait.
const MAX_WAIT_SECONDS = 50;
/** A wait may begin with an answer this old, such as the previous wait's, since it asks again anyway. */
const RECENT_MS = 5_000;
const { name: SAVE_DIR } = SETTINGS.saveDir;
const HOW_TO_SAVE = `The user can set ${SAVE_DIR} to save videos on the computer that runs this server.`;
const OUT_OF_BOUNDS = `must be from 0 to ${MAX_WAIT_SECONDS} seconds`;

const count = () => z.number().optional();

export const getVideoStatus = defineTool({
  name: "get_video_status",
  title: "Get a video's status",
  description:
    "Reports a video's progress: its status, the clips that are ready, the voiceover, the final video and, at the end, what was ordered. With waitSeconds (50 works well) it waits up to that long for the end; if the video is still rendering, call this again. done means that the job has ended. Costs nothing.",
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
      const seconds = asSeconds(value);
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
      publishedTo: publishedToField(),
      arguments: z.looseObject({}).describe("As ordered, known to this computer only").optional(),
    }),
  async run({ jobId, waitSeconds = 0 }, context) {
    const { reader, signal, savedVideos } = context;
    const options = { background: false, signal };
    if (waitSeconds === 0) return describe(await reader.read(jobId, options), context);
    // A wait outlasts a service that fails for a moment.
    const now = await reader
      .readRecent(jobId, RECENT_MS, options)
      .catch((error: unknown) => lastKnown(jobId, error, context));
    savedVideos.saveWhenFinished(jobId);
    const job = await context.waitForEnd(now, waitSeconds * 1000);
    return describe(job, context);
  },
});

/** Suggests publishing once for each video, and saving once in a process: after that the user knows. */
async function describe(job: Job, context: ToolContext): ReturnType<typeof describeJob> {
  const { config, canPublish, suggested, savedVideos } = context;
  await savedVideos.refresh([job.jobId]);
  const isWatchable = job.finalVideoUrl !== undefined;
  const suggestsPublishing = canPublish && !suggested.has(job.jobId);
  const keepsNone = config.saveDir === undefined && !config.sandbox;
  const suggestsSaving = isWatchable && keepsNone && !suggested.has(SAVE_DIR);
  if (isWatchable) suggested.add(job.jobId).add(SAVE_DIR);
  const { summary, ...others } = await describeJob(job, context, { suggestsPublishing });
  return { ...others, summary: inSentences(summary, suggestsSaving && HOW_TO_SAVE) };
}

/** The job as it was last seen, if reading it may work a little later; else rethrows the error. */
function lastKnown(jobId: string, error: unknown, context: ToolContext): Job {
  const { jobs, signal } = context;
  const job = jobs.get(jobId)?.job;
  const isBrief = error instanceof BridgeError && error.facts.retryable && !signal.aborted;
  if (job === undefined || !isBrief) throw error;
  return job;
}
