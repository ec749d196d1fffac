// Tells a line that a crash has torn from one that something else has damaged. A torn one was never sent: a
// request is only sent once its line is whole on the disk. Pure.

/** The text with which every entry begins. */
const START = '{"id":"';
const WORDS = ["true", "false", "null"];

/** True for the beginning of an entry in which a bracket is still open. The text is not JSON by itself. */
export function isTorn(text: string): boolean {
  // A joined entry stands in place of the missing value. In a string it would be escaped.
  if (!text.startsWith(START) || text.lastIndexOf(START) > 0) return START.startsWith(text);
  const open: string[] = [];
  let isInString = false;
  // An escaped quotation mark doesn't end a string.
  for (const [token] of text.matchAll(/\\.|["{}[\]]/g))
    if (token === '"') isInString = !isInString;
    else if (isInString) continue;
    else if (token === "{" || token === "[") open.push(token);
    else open.pop();
  const end = open.reverse().map((bracket) => (bracket === "{" ? "}" : "]"));
  return endings(text, isInString).some((ending) => isJson(`${text}${ending}${end.join("")}`));
}

/** What may be missing before the closing brackets: the rest of an escape, string, number, word or value. */
function endings(text: string, isInString: boolean): readonly string[] {
  if (isInString) return ["", "\\", "0", "00", "000", "0000"].flatMap((rest) => [`${rest}"`, `${rest}":0`]);
  const word = /[a-z]*$/.exec(text.slice(-5))?.[0] ?? "";
  const rests = WORDS.filter((whole) => whole.startsWith(word)).map((whole) => whole.slice(word.length));
  return [...rests, "", "0", ":0", '"":0'];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
