// publish_video: posts a finished video to the user's connected accounts.

import * as z from "zod";
import { BridgeError } from "../errors.ts";
import type { Published, PublicationPlan } from "../idempotency/publish-once.ts";
import { accountName, platformId, reasonOf } from "../service/platforms.ts";
import type { ConnectedPlatform } from "../service/responses.ts";
import { firstSpokenWords } from "../spoken-words.ts";
import { describeAge, inSentences, inWords, quote, quoteName, stripUnsafeCharacters } from "../text.ts";
import { asJobId, asList, confirmDuplicateArgument, jobIdArgument } from "./arguments.ts";
import {
  describeConnected,
  explainRefusal,
  findObstacle,
  listConnected,
  unusableError,
} from "./publish-obstacles.ts";
import { defineTool, type Guidance, guidanceFields, type Question } from "./tool.ts";

const MAX_PLATFORMS = 20;
/** The user reads the ids in the question: nothing in one may be invisible or read like a sentence. */
const PLATFORM_ID = /^[a-z0-9][a-z0-9._-]{0,63}$/;
/** Not ids, but words for several platforms: a later post on one of these would not look like a repeat. */
const SEVERAL = /^(?:all|any|both|each|every(?:where|thing)?)(?![a-z])/;
/** The yes names up to this many platforms; more are only counted. */
const MAX_NAMED = 6;

