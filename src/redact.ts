// Takes the API key out of everything that leaves the process. Pure: works on finished text of any kind.

const REDACTED = "[redacted]";

/** Takes the key out of a text. A text that is JSON stays JSON. */
export type Redact = (text: string) => string;

// The credential of another account. In prose ("the bearer walked on") the next word has neither a digit nor
// an underscore. A backslash before the b would be JSON's backspace.
const OTHER_CREDENTIAL =
  /(?<!\\)\bBearer\s{1,16}(?=[A-Za-z.~+/-]{0,8192}[0-9_])[A-Za-z0-9._~+/-]{8,8192}={0,2}/gi;

/**
 * Redacts one key (printable ASCII without quotes and backslashes, as config.ts demands) as it is,
 * JSON-escaped, percent-encoded, in base64, base64url and hex, and any other credential after `Bearer`.
 */
export function createRedact(key: string | undefined): Redact {
  if (key === undefined || key === "") return redactOtherCredentials;
  const spellings = spellingsOf(key);
  // Includes half of a JSON escape that the key would complete, \u000 before fl_: alone it is no JSON.
  const pattern = new RegExp(
    String.raw`(?:\\u[\dA-Fa-f]{0,3})?(?:${spellings.map((spelling) => spelling.replace(/\W/g, String.raw`\$&`)).join("|")})`,
    "g",
  );
  return (text) => {
    // Hardly any text holds the key, and searching for a fixed string is the fastest way to tell.
    if (!spellings.some((spelling) => text.includes(spelling))) return redactOtherCredentials(text);
    const redacted = text
      .replace(pattern, REDACTED)
      // A backslash before the key may have been half of a JSON escape, such as \f before l_.
      .replace(/(?<!\\)\\+\[redacted\]/g, REDACTED);
    return redactOtherCredentials(redacted);
  };
}

function redactOtherCredentials(text: string): string {
  return text.replace(OTHER_CREDENTIAL, `Bearer ${REDACTED}`);
}

function spellingsOf(key: string): readonly string[] {
  const slashesEscaped = key.replaceAll("/", String.raw`\/`);
  const percentEncoded = [
    encodeURI(key),
    encodeURIComponent(key),
    new URLSearchParams([["", key]]).toString().slice(1),
  ];
  const encodedAgain = percentEncoded.map(encodeURIComponent);
  const urls = [...percentEncoded, ...encodedAgain];
  const base64 = [0, 1, 2].map((lead) => base64Core(key, lead)).filter((core) => core.length >= 4);
  const hex = Buffer.from(key).toString("hex");
  const spellings = [
    ...new Set([
      key,
      slashesEscaped,
      JSON.stringify(slashesEscaped).slice(1, -1),
      ...urls,
      ...urls.map((url) => url.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())),
      ...base64,
      ...base64.map((core) => core.replaceAll("+", "-").replaceAll("/", "_")),
      hex,
      hex.toUpperCase(),
    ]),
  ];
  // The longest first: fl_% is also how fl_%25 begins.
  return spellings.sort((one, other) => other.length - one.length);
}

/** The base64 characters that the text alone decides when `lead` other bytes stand before it. */
function base64Core(text: string, lead: number): string {
  const encoded = Buffer.from("\0".repeat(lead) + text).toString("base64");
  const start = Math.ceil((lead * 8) / 6);
  const wholeBits = (lead + Buffer.byteLength(text)) * 8;
  return encoded.slice(start, Math.floor(wholeBits / 6));
}
