// publish_video: posts a finished video to the user's connected accounts.

import * as z from "zod";
import { notSent } from "../errors.ts";
import type { PublicationPlan } from "../idempotency/publish-once.ts";
import { type JobRecord, jobTitle } from "../jobs/job-record.ts";
import { inSentences, say, toolOrCommand } from "../sentences.ts";
import { accountName, platformTitle } from "../service/platforms.ts";
import type { ConnectedPlatform, Job, PublishRequest } from "../service/responses.ts";
import { CHECK_BEFORE_MS } from "../service/time-budget.ts";
import { describeAge, inWords, quote, stripUnsafeCharacters } from "../text.ts";
import { asJobId, askForConsent, asPlatforms, asText, confirmArgument, jobIdArgument } from "./arguments.ts";
import { obstacleOf } from "./describe.ts";
import { accountsOn, nameError, PLATFORM_ID } from "./platform-names.ts";
import { describePublished } from "./publish-results.ts";
import type { Question } from "./question.ts";
import { defineTool, guidanceFields, type ToolContext } from "./tool.ts";

const MAX_PLATFORMS = 20;
const NOT_A_PLATFORM = 'must be the id of a platform, such as "tiktok"';

export const publishVideo = defineTool({
  name: "publish_video",
  title: "Publish a video",
  description: say`Posts a completed video publicly to [the user's|your] connected accounts at once, which can't be undone from here. [Call it only when the user has asked for this video on these platforms. |]${toolOrCommand("list_connected_platforms")} names the platforms. The service takes no caption, title or hashtags. A platform that already has the video is left alone[ and comes back with alreadyPublished. Check each result's ok|].`,
  sandboxDescription:
    "Pretends to post a completed video to the sandbox's accounts: nothing becomes public. Call it only when the user has asked for this video on these platforms. list_connected_platforms names the platforms. The service takes no caption, title or hashtags. A platform that already has the video is left alone and comes back with alreadyPublished. Check each result's ok.",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  effect: "publishes",
  input: () =>
    z.strictObject({
      jobId: jobIdArgument(),
      platforms: z
        // Any text passes, so that a wrong id can be answered with the connected platforms.
        .array(
          z
            .string(NOT_A_PLATFORM)
            .trim()
            .toLowerCase()
            .min(1, "must not be empty")
            .meta({ pattern: PLATFORM_ID.source }),
        )
        .min(1, "must name at least one platform")
        .max(MAX_PLATFORMS, `must name at most ${MAX_PLATFORMS} platforms`)
        .describe("Lowercase ids of connected platforms"),
      confirm: confirmArgument(),
    }),
  coercions: { jobId: asJobId, platforms: asPlatforms, confirm: asText },
  output: () =>
    z.looseObject({
      ...guidanceFields(),
      results: z.array(
        z.looseObject({ platform: z.string(), ok: z.boolean(), alreadyPublished: z.boolean().optional() }),
      ),
    }),
  async run({ jobId, platforms, confirm }, context) {
    const { config, publishOnce, jobs, signal, client } = context;
    await jobs.readJournal();
    const isFirst = jobs.get(jobId).posts?.every(({ result }) => result === undefined) !== false;
    let isUnaskedRepeat = false;
    let accounts: readonly ConnectedPlatform[] = [];
    const prepare = async (plan: PublicationPlan) => {
      const { job, connected = [] } = await checkBeforePost(plan, context);
      accounts = connected;
      const isRepeat = plan.reposted.length > 0;
      if (config.confirmPublish === "off" && !isRepeat) return { userMs: 0 };
      const question = () => questionFor(plan, { ...jobs.get(jobId), job, connected }, config);
      const needs = { mustAsk: config.confirmPublish === "always", done: "posted" } as const;
      const { consent, userMs } = await askForConsent(question, needs, context);
      isUnaskedRepeat = consent === "not asked" && isRepeat;
      return { userMs };
    };
    const published = await publishOnce.run({ jobId, platforms }, prepare, { confirm, signal, client });
    const { answer, results } = published;
    const call = { asked: platforms, confirm, isFirst, isUnaskedRepeat, accounts, isSandbox: config.sandbox };
    return { ...describePublished(published, call), result: { ...answer, results: [...results] } };
  },
});

