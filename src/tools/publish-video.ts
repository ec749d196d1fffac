// publish_video: posts a finished video to the user's connected accounts.

import * as z from "zod";
import type { PublicationPlan } from "../once/plan-publication.ts";
import type { Published } from "../once/send-once.ts";
import { cleanServiceText, inWords, quote } from "../text.ts";
import { confirmDuplicateArgument, jobIdArgument } from "./arguments.ts";
import { defineTool, guidanceFields, type Question } from "./tool.ts";

const MAX_PLATFORMS = 20;
/** The user reads the ids in the question: nothing in one may be invisible or read like a sentence. */
const PLATFORM_ID = /^[a-z0-9][a-z0-9._-]{0,63}$/;

export const publishVideo = defineTool({
  name: "publish_video",
  title: "Publish a video",
  description:
    "Posts a completed video publicly to the user's connected accounts, which can't be undone from here. Call it only when the user has asked for this video on these platforms. list_connected_platforms names the platforms. A platform that already has the video is left alone and comes back with alreadyPublished. Check each result's ok.",
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
  output: () =>
    z.looseObject({
      ...guidanceFields(),
      results: z.array(
        z.looseObject({ platform: z.string(), ok: z.boolean(), alreadyPublished: z.boolean().optional() }),
      ),
    }),
  async run({ jobId, platforms, confirmDuplicate }, { once, jobs, lookAtJob, askUser, signal }) {
    const ask = (plan: PublicationPlan) =>
      askUser(async () => {
        // The user has to see which video it is.
        const link = jobs.get(jobId)?.finalVideoUrl ?? (await lookAtJob(jobId))?.finalVideoUrl;
        return questionFor(plan, { topic: jobs.get(jobId)?.topic, link });
      });
    const published = await once.publish({ jobId, platforms }, ask, { confirmDuplicate, signal });
    const { answer, results } = published;
    return {
      summary: describeResults(published),
      nextStep: nextStepAfter(published, confirmDuplicate),
      result: { ...answer, results: [...results] },
    };
  },
});

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
    posted.length > 0 && `It is already public on ${inWords(posted)}: yes posts it a second time.`,
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

function describeResults({ results, unmentioned }: Published): string {
  const names = (wanted: (result: Published["results"][number]) => boolean) =>
    inWords(results.filter(wanted).map(({ platform }) => cleanServiceText(platform, 64)));
  const before = names(({ alreadyPublished }) => alreadyPublished === true);
  const posted = names(({ ok, alreadyPublished }) => ok && alreadyPublished !== true);
  const failed = names(({ ok }) => !ok);
  const sentences = [
    posted !== "" && `Published on ${posted}.`,
    before !== "" && `Already public on ${before} since an earlier call, so nothing was sent there.`,
    failed !== "" && `Not published on ${failed}: the service reported a failure.`,
    unmentioned.length > 0 &&
      `The service did not say whether the video is public on ${inWords(unmentioned)}.`,
  ];
  return sentences.filter((sentence) => sentence !== false).join(" ");
}

function nextStepAfter(
  { results, unmentioned, code }: Published,
  given: string | undefined,
): string | undefined {
  const failed = results.filter(({ ok }) => !ok).map(({ platform }) => cleanServiceText(platform, 64));
  const before = results.filter(({ alreadyPublished }) => alreadyPublished).map(({ platform }) => platform);
  const steps = [
    failed.length > 0 && `Tell the user why, and publish again only on ${inWords(failed)}.`,
    unmentioned.length > 0 &&
      `Ask the user to look at the ${inWords(unmentioned)} account before anything else.`,
    code !== undefined &&
      given !== undefined &&
      "The code in confirmDuplicate does not fit what is known now.",
    code !== undefined &&
      `Only if the user wants it posted a second time, call publish_video with platforms ${JSON.stringify(before)} and confirmDuplicate: "${code}".`,
  ];
  const text = steps.filter((step) => step !== false).join(" ");
  return text === "" ? undefined : text;
}
