// What a name among the platforms of a post means: only the id of a connected platform is ever sent. Pure.

import { platformId } from "../idempotency/same-post.ts";
import { commonName, isKnownPlatform, unusableState } from "../service/platforms.ts";
import type { ConnectedPlatform } from "../service/responses.ts";

/** The user reads the ids in the question: nothing in one may be invisible or read like a sentence. */
export const PLATFORM_ID = /^[a-z0-9][a-z0-9._-]{0,63}$/;
/** Not ids, but words for several platforms: a later post on one of these would not look like a repeat. */
const SEVERAL = /^(?:all|any|both|each|every(?:where|thing)?)(?![a-z])/;

export type Meaning =
  /** The id of a platform that can be posted to. */
  | { readonly kind: "connected" }
  /** A platform whose account says that it can't be posted to. */
  | { readonly kind: "unusable"; readonly account: ConnectedPlatform }
  /** Another name of the connected platform `id`. */
  | { readonly kind: "otherwise"; readonly id: string }
  /** An account, on the platform `on` if that is known; `account` if it is connected. */
  | { readonly kind: "account"; readonly on?: string; readonly account?: ConnectedPlatform }
  /** A platform without an account. */
  | { readonly kind: "absent"; readonly id: string }
  | { readonly kind: "unclear" };

/** `connected` is undefined if the accounts can't be read. */
export function meaningOf(name: string, connected: readonly ConnectedPlatform[] = []): Meaning {
  const byId = connected.filter(({ platform }) => platformId(platform) === name);
  // "youtube" and "yt" mean the platform, whatever an account elsewhere is called.
  const byName = connected.filter(({ platform }) => commonName(platform) === commonName(name));
  const [same] = byId.length > 0 ? byId : byName;
  if (same !== undefined) {
    const id = platformId(same.platform);
    if (accountsOn(id, connected).length === 0) return { kind: "unusable", account: same };
    return id === name ? { kind: "connected" } : { kind: "otherwise", id };
  }
  if (isKnownPlatform(name)) return { kind: "absent", id: name };
  const plain = plainName(name);
  const account = connected.find((one) =>
    Object.entries(one).some(([field, value]) => field !== "platform" && hasText(value, plain)),
  );
  if (account !== undefined) return { kind: "account", on: platformId(account.platform), account };
  const on = platformWithin(name, connected);
  if (on !== undefined || /^@|:\/\/|^www\./.test(name)) return { kind: "account", ...(on && { on }) };
  return isPlatformId(name) ? { kind: "absent", id: name } : { kind: "unclear" };
}

export function isPlatformId(name: string): boolean {
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

/** The platform that a name of several words has among them: "tiktok:@rosa", "@rosa on tiktok", a link. */
function platformWithin(name: string, connected: readonly ConnectedPlatform[]): string | undefined {
  const words = name.split(/[^\p{L}\p{N}_-]+/u).filter(Boolean);
  const ids = words.flatMap((word) => {
    const same = connected.find(({ platform }) => commonName(platform) === commonName(word));
    return same !== undefined ? platformId(same.platform) : isKnownPlatform(word) ? commonName(word) : [];
  });
  return words.length > 1 ? ids[0] : undefined;
}

/** True if a text at any depth is this name. */
function hasText(value: unknown, name: string): boolean {
  if (typeof value === "object" && value !== null)
    return Object.values(value).some((inner) => hasText(inner, name));
  return (typeof value === "string" || typeof value === "number") && plainName(String(value)) === name;
}

function plainName(text: string): string {
  return text.trim().toLowerCase().replace(/^@/, "");
}
