// Finds the part of a topic that is spoken, outside [brackets], and how it names a video. Pure, and linear
// however long a topic is.

const NAME_CHARACTERS = 80;
/** The number of a topic's characters that are searched for a name. */
const NAMED_BY = 20_000;

/** Scripts without spaces between words, as a part of a set in a regular expression. */
export const UNSPACED = String.raw`\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}`;

/** The topic without the text in [brackets], which may be nested. A bracket that is never closed is text. */
export function spokenTextOf(topic: string): string {
  const inBrackets = /\[[^[\]]*\]/g;
  return topic.replace(inBrackets, " ").replace(inBrackets, " ");
}

/**
 * A video's name: the first spoken words, or the topic's first words if nothing is spoken. On one line, at
 * most 80 characters (code points), without part of a word at its end. Unsafe characters stay in it.
 */
export function firstSpokenWords(topic: string): string {
  const start = topic.slice(0, NAMED_BY);
  const spoken = spokenTextOf(start);
  const words = (/[\p{L}\p{N}]/u.test(spoken) ? spoken : start).replace(/\s+/g, " ").trim();
  const characters = Array.from(words.slice(0, 2 * NAME_CHARACTERS));
  if (characters.length <= NAME_CHARACTERS && words.length <= 2 * NAME_CHARACTERS) return words;
  const [next = ""] = characters.splice(NAME_CHARACTERS - 1);
  const cut = characters.join("");
  const partOfWord = new RegExp(`(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}_'’-])+$`, "u");
  const whole = /\s/.test(next) ? cut : cut.replace(partOfWord, "");
  return `${(whole || cut).trimEnd()}…`;
}

/** The videos whose name has all the words that were typed, or parts of words. A word may begin the id. */
export function findByWords<Video extends { readonly jobId: string; readonly topic?: string }>(
  typed: string,
  videos: readonly Video[],
): Video[] {
  const words = typed.toLowerCase().match(/[\p{L}\p{M}\p{N}-]+/gu) ?? [];
  return videos.filter(({ jobId, topic = "" }) => {
    const name = firstSpokenWords(topic).toLowerCase();
    return words.every((word) => name.includes(word) || jobId.toLowerCase().startsWith(word));
  });
}
