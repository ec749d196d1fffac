// Text that crosses a border: what the service wrote is cleaned before anyone reads it, and the key is taken
// out of everything that leaves the process. Pure; knows neither HTTP nor MCP.

/** Longest piece of the service's text that is passed on, in characters. */
export const SERVICE_TEXT_LIMIT = 500;

// Terminal sequences first (CSI, OSC and other string sequences), so that their letters don't stay behind.
const ESCAPE_SEQUENCES =
  // eslint-disable-next-line no-control-regex -- control characters are the very thing to find
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|(?:\u001B[\]PX^_]|[\u0090\u0098\u009D-\u009F])[^\u0007\u001B\u009C]*(?:\u0007|\u001B\\|\u009C)?|\u001B[ -/]*[0-~]?/g;

// Controls other than newline and tab, then everything Unicode calls a format character (bidi controls, zero
// width, tags, soft hyphen, BOM), the line and paragraph separators, variation selectors and fillers.
const UNSEEN_CHARACTERS = new RegExp(
  [
    String.raw`[\u0000-\u0008\u000B-\u001F\u007F-\u009F]`,
    String.raw`\p{Cf}|\p{Cs}|[\u2028\u2029]`,
    String.raw`[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]`,
    String.raw`[\u034F\u115F\u1160\u17B4\u17B5\u180B-\u180F\u3164\uFFA0]`,
  ].join("|"),
  "gu",
);

/** The service's text without control, escape, bidi and invisible characters, on one line, cut at the limit. */
export function cleanServiceText(text: string, limit: number = SERVICE_TEXT_LIMIT): string {
  const clean = text
    .slice(0, limit * 20)
    .replace(ESCAPE_SEQUENCES, "")
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(UNSEEN_CHARACTERS, "")
    .replace(/\s+/g, " ")
    .trim();
  const characters = Array.from(clean);
  return characters.length <= limit ? clean : `${characters.slice(0, limit - 1).join("")}…`;
}

const REDACTED = "[redacted]";

/** Takes the key, in every form in which it could be written, out of a text. */
export type Redact = (text: string) => string;

/**
 * A redaction for one key: the exact key, as JSON and URLs write it, in base64 (alone or within `Bearer KEY`,
 * at any of the three alignments), and whatever else follows `Bearer`.
 */
export function createRedact(key: string | undefined): Redact {
  const forms = key === undefined ? [] : writtenForms(key);
  return (text) => {
    let clean = text;
    for (const form of forms) if (clean.includes(form)) clean = clean.replaceAll(form, REDACTED);
    return clean.replace(/\bBearer\s+[A-Za-z0-9._~+/-]{4,}=*/gi, `Bearer ${REDACTED}`);
  };
}

function writtenForms(key: string): string[] {
  const forms = new Set<string>([
    key,
    JSON.stringify(key).slice(1, -1),
    encodeURIComponent(key),
    encodeURI(key),
  ]);
  for (const text of [key, JSON.stringify(key).slice(1, -1), `Bearer ${key}`]) {
    for (let lead = 0; lead < 3; lead++) forms.add(base64Core(text, lead));
  }
  for (const form of Array.from(forms)) forms.add(form.replaceAll("+", "-").replaceAll("/", "_"));
  // Percent-encoding is case-insensitive, and a form within a longer one must not hide it.
  for (const form of Array.from(forms))
    forms.add(form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()));
  return [...forms].filter((form) => form.length >= 4).sort((a, b) => b.length - a.length);
}

/** The base64 characters that depend on `text` alone when `lead` unknown bytes stand before it. */
function base64Core(text: string, lead: number): string {
  const encoded = Buffer.from("\0".repeat(lead) + text, "utf8")
    .toString("base64")
    .replace(/=+$/, "");
  const start = Math.ceil((lead * 8) / 6);
  const wholeBits = (lead + Buffer.byteLength(text)) * 8;
  return encoded.slice(start, Math.floor(wholeBits / 6));
}
