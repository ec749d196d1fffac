// How users and models call the platforms, and where the service's undocumented answers have names and reasons.
// Pure. Other names are for hints alone: a post goes to exactly the id that was asked for.

import { quoteName } from "../text.ts";

/** Names that users and models write for a platform, without signs between the letters. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  insta: "instagram",
  ig: "instagram",
  instagramreels: "instagram",
  reels: "instagram",
  yt: "youtube",
  youtubeshorts: "youtube",
  shorts: "youtube",
  twitter: "x",
  fb: "facebook",
  tt: "tiktok",
};

/** The platform that a name probably means: "X", "Twitter" and "twitter" mean x, "tik-tok" means tiktok. */
export function commonName(name: string): string {
  const id = name.trim().toLowerCase();
  const letters = id.replace(/[^\p{L}\p{N}]+/gu, "");
  return Object.hasOwn(OTHER_NAMES, letters) ? (OTHER_NAMES[letters] ?? id) : letters || id;
}

/** The texts in the fields of an account, at any depth, trimmed and in lower case. */
export function namesIn(account: Readonly<Record<string, unknown>>): string[] {
  const textsIn = (value: unknown): string[] => {
    if (typeof value === "string") return [value.trim().toLowerCase()];
    return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
  };
  return textsIn(account);
}

/** Why a post failed, in the service's words. The field is not documented, so the likely names are tried. */
export function reasonOf({ error, message, reason }: Readonly<Record<string, unknown>>): string | undefined {
  const nested =
    typeof error === "object" && error !== null && "message" in error ? error.message : undefined;
  return [error, nested, message, reason].find(
    (text): text is string => typeof text === "string" && text.trim() !== "",
  );
}

const ACCOUNT_NAME =
  /^(?:account|user|channel|page|profile|display|screen)?_?(?:name|handle)$|^(?:account|user|channel|page|profile)$/i;

/** The service's name for a connected account. The field, perhaps of an object, is not documented either. */
export function accountName({ platform, ...fields }: Readonly<Record<string, unknown>>): string | undefined {
  const namesIn = (of: object) =>
    Object.entries(of).flatMap(([field, value]: [string, unknown]) =>
      ACCOUNT_NAME.test(field) ? [value] : [],
    );
  return namesIn(fields)
    .flatMap((value) => (typeof value === "object" && value !== null ? namesIn(value) : [value]))
    .filter((value) => typeof value === "string")
    .find((name) => name.trim() !== "" && name.toLowerCase() !== String(platform).toLowerCase());
}

/** How the platforms write themselves. */
const TITLES: Readonly<Record<string, string>> = {
  tiktok: "TikTok",
  youtube: "YouTube",
  instagram: "Instagram",
  facebook: "Facebook",
  linkedin: "LinkedIn",
  x: "X",
};

/** A platform's name for people to read; one that isn't known is quoted unless it is one short word. */
export function platformTitle(id: string): string {
  return Object.hasOwn(TITLES, id) ? (TITLES[id] ?? id) : quoteName(id);
}
