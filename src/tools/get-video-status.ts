// get_video_status: how far a job is, and its clips.

import * as z from "zod";
import type { Job } from "../service/schemas.ts";
import { cleanServiceText } from "../text.ts";
import { jobIdArgument } from "./arguments.ts";
import { defineTool } from "./tool.ts";

const count = z.number().optional();

export const getVideoStatus = defineTool({
  name: "get_video_status",
  title: "Get a video's status",
  description:
    "How far a video is: its status, the clips that are ready, and the voiceover. done says that it has ended, completed or failed (failed renders refund their credits). Every other status means that it is still rendering: call again in about 15 seconds, and don't generate the video again. Costs nothing.",
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  effect: "reads",
  input: z.strictObject({ jobId: jobIdArgument }),
  output: z.looseObject({
    jobId: z.string(),
    status: z.string(),
    done: z.boolean(),
    videoUrls: z.array(z.string()),
    audioUrl: z.string().optional(),
    progress: z.looseObject({ total: count, completed: count, failed: count }).optional(),
  }),
  async run({ jobId }, { service, jobs, signal }) {
    const job = await service.getJob(jobId, { signal });
    jobs.put(job);
    return { sentence: describeJob(job), result: job };
  },
});

/** A job's state as one sentence. */
export function describeJob(job: Job): string {
  const clips = `${job.videoUrls.length} ${job.videoUrls.length === 1 ? "clip" : "clips"}`;
  if (job.status === "completed") return `Job ${job.jobId} is completed: ${clips} ready.`;
  if (job.status === "failed")
    return `Job ${job.jobId} failed, and the service refunds its credits by itself.`;
  const { total, completed, failed } = job.progress ?? {};
  const finished =
    total === undefined || completed === undefined
      ? `${clips} ready`
      : `${completed} of ${total} clips finished`;
  const lost = failed === undefined || failed === 0 ? "" : `, ${failed} failed`;
  return `Job ${job.jobId} is still rendering (${cleanServiceText(job.status, 60)}): ${finished}${lost}.`;
}
