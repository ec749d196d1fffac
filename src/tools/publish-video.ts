// publish_video: posts a finished video to the user's connected accounts.

import * as z from "zod";
import { BridgeError } from "../errors.ts";
import type { PublicationPlan } from "../once/plan-publication.ts";
import type { Published } from "../once/send-once.ts";
import type { Job } from "../service/answers.ts";
import { cleanServiceText, inWords, quote, quoteName } from "../text.ts";
import { asJobId, asList, confirmDuplicateArgument, jobIdArgument } from "./arguments.ts";
import { defineTool, guidanceFields, type Question, type ToolContext } from "./tool.ts";

const MAX_PLATFORMS = 20;
/** The user reads the ids in the question: nothing in one may be invisible or read like a sentence. */
const PLATFORM_ID = /^[a-z0-9][a-z0-9._-]{0,63}$/;

export const publishVideo = defineTool({
  name: "publish_video",
  title: "Publish a video",
  description:
    "Posts a completed video publicly to the user's connected accounts, which can't be undone from here. Call it only when the user has asked for this video on these platforms. list_connected_platforms names the platforms. The service takes no caption, title or hashtags. A platform that already has the video is left alone and comes back with alreadyPublished. Check each result's ok.",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  effect: "publishes",
  input: () =>
    z.strictObject({
      jobId: jobIdArgument(),
      platforms: z
        .array(
          z
            .string()
            .trim()
            .toLowerCase()
            .regex(PLATFORM_ID, "must be the id of a connected platform, such as tiktok"),
        )
        .min(1, "must name at least one platform")
        .max(MAX_PLATFORMS, `must name at most ${MAX_PLATFORMS} platforms`)
        .describe("Lowercase ids of connected platforms"),
      confirmDuplicate: confirmDuplicateArgument(),
    }),
  readers: { jobId: asJobId, platforms: asList },
  output: () =>
    z.looseObject({
      ...guidanceFields(),
      results: z.array(
        z.looseObject({ platform: z.string(), ok: z.boolean(), alreadyPublished: z.boolean().optional() }),
      ),
    }),
  async run({ jobId, platforms, confirmDuplicate }, { once, service, jobs, lookAtJob, askUser, signal }) {
    const ask = (plan: PublicationPlan) =>
      askUser(async () => {
        // The user has to see which video it is.
        const link = jobs.get(jobId)?.finalVideoUrl ?? (await lookAtJob(jobId))?.finalVideoUrl;
        return questionFor(plan, { topic: jobs.get(jobId)?.topic, link });
      });
    const published = await once
      .publish({ jobId, platforms }, ask, { confirmDuplicate, signal })
      .catch(async (error: unknown) => {
        if (!isRefusal(error)) throw error;
        const job = await lookAtJob(jobId);
        if (job?.status !== "completed") throw explainRefusal(error, job);
        throw withConnected(error, platforms, await listConnected(service, signal));
      });
    const { answer, results } = published;
    const hasFailed = results.some(({ ok }) => !ok);
    const connected = hasFailed ? await listConnected(service, signal) : undefined;
    return {
      summary: describeResults(published, connected),
      nextStep: nextStepAfter(published, connected, confirmDuplicate),
      result: { ...answer, results: [...results] },
    };
  },
});

function isRefusal(error: unknown): error is BridgeError {
  return error instanceof BridgeError && error.facts.code === "refused";
}

/** The service's codes are not documented, so why it refused is read from the job. */
function explainRefusal(error: BridgeError, job: Job | undefined): BridgeError {
  const { facts } = error;
  if (job === undefined) return error;
  const explained =
    job.status === "failed"
      ? {
          message: "The render of this video failed, so there is nothing to publish.",
          nextStep: "Tell the user. The video can be generated again if they still want it.",
          retryable: false,
        }
      : {
          message: "The video is still rendering, so it was not published.",
          nextStep: "Wait with get_video_status and waitSeconds 50 until it is done, then publish once.",
          retryable: true,
        };
  return new BridgeError({ ...facts, ...explained }, error);
}

/** With the platforms that are connected, where one of the wanted ones is not. */
function withConnected(
  error: BridgeError,
  wanted: readonly string[],
  connected: readonly string[] | undefined,
): BridgeError {
  const missing = wanted.filter((platform) => connected?.includes(platform) === false);
  if (missing.length === 0) return error;
  const nextStep = `No ${inWords(missing)} account is connected. Connected: ${inWords(connected ?? []) || "none"}. ${error.facts.nextStep}`;
  return new BridgeError({ ...error.facts, nextStep }, error);
}

