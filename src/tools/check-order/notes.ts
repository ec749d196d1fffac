// Finds what a voice would speak, too, in a pasted script: speakers' names, scene numbers, time codes,
// markup, hashtags and links. Pure.

import type { OrderWarning } from "../../idempotency/generate-once.ts";
import { inWords, quote } from "../../text.ts";

const MAX_EXAMPLE = 40;
const { raw } = String;

/** Blanks, list signs and markup may stand before a label. */
const START = raw`^[^\S\n]*(?:[-*_#>\u2022~]{1,6}[^\S\n]*)?`;
const ROLE =
  raw`narrat(?:or|ion|eur|rice)|narradora?|narratore|voice[- ]?over|v\.?o\.?|voz en off|voix off|` +
  raw`erz\u00E4hler(?:in)?|sprecherin|(?:speaker|host|character|actor|voice|sprecher|locutor)(?: ?\d+| [A-D])?`;
const PART =
  "hook|intro|outro|cta|call to action|title|caption|script|visuals?|b-?roll|sfx|sound effects?|on-?screen text|" +
  "text on screen|voice ?text|hashtags?|camera|cut to|background music";
const LETTER = raw`[\p{L}\p{M}\p{N}_]`;
const NAME = raw`\p{Lu}[\p{L}\p{M}.'\u2019-]{0,30}`;
const NUMBERED = "scene|shot|clip|frame|panel|segment|szene|escena|sc\u00E8ne|scena|cena";
const TIME = raw`\d{1,2}:\d{2}(?::\d{2})?`;
const DASH = raw`[-\u2013\u2014]`;
const SECONDS = raw`\d{1,2}\s?s?\s{0,3}${DASH}\s{0,3}\d{1,2}\s?(?:s|sec|secs|seconds)`;
const RANGE = raw`${TIME}\s{0,3}(?:${DASH}|to)\s{0,3}${TIME}|${SECONDS}`;

const kind = (one: string, many: string, ...forms: readonly string[]) => {
  return { one, many, pattern: new RegExp(forms.join("|"), "gimu") };
};

const KINDS = [
  kind("link", "links", raw`(?:https?:\/\/|\bwww\.)[^\s)\]>]+`),
  kind(
    "hashtag",
    "hashtags",
    // Only at a line's end, since "The #MeToo movement" is meant to be spoken.
    raw`(?<![\p{L}\p{N}&/#])#\p{L}${LETTER}*(?=(?:[^\S\n]{1,3}#${LETTER}{1,60}){0,40}[^\S\n]{0,9}$)`,
  ),
  kind(
    "time code",
    "time codes",
    raw`\(\s*(?:${RANGE}|${TIME})\s*\)|\b${TIME}\s{0,3}${DASH}\s{0,3}${TIME}\b`,
    raw`${START}(?:${RANGE}|${TIME})\s{0,3}(?:${DASH}|[:|])`,
  ),
  kind(
    "scene number",
    "scene numbers",
    raw`${START}(?:${NUMBERED})\s?#?\d{1,3}\b(?=[^\S\n]*(?:[-:.|*_()\u2013\u2014]|$))`,
  ),
  kind("label", "labels", raw`${START}(?:${ROLE}|${PART})(?:[^\S\n]?\([^()\n]{0,60}\))?[*_]{0,3}[^\S\n]?:`),
  kind(
    "piece of markup",
    "pieces of markup",
    raw`\*\*[^*\n]{1,200}\*\*|__[^_\n]{1,200}__|^[^\S\n]*#{1,6}[^\S\n]+\S[^\n]{0,200}`,
    raw`<\/?[a-z][^<>\n]{0,200}>`,
  ),
];

/** Openers that are meant to be spoken: "POV: you are a raindrop", "Myth: …", "Fact: …". */
const SAID =
  /^(?:pov|myth|fact|truth|question|answer|q|a|tip|rule|step|reason|lesson|me|you|warning|note|update|day|week|monday)$/i;
const NAMED_LINE = new RegExp(
  raw`^[^\S\n]*[*_]{0,3}(${NAME}(?: ${NAME}){0,2})[*_]{0,3}[^\S\n]?:(?=[*_]{0,3}[^\S\n]*\S)`,
  "gmu",
);

/** `spoken` is the topic without its brackets. */
export function reviewNotes(spoken: string): OrderWarning | undefined {
  let rest = spoken;
  const matches = KINDS.map(({ one, many, pattern }) => {
    const found = rest.match(pattern) ?? [];
    // A heading may hold a scene's number: remove it, so that it isn't counted twice.
    rest = rest.replace(pattern, " ");
    return { one, many, found };
  });
  const all = [...matches, { one: "speaker's name", many: "speakers' names", found: findSpeakers(rest) }];
  const counts = all.flatMap(({ one, many, found: [first, ...more] }) => {
    if (first === undefined) return [];
    const count = more.length === 0 ? `1 ${one}` : `${more.length + 1} ${many}`;
    return `${count} (${quote(first.trim(), MAX_EXAMPLE)})`;
  });
  if (counts.length === 0) return undefined;
  return {
    finding: `${inWords(counts)} in the topic would be spoken, too.`,
    advice: "Leave out what should not be spoken. Only text in [brackets] is not spoken.",
  };
}

/** The names before a dialogue's colons: names in capitals, or two names that each begin several lines. */
function findSpeakers(text: string): string[] {
  const lines = Array.from(text.matchAll(NAMED_LINE), ([, name = ""]) => name);
  const counts = new Map<string, number>();
  for (const name of lines) counts.set(name, (counts.get(name) ?? 0) + 1);
  const repeated = [...counts].filter(([name, count]) => count > 1 && !SAID.test(name));
  const isSpeaker = (name: string) => repeated.length > 1 || name === name.toUpperCase();
  const speakers = new Set(repeated.map(([name]) => name).filter(isSpeaker));
  return lines.filter((name) => speakers.has(name)).map((name) => `${name}:`);
}
