// publish_video: posts a finished video to the user's connected accounts.

import * as z from "zod";
import { STALE_CODE } from "../errors.ts";
import type { Published, PublicationPlan } from "../idempotency/publish-once.ts";
import { platformId } from "../idempotency/same-request.ts";
import { titleOf } from "../jobs/job-record.ts";
import { accountName, platformTitle, reasonOf } from "../service/platforms.ts";
import type { ConnectedPlatform } from "../service/responses.ts";
import { inSentences, say, type Text, textFor } from "../sentences.ts";
import { describeAge, inWords, quote, quoteWord, stripUnsafeCharacters } from "../text.ts";
import { asJobId, asPlatforms, asText, confirmArgument, confirmByUser, jobIdArgument } from "./arguments.ts";
import { accountsOn, listConnected, checkBeforePost, unusableError } from "./publish-obstacles.ts";
import { defineTool, type Guidance, guidanceFields } from "./tool.ts";
import type { Question } from "./question.ts";

const MAX_PLATFORMS = 20;
const NOT_A_PLATFORM = 'must be the id of a platform, such as "tiktok"';
const NO_LIST = 'must be a list of ids of platforms, such as ["tiktok"]';
/** The user reads the ids in the question: nothing in one may be invisible or read like a sentence. */
const PLATFORM_ID = /^[a-z0-9][a-z0-9._-]{0,63}$/;
/** Not ids, but words for several platforms: a later post on one of these would not look like a repeat. */
const SEVERAL = /^(?:all|any|both|each|every(?:where|thing)?)(?![a-z])/;

export const publishVideo = defineTool({
  name: "publish_video",
  title: "Publish a video",
  description:
    "Posts a completed video publicly to the user's connected accounts at once, which can't be undone from here. Call it only when the user has asked for this video on these platforms. list_connected_platforms names the platforms. The service takes no caption, title or hashtags. A platform that already has the video is left alone and comes back with alreadyPublished. Check each result's ok.",
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
    const unusable = platforms.filter((platform) => !PLATFORM_ID.test(platform) || SEVERAL.test(platform));
    if (unusable.length > 0) throw unusableError(unusable, await listConnected(context));
    let isUnaskedRepeat = false;
    const prepare = async (plan: PublicationPlan) => {
      const { job, connected } = await checkBeforePost(plan, context);
      const isRepeat = plan.reposted.length > 0;
      if (config.confirmPublish === "off" && !isRepeat) return { userMs: 0 };
      const record = jobs.get(jobId);
      const link = record.link?.url ?? job?.finalVideoUrl;
      const details = { title: titleOf(record), link, connected, isSandbox: config.sandbox };
      const needs = { mustAsk: config.confirmPublish === "always", done: "posted" } as const;
      const { consent, userMs } = await confirmByUser(() => questionFor(plan, details), needs, context);
      isUnaskedRepeat = consent === "not asked" && isRepeat;
      return { userMs };
    };
    const published = await publishOnce.run({ jobId, platforms }, prepare, { confirm, signal, client });
    const { answer, results } = published;
    const call = { asked: platforms, confirm, isFirst, isUnaskedRepeat, isSandbox: config.sandbox };
    return { ...describePublished(published, call), result: { ...answer, results: [...results] } };
  },
});

interface AskedAbout {
  readonly title: string | undefined;
  readonly link: string | undefined;
  readonly connected: readonly ConnectedPlatform[] | undefined;
  readonly isSandbox: boolean;
}

