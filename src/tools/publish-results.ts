// What became of a post, in words: a sentence for each outcome, and what to do about it.

import { STALE_CODE_SENTENCE } from "../errors.ts";
import type { Published } from "../idempotency/publish-once.ts";
import { platformId } from "../idempotency/same-post.ts";
import { accountName, platformTitle, reasonOf } from "../service/platforms.ts";
import type { ConnectedPlatform } from "../service/responses.ts";
import { inSentences, say, type Text } from "../sentences.ts";
import { inWords, quote, quoteWord } from "../text.ts";
import { accountsOn } from "./platform-names.ts";
import type { Guidance } from "./tool.ts";

/** A result; without `ok`, a platform that the service's answer doesn't mention. */
type Result = Published["results"][number] | { readonly platform: string; readonly ok?: undefined };

const OUTCOMES = ["posted", "unlinked", "posted before", "unlinked before", "failed", "missing"] as const;
type Outcome = (typeof OUTCOMES)[number];

const GIVE_LINKS = say`[Give the user the links of the posts.|]`;

/** Each outcome on the platforms `names` in a sentence, and what to do about it. */
function sentencesOn(
  names: string,
  isSandbox: boolean,
  reason = "",
): Record<Outcome, readonly [string, Text]> {
  const lookForPost = say`[Tell the user to look|Look] for the post on ${names}.`;
  return {
    posted: [
      isSandbox ? `The sandbox pretends to have posted the sample to ${names}.` : `Posted to ${names}.`,
      GIVE_LINKS,
    ],
    unlinked: [`The service reports a post on ${names} but gave no link.`, lookForPost],
    "posted before": [
      isSandbox
        ? `By an earlier call the sample counts as posted to ${names}, so it was not sent there again.`
        : `It was posted to ${names} by an earlier call, so it was not sent there again.`,
      GIVE_LINKS,
    ],
    "unlinked before": [
      `The service reported a post on ${names} to an earlier call but gave no link, so it was not sent there again.`,
      lookForPost,
    ],
    failed: [
      `Not posted to ${names}: ${reason}.`,
      say`[Tell the user why it was not posted to ${names}. Publish it there|Publish it on ${names}] only if [they|you] still want it, after [they|you] have fixed that.`,
    ],
    missing: [
      `The service did not say whether it was posted to ${names}.`,
      say`[Ask the user to look|Look] for it on ${names} before anything else.`,
    ],
  };
}

function outcomeOf(result: Result): Outcome {
  if (result.ok === undefined) return "missing";
  if (!result.ok) return "failed";
  const isLinked = typeof result.url === "string";
  if (result.alreadyPublished === true) return isLinked ? "posted before" : "unlinked before";
  return isLinked ? "posted" : "unlinked";
}

interface PublishCall {
  readonly asked: readonly string[];
  readonly confirm: string | undefined;
  /** True if the video was posted nowhere before. */
  readonly isFirst: boolean;
  /** True if the call posted again and the user could not be asked. */
  readonly isUnaskedRepeat: boolean;
  /** The connected accounts; empty if they can't be read. */
  readonly accounts: readonly ConnectedPlatform[];
  readonly isSandbox: boolean;
}

export function describePublished({ results, missingResults, code }: Published, call: PublishCall): Guidance {
  const { confirm, isFirst, isUnaskedRepeat, isSandbox } = call;
  const posts = postsIn([...results, ...missingResults.map((platform) => ({ platform }))], call);
  const newPosts = posts.filter(({ outcome }) => outcome === "posted" || outcome === "unlinked");
  const open = newPosts.filter(({ isOnSomeAccount }) => isOnSomeAccount);
  const groups = OUTCOMES.map((outcome) => ({
    outcome,
    these: posts.filter((post) => post.outcome === outcome),
  })).filter(({ these }) => these.length > 0);
  return {
    summary: inSentences(
      ...groups.flatMap(({ outcome, these }) =>
        // Each failure has a reason of its own.
        (outcome === "failed" ? these.map((post) => [post]) : [these]).map(
          (some) => sentencesOn(namesOf(some), isSandbox, some[0]?.reason)[outcome][0],
        ),
      ),
      open.length > 0 && `The service doesn't say which of the ${namesOf(open)} accounts has it.`,
      isUnaskedRepeat && newPosts.length > 0 && "The call confirmed this repeat.",
    ),
    nextStep: inSentences(
      // Two outcomes may have the same step.
      ...new Set(
        groups.map(({ outcome, these }) => {
          const names = namesOf(these.filter(({ isAsked }) => isAsked)) || "the others named above";
          return sentencesOn(names, isSandbox)[outcome][1];
        }),
      ),
      isFirst &&
        newPosts.length > 0 &&
        !isSandbox &&
        say`[Tell them to mark|Mark] it as AI-made in the platform's app if it asks for that: the service sets no label.`,
      code !== undefined && confirm !== undefined && STALE_CODE_SENTENCE,
      code !== undefined && adviseRepeat(results, code),
    ),
  };
}

/** The posts, as the sentences need them. */
function postsIn(results: readonly Result[], { asked, accounts }: PublishCall) {
  return results.map((result) => {
    const id = platformId(result.platform);
    const here = results.filter(({ platform }) => platformId(platform) === id);
    const isOneOfSeveral = here.length > 1 || accountsOn(id, accounts).length > 1;
    const account = isOneOfSeveral ? accountName(result) : undefined;
    const title = platformTitle(result.platform);
    // The service may give a result for each of several accounts on a platform.
    const which = here.length === 1 ? title : `${here[0] === result ? "one" : "another"} ${title} account`;
    const reason = reasonOf(result)?.replace(/\.$/, "");
    return {
      // The platform's title, with the account if there are several.
      name: account === undefined ? which : `${title} (${quote(account, 60)})`,
      outcome: outcomeOf(result),
      reason: reason === undefined ? "the service gave no reason" : `the service says ${quote(reason)}`,
      // False for a platform that the service alone has brought up.
      isAsked: asked.includes(id),
      // True if the platform has several accounts, and the service doesn't name the one that has the post.
      isOnSomeAccount: isOneOfSeveral && here.length === 1 && account === undefined,
    };
  });
}

function adviseRepeat(results: Published["results"], code: string): Text {
  const ids = results.flatMap(({ platform, alreadyPublished }) =>
    alreadyPublished === true ? platform : [],
  );
  return say`Only if [the user wants|you want] it posted to ${inWords(ids.map(platformTitle))} a second time, [call publish_video with platforms ${JSON.stringify(ids)} and confirm: "${code}"|repeat the call with --platforms ${quoteWord(ids.join(","))} --confirm ${code}].`;
}

function namesOf(posts: readonly { readonly name: string }[]): string {
  return inWords([...new Set(posts.map(({ name }) => name))]);
}