/** A call has 45 s in all, of which the request may have taken 38. */
const LIST_CONNECTED_MS = 5_000;

/** The platforms with a connected account; undefined where that can't be found out quickly. */
async function listConnected(
  service: ToolContext["service"],
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  try {
    const { platforms } = await service.listConnectedPlatforms({ signal, deadlineMs: LIST_CONNECTED_MS });
    return platforms.map(({ platform }) => quoteName(platform).toLowerCase());
  } catch {
    return undefined;
  }
}

function questionFor(
  { key, jobId, platforms, repeated }: PublicationPlan,
  { topic, link }: { topic: string | undefined; link: string | undefined },
): Question {
  const posted = repeated.filter(({ state }) => state.kind === "posted").map(({ platform }) => platform);
  const unknown = repeated.filter(({ state }) => state.kind === "unknown").map(({ platform }) => platform);
  // An id tells the user nothing: it is shown only where nothing else is known.
  const untitled = link === undefined ? `the video of job ${quote(jobId, 60)}` : "this video";
  const name = topic === undefined ? untitled : `the video ${quote(topic, 120)}`;
  const sentences = [
    `Publish ${name} on ${inWords(platforms)}? It becomes public.`,
    posted.length > 0 && `It is already public on ${inWords(posted)}, where this posts it a second time.`,
    unknown.length > 0 &&
      `An earlier attempt may have made it public on ${inWords(unknown)}: look at the account before you answer.`,
    link !== undefined && `Watch it: ${cleanServiceText(link)}`,
  ];
  return {
    key,
    message: sentences.filter((sentence) => sentence !== false).join(" "),
    yes:
      platforms.length <= 3
        ? `Publish on ${inWords(platforms)}`
        : `Publish on these ${platforms.length} platforms`,
    no: "Don't publish",
  };
}

/** The platforms in the results that `isWanted` picks, as they are shown. */
function namesIn(
  { results }: Published,
  isWanted: (result: Published["results"][number]) => boolean,
): readonly string[] {
  return results.filter(isWanted).map(({ platform }) => quoteName(platform));
}

/** Failed platforms, apart by whether an account is connected. */
function failuresIn(published: Published, connected: readonly string[] | undefined) {
  const failed = namesIn(published, ({ ok }) => !ok);
  const isMissing = (platform: string) => connected?.includes(platform.toLowerCase()) === false;
  return {
    unconnected: failed.filter(isMissing),
    others: failed.filter((platform) => !isMissing(platform)),
  };
}

function describeResults(published: Published, connected: readonly string[] | undefined): string {
  const before = namesIn(published, ({ alreadyPublished }) => alreadyPublished === true);
  const posted = namesIn(published, ({ ok, alreadyPublished }) => ok && alreadyPublished !== true);
  const { unconnected, others } = failuresIn(published, connected);
  const { unmentioned } = published;
  const sentences = [
    posted.length > 0 && `Published on ${inWords(posted)}.`,
    before.length > 0 &&
      `It was posted to ${inWords(before)} by an earlier call, so it was not sent there again.`,
    unconnected.length > 0 &&
      `Not published on ${inWords(unconnected)}: no such account is connected. Connected: ${inWords(connected ?? []) || "none"}.`,
    others.length > 0 && `Not published on ${inWords(others)}: the service reported a failure.`,
    unmentioned.length > 0 &&
      `The service did not say whether the video is public on ${inWords(unmentioned)}.`,
  ];
  return sentences.filter((sentence) => sentence !== false).join(" ");
}

function nextStepAfter(
  published: Published,
  connected: readonly string[] | undefined,
  given: string | undefined,
): string | undefined {
  const { unmentioned, code } = published;
  const { unconnected, others } = failuresIn(published, connected);
  const before = published.results.filter(({ alreadyPublished }) => alreadyPublished);
  const steps = [
    unconnected.length > 0 &&
      `Tell the user to connect ${inWords(unconnected)} on the service's website if they want it there.`,
    others.length > 0 && `Tell the user why, and publish again only on ${inWords(others)}.`,
    unmentioned.length > 0 &&
      `Ask the user to look at the ${inWords(unmentioned)} account before anything else.`,
    code !== undefined && given !== undefined && "This confirmDuplicate code is out of date.",
    code !== undefined &&
      `Only if the user wants it posted a second time, call publish_video with platforms ${JSON.stringify(before.map(({ platform }) => platform))} and confirmDuplicate: "${code}".`,
  ];
  const text = steps.filter((step) => step !== false).join(" ");
  return text === "" ? undefined : text;
}