function questionFor(
  { key, jobId, platforms, reposted, alreadyPosted }: PublicationPlan,
  { title, link, connected = [], isSandbox }: AskedAbout,
): Question {
  const posted = reposted
    .filter(({ result }) => result?.url !== undefined)
    .map(({ platform, ageMs }) => `${platformTitle(platform)} ${describeAge(ageMs)}`);
  // Without a link it may not be there, whatever the service has said.
  const unseen = reposted
    .filter(({ result }) => result?.url === undefined)
    .map(({ platform }) => platformTitle(platform));
  // An id tells the user nothing: it is shown only if nothing else is known.
  const name = title === undefined ? `the video of job ${quote(jobId, 60)}` : `the video ${quote(title, 80)}`;
  const message = inSentences(
    `Publish ${title === undefined && link !== undefined ? "this video" : name} on ${inWords(platforms.map((platform) => describeAccounts(platform, connected)))}?`,
    isSandbox
      ? "This is a sandbox, so nothing is posted."
      : "It is posted at once, without a caption and without a label for AI-made media, and becomes public.",
    posted.length > 0 && `It was posted to ${inWords(posted)}; this will post it there again.`,
    alreadyPosted.length > 0 &&
      `The service reported it posted to ${inWords(alreadyPosted.map(({ platform }) => platformTitle(platform)))} before, so it is not posted there again.`,
    unseen.length > 0 &&
      `An earlier attempt may have made it public on ${inWords(unseen)}: look at the account before you answer.`,
    // Never truncated: a cut link doesn't open.
    link !== undefined && `Watch it: ${stripUnsafeCharacters(link)}`,
  );
  const titles = inWords(platforms.map(platformTitle));
  return {
    key,
    message,
    verb: "publish",
    yes: `Publish on ${titles}`,
    no: "Don't publish",
    tooLate: `The user's yes to publishing ${name} on ${titles} came after that call had ended, so nothing was posted. Ask them before you call publish_video again.`,
    jobId,
  };
}

/** "TikTok ("@clips")", or which of several accounts it may be. */
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

type Result = Published["results"][number];

/** What became of a post. */
type Outcome = "posted" | "unlinked" | "posted before" | "unlinked before" | "failed" | "missing";

interface Details {
  readonly reason: string;
  readonly isSandbox: boolean;
}

/** Each outcome in a sentence, and what to do about it; `names` are those that the call asked for. */
const SENTENCES: Readonly<
  Record<Outcome, { summary(names: string, details: Details): string; nextStep(names: string): Text }>
> = {
  posted: {
    summary: (names, { isSandbox }) =>
      isSandbox ? `The sandbox pretends to have posted to ${names}.` : `Posted to ${names}.`,
    nextStep: giveLinks,
  },
  unlinked: {
    summary: (names) => `The service reports a post on ${names} but gave no link.`,
    nextStep: lookForPost,
  },
  "posted before": {
    summary: (names, { isSandbox }) =>
      isSandbox
        ? `By an earlier call it counts as posted to ${names}, so it was not sent there again.`
        : `It was posted to ${names} by an earlier call, so it was not sent there again.`,
    nextStep: giveLinks,
  },
  "unlinked before": {
    summary: (names) =>
      `The service reported a post on ${names} to an earlier call but gave no link, so it was not sent there again.`,
    nextStep: lookForPost,
  },
  failed: {
    summary: (names, { reason }) => `Not posted to ${names}: ${reason}.`,
    nextStep: (names) =>
      say`[Tell the user why it was not posted to ${names}. Publish it there|Publish it on ${names}] only if [they|you] still want it, after [they|you] have fixed that.`,
  },
  missing: {
    summary: (names) => `The service did not say whether it was posted to ${names}.`,
    nextStep: (names) => say`[Ask the user to look|Look] for it on ${names} before anything else.`,
  },
};

function giveLinks(): Text {
  return say`[Give the user the links of the posts.|]`;
}

function lookForPost(names: string): Text {
  return say`[Tell the user to look|Look] for the post on ${names}.`;
}

// eslint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a constant
const OUTCOMES = Object.keys(SENTENCES) as Outcome[];

function outcomeOf({ ok, alreadyPublished, url }: Result): Outcome {
  if (!ok) return "failed";
  if (alreadyPublished === true) return typeof url === "string" ? "posted before" : "unlinked before";
  return typeof url === "string" ? "posted" : "unlinked";
}

interface PublishCall {
  readonly asked: readonly string[];
  readonly confirm: string | undefined;
  /** True if the video was posted nowhere before. */
  readonly isFirst: boolean;
  /** True if it posted again, and the user could not be asked. */
  readonly isUnaskedRepeat: boolean;
  readonly isSandbox: boolean;
}

