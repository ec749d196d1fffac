// Says which of the journal's entries are the same order. Pure.

import { DEFAULTS } from "../service/options.ts";
import type { Order } from "../service/responses.ts";
import type { JournalEntry, OrderEntry } from "./journal.ts";

/** How long an order guards against the same one: a daily order that starts a little earlier is a new one. */
export const ORDER_GUARD_MS = 20 * 3_600_000;

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

const FIRST_CHARACTERS = 64;

/** Equal for topics that make the same video, and quick to compute. */
function lettersOf(topic: string): string {
  return topic
    .toUpperCase()
    .normalize("NFD")
    .replace(/[^A-Z0-9]+/g, "");
}

/** The arguments of an order, from the journal or a caller. */
type Arguments = Readonly<Record<string, unknown>>;

/**
 * Says which entries are the same order. An argument that this version doesn't know counts as equal: that
 * costs a confirmation, never a video.
 */
export function sameOrderAs(order: Arguments): (entry: JournalEntry) => entry is OrderEntry {
  const topic = topicOf(order);
  const letters = lettersOf(String(order["topic"]));
  return (entry): entry is OrderEntry =>
    entry.operation === "generate" &&
    SETTINGS.every((name) => settingOf(entry.arguments, name) === settingOf(order, name)) &&
    letters.startsWith(lettersOf(String(entry.arguments["topic"]).slice(0, FIRST_CHARACTERS))) &&
    topicOf(entry.arguments) === topic;
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
