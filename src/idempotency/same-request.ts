// Says what the journal tells about a request: which entries are the same request, and the code by which a
// caller confirms that it is to be sent again. Pure: reads no disk, looks at no clock and sends nothing.

import { DEFAULTS } from "../service/options.ts";
import type { GenerationRequest } from "../service/answers.ts";
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

/** The requests for the same video that were or may have been carried out, in the journal's order. */
export function sameGenerations(entries: readonly JournalEntry[], fingerprint: string): GenerationEntry[] {
  return entries.filter(
    (entry): entry is GenerationEntry =>
      entry.operation === "generate" && entry.fingerprint === fingerprint && mayHaveBeenCarriedOut(entry),
  );
}

/** The requests that posted or may have posted this job on any of the platforms, in the journal's order. */
export function publicationsOn(
  entries: readonly JournalEntry[],
  jobId: string,
  platforms: readonly string[],
): PublicationEntry[] {
  const id = jobId.toLowerCase();
  return entries.filter(
    (entry): entry is PublicationEntry =>
      entry.operation === "publish" &&
      entry.jobId.toLowerCase() === id &&
      platformsOf(entry).some((platform) => platforms.includes(platform)) &&
      mayHaveBeenCarriedOut(entry),
  );
}

/** The platforms of a publication: those that were asked for, and those that the service's answer names. */
export function platformsOf({ platforms, results = [] }: PublicationEntry): readonly string[] {
  return [...new Set([...platforms, ...results.map(platformOf)])];
}

export function mayHaveBeenCarriedOut({ outcome }: JournalEntry): boolean {
  return outcome !== "rejected" && outcome !== "not_sent";
}

/** Whether a job was posted to a platform, as far as this computer knows. Times in ms since the epoch. */
export type PlatformState =
  | { readonly kind: "free" }
  | { readonly kind: "posted"; readonly result: PlatformResult; readonly atMs: number }
  /** It was sent, and what became of it is not known. */
  | { readonly kind: "unknown"; readonly atMs: number };

/** What one publication did on one of its platforms. `free` is a failure. */
export function stateAfter(
  { results = [], atMs, endedAtMs = atMs }: PublicationEntry,
  platform: string,
): PlatformState {
  const said = results.filter((result) => platformOf(result) === platform);
  const posted = said.find(({ ok }) => ok);
  if (posted !== undefined) return { kind: "posted", result: posted, atMs: endedAtMs };
  // The service said nothing of this platform.
  return said.length === 0 ? { kind: "unknown", atMs } : { kind: "free" };
}

/** `publications` are those of one job that may have been carried out. */
export function platformState(publications: readonly PublicationEntry[], platform: string): PlatformState {
  const states = publications
    .filter((entry) => platformsOf(entry).includes(platform))
    .map((entry) => stateAfter(entry, platform));
  // A failure says nothing of an earlier attempt.
  return states.findLast(({ kind }) => kind !== "free") ?? { kind: "free" };
}

/** The platform's id, however the service writes it. */
export function platformOf({ platform }: Pick<PlatformResult, "platform">): string {
  return platform.trim().toLowerCase();
}

/**
 * Whether another request or outcome was recorded since `seen` was looked at; of two requests that are
 * recorded at once, the one whose line comes first is sent. `now` holds this request's own entry too.
 */
export function isOvertaken(
  now: readonly JournalEntry[],
  seen: readonly JournalEntry[],
  own: JournalEntry,
): boolean {
  const states = new Set(seen.map(stateKey));
  return entriesAhead(now, own).some((entry) => !states.has(stateKey(entry)));
}

/** The entries that one's own gives way to: earlier ones, those in other files, and those that were sent. */
export function entriesAhead(entries: readonly JournalEntry[], own: JournalEntry): JournalEntry[] {
  const ownIndex = entries.findIndex(({ id }) => id === own.id);
  const ownFile = entries[ownIndex]?.file;
  return entries.filter(
    ({ file, outcome }, index) => index < ownIndex || file !== ownFile || outcome !== undefined,
  );
}

/**
 * The code that confirms sending `request` again: it changes with every entry and outcome that is added, and
 * with nothing else. What was rejected or never sent is left out of `entries`, since it changed nothing.
 */
export function confirmationCode(request: string, entries: readonly JournalEntry[]): string {
  const text = [request, ...entries.map(stateKey)].join("\n");
  return sha256(text).toString("hex").slice(0, CODE_CHARACTERS);
}

function stateKey({ id, outcome }: JournalEntry): string {
  return `${id} ${outcome ?? "none"}`;
}

function sha256(text: string): Buffer {
  // eslint-disable-next-line no-restricted-globals -- loaded on first use: it takes a thirtieth of the start
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(text).digest();
}
