// The question before a post: the video, the accounts and what becomes public.

import type { PublicationPlan } from "../idempotency/publish-once.ts";
import { accountName, platformTitle } from "../service/platforms.ts";
import type { ConnectedPlatform } from "../service/responses.ts";
import { inSentences } from "../sentences.ts";
import { describeAge, inWords, quote, stripUnsafeCharacters } from "../text.ts";
import { accountsOn } from "./platform-names.ts";
import type { Question } from "./question.ts";

interface AskedAbout {
  readonly title: string | undefined;
  readonly link: string | undefined;
  readonly connected: readonly ConnectedPlatform[];
  readonly isSandbox: boolean;
}

export function publishQuestion(
  { key, jobId, platforms, reposted, alreadyPosted }: PublicationPlan,
  { title, link, connected, isSandbox }: AskedAbout,
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
    done: "posted",
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
