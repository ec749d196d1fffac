// get_video_status: how far a job is, and its clips.

import * as z from "zod";
import type { Job } from "../service/schemas.ts";
import { cleanServiceText } from "../text.ts";
import { jobIdArgument } from "./arguments.ts";
import { defineTool, guidance } from "./tool.ts";

// A client gives a call 60 s; what the service takes comes on top of the wait.
const LONGEST_WAIT_SECONDS = 50;
const OUT_OF_BOUNDS = `must be from 0 to ${LONGEST_WAIT_SECONDS} seconds`;

const count = () => z.number().optional();

export const getVideoStatus = defineTool({
  name: "get_video_status",
  title: "Get a video's status",
  description:
    "How far a video is: its status, the clips that are ready, the voiceover, the final video. With waitSeconds (45 is good) it returns as soon as the video has ended, else after that time with the video as it stands: then call again, and don't generate the video again. done says that it has ended, completed or failed (failed renders refund their credits). Costs nothing.",
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  effect: "reads",
  input: () =>
    z.strictObject({
      jobId: jobIdArgument(),
      waitSeconds: z
        .number()
        .min(0, OUT_OF_BOUNDS)
        .max(LONGEST_WAIT_SECONDS, OUT_OF_BOUNDS)
        .meta({ default: 0, description: "Most seconds to wait for the end" })
        .optional(),
    }),
  output: () =>
    z.looseObject({
      ...guidance(),
      jobId: z.string(),
      status: z.string(),
      done: z.boolean(),
      videoUrls: z.array(z.string()),
      audioUrl: z.string().optional(),
      finalVideoUrl: z.string().optional(),
      progress: z.looseObject({ total: count(), completed: count(), failed: count() }).optional(),
    }),
  async run({ jobId, waitSeconds = 0 }, { reader, waitForEnd, signal }) {
    const now = await reader.read(jobId, { background: false, signal });
    const job = waitSeconds > 0 ? await waitForEnd(now, waitSeconds * 1000, describeJob) : now;
    return { summary: describeJob(job), result: job };
  },
});

/** A job's state as one sentence. */
function describeJob(job: Job): string {
  const clips = `${job.videoUrls.length} ${job.videoUrls.length === 1 ? "clip" : "clips"}`;
  const leftOut = job["unsafeLinksLeftOut"];
  const unsafe = leftOut === undefined ? "" : `, and links that are not safe to open were left out`;
  if (job.status === "completed") return `Job ${job.jobId} is completed: ${clips} ready${unsafe}.`;
  if (job.status === "failed")
    return `Job ${job.jobId} failed, and the service refunds its credits by itself.`;
  const { total, completed, failed } = job.progress ?? {};
  const finished =
    total === undefined || completed === undefined
      ? `${clips} ready`
      : `${completed} of ${total} clips finished`;
  const lost = failed === undefined || failed === 0 ? "" : `, ${failed} failed`;
  return `Job ${job.jobId} is still rendering (${cleanServiceText(job.status, 60)}): ${finished}${lost}${unsafe}.`;
}
