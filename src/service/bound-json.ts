// Bounds the structure of an answer before anything reads it: some kilobytes of gzip may hold millions of
// values, which parsers and schemas take minutes for. Pure. Knows nothing of what the answer means.

import { MAX_LEVELS } from "../value-at.ts";

/** The values of a whole answer. Enough for a thousand videos with a hundred values each. */
const MAX_VALUES = 100_000;

/**
 * Returns the JSON text with at most `maxItems` items in each list and fields in each object, and nothing in
 * those that are nested too deep. Changes no text that is within the bounds, and no other text to JSON.
 */
export function boundJson(text: string, maxItems: number): string {
  // An item has at least two characters, and readers drop what is nested too deep by themselves.
  if (text.length < 2 * maxItems) return text;
  const kept: string[] = [];
  const counts: number[] = []; // of the items in each list and object that is open, but for the last one
  let keptFrom = 0;
  let depth = 0;
  let skippedDepth = Infinity; // of the list or object whose other items are left out
  let valuesLeft = MAX_VALUES;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === "]" || character === "}") {
      if (depth === skippedDepth) [keptFrom, skippedDepth] = [at, Infinity];
      depth -= 1;
    } else if (character === "," || character === "[" || character === "{") {
      const isItem = character === ",";
      if (!isItem) depth += 1;
      if (depth >= skippedDepth || depth < 1) continue;
      const count = isItem ? (counts[depth] ?? 0) + 1 : 0;
      counts[depth] = count;
      valuesLeft -= 1;
      if (count < maxItems && depth <= MAX_LEVELS && valuesLeft > 0) continue;
      kept.push(text.slice(keptFrom, isItem ? at : at + 1));
      skippedDepth = depth;
    }
  }
  if (skippedDepth === Infinity) kept.push(text.slice(keptFrom));
  return kept.join("");
}

/** The place of its last quotation mark. JSON has no line end in a string: one there ends it, too. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at];
    if (character === "\\") at += 1;
    else if (character === '"' || character === "\n") return at;
  }
  return text.length;
}
