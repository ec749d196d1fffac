// How users and models call the platforms, and where the service's undocumented answers have names and
// reasons. Pure. Other names only serve hints: a post goes to exactly the requested id.

import { quoteName } from "../text.ts";
import { PLATFORMS } from "./platform-titles.ts";

/** Why a post failed, in the service's words. The field is not documented. */
export { reasonIn as reasonOf } from "./service-words.ts";

/** The platform of an account that names none. */
export const UNKNOWN_PLATFORM = "unknown";

/** The platform that a name probably means: "X", "Twitter" and "twitter" mean x, "tik-tok" means tiktok. */
export function commonName(name: string): string {
  const id = name.trim().toLowerCase();
  const letters = id.replace(/[^\p{L}\p{N}]+/gu, "");
  const [known] = [...PLATFORMS].find(([, [, otherNames]]) => otherNames?.test(letters)) ?? [];
  return known ?? (letters || id);
}

const ACCOUNT_NAME =
  /^(?:account|user|channel|page|profile|display|screen)?_?(?:name|handle)$|^(?:account|user|channel|page|profile)$/i;

type Fields = Readonly<Record<string, unknown>>;

/** The service's name for a connected account. The field, perhaps of an object, is not documented either. */
export function accountName({ platform, ...fields }: Fields): string | undefined {
  const namesIn = (of: object) =>
    Object.entries(of).flatMap(([field, value]: [string, unknown]) =>
      ACCOUNT_NAME.test(field) ? [value] : [],
    );
  return namesIn(fields)
    .flatMap((value) => (typeof value === "object" && value !== null ? namesIn(value) : [value]))
    .filter((value) => typeof value === "string")
    .find((name) => name.trim() !== "" && name.toLowerCase() !== String(platform).toLowerCase());
}

/**
 * The platform of a connected account, whose form is not documented: its field `platform`, else a text
 * elsewhere that is a platform's name, at last that of the account, which may have a name of its own.
 */
export function platformIn(account: Fields): string | undefined {
  const { platform, name } = account;
  if (typeof platform === "string" && platform.trim() !== "") return platform;
  return [platform, account, name].flatMap(textsIn).find((text) => isKnownPlatform(text));
}

/** The texts at any depth, but for the names of accounts, which may be "YouTube". */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([field, inner]: [string, unknown]) =>
    ACCOUNT_NAME.test(field) ? [] : textsIn(inner),
  );
}

const STATE_FIELD = /^(?:connection|account|auth|token)?(?:status|state)$/;
/** What a true field says by its name, a false one with "not" before it, and a state by its value. */
const UNUSABLE =
  /^(?:not(connected|active|enabled|valid|authorized|linked)|(?:token)?(disconnected|inactive|disabled|suspended|revoked|expired|invalid|unauthorized)|(?:needs|requires)re(?:auth|connect).*|reauthrequired|(?:signed|logged)out)$/;

/** Why an account can't be posted to, if it says so of itself: "expired", "not active". */
export function unusableState(account: Fields): string | undefined {
  for (const [field, value] of Object.entries(account)) {
    const name = lettersOf(field).replace(/^is/, "");
    const state = typeof value === "string" && STATE_FIELD.test(name) ? lettersOf(value) : "";
    const found = UNUSABLE.exec(value === true ? name : value === false ? `not${name}` : state);
    if (found === null) continue;
    const [, missing, reason = "signed out"] = found;
    if (missing === "connected") return "disconnected";
    return missing === undefined ? reason : `not ${missing}`;
  }
  return undefined;
}

function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^a-z]+/g, "");
}

/** True for the name of a well-known platform, even if it isn't connected. */
export function isKnownPlatform(name: string): boolean {
  return PLATFORMS.has(commonName(name));
}

/** A platform's name for people to read. An unknown name is quoted unless it is one short word. */
export function platformTitle(id: string): string {
  return PLATFORMS.get(id)?.[0] ?? quoteName(id);
}
