// Makes outside text safe to show: removes what hides, moves or reorders text, and keeps what writing needs.
// Pure. Knows neither HTTP nor MCP, nor the key (see redact.ts).

import { lazyValue } from "./lazy.ts";

/** The longest piece of the service's text that is passed on, in characters. */
const SERVICE_TEXT_LIMIT = 500;

// Terminal sequences are removed whole, with their letters: colours and movements (CSI), window titles and
// links (OSC), and those of two characters.
const ESCAPE_SEQUENCES =
  // eslint-disable-next-line no-control-regex -- control characters are what this looks for
  /(?:\u001B\[|\u009B)[0-?]{0,64}[ -/]{0,8}[@-~]|\u001B\][^\u0007\u001B]{0,2000}(?:\u0007|\u001B\\)|\u001B[@-_]?/g;

// Joiners that letters and emoji need come first, as the group that stays. Then everything that can't be seen.
// The Arabic number signs are format characters, too, but visible.
// Made on first use: Unicode's sets of characters would cost every start 3 ms.
const joinersOrUnsafe = lazyValue(
  () =>
    new RegExp(
      [
        String.raw`((?<=[\p{L}\p{M}])[\u200C\u200D](?=[\p{L}\p{M}])`,
        String.raw`(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier})\uFE0F?\u200D(?=\p{Extended_Pictographic})`,
        String.raw`(?<=\p{Extended_Pictographic}|[0-9#*])[\uFE0E\uFE0F])`,
        String.raw`(?![\t\n\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2])[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]`,
      ].join("|"),
      "gu",
    ),
);

/** Removes terminal sequences and what can't be seen, but for newlines, tabs and joiners. */
export function stripUnsafeCharacters(text: string): string {
  // Most texts are plain ASCII.
  if (/^[\t\n -~]*$/.test(text)) return text;
  return text
    .replace(ESCAPE_SEQUENCES, "")
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(joinersOrUnsafe(), (_, joiner: string | undefined) => joiner ?? "");
}

/** A field's name without any character that can't be seen, so that it is compared as it is read. */
export function cleanName(name: string): string {
  return stripUnsafeCharacters(name)
    .replace(/\u200C|\u200D|\uFE0E|\uFE0F/g, "")
    .trim();
}

/** A text of the service on one line, without unsafe characters, cut at `limit` characters (code points). */
export function cleanServiceText(text: string, limit: number = SERVICE_TEXT_LIMIT): string {
  return cutText(stripUnsafeCharacters(text).replace(/\s+/g, " ").trim(), limit);
}

/** A text of at most `limit` characters (code points), and an ellipsis for the rest. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const characters = Array.from(text);
  if (characters.length <= limit) return text;
  // A joiner must not dangle.
  return `${stripUnsafeCharacters(characters.slice(0, limit - 1).join(""))}…`;
}

/** A cleaned and cut text as a JSON string: no quotation mark within can end it. */
export function quote(text: string, limit: number = SERVICE_TEXT_LIMIT): string {
  return JSON.stringify(cleanServiceText(text, limit));
}

/** A name, quoted unless it is a short word: "call_publish-video.now" must not read as ours. */
export function quoteName(text: string): string {
  const name = cleanServiceText(text, 64);
  return /^[a-z0-9_]{1,20}$/.test(name) ? name : JSON.stringify(name);
}

/** True for the words that some programs write for no value. */
export function isNullWord(value: unknown): boolean {
  return typeof value === "string" && /^\s*(?:null|none|undefined|default)\s*$/i.test(value);
}

/** The seconds of "45", "45s", "45 sec", "45-second", "1.5 min", "1:30" and "1 min 30 s". */
export function readSeconds(text: string): number | undefined {
  const compact = text.trim().toLowerCase();
  const [, minutes, seconds] =
    /^(\d{1,3}):([0-5]\d)$/.exec(compact) ??
    /^(\d{1,3}) ?m(?:in(?:ute)?s?)?,? ?(?:and )?(\d{1,2}) ?s(?:ec(?:ond)?s?)?\.?$/.exec(compact) ??
    [];
  if (seconds !== undefined) return Number(minutes) * 60 + Number(seconds);
  const [, number, inMinutes] =
    /^(-?\d{1,9}(?:\.\d{1,9})?)[\s-]?(?:(m|mins?|minutes?)|s|secs?|seconds?)?\.?$/.exec(compact) ?? [];
  return number === undefined ? undefined : Number(number) * (inMinutes === undefined ? 1 : 60);
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

/** Begins a clause with a capital letter, as a sentence. */
export function capitalized(clause: string): string {
  return `${clause.slice(0, 1).toUpperCase()}${clause.slice(1)}`;
}

/** The option of `call` that gives an argument: "--job-id". */
export function optionOf(argument: string): string {
  return `--${argument.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** A word as a POSIX shell takes it, or PowerShell. */
export function quoteWord(word: string, windows = false): string {
  // npm's .ps1 files lose a bare --, and cut a bare word that begins with - at its colon.
  const isPlain = windows ? /^(?:--?[A-Za-z][\w-]*|[A-Za-z\d][\w.:/\\@-]*)$/ : /^[\w@%+=:,./-]+$/;
  if (isPlain.test(word)) return word;
  if (!windows) return `'${word.replaceAll("'", `'\\''`)}'`;
  // PowerShell passes quotation marks on unchanged, and the program would obey those without a backslash.
  return `'${word.replaceAll("'", "''").replace(/(\\*)"/g, '$1$1\\"')}'`;
}

/** "tiktok", "tiktok and youtube", "tiktok, youtube and x". */
export function inWords(names: readonly string[]): string {
  // British English has no comma before the last.
  return new Intl.ListFormat("en-GB").format(names);
}

/** "a, b, c, d, e and 3 more". */
export function inFewWords(names: readonly string[]): string {
  const hidden = names.length - 5;
  return inWords(hidden > 0 ? [...names.slice(0, 5), `${hidden.toLocaleString("en")} more`] : names);
}

/** "2026-11-27T08:15+01:00": a time since the epoch, with this computer's offset. */
export function localTime(ms: number): string {
  const offset = -new Date(ms).getTimezoneOffset();
  const local = new Date(ms + offset * 60_000).toISOString().slice(0, 16);
  const pad = (count: number) => String(Math.floor(count)).padStart(2, "0");
  return `${local}${offset < 0 ? "-" : "+"}${pad(Math.abs(offset) / 60)}:${pad(Math.abs(offset) % 60)}`;
}

/** Made on first use, as the set of surrogates is a part of Unicode's. */
// eslint-disable-next-line no-control-regex -- all but tabs and line ends, old ones such as Word's included
const damage = lazyValue(() => /[\0-\u0008\u000E-\u001F\u007F-\u0084\u0086-\u009F\uFFFD\p{Cs}]/u);

/** A predicate that says where the text was damaged: nobody writes control characters or lone surrogates. */
export function describeDamage(text: string): string | undefined {
  const found = damage().exec(text);
  if (found === null) return undefined;
  const near = text.slice(Math.max(0, found.index - 30), found.index + 30);
  const code = found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  return `was damaged on its way: ${quote(near)} has U+${code}, which belongs in no text`;
}
