// Removes the API key from everything that leaves the process. Pure: works on finished text of any kind.

const REDACTED = "[redacted]";
/** The sandbox's key, which isn't secret: its own error text names it. */
const PUBLIC_KEY = "fl_sandbox";

/** Removes the key from a text. A text that is JSON stays JSON. */
export type Redact = (text: string) => string;

/**
 * Redacts a key (printable ASCII without quotes and backslashes, as config.ts demands) as it is, JSON-escaped
 * and percent-encoded.
 */
export function createRedact(key: string | undefined): Redact {
  if (key === undefined || key === "" || key === PUBLIC_KEY) return (text) => text;
  const percentEncoded = [encodeURIComponent(key), encodeURI(key)];
  const spellings = [
    ...percentEncoded,
    ...percentEncoded.map((text) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())),
    key.replaceAll("/", String.raw`\/`),
    key,
  ];
  // The longest first: fl_% is also how fl_%25 begins.
  const ordered = [...new Set(spellings)].sort((one, other) => other.length - one.length);
  return (text) => ordered.reduce((rest, spelling) => rest.replaceAll(spelling, REDACTED), text);
}
