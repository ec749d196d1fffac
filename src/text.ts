// Text that crosses a border: what the service wrote is cleaned before anyone reads it, and the key is taken
// out of everything that leaves the process. Pure; knows neither HTTP nor MCP.

/** Longest piece of the service's text that is passed on, in characters. */
export const SERVICE_TEXT_LIMIT = 500;

// Terminal sequences first (CSI, then OSC and other string sequences with their terminator), so that their letters don't
// stay behind. A string sequence without an end is no reason to swallow the rest: only its first characters go.
const ESCAPE_SEQUENCES =
  // eslint-disable-next-line no-control-regex -- control characters are the very thing to find
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|(?:\u001B[\]PX^_]|[\u0090\u0098\u009D-\u009F])[^\u0007\u001B\u0090\u0098\u009C-\u009F]*(?:\u0007|\u001B\\|\u009C)|\u001B[ -/]*[0-~]?/g;

// Controls other than newline and tab, then everything Unicode calls a format character (bidi controls, zero width,
// tags) or ignorable (variation selectors, fillers), lone surrogates, and the blank that counts as a symbol.
const UNSEEN_CHARACTERS =
  /(?![\t\n])\p{Cc}|[\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu;

// The beginning of a key, plain or in base64 at its three alignments, up to the end of the text.
const CUT_KEY = /(?:fl_|Zmxf|ZsX|mbF)\S*$/;

// What looks like a key, perhaps an old one or somebody else's, to the end of its word: redaction would not know the rest of
// the own one. In words alone: ids, cursors and links are handed on as they are, or they would no longer serve.
const LIKE_A_KEY = /(?<![\w/-])fl_(?:(?=[A-Za-z_-]{0,64}\d)[\w-]{12}|[\w-]{24})\S{0,512}/g;

const REDACTED = "[redacted]";

/**
 * The service's text without control, escape, bidi and invisible characters and without what looks like a key, on one line,
 * cut at the limit. A key that the cut goes through goes too: redaction would not know the rest of it again.
 */
export function cleanServiceText(text: string, limit: number = SERVICE_TEXT_LIMIT): string {
  const bounded = text.slice(0, limit * 20);
  const clean = withoutUnseen(bounded).replace(/\s+/g, " ").trim().replace(LIKE_A_KEY, REDACTED);
  const characters = Array.from(clean);
  if (characters.length <= limit && bounded.length === text.length) return clean;
  return `${characters
    .slice(0, limit - 1)
    .join("")
    .replace(CUT_KEY, "")}…`;
}

/** A text without control, escape, bidi and invisible characters, with its lines and its length. */
export function withoutUnseen(text: string): string {
  // Most texts hold nothing of the kind, and this is asked of every string of every answer.
  if (/^[\t\n -~]*$/.test(text)) return text;
  return text
    .replace(ESCAPE_SEQUENCES, "")
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(UNSEEN_CHARACTERS, "");
}

/** Takes the key out of a text. A text that is JSON stays JSON. */
export type Redact = (text: string) => string;

// Somebody else's credential. Prose ("the bearer walked on") has neither digit nor underscore in that word; a backslash
// before it would be JSON's backspace.
const OTHER_BEARER =
  /(?<!\\)\bBearer\s{1,16}(?=[A-Za-z.~+/-]{0,8192}[0-9_])[A-Za-z0-9._~+/-]{8,8192}={0,2}/gi;

/**
 * A redaction for one key (printable ASCII, at most some hundred characters): as it is, percent-encoded or JSON-escaped
 * in whole or in part and several times over, in base64 or base64url at any of the three alignments, in hex; and for
 * whatever credential follows `Bearer`.
 */
export function createRedact(key: string | undefined): Redact {
  if (key === undefined || key === "") return withoutOtherBearers;
  const forms = writtenForms(key);
  const hex = Buffer.from(key).toString("hex");
  // Nothing of hex is ever escaped.
  const plainForms = [hex, hex.toUpperCase()];
  const pattern = new RegExp([...forms.map(spellings), ...plainForms].join("|"), "g");
  const bare = [...forms.map(withoutBackslashes), ...plainForms];
  // Hardly a line holds it, and most can be let through at a glance: without an encoded character in it, a text holds a form
  // as it is or with backslashes between its characters.
  const mayHold = (text: string) => {
    if (/%|u00/.test(text)) return true;
    const plain = withoutBackslashes(text);
    return bare.some((form) => plain.includes(form));
  };
  const redact = (text: string) => withoutOtherBearers(mayHold(text) ? withoutForms(text, pattern) : text);
  // Such a key can match JSON's own punctuation: there it is looked for in the strings alone.
  const resemblesJson = /["\\]/.test(key);
  return (text) => {
    const clean = redact(text);
    if (clean === text || !resemblesJson) return clean;
    try {
      JSON.parse(text);
    } catch {
      return clean;
    }
    return mapStrings(text, redact);
  };
}

function withoutOtherBearers(text: string): string {
  return text.replace(OTHER_BEARER, `Bearer ${REDACTED}`);
}

function withoutBackslashes(text: string): string {
  return text.replaceAll("\\", "");
}

function withoutForms(text: string, forms: RegExp): string {
  let clean = "";
  let end = 0;
  for (const { 0: form, index } of text.matchAll(forms)) {
    // A JSON escape cut in two is no JSON: the backslashes before a match go with it, and so does the start of a \uXXXX
    // whose last digit is the match's first character.
    let start = index;
    if (/\\u[0-9a-f]{3}/i.test(text.slice(Math.max(end, index - 5), index))) start -= 4;
    while (text[start - 1] === "\\") start -= 1;
    clean += text.slice(end, start) + REDACTED;
    end = index + form.length;
  }
  return clean + text.slice(end);
}

/** The same JSON with every string in it, names included, mapped. */
function mapStrings(json: string, map: (text: string) => string): string {
  let mapped = "";
  let end = 0;
  let opening: number | undefined;
  // Not one pattern for a whole string: the engine's stack does not hold one of 4 MB.
  for (const { 0: token, index } of json.matchAll(/\\.|"/g)) {
    if (token !== '"') continue;
    if (opening === undefined) {
      opening = index;
      continue;
    }
    const text = String(JSON.parse(json.slice(opening, index + 1)));
    mapped += json.slice(end, opening) + JSON.stringify(map(text));
    end = index + 1;
    opening = undefined;
  }
  return mapped + json.slice(end);
}

function writtenForms(key: string): string[] {
  const encoded = [key, JSON.stringify(key).slice(1, -1)]
    .flatMap((text) => [0, 1, 2].map((lead) => base64Core(text, lead)))
    .filter((core) => core.length >= 4);
  const urlSafe = encoded.map((core) => core.replaceAll("+", "-").replaceAll("/", "_"));
  return [...new Set([key, ...encoded, ...urlSafe])];
}

/**
 * The pattern of a text in which each character may stand for itself, be escaped or be percent-encoded. Repetitions are
 * bounded (four levels of JSON in JSON): the engine's stack does not hold 4 MB of them.
 */
function spellings(text: string): string {
  // Each character with the backslashes before it: all that follow one another match as one run and in one way only,
  // or a text made for it would take for ever. Those before the first character are withoutForms's.
  return Array.from(text.matchAll(/\\*(?:[^\\]|$)/g), ({ 0: piece }, index) => {
    const character = withoutBackslashes(piece);
    const length = piece.length - character.length;
    const own = String.raw`\\{${length},${16 * (length + 1)}}`;
    const run =
      length === 0 ? own : String.raw`(?:${own}|(?:\\{0,16}(?:${encodings("\\")})){${length}}\\{0,16})`;
    const itself = character.replace(/\W/, String.raw`\$&`);
    if (character === "") return length === 0 ? "" : run;
    return `${index === 0 ? "" : run}(?:${encodings(character)}|${itself})`;
  }).join("");
}

/** The pattern of a character percent-encoded, however often, or escaped as JSON does it, without the backslash. */
function encodings(character: string): string {
  const hex = character
    .charCodeAt(0)
    .toString(16)
    .padStart(2, "0")
    .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  return `%(?:25){0,8}${hex}|u00${hex}`;
}

/** The base64 characters that depend on `text` alone when `lead` unknown bytes stand before it. */
function base64Core(text: string, lead: number): string {
  const encoded = Buffer.from("\0".repeat(lead) + text).toString("base64");
  const start = Math.ceil((lead * 8) / 6);
  const wholeBits = (lead + Buffer.byteLength(text)) * 8;
  return encoded.slice(start, Math.floor(wholeBits / 6));
}

/** "just now", "40 seconds ago", "3 minutes ago", "2 hours ago", "5 days ago". */
export function describeAge(ms: number): string {
  const units = [
    ["day", 86_400_000],
    ["hour", 3_600_000],
    ["minute", 60_000],
    ["second", 1_000],
  ] as const;
  for (const [unit, unitMs] of units) {
    const count = Math.floor(ms / unitMs);
    if (count > 0) return `${count} ${unit}${count === 1 ? "" : "s"} ago`;
  }
  return "just now";
}

/** "tiktok", "tiktok and youtube", "tiktok, youtube and x". */
export function inWords(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length <= 1 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}

/** A cleaned text in quotation marks that nothing within can end. */
export function quote(text: string, limit: number): string {
  return JSON.stringify(cleanServiceText(text, limit));
}
