// get_video_status: how far a job is, and its clips.

import * as z from "zod";
import { BridgeError, mayPass } from "../errors.ts";
import { ageMs, hasEnded, lastState } from "../jobs/job-record.ts";
import { UNLISTED_MS } from "../service/job.ts";
import { say } from "../sentences.ts";
import { asJobId, asSeconds, jobIdArgument } from "./arguments.ts";
import { describeJob, describePosts } from "./describe.ts";
import { USUAL_WAIT_SECONDS, waitLimit } from "./listing.ts";
import { publishedToField, savedToField } from "./record-fields.ts";
import { defineTool, guidanceFields, type ToolContext } from "./tool.ts";

/** A wait may begin with an answer this old, such as the previous wait's, since it asks again anyway. */
const RECENT_MS = 5_000;
/** A file is usually there a few seconds after the video is ready. */
const SAVING_PATIENCE_MS = 2_000;
const OUT_OF_BOUNDS = "must be a number of seconds, 0 or more";

const count = () => z.number().optional();

export const getVideoStatus = defineTool({
  name: "get_video_status",
  title: "Get a video's status",
  description: say`Reports a video's progress: its status, the clips that are ready, the voiceover, the final video and, at the end, what was ordered. With [waitSeconds it waits up to that long for the end; if the video is still rendering, call this again|--wait it follows the video to its end]. Costs nothing.`,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  effect: "reads",
  input: () =>
    z.strictObject({
      jobId: jobIdArgument(),
      waitSeconds: z
        .number(OUT_OF_BOUNDS)
        .min(0, OUT_OF_BOUNDS)
        .meta({ default: 0, ...waitLimit(USUAL_WAIT_SECONDS) })
        .optional(),
    }),
  coercions: { jobId: asJobId, waitSeconds: asSeconds },
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
    const { config, reader, jobs, videoSaver, clock, signal, maxWaitSeconds } = context;
    try {
      if (waitSeconds === 0) await reader.read(jobId, { background: false, signal });
      else await wait(jobId, Math.min(waitSeconds, maxWaitSeconds) * 1000, context);
    } catch (error) {
      throw await withPosts(error, jobId, context);
    }
    // A video that is still rendering was posted nowhere, and its arguments only serve the next one.
    if (hasEnded(jobs.get(jobId))) await jobs.readJournal();
    await videoSaver.refresh([jobId], SAVING_PATIENCE_MS);
    return describeJob(jobs.get(jobId), { config, nowMs: clock.now(), maxWaitSeconds });
  },
});

/** Failed reads, which the reader paces, don't end the wait for a job that the service may not know yet. */
async function wait(jobId: string, forMs: number, context: ToolContext): Promise<void> {
  const { reader, jobs, clock, signal, waitForEnd } = context;
  const endsMs = clock.monotonicMs() + forMs;
  const leftMs = () => endsMs - clock.monotonicMs();
  const { fetchedAtMs } = jobs.get(jobId);
  for (;;) {
    try {
      await waitForEnd(await reader.readRecent(jobId, RECENT_MS, signal), leftMs());
      return;
    } catch (error) {
      await jobs.readJournal();
      const record = jobs.get(jobId);
      const known = lastState(record);
      if (known.done && !signal.aborted) return;
      const isYoung = (ageMs(record, clock.now()) ?? Infinity) <= UNLISTED_MS;
      if (!mayPass(error) || !isYoung) throw error;
      // The poller reads the job meanwhile, and this ends if it finds no such job either.
      await waitForEnd(known, leftMs());
      if (jobs.get(jobId).fetchedAtMs !== fetchedAtMs) return;
      if (leftMs() <= 0 || signal.aborted)
        throw error.facts.code === "not_found" ? await reader.explainNotFound(jobId, error) : error;
    }
  }
}

/** Adds the journal's posts, which show whether the video went live although the service can't be read. */
async function withPosts(error: unknown, jobId: string, { jobs }: ToolContext): Promise<unknown> {
  if (!(error instanceof BridgeError)) return error;
  await jobs.readJournal();
  const journal = describePosts(jobs.get(jobId));
  return journal === undefined ? error : new BridgeError({ ...error.facts, journal }, error.cause);
}
