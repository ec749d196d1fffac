// The fields of a result that come from this computer: posts, arguments and saved files. Pure.

import * as z from "zod";
import type { JobOrder, JobPost, JobRecord } from "../jobs/job-record.ts";
import { cleanServiceText, localTime, stripUnsafeCharacters } from "../text.ts";
import { mapTexts } from "../value-at.ts";

/** Describes a post's fields in words: a schema would make tools/list longer. */
export const publishedToField = () =>
  z.array(z.looseObject({})).describe("{platform, url, at, unknown}, known to this computer only").optional();

export const savedToField = () => ({
  savedTo: z.string().describe("File on the computer that runs this server").optional(),
});

export function savedToOf({ saved }: JobRecord): { readonly savedTo?: string } {
  return saved?.state === "saved" ? { savedTo: saved.path } : {};
}

/** A post with an unknown outcome counts only if it is the newest on its platform. */
export function newestOf(posts: readonly JobPost[]): readonly JobPost[] {
  return posts.filter(
    ({ platform, result }, index) =>
      result !== undefined || posts.slice(index + 1).every((later) => later.platform !== platform),
  );
}

/** A post, as results name it. Anyone who may write to the journal may write anything. */
export function postFields({ platform, atMs, result }: JobPost) {
  const url = linkOf(result);
  return {
    platform: cleanServiceText(platform, 100),
    ...(url !== undefined && { url }),
    at: localTime(atMs),
    ...(result === undefined && { unknown: true }),
  };
}

export function linkOf(result: JobPost["result"]): string | undefined {
  const url = result?.url;
  if (typeof url !== "string" || !/^https?:\/\/\S{1,4096}$/i.test(url)) return undefined;
  return stripUnsafeCharacters(url) === url ? url : undefined;
}

/** The arguments as ordered, without unsafe characters. */
export function argumentFields({ arguments: args }: JobOrder): JobOrder["arguments"] {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      stripUnsafeCharacters(name),
      mapTexts(value, stripUnsafeCharacters),
    ]),
  );
}
