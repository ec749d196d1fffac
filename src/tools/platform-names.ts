// What a name among the platforms of a post means: only the id of a connected platform is ever sent. Pure.

import { type BridgeError, notSent } from "../errors.ts";
import { platformId } from "../idempotency/same-post.ts";
import { inSentences, say, type Text, textFor, toolOrCommand } from "../sentences.ts";
import {
  accountName,
  commonName,
  isKnownPlatform,
  platformTitle,
  UNKNOWN_PLATFORM,
  unusableState,
} from "../service/platforms.ts";
import type { ConnectedPlatform } from "../service/responses.ts";
import { cleanServiceText, inWords, quote, quoteName } from "../text.ts";

/** The user reads the ids in the question: nothing in one may be invisible or read like a sentence. */
export const PLATFORM_ID = /^[a-z0-9][a-z0-9._-]{0,63}$/;
/** Not ids, but words for several platforms: a later post on one of these would not look like a repeat. */
const SEVERAL = /^(?:all|any|both|each|every(?:where|thing)?)(?![a-z])/;

function isPlatformId(name: string): boolean {
  return PLATFORM_ID.test(name) && !SEVERAL.test(name);
}

/** The accounts that a post on the platform can go to. */
export function accountsOn(
  platform: string,
  connected: readonly ConnectedPlatform[],
): readonly ConnectedPlatform[] {
  return connected.filter(
    (account) => platformId(account.platform) === platform && unusableState(account) === undefined,
  );
}

type Fault = readonly [problem: Text, ...advice: Text[]];

/** Undefined if all names may be posted to. `connected` is undefined if the accounts can't be read. */
export function nameError(
  names: readonly string[],
  connected: readonly ConnectedPlatform[] | undefined,
): BridgeError | undefined {
  const faults = names.flatMap((name) => {
    const fault = faultOf(name, connected);
    return fault === undefined ? [] : [fault];
  });
  if (faults.length === 0) return undefined;
  return notSent(
    names.every(isPlatformId) ? "not_connected" : "invalid_input",
    inSentences(...distinct(faults.map(([problem]) => problem))),
    connected === undefined
      ? say`Use only those ids from ${toolOrCommand("list_connected_platforms")} that [the user means|you mean].`
      : inSentences(...distinct(faults.flatMap(([, ...advice]) => advice))),
    { failsAgain: true },
  );
}

/** Says what a name is instead of the id of a connected platform, and what to do. */
function faultOf(name: string, known: readonly ConnectedPlatform[] | undefined): Fault | undefined {
  if (known === undefined && isPlatformId(name)) return undefined;
  const connected = known ?? [];
  const usable = connected.filter((account) => unusableState(account) === undefined);
  const ids = new Set(usable.map(({ platform }) => platformId(platform)));
  const listed = `Connected: ${inWords(Array.from(ids, quoteName))}.`;
  const noneYet = say`[Tell the user to connect|Connect] an account on the service's website first. None is connected yet.`;
  const adviseOr = (advice: Text) => (ids.size === 0 ? [noneYet] : [listed, advice]);
  const notAnId = `Nothing is posted to ${quote(name, 60)}: a platform is named by its id.`;

  // "youtube" and "yt" mean the platform, whatever an account elsewhere is called.
  const same =
    connected.find(({ platform }) => platformId(platform) === name) ??
    connected.find(({ platform }) => commonName(platform) === commonName(name));
  if (same !== undefined) {
    const id = platformId(same.platform);
    if (!ids.has(id)) return [describeUnusable(same), connectAgain(id)];
    if (id === name) return undefined;
    return [
      notAnId,
      listed,
      say`${quoteName(name)} is probably ${quoteName(id)}: call again with the ids [the user means|you mean].`,
    ];
  }

  const account = isKnownPlatform(name) ? undefined : connected.find((one) => hasName(one, name));
  const on = account === undefined ? platformWithin(name, connected) : platformId(account.platform);
  const useIds = adviseOr(say`Call again with the ids [the user means|you mean].`);
  if (!isKnownPlatform(name) && (on !== undefined || /^@|:\/\/|^www\./.test(name))) {
    const named = on === undefined ? "names an account" : "names more than a platform";
    const what = account === undefined ? named : `is an account on ${cleanTitle(account.platform)}`;
    const advice = on === undefined ? useIds : [insteadOfAccount(on, connected)];
    return [`No account can be chosen: ${quote(name, 60)} ${what}.`, ...advice];
  }

  if (!isKnownPlatform(name) && !isPlatformId(name))
    return [say`[platforms|--platforms]: ${quote(name, 60)} can't be a platform's id.`, ...useIds];
  // An account with a name but without a platform may be on this one.
  if (isPlatformId(name) && accountsOn(UNKNOWN_PLATFORM, connected).some(accountName)) return undefined;
  const title = cleanTitle(name);
  return [
    known === undefined ? notAnId : `No ${title} account is connected.`,
    ...adviseOr(
      say`[Tell the user to connect|Connect] ${title} on the service's website if [they|you] want the video there.`,
    ),
  ];
}

