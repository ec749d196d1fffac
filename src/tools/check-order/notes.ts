// Finds notes for the reader of a pasted script, which a voice would speak, too: speakers' names, scene numbers, time
// codes, markup, hashtags and links. Pure.

import type { OrderWarning } from "../../idempotency/generate-once.ts";
import { inWords, quote } from "../../text.ts";

const MAX_EXAMPLE = 40;

/** Blanks, list signs and markup may stand before a label. */
const START = String.raw`^[^\S\n]*(?:[-*_#>\u2022~]{1,6}[^\S\n]*)?`;
const ROLE =
  "narrat(?:or|ion|eur|rice)|narrador|narradora|narratore|voice[- ]?over|v\\.?o\\.?|voz en off|voix off|erz\u00E4hler(?:in)?|sprecher(?:in)?|" +
  "(?:speaker|host|character|actor|voice|sprecher|locutor)(?: ?\\d+| [A-D])?";
const PART =
  "hook|intro|outro|cta|call to action|title|caption|script|visuals?|b-?roll|sfx|sound effects?|on-?screen text|text on screen|voice ?text|hashtags?|camera|cut to|background music";
const NUMBERED = "scene|shot|clip|frame|panel|segment|szene|escena|sc\u00E8ne|scena|cena";
const TIME = String.raw`\d{1,2}:\d{2}(?::\d{2})?`;
const RANGE = String.raw`${TIME}\s{0,3}(?:-|\u2013|\u2014|to)\s{0,3}${TIME}|\d{1,2}\s?s?\s{0,3}[-\u2013\u2014]\s{0,3}\d{1,2}\s?(?:s|sec|secs|seconds)`;

interface Kind {
  readonly one: string;
  readonly many: string;
  readonly pattern: RegExp;
}

const KINDS: readonly Kind[] = [
  { one: "link", many: "links", pattern: /(?:https?:\/\/|\bwww\.)[^\s)\]>]+/giu },
  {
    one: "hashtag",
    many: "hashtags",
    // Only at a line's end, since "The #MeToo movement" is meant to be spoken.
    pattern:
      /(?<![\p{L}\p{N}&/#])#\p{L}[\p{L}\p{M}\p{N}_]*(?=(?:[^\S\n]{1,3}#[\p{L}\p{M}\p{N}_]{1,60}){0,40}[^\S\n]{0,9}$)/gmu,
  },
  {
    one: "time code",
    many: "time codes",
    pattern: new RegExp(
      String.raw`\(\s*(?:${RANGE}|${TIME})\s*\)|\b${TIME}\s{0,3}(?:-|\u2013|\u2014)\s{0,3}${TIME}\b|${START}(?:${RANGE}|${TIME})\s{0,3}[-\u2013\u2014:|]`,
      "gimu",
    ),
  },
  {
    one: "scene number",
    many: "scene numbers",
    pattern: new RegExp(
      String.raw`${START}(?:${NUMBERED})\s?#?\d{1,3}\b(?=[^\S\n]*(?:[-:.|*_()\u2013\u2014]|$))`,
      "gimu",
    ),
  },
  {
    one: "label",
    many: "labels",
    pattern: new RegExp(
      String.raw`${START}(?:${ROLE}|${PART})(?:[^\S\n]?\([^()\n]{0,60}\))?[*_]{0,3}[^\S\n]?:`,
      "gimu",
    ),
  },
  {
    one: "piece of markup",
    many: "pieces of markup",
    pattern:
      /\*\*[^*\n]{1,200}\*\*|__[^_\n]{1,200}__|^[^\S\n]*#{1,6}[^\S\n]+\S[^\n]{0,200}|<\/?[a-z][^<>\n]{0,200}>/gimu,
  },
];

/** Openers that are meant to be spoken: "POV: you are a raindrop", "Myth: …", "Fact: …". */
const SAID: ReadonlySet<string> = new Set(
  "pov myth fact truth question answer q a tip rule step reason lesson me you warning note update day week monday".split(
    " ",
  ),
);
const NAMED_LINE =
  /^[^\S\n]*[*_]{0,3}(\p{Lu}[\p{L}\p{M}.'\u2019-]{0,30}(?: \p{Lu}[\p{L}\p{M}.'\u2019-]{0,30}){0,2})[*_]{0,3}[^\S\n]?:(?=[*_]{0,3}[^\S\n]*\S)/gmu;

/** `spoken` is the topic without its brackets. */
export function reviewNotes(spoken: string): OrderWarning | undefined {
  let rest = spoken;
  const found: string[] = [];
  const count = ({ one, many }: Pick<Kind, "one" | "many">, matches: readonly string[]) => {
    const [first = ""] = matches;
    if (matches.length > 0)
      found.push(
        `${matches.length} ${matches.length === 1 ? one : many} (${quote(first.trim(), MAX_EXAMPLE)})`,
      );
  };
  for (const kind of KINDS) {
    count(kind, rest.match(kind.pattern) ?? []);
    // A heading may hold a scene's number: remove it, so that it isn't counted twice.
    rest = rest.replace(kind.pattern, " ");
  }
  count({ one: "speaker's name", many: "speakers' names" }, findSpeakers(rest));
  if (found.length === 0) return undefined;
  return {
    finding: `${inWords(found)} in the topic would be spoken, too.`,
    advice: "Leave out what should not be spoken. Only text in [brackets] is not spoken.",
  };
}

/** The names before the colons of a dialogue: names in capitals, or two names that each begin several lines. */
function findSpeakers(text: string): string[] {
  const lines = Array.from(text.matchAll(NAMED_LINE), ([, name = ""]) => name);
  const counts = new Map<string, number>();
  for (const name of lines) counts.set(name, (counts.get(name) ?? 0) + 1);
  const repeated = [...counts].filter(([name, count]) => count > 1 && !SAID.has(name.toLowerCase()));
  const isSpeaker = (name: string) => repeated.length > 1 || name === name.toUpperCase();
  const speakers = new Set(repeated.map(([name]) => name).filter(isSpeaker));
  return lines.filter((name) => speakers.has(name)).map((name) => `${name}:`);
}
