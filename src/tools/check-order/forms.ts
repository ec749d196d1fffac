// Finds by their form: topics that aren't the text itself, text that was damaged in ordinary characters, and what
// only a reader of a pasted script needs. Pure, and linear: repeats are bounded, or can begin in one place only.

import type { OrderWarning } from "../../idempotency/generate-once.ts";
import { countUnits } from "../../service/words.ts";
import { say } from "../../sentences.ts";
import { inWords, quote } from "../../text.ts";

const MAX_QUOTED_CHARS = 60;
/** The number of characters that are quoted on both sides of damage. */
const CHARACTERS_BESIDE_DAMAGE = 12;
const ADVICE = say`[Ask the user what it should say|Write what it should say].`;
const FIX_DAMAGE = "Write it as it was meant.";

interface TopicForm {
  /** What a match is, as a predicate. */
  readonly predicate: string;
  /** The number of other words a topic may have per match: with more it is a text about such things. */
  readonly wordsBeside: number;
  readonly pattern: RegExp;
}

const { raw } = String;
const anywhere = (predicate: string, wordsBeside: number, ...forms: readonly string[]): TopicForm => {
  return { predicate, wordsBeside, pattern: new RegExp(forms.join("|"), "gu") };
};
/** A whole topic, without blanks and quotation marks around it, whatever its case. */
const whole = (predicate: string, ...forms: readonly string[]): TopicForm => {
  const form = raw`^[\s"'\u0060(]{0,9}(?:${forms.join("|")})[\s"'\u0060).]{0,9}$`;
  return { predicate, wordsBeside: 0, pattern: new RegExp(form, "iu") };
};

const FILE = raw`\.(?:txt|docx?|pdf|md|rtf|odt|csv|xlsx?|json|srt|pptx?|pages|html?|mp[34]|mov|wav|png|jpe?g)`;
const DOMAIN = raw`(?:[\w-]{1,60}\.){1,5}[a-z]{2,12}`;
/** Words that point at something, and those that stand beside them. */
const POINTERS =
  "attached|attachments?|enclosed|above|below|before|earlier|previous(?:ly)?|discussed|agreed|last time|sent";
const BESIDE_POINTERS =
  "please|pls|see|as|per|refer|check|read|use|find|copy|same|like|the|my|our|this|that|it|in|from|of|to|we|i|" +
  "you|text|script|topic|content|file|document|doc|pdf|image|screenshot|message|chat|link";
const TEXT_NAMES = "(?:topic|text|script|content|title|idea|story|prompt)";
const TEMPLATE = "is a template that nobody filled in";
const NO_VALUE = "is what programs write for no value";

const NO_TEXT: readonly TopicForm[] = [
  anywhere(
    TEMPLATE,
    4,
    raw`\{\{[^{}\n]{0,60}\}\}|[$#@]\{[^{}\n]{1,60}\}|\{%[^{}\n]{1,60}%\}|<%[^<>\n]{0,60}%>`,
    raw`%[A-Za-z_][\w.]{1,40}%|%\(\w{1,40}\)s|__[A-Z]\w{1,30}__|\[\[[^[\]\n]{1,60}\]\]`,
    raw`\[(?:[Yy]our|[Ii]nsert|[Ee]nter|YOUR|INSERT|ENTER)\b[^[\]\n]{0,60}\]`,
    raw`\[[^[\]\n]{0,60}(?:here|HERE)\]`,
  ),
  anywhere(TEMPLATE, 2, raw`\{[\w.\- ]{1,40}\}|<[\w.\- ]{1,40}>`),
  whole(
    TEMPLATE,
    raw`\$\(?[\w.]{1,60}|=[a-z][\w$!:]{0,30}(?:\(.{0,200})?|%[sd@]|lorem ipsum(?: dolor\b[^]{0,5000})?`,
    raw`(?:your|insert|enter|add|write|type|paste|put)\b[^.!?\n]{0,20}\b${TEXT_NAMES}\b[^.!?\n]{0,20}`,
  ),
  whole(
    NO_VALUE,
    raw`(?:\w{1,30}\s?[:=]\s?)?(?:(?:undefined|null|nan|none|nil|n\/a|tbd|tba|todo)[\s,;.:-]{0,9}){1,99}`,
  ),
  anywhere(NO_VALUE, 4, raw`\[object [A-Z]\w{1,30}\]`),
  anywhere("is an error of a spreadsheet", 1, raw`#(?:N\/A|[A-Z][A-Z/0_]{2,13}[!?])|\bErr:\d{3}\b`),
  whole(
    "is the name of a file, an address or an id",
    raw`(?:[^\s.?!:;,/\\]{1,60} ){0,4}[^\s?!:;,/\\]{1,80}${FILE}|[\w-]{1,60}_[\w-]{1,60}`,
    raw`(?:file:|[a-z]:[\\/]|\\\\|~[\\/]|\.{1,2}[\\/])\S{0,300}(?: \S{1,80}){0,5}|\/[^\s/]{1,80}\/\S{0,300}`,
    raw`[\w-]{1,60}(?:[\\/][\w.-]{1,60}){1,9}${FILE}|${DOMAIN}|[^\s@]{1,100}@[^\s@]{1,100}\.\w{2,12}`,
    raw`[\da-f]{8}-[\da-f-]{20,40}|(?=\D{0,60}\d)[\da-f]{16,128}`,
  ),
  anywhere(
    "is a link",
    4,
    raw`\b[a-z][a-z\d]{1,8}:\/\/[^\s"<>]{1,2000}`,
    raw`(?<![\w@.-])${DOMAIN}(?::\d{1,5})?[/?#][^\s"<>]{0,2000}`,
  ),
  whole(
    "says where the text is",
    raw`(?=[^]{0,80}\b(?:${POINTERS})\b)\W{0,3}(?:(?:${POINTERS}|${BESIDE_POINTERS})\b\W{0,3}){1,10}`,
  ),
  anywhere("is JSON", 0, raw`^\s*(?:\{\s*(?:"[^"\n]{1,60}"|'[^'\n]{1,60}')\s*:|\[\s*\{\s*")[^]*$`),
];

