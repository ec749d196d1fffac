// Makes outside text safe to show: removes what hides, moves or reorders text, and keeps what writing needs.
// Pure. Knows neither HTTP nor MCP, nor the key (see redact.ts).

import { lazyValue } from "./lazy.ts";

/** The longest piece of the service's text that is passed on, in characters. */
const SERVICE_TEXT_LIMIT = 500;

// Terminal sequences, which go as a whole, with their letters: CSI, then OSC and other string sequences with
// their terminator, then two-character ones. Of a string sequence without an end only the introducer goes.
const ESCAPE_SEQUENCES =
  // eslint-disable-next-line no-control-regex -- control characters are what this looks for
  /(?:\u001B\[|\u009B)[0-?]{0,64}[ -/]{0,8}[@-~]|(?:\u001B[\]PX^_]|[\u0090\u0098\u009D-\u009F])[^\u0007\u001B\u0090\u0098\u009C-\u009F]*(?:\u0007|\u001B\\|\u009C)|\u001B[ -/]{0,8}[0-~]?/g;

// Characters that depend on their neighbours: joiners, variation selectors (Mongolian's too) and tags.
const CONTEXTUAL = String.raw`\u200C\u200D\u180B-\u180F\uFE00-\uFE0F\u{E0020}-\u{E007F}\u{E0100}-\u{E01EF}`;
const CONTEXTUAL_RUN = new RegExp(`[${CONTEXTUAL}]+`, "gu");

// Controls other than newline and tab, format characters (bidi controls, zero width spaces, soft hyphens),
// fillers and other invisible characters, lone surrogates, and the blank Braille pattern. Not Arabic number
// signs, which are visible format characters.
// Made on first use: Unicode's sets of characters would cost every start 3 ms.
const neverNeeded = lazyValue(
  () =>
    new RegExp(
      String.raw`(?![\t\n${CONTEXTUAL}\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2])[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]`,
      "gu",
    ),
);

/** Scripts whose letters change form at a joiner: Arabic and its like, and those with a virama. */
const JOINING_SCRIPTS =
  "Arabic Syriac Mandaic Nko Adlam Mongolian Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam " +
  "Sinhala Khmer Myanmar Balinese Javanese";
const JOINING_LETTER = String.raw`(?=[\p{L}\p{M}])[${JOINING_SCRIPTS.replace(/(\w+) ?/g, String.raw`\p{scx=$1}`)}]`;

