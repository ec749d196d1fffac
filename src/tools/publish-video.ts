// publish_video: posts a finished video to the user's connected accounts.

import * as z from "zod";
import type { PublicationPlan } from "../idempotency/publish-once.ts";
import { titleOf } from "../jobs/job-record.ts";
import { say, toolOrCommand } from "../sentences.ts";
import type { ConnectedPlatform } from "../service/responses.ts";
import { asJobId, askForConsent, asPlatforms, asText, confirmArgument, jobIdArgument } from "./arguments.ts";
import { isPlatformId, PLATFORM_ID } from "./platform-names.ts";
import { checkBeforePost, listConnected, nameError } from "./publish-obstacles.ts";
import { publishQuestion } from "./publish-question.ts";
import { describePublished } from "./publish-results.ts";
import { defineTool, guidanceFields } from "./tool.ts";

const MAX_PLATFORMS = 20;
const NOT_A_PLATFORM = 'must be the id of a platform, such as "tiktok"';
const NO_LIST = 'must be a list of ids of platforms, such as ["tiktok"]';

export const publishVideo = defineTool({
  name: "publish_video",
  title: "Publish a video",
  description: say`Posts a completed video publicly to [the user's|your] connected accounts at once, which can't be undone from here. [Call it only when the user has asked for this video on these platforms. |]${toolOrCommand("list_connected_platforms")} names the platforms. The service takes no caption, title or hashtags. A platform that already has the video is left alone[ and comes back with alreadyPublished. Check each result's ok|].`,
  help: { confirm: "The code that an earlier answer gave" },
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
          NO_LIST,
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
    const unusable = platforms.filter((platform) => !isPlatformId(platform));
    if (unusable.length > 0) throw nameError("invalid_input", unusable, await listConnected(context));
    let isUnaskedRepeat = false;
    let accounts: readonly ConnectedPlatform[] = [];
    const prepare = async (plan: PublicationPlan) => {
      const { job, connected = [] } = await checkBeforePost(plan, context);
      accounts = connected;
      const isRepeat = plan.reposted.length > 0;
      if (config.confirmPublish === "off" && !isRepeat) return { userMs: 0 };
      const record = jobs.get(jobId);
      const link = record.link?.url ?? job?.finalVideoUrl;
      const details = { title: titleOf(record), link, connected, isSandbox: config.sandbox };
      const needs = { mustAsk: config.confirmPublish === "always", done: "posted" } as const;
      const { consent, userMs } = await askForConsent(() => publishQuestion(plan, details), needs, context);
      isUnaskedRepeat = consent === "not asked" && isRepeat;
      return { userMs };
    };
    const published = await publishOnce.run({ jobId, platforms }, prepare, { confirm, signal, client });
    const { answer, results } = published;
    const call = { asked: platforms, confirm, isFirst, isUnaskedRepeat, accounts, isSandbox: config.sandbox };
    return { ...describePublished(published, call), result: { ...answer, results: [...results] } };
  },
});
