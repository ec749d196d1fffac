// Removes the API key and other secrets from text that leaves the process. Pure.

const REDACTED = "[redacted]";
/** The sandbox's key, which isn't secret: its own error text names it. */
const PUBLIC_KEY = "fl_sandbox";

/** Removes a secret from a text. A text that is JSON stays JSON. */
export type Redact = (text: string) => string;

/** Redacts a key or a password as it is, JSON-escaped and percent-encoded. */
export function createRedact(secret: string | undefined): Redact {
  if (secret === undefined || secret === "" || secret === PUBLIC_KEY) return (text) => text;
  const json = JSON.stringify(secret).slice(1, -1);
  // encodeURIComponent refuses half a character.
  const whole = Buffer.from(secret).toString();
  const percentEncoded = [
    encodeURIComponent(whole),
    encodeURIComponent(whole).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`),
    encodeURI(whole),
  ];
  const spellings = [
    ...percentEncoded.flatMap((text) => [
      text,
      text.replace(/%../g, (code) => code.toLowerCase()),
      text.replace(/%../g, (code) => code.toUpperCase()),
    ]),
    json,
    json.replaceAll("/", String.raw`\/`),
    // Python and PHP escape letters in JSON like this.
    json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
    secret,
  ];
  // The longest first: fl_% is also how fl_%25 begins.
  const ordered = [...new Set(spellings)].sort((one, other) => other.length - one.length);
  return (text) => ordered.reduce((rest, spelling) => rest.replaceAll(spelling, REDACTED), text);
}