export const publishVideo = defineTool({
  name: "publish_video",
  title: "Publish a video",
  description:
    "Posts a completed video publicly to the user's connected accounts at once, which can't be undone from here. Call it only when the user has asked for this video on these platforms. list_connected_platforms names the platforms. The service takes no caption, title or hashtags. A platform that already has the video is left alone and comes back with alreadyPublished. Check each result's ok.",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  effect: "publishes",
  input: () =>
    z.strictObject({
      jobId: jobIdArgument(),
      platforms: z
        // Any text passes, so that a wrong id can be answered with the connected platforms.
        .array(
          z.string().trim().toLowerCase().min(1, "must not be empty").meta({ pattern: PLATFORM_ID.source }),
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
  async run({ jobId, platforms, confirmDuplicate }, context) {
    const { config, publishOnce, service, jobs, askUser, suggested, signal, client, clock } = context;
    suggested.add(jobId);
    const { jobs: known, nowMs = 0 } = (await context.history()) ?? {};
    const { posts = [] } = known?.get(jobId.toLowerCase()) ?? {};
    const isFirst = posts.every(({ result }) => result === undefined);
    const unusable = platforms.filter((platform) => !PLATFORM_ID.test(platform) || SEVERAL.test(platform));
    if (unusable.length > 0) throw unusableError(unusable, await listConnected(service, signal));
    const ask = async (plan: PublicationPlan) => {
      let askedMs = clock.monotonicMs();
      const isAgreed = await askUser(async () => {
        const { job, connected, obstacle } = await findObstacle(
          { jobId, platforms: plan.platforms },
          context,
        );
        if (obstacle !== undefined) throw obstacle;
        // The user has to see which video it is.
        const link = jobs.get(jobId)?.finalVideoUrl ?? job?.finalVideoUrl;
        const { topic } = jobs.get(jobId) ?? {};
        askedMs = clock.monotonicMs();
        return questionFor(plan, { topic, link, connected, nowMs, isSandbox: config.sandbox });
      });
      if (!isAgreed && config.confirmPublish === "always") throw cannotAskError();
      return clock.monotonicMs() - askedMs;
    };
    const published = await publishOnce.run(
      { jobId, platforms },
      { ask, explain: (failure, request) => explainRefusal(failure, request, context) },
      { confirmDuplicate, signal, client },
    );
    const { answer, results } = published;
    const connected = results.every(({ ok }) => ok) ? undefined : await listConnected(service, signal);
    return {
      ...describePublished(published, connected, { asked: platforms, given: confirmDuplicate, isFirst }),
      result: { ...answer, results: [...results] },
    };
  },
});

interface AskedAbout {
  readonly topic: string | undefined;
  readonly link: string | undefined;
  readonly connected: readonly ConnectedPlatform[] | undefined;
  readonly nowMs: number;
  readonly isSandbox: boolean;
}

function questionFor(
  { key, jobId, platforms, repeated, already }: PublicationPlan,
  { topic, link, connected = [], nowMs, isSandbox }: AskedAbout,
): Question {
  const posted = repeated
    .filter(({ result }) => result?.url !== undefined)
    .map(({ platform, atMs }) => `${platform} ${describeAge(nowMs - atMs)}`);
  // Without a link it may not be there, whatever the service has said.
  const unseen = repeated.filter(({ result }) => result?.url === undefined).map(({ platform }) => platform);
  // An id tells the user nothing: it is shown only where nothing else is known.
  const untitled = link === undefined ? `the video of job ${quote(jobId, 60)}` : "this video";
  const name = topic === undefined ? untitled : `the video ${quote(firstSpokenWords(topic), 80)}`;
  const message = inSentences(
    `Publish ${name} on ${inWords(platforms.map((platform) => describeAccounts(platform, connected)))}?`,
    isSandbox
      ? "This is a sandbox, so nothing is posted."
      : "It is posted at once, without a caption, and becomes public.",
    posted.length > 0 && `It was posted to ${inWords(posted)}; this will post it there again.`,
    already.length > 0 &&
      `The service reported it posted to ${inWords(already.map(({ platform }) => platform))} before, so it is not posted there again.`,
    unseen.length > 0 &&
      `An earlier attempt may have made it public on ${inWords(unseen)}: look at the account before you answer.`,
    // Whole, since a cut link can't be opened.
    link !== undefined && `Watch it: ${stripUnsafeCharacters(link)}`,
  );
  return {
    key,
    message,
    verb: "publish",
    yes:
      platforms.length <= MAX_NAMED
        ? `Publish on ${inWords(platforms)}`
        : `Publish on these ${platforms.length} platforms`,
    no: "Don't publish",
  };
}

/** "tiktok (\"@clips\")". */
function describeAccounts(platform: string, connected: readonly ConnectedPlatform[]): string {
  const accounts = connected.filter((account) => platformId(account.platform) === platformId(platform));
  const names = accounts.flatMap((account) => accountName(account) ?? []).map((name) => quote(name, 60));
  return names.length === 0 ? platform : `${platform} (${names.join(", ")})`;
}

function cannotAskError(): BridgeError {
  return new BridgeError({
    code: "declined",
    message: "Here nothing is published without the user's confirmation, and this client can't ask for it.",
    nextStep:
      "Publish from a client that can ask, or on the service's website. Only you can change this, in this server's settings.",
    isForUser: true,
    outcome: "not_sent",
    retryable: false,
    failsAgain: true,
  });
}

/**
 * Says what became of each platform, and what to do about it. `connected` is read where one has failed.
 * `asked`: the call's platforms. `given`: its code. `isFirst`: the video was posted nowhere before.
 */
function describePublished(
  published: Published,
  connected: readonly ConnectedPlatform[] | undefined,
  { asked, given, isFirst }: { asked: readonly string[]; given: string | undefined; isFirst: boolean },
): Guidance {
  const { results, unmentioned, code } = published;
  const namesOf = (some: Published["results"]) => inWords(some.map(({ platform }) => quoteName(platform)));
  const askedIds = new Set(asked.map(platformId));
  const wasAsked = ({ platform }: { platform: string }) => askedIds.has(platformId(platform));
  // What to do names no platform that the service alone has brought up.
  const askedOf = (some: Published["results"]) => namesOf(some.filter(wasAsked)) || "the others named above";
  const hasLink = ({ url }: Published["results"][number]) => typeof url === "string";
  const before = results.filter(({ alreadyPublished }) => alreadyPublished === true);
  const posted = results.filter(({ ok, alreadyPublished }) => ok && alreadyPublished !== true);
  const failed = results.filter(
    ({ ok, platform }) =>
      !ok && !results.some((other) => other.ok && platformId(other.platform) === platformId(platform)),
  );
  const isMissing = (result: { platform: string }) =>
    connected?.every(({ platform }) => platform !== result.platform.trim().toLowerCase()) === true;
  const unconnected = failed.filter(isMissing);
  const refused = failed.filter((result) => !isMissing(result));
  const linked = posted.filter(hasLink);
  const unlinked = posted.filter((result) => !hasLink(result));
  const linkedBefore = before.filter(hasLink);
  const unlinkedBefore = before.filter((result) => !hasLink(result));
  const summary = inSentences(
    linked.length > 0 && `Posted to ${namesOf(linked)}.`,
    unlinked.length > 0 && `The service reports a post on ${namesOf(unlinked)} but gave no link.`,
    linkedBefore.length > 0 &&
      `It was posted to ${namesOf(linkedBefore)} by an earlier call, so it was not sent there again.`,
    unlinkedBefore.length > 0 &&
      `The service reported a post on ${namesOf(unlinkedBefore)} to an earlier call but gave no link, so it was not sent there again.`,
    unconnected.length > 0 && `Not posted to ${namesOf(unconnected)}: no such account is connected.`,
    ...refused.map((result) => `Not posted to ${namesOf([result])}: ${describeReason(result)}`),
    unmentioned.length > 0 && `The service did not say whether it was posted to ${inWords(unmentioned)}.`,
  );
  const nextStep = inSentences(
    results.some((result) => result.ok && hasLink(result)) && "Give the user the links of the posts.",
    unlinked.length + unlinkedBefore.length > 0 &&
      `Tell the user to look for the post on ${askedOf([...unlinked, ...unlinkedBefore])}.`,
    isFirst &&
      posted.length > 0 &&
      "Tell them that the service documents no label for generated media, and the platform may want one.",
    unconnected.some(wasAsked) &&
      describeConnected(
        unconnected.filter(wasAsked).map(({ platform }) => platform.trim().toLowerCase()),
        connected ?? [],
      ),
    refused.length > 0 &&
      `Tell the user why it was not posted to ${askedOf(refused)}. Publish it there only if they still want it, after they have fixed that.`,
    unmentioned.length > 0 &&
      `Ask the user to look at the ${inWords(unmentioned)} account before anything else.`,
    code !== undefined && given && "The confirmDuplicate code of this call is not valid.",
    code !== undefined &&
      `Only if the user wants it posted a second time, call publish_video with platforms ${JSON.stringify(before.map(({ platform }) => platform))} and confirmDuplicate: "${code}".`,
  );
  return { summary, nextStep: nextStep || undefined };
}

function describeReason(result: Published["results"][number]): string {
  const said = reasonOf(result);
  return said === undefined ? "the service gave no reason." : `the service says ${quote(said)}.`;
}