/** The bytes from 80 to BF as Windows shows them, and those among them that quote nothing in any language. */
const SHOWN =
  raw`\u0080-\u00BF\u0152\u0153\u0160\u0161\u0178\u017D\u017E\u0192\u02C6\u02DC\u2013-\u2022\u2026\u2030` +
  raw`\u2039\u203A\u20AC\u2122`;
const SHOWN_SIGNS = raw`\u00A1-\u00AA\u00AC-\u00BA\u00BC-\u00BF`;

const DAMAGE: readonly TopicForm[] = [
  anywhere(
    "has an escape sequence",
    Infinity,
    raw`\\u\{?[\dA-Fa-f]{4}|\\x[\dA-Fa-f]{2}|\p{L}u00[c-f][\da-f]|\\"[^"\\\n]{1,200}\\"|\p{L}\\'\p{L}`,
    // Not the folders of C:\new\recipes.
    raw`[.!?,;\u2026)\]"\u201D]\\[nrt]|\\[nr]\\[nrt]|\p{L}\\[nrt](?=[\p{Lu}[\s]|$)`,
  ),
  anywhere(
    "has an entity of HTML",
    Infinity,
    raw`&(?:#\d{2,6}|#x[\da-f]{2,5}|amp|lt|gt|quot|apos|nbsp|hellip|[nm]dash|[lr][sda]quo|szlig);`,
    raw`&[A-Za-z](?:acute|grave|circ|uml|tilde|cedil|ring|slash|elig);`,
  ),
  anywhere(
    "has characters that were read in the wrong encoding",
    Infinity,
    raw`\u00E2\u20AC|\u00F0\u0178|\u00EF\u00BB\u00BF|\u00EF\u00BF\u00BD|[\u0080-\u0084\u0086-\u009F]`,
    raw`[\u00C2\u00C3][${SHOWN_SIGNS}]|(?<!\p{Lu})[\u00C2\u00C3][${SHOWN}]|(?:[\u00D0\u00D1][${SHOWN}]){2}`,
  ),
  anywhere(
    "has a code for a character",
    Infinity,
    raw`_x[\dA-Fa-f]{4}_|\p{L}%20(?=\p{L})|%C3%[89AB][\dA-F]|=C3=[89AB][\dA-F]|=E2=80=[89A][\dA-F]`,
  ),
];

/** Says why the topic isn't the text itself, if it isn't. `spoken` is the topic without its brackets. */
export function reviewText(topic: string, spoken: string): OrderWarning | undefined {
  for (const { predicate, pattern, wordsBeside } of NO_TEXT) {
    const pieces = topic.match(pattern) ?? [];
    if (pieces.length === 0) continue;
    if (countUnits(topic.replace(pattern, " "), "words") > wordsBeside * pieces.length) continue;
    const piece = quote((pieces[0] ?? "").trim(), MAX_QUOTED_CHARS);
    return { finding: `The topic isn't a text to speak: ${piece} ${predicate}.`, advice: ADVICE };
  }
  if (/\p{L}/u.test(spoken)) return undefined;
  const finding = "Nothing of the topic would be spoken, as it has no letters outside of brackets.";
  return { finding, advice: ADVICE };
}