// The runs that stay, each matched with the visible characters around it. Any longer run hides data.
const neededRun = lazyValue(
  () =>
    new RegExp(
      `^(?:${[
        // Persian, Hindi, Khmer…: one joiner within a word, or a ZWJ that shapes the letter before it.
        `${JOINING_LETTER}(?:\\u200D|\\u200C${JOINING_LETTER})`,
        // Emoji: a presentation selector, a ZWJ that joins two of them, or both.
        String.raw`\p{Extended_Pictographic}(?:\uFE0F?\u200D\p{Extended_Pictographic}|[\uFE0E\uFE0F])`,
        String.raw`\p{Emoji_Modifier}\u200D\p{Extended_Pictographic}`,
        // Keycaps.
        String.raw`[0-9#*]\uFE0F\u20E3`,
        // The flags of England, Scotland and Wales in tags, then the cancel tag. There are no others.
        `\u{1F3F4}(?:${["gbeng", "gbsct", "gbwls"].map(inTags).join("|")})\u{E007F}`,
        // Variants of ideographs, and of Burmese and Mongolian letters. No ideograph has over 32 variants.
        String.raw`\p{Unified_Ideograph}[\uFE00-\uFE02\u{E0100}-\u{E011F}]`,
        String.raw`\p{Script=Myanmar}\uFE00`,
        String.raw`\p{Script=Mongolian}[\u180B-\u180F]`,
      ].join("|")})`,
      "u",
    ),
);

function inTags(letters: string): string {
  return letters.replace(/./g, (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0)));
}

// The beginning of a key, plain or in base64 at its three alignments, up to the end of the text.
const KEY_AT_END = /(?:fl_|Zmxf|ZsX|mbF)\S*$/;

// What looks like a key, such as an old one or another user's, to the end of its word. In prose only: ids,
// cursors and links are passed on as they are, because the caller sends them back.
const LIKE_A_KEY = /(?<![\w/-])fl_(?:(?=[A-Za-z_-]{0,64}\d)[\w-]{12}|[\w-]{24})\S{0,512}/g;

/**
 * Removes terminal sequences, control, bidi and invisible characters and lone surrogates. Keeps newlines,
 * tabs, and joiners, variation selectors and tags where emoji or a script need them. Linear and idempotent.
 */
export function stripUnsafeCharacters(text: string): string {
  // Most texts are plain ASCII.
  if (/^[\t\n -~]*$/.test(text)) return text;
  return text
    .replace(ESCAPE_SEQUENCES, "")
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(neverNeeded(), "")
    .replace(CONTEXTUAL_RUN, (run, start: number, whole: string) => {
      const end = start + run.length;
      // A pair of surrogates is one character. Ill-formed ones are gone by now.
      const isPair = /[\uDC00-\uDFFF]/.test(whole.charAt(start - 1));
      const before = whole.slice(Math.max(0, start - (isPair ? 2 : 1)), start);
      const after = end < whole.length ? String.fromCodePoint(whole.codePointAt(end) ?? 0) : "";
      // Matched up to the run's end: a run that is longer than what is needed is removed as a whole.
      const needed = neededRun().exec(before + run + after)?.[0].length ?? 0;
      return needed >= before.length + run.length ? run : "";
    });
}

/**
 * A text of the service on one line, without unsafe characters or anything that looks like an API key, cut at
 * `limit` characters (code points).
 */
export function cleanServiceText(text: string, limit: number = SERVICE_TEXT_LIMIT): string {
  const start = text.slice(0, limit * 20);
  const clean = stripUnsafeCharacters(start).replace(/\s+/g, " ").trim().replace(LIKE_A_KEY, "[redacted]");
  const characters = Array.from(clean);
  if (characters.length <= limit && start.length === text.length) return clean;
  const cut = characters.slice(0, limit - 1).join("");
  // Redaction would not recognise a key whose end is cut off, and a joiner must not dangle.
  return `${stripUnsafeCharacters(cut.replace(KEY_AT_END, ""))}…`;
}

/**
 * A text of at most `limit` characters (code points), and an ellipsis for the rest. What is cut is copied: a
 * slice would keep the whole text in memory.
 */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // No more is looked at than may be shown: a character has two units at most.
  const characters = Array.from(text.slice(0, 2 * limit + 2));
  return characters.length <= limit ? text : `${characters.slice(0, limit - 1).join("")}…`;
}

/** A cleaned and cut text as a JSON string: no quotation mark within can end it. */
export function quote(text: string, limit: number = SERVICE_TEXT_LIMIT): string {
  return JSON.stringify(cleanServiceText(text, limit));
}

/** A name from the service, quoted unless it is one short word: "call_publish-video.now" must not read as ours. */
export function quoteName(text: string): string {
  const name = cleanServiceText(text, 64);
  return /^[a-z0-9_]{1,20}$/.test(name) ? name : JSON.stringify(name);
}

/** The seconds of "45", "45s", "45 sec", "45 seconds" and "1.5 min". */
export function readSeconds(text: string): number | undefined {
  const [, number, minutes] =
    /^(-?\d{1,9}(?:\.\d{1,9})?)\s?(?:(m|mins?|minutes?)|s|secs?|seconds?)?\.?$/i.exec(text.trim()) ?? [];
  return number === undefined ? undefined : Number(number) * (minutes === undefined ? 1 : 60);
}

/** "just now", "40 seconds ago", "110 seconds ago", "3 minutes ago", "2 hours ago", "5 days ago". */
export function describeAge(ms: number): string {
  const units = [
    ["day", 86_400_000],
    ["hour", 3_600_000],
    ["minute", 60_000],
    ["second", 1_000],
  ] as const;
  for (const [unit, unitMs] of units) {
    const count = Math.floor(ms / unitMs);
    if (count >= (unit === "minute" ? 3 : 1)) return `${count} ${unit}${count === 1 ? "" : "s"} ago`;
  }
  return "just now";
}

/** A text of the sentences that apply. */
export function inSentences(...sentences: readonly (string | false | undefined)[]): string {
  return sentences.filter(Boolean).join(" ");
}

/** "tiktok", "tiktok and youtube", "tiktok, youtube and x". */
export function inWords(names: readonly string[]): string {
  // British English has no comma before the "and".
  return new Intl.ListFormat("en-GB").format(names);
}
