// Says which of the journal's entries are the same request, what is known of a job, and the code by which a
// caller confirms that a request is to be sent again. Pure: no disk, no clock, nothing is sent.

import { setImmediate as nextTurn } from "node:timers/promises";
import { DEFAULTS } from "../service/options.ts";
import type { Order } from "../service/responses.ts";
import type { OrderEntry, JournalEntry, PlatformResult, PublicationEntry } from "./journal.ts";

/** How long an order guards against the same one: a daily order that starts a little earlier is a new one. */
export const ORDER_GUARD_MS = 20 * 3_600_000;
const CODE_CHARACTERS = 6;
/** How much of a long journal is gone through at a time. */
export const ENTRIES_PER_TURN = 10_000;

const INVISIBLE = /[\p{Cf}\p{DI}]|(?!\s)\p{Cc}/gu;
/** A dash that is spoken: "-5", but neither "19-20" nor "Covid-19". */
const MINUS = /(?<![\p{L}\p{N}])[-\u2013\uFE63\uFF0D](?=\p{Nd})/gu;
/** White space and punctuation but for the signs that are spoken; in the group, what two digits enclose. */
const IGNORED =
  /(?<=\p{Nd})((?:(?![%％٪#＃&＆@＠])[\s\p{P}])+)(?=\p{Nd})|(?:(?![%％٪#＃&＆@＠])[\s\p{P}])+/gu;
/** Brackets separate what is spoken from what is shown. */
const NON_BRACKETS = /[^[\](){}（）［］｛｝]/g;

/** Equal for topics that make the same video. */
function comparableTopic(topic: string): string {
  const compared = topic
    .normalize("NFC")
    .replace(INVISIBLE, "")
    .replace(MINUS, "\u2212")
    .replace(IGNORED, (run: string, inNumber?: string) =>
      inNumber === undefined ? run.replace(NON_BRACKETS, "") : inNumber.replace(/\s+/g, " "),
    );
  // In upper case, ß and SS are equal too.
  return compared.toUpperCase().normalize("NFC");
}

/** Letters and digits that are neither left out of a comparable topic nor changed in it but for their case. */
const STABLE =
  /[^A-Z0-9\u0391-\u03A9\u0410-\u042F\u05D0-\u05EA\u0621-\u063A\u0641-\u064A\u0915-\u0939\u0E01-\u0E2E\u1100-\u115E\u1161-\u11FF\u3041-\u3096\u30A1-\u30FA\u3400-\u9FFF]+/g;
const FIRST_CHARACTERS = 64;

/** Equal for topics that make the same video, and quick. Part of a topic gives part of its result. */
function lettersOf(topic: string): string {
  return topic.toUpperCase().normalize("NFD").replace(STABLE, "");
}

/** The arguments of an order, from the journal or a caller. */
type Arguments = Readonly<Record<string, unknown>>;

/** Finds the entries of the same order. Remembers each compared topic, since comparing takes time. */
export class SameOrders {
  readonly #topics = new WeakMap<OrderEntry, string>();

  /**
   * An argument that an entry lacks has today's default. One that this version does not know can't be compared and
   * counts as equal: that costs a confirmation, never a video.
   */
  matcherFor(order: Arguments): (entry: JournalEntry) => entry is OrderEntry {
    const topic = topicOf(order);
    const letters = lettersOf(String(order["topic"]));
    const beginsAlike = ({ arguments: args }: OrderEntry) =>
      letters.startsWith(lettersOf(String(args["topic"]).slice(0, FIRST_CHARACTERS)));
    return (entry): entry is OrderEntry =>
      entry.operation === "generate" &&
      SETTINGS.every((name) => settingOf(entry.arguments, name) === settingOf(order, name)) &&
      beginsAlike(entry) &&
      this.#topicOf(entry) === topic;
  }

  #topicOf(entry: OrderEntry): string {
    const known = this.#topics.get(entry);
    if (known !== undefined) return known;
    const topic = topicOf(entry.arguments);
    this.#topics.set(entry, topic);
    return topic;
  }
}

/** Identifies an order, for codes of today: it is stored nowhere. */
export function orderKey(order: Arguments): string {
  return `generate ${JSON.stringify(SETTINGS.map((name) => settingOf(order, name)))} ${topicOf(order)}`;
}

function topicOf({ topic }: Arguments): string {
  return comparableTopic(String(topic));
}

type SettingName = keyof typeof DEFAULTS;
// eslint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a constant
const SETTINGS = Object.keys(DEFAULTS) as SettingName[];

function settingOf(args: Arguments, name: SettingName): unknown {
  return args[name] ?? DEFAULTS[name];
}

/** The order without absent arguments. */
export function argumentsOf(order: Order): OrderEntry["arguments"] {
  return Object.fromEntries(Object.entries(order).filter(([, value]) => value !== undefined));
}

export function ordersOf(entries: readonly JournalEntry[]): OrderEntry[] {
  return entries.filter((entry) => entry.operation === "generate");
}

/** A platform's id in lower case. Two ids are two platforms. */
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
  /** Its id. */
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

export interface JobHistory {
  /** The request that started the job, if this computer made it. */
  readonly order?: OrderEntry | undefined;
  readonly posts: readonly EarlierPost[];
}

/** The orders and jobs of the entries, with times of a clock that is this far ahead of the journal's. */
export async function readFacts(entries: readonly JournalEntry[], aheadMs: number) {
  const local = aheadMs === 0 ? entries : entries.map((entry) => ({ ...entry, atMs: entry.atMs + aheadMs }));
  return { orders: ordersOf(local), jobs: await jobHistories(local) };
}

/** Remembers the facts of the entries until they change, since a long journal is read again and again. */
export class JournalFacts {
  #last:
    | { entries: readonly JournalEntry[]; aheadMs: number; facts: ReturnType<typeof readFacts> }
    | undefined;

  /** Clocks that differ by less than half a second count as equal. */
  of(entries: readonly JournalEntry[], clockAheadMs: number): ReturnType<typeof readFacts> {
    const aheadMs = 1_000 * Math.round(clockAheadMs / 1_000);
    if (this.#last?.entries !== entries || this.#last.aheadMs !== aheadMs)
      this.#last = { entries, aheadMs, facts: readFacts(entries, aheadMs) };
    return this.#last.facts;
  }
}

/** By job, in the order in which the jobs were started. A long journal must not hold up what else is under way. */
export async function jobHistories(
  entries: readonly JournalEntry[],
): Promise<ReadonlyMap<string, JobHistory>> {
  const histories = new Map<string, { order?: OrderEntry; readonly posts: EarlierPost[] }>();
  for (const [index, entry] of entries.entries()) {
    // eslint-disable-next-line no-await-in-loop -- it gives others their turn
    if (index % ENTRIES_PER_TURN === ENTRIES_PER_TURN - 1) await nextTurn();
    const { jobId } = entry;
    if (jobId === undefined) continue;
    const known = histories.get(jobId);
    const history = known ?? { posts: [] };
    if (known === undefined) histories.set(jobId, history);
    if (entry.operation === "generate") history.order ??= entry;
    else history.posts.push(...postsOf(entry));
  }
  return histories;
}

/** The entries that take precedence over `own`: those before it, in other sources, or already sent. */
export function entriesAhead(entries: readonly JournalEntry[], own: JournalEntry): JournalEntry[] {
  const ownIndex = entries.findLastIndex(({ id }) => id === own.id);
  const ownSource = entries[ownIndex]?.source;
  const later = entries
    .slice(ownIndex)
    .filter(({ source, outcome }) => source !== ownSource || outcome !== undefined);
  return entries.slice(0, ownIndex).concat(later);
}

/** Changes with every entry and every outcome that is added, and with nothing else. */
export function versionOf(entries: readonly JournalEntry[]): string {
  return entries.map(({ id, outcome }) => `${id} ${outcome ?? "none"}`).join("\n");
}

/** The code that confirms sending `request` again. It changes with the state of the entries. */
export function confirmationCode(request: readonly string[], entries: readonly JournalEntry[]): string {
  const text = [...request, versionOf(entries)].join("\n");
  // eslint-disable-next-line no-restricted-globals -- loaded on first use: it takes a thirtieth of the start
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(text).digest("hex").slice(0, CODE_CHARACTERS);
}
