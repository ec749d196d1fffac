// A person's own words, made safe to stand as quoted data within a prompt. Single joiners stay, since Persian,
// Indic scripts and emoji are written with them; long runs of unseen characters, which can hide a text, do not.

const UNSEEN_CHARACTERS =
  /(?![\u200C\u200D])\p{Cf}|(?:\u200C|\u200D|\p{Variation_Selector}){3,}|[\u{E0100}-\u{E01EF}]|\u034F|[\u115F\u1160\u3164\uFFA0]|\p{Cs}|\p{Co}/gu;

/** One line without control, bidi and hidden characters, cut at `limit` characters. Empty if nothing is left. */
export function cleanWords(text: string, limit: number): string {
  const clean = text
    .replace(/[\p{Cc}\s]+/gu, " ")
    .replace(UNSEEN_CHARACTERS, "")
    .replace(/ {2,}/g, " ")
    .trim();
  const characters = Array.from(clean);
  return characters.length <= limit ? clean : `${characters.slice(0, limit - 1).join("")}…`;
}

/** The words as a JSON string, which no quotation mark within can end. */
export function quoteWords(text: string, limit: number): string {
  return JSON.stringify(cleanWords(text, limit));
}
