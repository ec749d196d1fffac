// Says what the journal's entries mean: which are the same request, what is known of a job, and the code by
// which a caller confirms that a request is to be sent again. Pure: no disk, no clock, nothing is sent.

import { DEFAULTS } from "../service/options.ts";
import type { GenerationRequest } from "../service/responses.ts";
import type { GenerationEntry, JournalEntry, PlatformResult, PublicationEntry } from "./journal.ts";

export const DAY_MS = 24 * 3_600_000;
const CODE_CHARACTERS = 6;

/** What is not compared in a topic: white space, punctuation, and characters that nobody sees. */
const NOT_COMPARED = /[\s\p{P}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** Equal for requests that would make the same video, whatever the account. It hides the topic. */
export function generationFingerprint(request: GenerationRequest): string {
  const visible = request.topic.normalize("NFC").replace(NOT_COMPARED, "");
  // In upper case, ß and SS are equal too.
  const topic = visible.toUpperCase().normalize("NFC");
  const compared = { ...DEFAULTS, ...argumentsOf(request), topic };
  return sha256(`generate ${JSON.stringify(compared)}`).toString("base64url");
}

/** The request without what was left out. */
export function argumentsOf(request: GenerationRequest): GenerationEntry["arguments"] {
  return JSON.parse(JSON.stringify(request));
}

export function generationsOf(entries: readonly JournalEntry[]): GenerationEntry[] {
  return entries.filter((entry) => entry.operation === "generate");
}

/** The publications of this job on any of the platforms. */
export function publicationsOn(
  entries: readonly JournalEntry[],
  jobId: string,
  platforms: readonly string[],
): PublicationEntry[] {
  return entries
    .filter((entry) => entry.operation === "publish")
    .filter((entry) => entry.jobId.toLowerCase() === jobId.toLowerCase())
    .filter((entry) => platformsOf(entry).some((platform) => platforms.includes(platform)));
}

/** The platforms of a publication: those that were asked for, and those that the service's answer names. */
export function platformsOf({ platforms, results = [] }: PublicationEntry): readonly string[] {
  return [...new Set([...platforms, ...results.map(platformOf)])];
}

/** A post of a job that was made, or may have been made. */
export interface EarlierPost {
  readonly platform: string;
  /** When it was requested, in milliseconds since the epoch. */
  readonly atMs: number;
  /** What the service said of it. Undefined where the outcome is not known. */
  readonly result: PlatformResult | undefined;
}

/** The posts of a publication. One that failed is none. */
export function postsOf(publication: PublicationEntry): EarlierPost[] {
  const { results = [], atMs } = publication;
  return platformsOf(publication).flatMap((platform): EarlierPost[] => {
    const said = results.filter((result) => platformOf(result) === platform);
    const result = said.find(({ ok }) => ok);
    return said.length === 0 || result !== undefined ? [{ platform, atMs, result }] : [];
  });
}

export interface JobHistory {
  /** The request that started the job, where this computer made it. */
  readonly order?: GenerationEntry | undefined;
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

/** The platform's id, however the service writes it. */
export function platformOf({ platform }: Pick<PlatformResult, "platform">): string {
  return platform.trim().toLowerCase();
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
