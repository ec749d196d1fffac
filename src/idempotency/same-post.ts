// Says which of the journal's entries are posts of the same job on the same platforms. Pure.

import type { JournalEntry, PlatformResult, PublicationEntry } from "./journal.ts";

/** A platform's id in lower case. Different ids are different platforms. */
export function platformId(name: string): string {
  return name.trim().toLowerCase();
}

/** The publications of this job on any of the platforms. */
export function publicationsOn(
  entries: readonly JournalEntry[],
  jobId: string,
  platforms: readonly string[],
): PublicationEntry[] {
  const wanted = new Set(platforms.map(platformId));
  return entries
    .filter((entry) => entry.operation === "publish")
    .filter((entry) => entry.jobId === jobId)
    .filter((entry) => platformsOf(entry).some((platform) => wanted.has(platform)));
}

/** The ids of a publication's platforms: those asked for, and those that the service's answer names. */
export function platformsOf({ platforms, results = [] }: PublicationEntry): readonly string[] {
  const named = results.map(({ platform }) => platform);
  return [...new Set([...platforms, ...named].map(platformId))];
}

/** A post of a job that was made, or may have been made. */
export interface EarlierPost {
  readonly platform: string;
  /** When it was requested, in milliseconds since the epoch. */
  readonly atMs: number;
  /** The service's result for it; undefined if the outcome is not known. */
  readonly result: PlatformResult | undefined;
}

/** The posts of a publication, without those that failed. */
export function postsOf(publication: PublicationEntry): EarlierPost[] {
  const { results = [], atMs } = publication;
  return platformsOf(publication).flatMap((platform): EarlierPost[] => {
    const named = results.filter((result) => platformId(result.platform) === platform);
    const result = named.find(({ ok }) => ok);
    return named.length === 0 || result !== undefined ? [{ platform, atMs, result }] : [];
  });
}