/** What to do instead of choosing an account on the platform `on`. */
function insteadOfAccount(on: string, connected: readonly ConnectedPlatform[]): Text {
  const [only, ...more] = accountsOn(on, connected);
  const title = cleanTitle(on);
  const id = quoteName(on);
  if (only === undefined) return connectAgain(on);
  if (more.length > 0)
    return inSentences(
      `The service decides on which of the ${more.length + 1} ${title} accounts it posts.`,
      say`[Tell the user, and publish on ${id}|Repeat the call with --platforms ${id}] only if any of them will do.`,
    );
  const name = accountName(only);
  return say`The only ${title} account that is connected ${name === undefined ? "has no name here" : `is ${quote(name, 60)}`}: [call again with ${id} only if the user means|repeat the call with --platforms ${id} only if you mean] that one.`;
}

function connectAgain(platform: string): Text {
  return say`[Tell the user to connect|Connect] ${cleanTitle(platform)} again on the service's website.`;
}

/** "The Instagram account "@rosa" is expired." */
export function describeUnusable(account: ConnectedPlatform): string {
  const name = accountName(account);
  const state = cleanServiceText(unusableState(account) ?? "", 60);
  return `The ${cleanTitle(account.platform)} account ${name === undefined ? "" : `${quote(name, 60)} `}is ${state}, so nothing can be posted there.`;
}

function cleanTitle(platform: string): string {
  return platformTitle(isKnownPlatform(platform) ? commonName(platform) : platformId(platform));
}

/** The platform named within a name of several words: "tiktok:@rosa", "@rosa on tiktok", a link. */
function platformWithin(name: string, connected: readonly ConnectedPlatform[]): string | undefined {
  const words = name.split(/[^\p{L}\p{N}_-]+/u).filter(Boolean);
  const ids = words.flatMap((word) => {
    const same = connected.find(({ platform }) => commonName(platform) === commonName(word));
    return same !== undefined ? platformId(same.platform) : isKnownPlatform(word) ? commonName(word) : [];
  });
  return words.length > 1 ? ids[0] : undefined;
}

/** True if a text of the account, at any depth, is this name. */
function hasName(account: ConnectedPlatform, name: string): boolean {
  const { platform: _, ...fields } = account;
  const plain = (text: string) => text.trim().toLowerCase().replace(/^@/, "");
  const hasText = (value: unknown): boolean =>
    typeof value === "object" && value !== null
      ? Object.values(value).some(hasText)
      : (typeof value === "string" || typeof value === "number") && plain(String(value)) === plain(name);
  return hasText(fields);
}

/** Removes repeated sentences, as several names may have the same fault. */
function distinct(sentences: readonly Text[]): Text[] {
  return [...new Map(sentences.map((sentence) => [textFor("model", sentence), sentence])).values()];
}
