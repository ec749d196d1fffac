// What the journal says about a request: which entries are the same request, whether they forbid sending it, and the code by which a
// caller confirms that it is to be sent again. Pure; reads no disk and sends nothing.

import { DEFAULTS } from "../service/options.ts";
import type { GenerationRequest } from "../service/answers.ts";
import type { JournalEntry, PlatformResult, Settings } from "./journal.ts";

/** For this long after the last thing known of a generation, the same one is not started again. */
export const GENERATION_GUARD_MS = 10 * 60_000;

const CODE_CHARACTERS = 6;

/** 22 characters of base64url; nobody can tell the text from it. */
export async function fingerprintOf(text: string): Promise<string> {
  return (await sha256(text)).toString("base64url").slice(0, 22);
}

/** Equal for requests that would make the same video: defaults filled in, the topic's white space collapsed. */
export function generationFingerprint(account: string, request: GenerationRequest): Promise<string> {
  const topic = request.topic.trim().replace(/\s+/g, " ");
  return fingerprintOf(`${account} generate ${canonicalJson({ ...withDefaults(request), topic })}`);
}

/** The request with the defaults that the service applies to what it leaves out. */
export function withDefaults(request: GenerationRequest): Settings {
  // An argument that is undefined must not hide its default.
  const given = Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined));
  return { ...DEFAULTS, ...given };
}

/** Whether the request was or may have been carried out. */
function counts({ outcome }: JournalEntry): boolean {
  return outcome !== "rejected" && outcome !== "not_sent";
}

export function withoutDefaults(settings: Settings): Settings {
  const defaults = new Map<string, string | number>(Object.entries(DEFAULTS));
  return Object.fromEntries(Object.entries(settings).filter(([name, value]) => defaults.get(name) !== value));
}

/** The entries of the same generation that were or may have been carried out, in the journal's order. */
export function sameGenerations(entries: readonly JournalEntry[], fingerprint: string): JournalEntry[] {
  return entries.filter((entry) => entry.fingerprint === fingerprint && counts(entry));
}

/** The entries that posted or may have posted this job, in the journal's order, each with its platforms. */
export async function publicationsOf(
  entries: readonly JournalEntry[],
  account: string,
  jobId: string,
): Promise<Publication[]> {
  const id = jobId.toLowerCase();
  const found: Publication[] = [];
  for (const entry of entries) {
    if (entry.operation !== "publish" || entry.account !== account || !counts(entry)) continue;
    if (entry.platforms === undefined) found.push(...(await readEarlierVersion(entry, id)));
    else if (entry.jobId?.toLowerCase() === id) found.push({ entry, platforms: entry.platforms });
  }
  return found;
}

export interface Publication {
  readonly entry: JournalEntry;
  readonly platforms: readonly string[];
}

/** Earlier versions kept the platforms in the label and a hash of all; the hash proves that the label is read rightly. */
async function readEarlierVersion(entry: JournalEntry, jobId: string): Promise<Publication[]> {
  const platforms = / on ([^ ]+(?:, [^ ]+)*)$/.exec(entry.label)?.[1]?.split(", ").toSorted() ?? [];
  const fingerprint = await fingerprintOf(`${entry.account} publish ${canonicalJson({ jobId, platforms })}`);
  return fingerprint === entry.fingerprint ? [{ entry, platforms }] : [];
}

/** Whether a job is public on a platform, as far as this computer knows. */
export type PlatformState =
  | { readonly kind: "free" }
  | { readonly kind: "posted"; readonly result: PlatformResult; readonly atMs: number }
  /** It was sent, and what became of it is not known. */
  | { readonly kind: "unknown"; readonly atMs: number };

export function platformState(publications: readonly Publication[], platform: string): PlatformState {
  let state: PlatformState = { kind: "free" };
  for (const { entry, platforms } of publications) {
    if (!platforms.includes(platform)) continue;
    const { lastKnownAtMs: atMs, results } = entry;
    const said = results?.filter((result) => result.platform.trim().toLowerCase() === platform) ?? [];
    const posted = said.find(({ ok }) => ok);
    if (posted !== undefined) state = { kind: "posted", result: posted, atMs };
    // Without a word of the service about this platform. That it failed now says nothing of an earlier attempt.
    else if (said.length === 0) state = { kind: "unknown", atMs };
  }
  return state;
}

/**
 * The code that confirms sending `request` again, given what is known of it: it changes with every entry and every outcome that is added,
 * and with nothing else. What was rejected or never sent is left out of `entries`, since it changed nothing.
 */
export async function confirmationCode(request: string, entries: readonly JournalEntry[]): Promise<string> {
  const state = entries.map(({ id, outcome }) => `${id} ${outcome}`);
  return (await sha256([request, ...state].join("\n"))).toString("hex").slice(0, CODE_CHARACTERS);
}

async function sha256(text: string): Promise<Buffer> {
  // Loaded on first use: it takes a thirtieth of the start.
  const { createHash } = await import("node:crypto");
  return createHash("sha256").update(text).digest();
}

/** JSON that does not depend on the order of the names. */
function canonicalJson(values: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(Object.fromEntries(Object.entries(values).sort(([a], [b]) => a.localeCompare(b))));
}
