// Distinguishes a line that a crash has torn from one that something else has damaged. A torn one was never sent: a request
// is only sent once its line is whole on the disk. Pure.

/** Every entry begins so. */
const START = '{"id":"';

/** True for the beginning of an entry without its end. The text is not JSON by itself. */
export function isTorn(text: string): boolean {
  if (!text.startsWith(START)) return START.startsWith(text);
  // An entry that was joined to it stands in the place of the value that is missing. In a text it would be escaped.
  if (text.lastIndexOf(START) > 0) return false;
  const closers: string[] = [];
  let isInString = false;
  // An escaped quotation mark doesn't end a string.
  for (const [token] of text.matchAll(/\\.|["{}[\]]/g))
    if (token === '"') isInString = !isInString;
    else if (isInString) continue;
    else if (token === "{" || token === "[") closers.unshift(token === "{" ? "}" : "]");
    else closers.shift();
  const end = closers.join("");
  // It may end within an escape, a number or a word, and a value or more may be missing after it.
  const [rest, missing] = isInString
    ? [text.replace(/\\(?:u[\da-f]{0,3})?$/i, ""), ['"', '":0']]
    : [text.replace(/[\w.+-]+$/, ""), ["", "0", ":0", '"":0']];
  return [text, rest].some((whole) => missing.some((more) => isJson(`${whole}${more}${end}`)));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
