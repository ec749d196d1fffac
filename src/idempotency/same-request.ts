// Says what the journal's entries mean: which are the same request, what is known of a job, and the code by
// which a caller confirms that a request is to be sent again. Pure: no disk, no clock, nothing is sent.

import { DEFAULTS } from "../service/options.ts";
import { platformId } from "../service/platforms.ts";
import type { Order } from "../service/responses.ts";
import type { OrderEntry, JournalEntry, PlatformResult, PublicationEntry } from "./journal.ts";

export const DAY_MS = 24 * 3_600_000;
const CODE_CHARACTERS = 6;

/** White space, punctuation, and characters that nobody sees; in the first group what two digits enclose. */
const HARDLY_COMPARED = /(?<=\p{Nd})([\s\p{P}\p{Cc}\p{Cf}\p{DI}]+)(?=\p{Nd})|[\s\p{P}\p{Cc}\p{Cf}\p{DI}]+/gu;
/** Brackets say what is spoken and what is shown. */
const NO_BRACKET = /[^[\](){}（）［］｛｝]/g;
/** Between two digits, what is seen makes another number. */
const NOT_SEEN = /[\p{Cc}\p{Cf}\p{DI}]/gu;

/** Equal for orders that would make the same video, whatever the account. It hides the topic. */
export function orderFingerprint(order: Order): string {
  const visible = order.topic
    .normalize("NFC")
    .replace(HARDLY_COMPARED, (run: string, inNumber?: string) =>
      inNumber === undefined
        ? run.replace(NO_BRACKET, "")
        : inNumber.replace(/\s+/g, " ").replace(NOT_SEEN, ""),
    );
  // In upper case, ß and SS are equal too.
  const topic = visible.toUpperCase().normalize("NFC");
  const compared = { ...DEFAULTS, ...argumentsOf(order), topic };
  return sha256(`generate ${JSON.stringify(compared)}`).toString("base64url");
}

/** The order without what was left out. */
export function argumentsOf(order: Order): OrderEntry["arguments"] {
  return Object.fromEntries(Object.entries(order).filter(([, value]) => value !== undefined));
}

export function ordersOf(entries: readonly JournalEntry[]): OrderEntry[] {
  return entries.filter((entry) => entry.operation === "generate");
}

/** The publications of this job on any of the platforms, under whatever names. */
export function publicationsOn(
  entries: readonly JournalEntry[],
  jobId: string,
  platforms: readonly string[],
): PublicationEntry[] {
  const wanted = new Set(platforms.map(platformId));
  return entries
    .filter((entry) => entry.operation === "publish")
    .filter((entry) => entry.jobId.toLowerCase() === jobId.toLowerCase())
    .filter((entry) => platformsOf(entry).some((platform) => wanted.has(platform)));
}

/** The ids of a publication's platforms: those asked for, and those that the service's answer names. */
export function platformsOf({ platforms, results = [] }: PublicationEntry): readonly string[] {
  const named = results.map(({ platform }) => platform);
  return [...new Set([...platforms, ...named].map(platformId))];
}

/** A post of a job that was made, or may have been made. */
export interface EarlierPost {
  /** As it was asked for, or as the service names it. */
  readonly platform: string;
  /** When it was requested, in milliseconds since the epoch. */
  readonly atMs: number;
  /** What the service said of it. Undefined where the outcome is not known. */
  readonly result: PlatformResult | undefined;
}

/** The posts of a publication. One that failed is none. */
export function postsOf(publication: PublicationEntry): EarlierPost[] {
  const { platforms, results = [], atMs } = publication;
  const names = [...platforms, ...results.map(({ platform }) => platform.trim().toLowerCase())];
  return platformsOf(publication).flatMap((id): EarlierPost[] => {
    const platform = names.find((name) => platformId(name) === id) ?? id;
    const said = results.filter((result) => platformId(result.platform) === id);
    const result = said.find(({ ok }) => ok);
    return said.length === 0 || result !== undefined ? [{ platform, atMs, result }] : [];
  });
}

export interface JobHistory {
  /** The request that started the job, where this computer made it. */
  readonly order?: OrderEntry | undefined;
  readonly posts: readonly EarlierPost[];
}

/** By job id in lower case; the jobs that were started first come first. */
export function jobHistories(entries: readonly JournalEntry[]): ReadonlyMap<string, JobHistory> {
  const histories = new Map<string, JobHistory>();
  for (const entry of entries) {
    const jobId = entry.jobId?.toLowerCase();
    if (jobId === undefined) continue;
    const { order, posts } = histories.get(jobId) ?? { posts: [] };
    if (entry.operation === "generate") histories.set(jobId, { order: order ?? entry, posts });
    else histories.set(jobId, { order, posts: [...posts, ...postsOf(entry)] });
  }
  return histories;
}

/** The entries that one's own gives way to: those before it, in other sources, or already sent. */
export function entriesAhead(entries: readonly JournalEntry[], own: JournalEntry): JournalEntry[] {
  const ownIndex = entries.findIndex(({ id }) => id === own.id);
  const ownSource = entries[ownIndex]?.source;
  return entries.filter(
    ({ source, outcome }, index) => index < ownIndex || source !== ownSource || outcome !== undefined,
  );
}

/** Changes with every entry and every outcome that is added, and with nothing else. */
export function versionOf(entries: readonly JournalEntry[]): string {
  return entries.map(({ id, outcome }) => `${id} ${outcome ?? "none"}`).join("\n");
}

/** The code that confirms sending `request` again. It changes with the state of the entries. */
export function confirmationCode(request: string, entries: readonly JournalEntry[]): string {
  const text = `${request}\n${versionOf(entries)}`;
  return sha256(text).toString("hex").slice(0, CODE_CHARACTERS);
}

function sha256(text: string): Buffer {
  // eslint-disable-next-line no-restricted-globals -- loaded on first use: it takes a thirtieth of the start
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(text).digest();
}
