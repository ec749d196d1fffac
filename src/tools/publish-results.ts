// What became of a post, in words: a sentence for each outcome, and what to do about it.

import { STALE_CODE_SENTENCE } from "../errors.ts";
import type { Published } from "../idempotency/publish-once.ts";
import { platformId } from "../idempotency/same-post.ts";
import { accountName, platformTitle, reasonOf } from "../service/platforms.ts";
import type { ConnectedPlatform } from "../service/responses.ts";
import { inSentences, say, type Text, textFor } from "../sentences.ts";
import { inWords, quote, quoteWord } from "../text.ts";
import { accountsOn } from "./platform-names.ts";
import type { Guidance } from "./tool.ts";

type Result = Published["results"][number];

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
      isSandbox ? `The sandbox pretends to have posted the sample to ${names}.` : `Posted to ${names}.`,
    nextStep: giveLinks,
  },
  unlinked: {
    summary: (names) => `The service reports a post on ${names} but gave no link.`,
    nextStep: lookForPost,
  },
  "posted before": {
    summary: (names, { isSandbox }) =>
      isSandbox
        ? `By an earlier call the sample counts as posted to ${names}, so it was not sent there again.`
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
  /** The connected accounts; empty if they can't be read. */
  readonly accounts: readonly ConnectedPlatform[];
  readonly isSandbox: boolean;
}

/** One post, as the sentences need it. */
interface Post {
  /** The platform's title, with the account if there are several. */
  readonly name: string;
  readonly outcome: Outcome;
  readonly reason: string;
  /** False for a platform that the service alone has brought up. */
  readonly isAsked: boolean;
  /** True if the platform has several accounts, and the service doesn't name the one that has the post. */
  readonly isOnSomeAccount: boolean;
}

export function describePublished(published: Published, call: PublishCall): Guidance {
  const { results, code } = published;
  const { confirm, isFirst, isUnaskedRepeat, isSandbox } = call;
  const posts = postsIn(published, call);
  const isNew = ({ outcome }: Post) => outcome === "posted" || outcome === "unlinked";
  const open = posts.filter((post) => post.isOnSomeAccount && isNew(post));
  const before = results.filter(({ alreadyPublished }) => alreadyPublished === true);
  return {
    summary: inSentences(
      ...summariesOf(posts, isSandbox),
      open.length > 0 && `The service doesn't say which of the ${namesOf(open)} accounts has it.`,
      isUnaskedRepeat && posts.some(isNew) && "The call confirmed this repeat.",
    ),
    nextStep: inSentences(
      ...stepsAfter(posts),
      isFirst &&
        posts.some(isNew) &&
        !isSandbox &&
        say`[Tell them to mark|Mark] it as AI-made in the platform's app if it asks for that: the service sets no label.`,
      code !== undefined && confirm !== undefined && STALE_CODE_SENTENCE,
      code !== undefined && adviseRepeat(before, code),
    ),
  };
}

function postsIn({ results, missingResults }: Published, { asked, accounts }: PublishCall): readonly Post[] {
  return [
    ...results.map((result) => {
      const id = platformId(result.platform);
      const here = results.filter(({ platform }) => platformId(platform) === id);
      const isOneOfSeveral = here.length > 1 || accountsOn(id, accounts).length > 1;
      const account = isOneOfSeveral ? accountName(result) : undefined;
      const title = platformTitle(result.platform);
      // The service may give a result for each of several accounts on a platform.
      const which = here.length === 1 ? title : `${here[0] === result ? "one" : "another"} ${title} account`;
      return {
        name: account === undefined ? which : `${title} (${quote(account, 60)})`,
        outcome: outcomeOf(result),
        reason: reasonIn(result),
        isAsked: asked.includes(id),
        isOnSomeAccount: isOneOfSeveral && here.length === 1 && account === undefined,
      };
    }),
    ...missingResults.map((platform) => ({
      name: platformTitle(platform),
      outcome: "missing" as const,
      reason: "",
      isAsked: true,
      isOnSomeAccount: false,
    })),
  ];
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