/** One post, as the sentences need it. */
interface Post {
  /** The platform's title, with the account if there are several results for the platform. */
  readonly name: string;
  readonly outcome: Outcome;
  readonly reason: string;
  /** False for a platform that the service alone has brought up. */
  readonly isAsked: boolean;
}

function describePublished(published: Published, call: PublishCall): Guidance {
  const { results, code } = published;
  const { confirm, isFirst, isUnaskedRepeat, isSandbox } = call;
  const posts = postsIn(published, call.asked);
  const isNew = ({ outcome }: Post) => outcome === "posted" || outcome === "unlinked";
  const before = results.filter(({ alreadyPublished }) => alreadyPublished === true);
  return {
    summary: inSentences(
      ...summariesOf(posts, isSandbox),
      isUnaskedRepeat && posts.some(isNew) && "The call confirmed this repeat.",
    ),
    nextStep: inSentences(
      ...stepsAfter(posts),
      isFirst &&
        posts.some(isNew) &&
        !isSandbox &&
        say`[Tell them to mark|Mark] it as AI-made in the platform's app if it asks for that: the service sets no label.`,
      code !== undefined && confirm !== undefined && STALE_CODE,
      code !== undefined && adviseRepeat(before, code),
    ),
  };
}

function postsIn({ results, missingResults }: Published, asked: readonly string[]): readonly Post[] {
  return [
    ...results.map((result, index) => ({
      name: nameOf(result, index, results),
      outcome: outcomeOf(result),
      reason: reasonIn(result),
      isAsked: asked.includes(platformId(result.platform)),
    })),
    ...missingResults.map((platform) => ({
      name: platformTitle(platform),
      outcome: "missing" as const,
      reason: "",
      isAsked: true,
    })),
  ];
}

/** The service may give a result for each of several accounts on a platform. */
function nameOf(result: Result, index: number, results: readonly Result[]): string {
  const id = platformId(result.platform);
  const title = platformTitle(result.platform);
  const others = results.map(({ platform }) => platformId(platform) === id);
  if (others.filter(Boolean).length === 1) return title;
  const account = accountName(result);
  if (account !== undefined) return `${title} (${quote(account, 60)})`;
  return others.indexOf(true) === index ? `one ${title} account` : `another ${title} account`;
}

/** A sentence for each outcome, and one for each failure. */
function summariesOf(posts: readonly Post[], isSandbox: boolean): string[] {
  return OUTCOMES.flatMap((outcome) => {
    const these = posts.filter((post) => post.outcome === outcome);
    const groups = outcome === "failed" ? these.map((post) => [post]) : [these];
    return groups.flatMap(([first, ...rest]) =>
      first === undefined
        ? []
        : SENTENCES[outcome].summary(namesOf([first, ...rest]), { reason: first.reason, isSandbox }),
    );
  });
}

function stepsAfter(posts: readonly Post[]): readonly Text[] {
  const steps = OUTCOMES.flatMap((outcome) => {
    const these = posts.filter((post) => post.outcome === outcome);
    const named = namesOf(these.filter(({ isAsked }) => isAsked)) || "the others named above";
    return these.length === 0 ? [] : SENTENCES[outcome].nextStep(named);
  });
  // Two outcomes may have the same step.
  return [...new Map(steps.map((step) => [textFor("model", step), step])).values()];
}

function adviseRepeat(before: readonly Result[], code: string): Text {
  const ids = before.map(({ platform }) => platform);
  return say`Only if [the user wants|you want] it posted to ${inWords(ids.map(platformTitle))} a second time, [call publish_video with platforms ${JSON.stringify(ids)} and confirm: "${code}"|repeat the call with --platforms ${quoteWord(ids.join(","))} --confirm ${code}].`;
}

function namesOf(posts: readonly Post[]): string {
  return inWords([...new Set(posts.map(({ name }) => name))]);
}

function reasonIn(result: Result): string {
  const reason = reasonOf(result);
  return reason === undefined
    ? "the service gave no reason"
    : `the service says ${quote(reason.replace(/\.$/, ""))}`;
}