/**
 * Reads the job and the accounts, as far as possible. Throws a BridgeError if nothing may be sent. Nothing is
 * looked up after a refusal: what is read then could be older than the post.
 */
export async function checkBeforePost(
  { jobId, platforms }: PublishRequest,
  context: Pick<ToolContext, "service" | "reader" | "signal" | "maxWaitSeconds">,
) {
  const { service, reader, signal, maxWaitSeconds } = context;
  const accounts = service.listConnectedPlatforms({ signal, deadlineMs: CHECK_BEFORE_MS });
  const [job, connected] = await Promise.all([
    reader.tryRead(jobId, signal),
    accounts.catch(() => undefined),
  ]);
  if (job === "not found")
    throw await reader.explainNotFound(
      jobId,
      notSent(
        "not_found",
        "The service knows no job with this id.",
        say`Use a [jobId|job's id] that ${toolOrCommand("list_videos")} shows, unchanged.`,
        { failsAgain: true },
      ),
    );
  // A job with a final video is ready, whatever its status.
  const obstacle = job && job.finalVideoUrl === undefined && obstacleOf(job, maxWaitSeconds);
  if (obstacle) {
    const [message, nextStep, isTemporary] = obstacle;
    throw notSent("not_ready", message, nextStep, isTemporary ? { retryable: true } : { failsAgain: true });
  }
  const error = nameError(platforms, connected);
  if (error !== undefined) throw error;
  return { job, connected };
}

/** The question before a post: the video, the accounts and what becomes public. */
function questionFor(
  { key, jobId, platforms, reposted, alreadyPosted }: PublicationPlan,
  video: JobRecord & { readonly job: Job | undefined; readonly connected: readonly ConnectedPlatform[] },
  { sandbox }: ToolContext["config"],
): Question {
  const link = video.link?.url ?? video.job?.finalVideoUrl;
  const title = jobTitle(video);
  // An id tells the user nothing: it is shown only if nothing else is known.
  const name = title === undefined ? `the video of job ${quote(jobId, 60)}` : `the video ${quote(title, 80)}`;
  const accounts = inWords(platforms.map((platform) => describeAccounts(platform, video.connected)));
  const titles = inWords(platforms.map(platformTitle));
  // Without a link it may not be there, whatever the service has said.
  const seen = reposted.filter(({ result }) => result?.url !== undefined);
  const unseen = reposted.filter(({ result }) => result?.url === undefined);
  const posted = seen.map(({ platform, ageMs }) => `${platformTitle(platform)} ${describeAge(ageMs)}`);
  const titlesOf = (posts: PublicationPlan["alreadyPosted"]) =>
    inWords(posts.map(({ platform }) => platformTitle(platform)));
  return {
    key,
    message: inSentences(
      `Publish ${title === undefined && link !== undefined ? "this video" : name} on ${accounts}?`,
      sandbox
        ? "This is a sandbox, so nothing is posted."
        : "It is posted at once, without a caption and without a label for AI-made media, and becomes public.",
      posted.length > 0 && `It was posted to ${inWords(posted)}; this will post it there again.`,
      alreadyPosted.length > 0 &&
        `The service reported it posted to ${titlesOf(alreadyPosted)} before, so it is not posted there again.`,
      unseen.length > 0 &&
        `An earlier attempt may have made it public on ${titlesOf(unseen)}: look at the account before you answer.`,
      // Never truncated: a cut link doesn't open.
      link !== undefined && `Watch it: ${stripUnsafeCharacters(link)}`,
    ),
    verb: "publish",
    yes: `Publish on ${titles}`,
    done: "posted",
    no: "Don't publish",
    tooLate: `The user's yes to publishing ${name} on ${titles} came after that call had ended, so nothing was posted. Ask them before you call publish_video again.`,
    jobId,
  };
}

/** "TikTok ("@clips")", or the accounts that it may be. */
function describeAccounts(platform: string, connected: readonly ConnectedPlatform[]): string {
  const accounts = accountsOn(platform, connected);
  const names = accounts.flatMap((account) => accountName(account) ?? []).map((name) => quote(name, 60));
  const title = platformTitle(platform);
  if (accounts.length > 1) {
    const which = names.length === accounts.length ? inWords(names) : `its ${accounts.length} accounts`;
    return `${title} (one or all of ${which}: the service decides)`;
  }
  return names.length === 0 ? title : `${title} (${names.join(", ")})`;
}