/** Says where a program took ordinary characters of the topic for others. */
export function reviewDamage(topic: string): OrderWarning | undefined {
  for (const { predicate, pattern } of DAMAGE) {
    const at = topic.search(pattern);
    if (at < 0) continue;
    const near = topic.slice(Math.max(0, at - CHARACTERS_BESIDE_DAMAGE), at + 2 * CHARACTERS_BESIDE_DAMAGE);
    return { finding: `The topic was damaged on its way: ${quote(near)} ${predicate}.`, advice: FIX_DAMAGE };
  }
  return undefined;
}

const MAX_EXAMPLE_CHARS = 40;

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

const noteKind = (one: string, many: string, ...forms: readonly string[]) => {
  return { one, many, pattern: new RegExp(forms.join("|"), "gimu") };
};

const NOTES = [
  noteKind("link", "links", raw`(?:https?:\/\/|\bwww\.)[^\s)\]>]+`),
  noteKind(
    "hashtag",
    "hashtags",
    // Only at a line's end, since "The #MeToo movement" is meant to be spoken.
    raw`(?<![\p{L}\p{N}&/#])#\p{L}${LETTER}*(?=(?:[^\S\n]{1,3}#${LETTER}{1,60}){0,40}[^\S\n]{0,9}$)`,
  ),
  noteKind(
    "time code",
    "time codes",
    raw`\(\s*(?:${RANGE}|${TIME})\s*\)|\b${TIME}\s{0,3}${DASH}\s{0,3}${TIME}\b`,
    raw`${START}(?:${RANGE}|${TIME})\s{0,3}(?:${DASH}|[:|])`,
  ),
  noteKind(
    "scene number",
    "scene numbers",
    raw`${START}(?:${NUMBERED})\s?#?\d{1,3}\b(?=[^\S\n]*(?:[-:.|*_()\u2013\u2014]|$))`,
  ),
  noteKind(
    "label",
    "labels",
    raw`${START}(?:${ROLE}|${PART})(?:[^\S\n]?\([^()\n]{0,60}\))?[*_]{0,3}[^\S\n]?:`,
  ),
  noteKind(
    "piece of markup",
    "pieces of markup",
    raw`\*\*[^*\n]{1,200}\*\*|__[^_\n]{1,200}__|^[^\S\n]*#{1,6}[^\S\n]+\S[^\n]{0,200}`,
    raw`<\/?[a-z][^<>\n]{0,200}>`,
  ),
];

/** Openers that are meant to be spoken: "POV: you are a raindrop", "Myth: …", "Fact: …". */
const SPOKEN_LABELS =
  /^(?:pov|myth|fact|truth|question|answer|q|a|tip|rule|step|reason|lesson|me|you|warning|note|update|day|week|monday)$/i;
const NAMED_LINE = new RegExp(
  raw`^[^\S\n]*[*_]{0,3}(${NAME}(?: ${NAME}){0,2})[*_]{0,3}[^\S\n]?:(?=[*_]{0,3}[^\S\n]*\S)`,
  "gmu",
);

/** `spoken` is the topic without its brackets. */
export function reviewNotes(spoken: string): OrderWarning | undefined {
  let rest = spoken;
  const matches = NOTES.map(({ one, many, pattern }) => {
    const found = rest.match(pattern) ?? [];
    // A heading may hold a scene's number: remove it, so that it isn't counted twice.
    rest = rest.replace(pattern, " ");
    return { one, many, found };
  });
  const all = [...matches, { one: "speaker's name", many: "speakers' names", found: findSpeakers(rest) }];
  const counts = all.flatMap(({ one, many, found: [first, ...more] }) => {
    if (first === undefined) return [];
    const count = more.length === 0 ? `1 ${one}` : `${more.length + 1} ${many}`;
    return `${count} (${quote(first.trim(), MAX_EXAMPLE_CHARS)})`;
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
  const repeated = [...counts].filter(([name, count]) => count > 1 && !SPOKEN_LABELS.test(name));
  const isSpeaker = (name: string) => repeated.length > 1 || name === name.toUpperCase();
  const speakers = new Set(repeated.map(([name]) => name).filter(isSpeaker));
  return lines.filter((name) => speakers.has(name)).map((name) => `${name}:`);
}
