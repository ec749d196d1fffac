// Finds the part of a topic that is spoken, outside [brackets]: how it names a video, how long it takes to say, and
// which letters it is written in. Pure, and linear however long a topic is.

const NAME_CHARACTERS = 80;
/** The number of a topic's characters that are searched for a name. */
const NAMED_BY = 20_000;

// Scripts without spaces between words.
const UNSPACED = String.raw`\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}`;
const WORD = String.raw`[\p{L}\p{N}][\p{L}\p{M}\p{N}'\u2019-]*`;

/** The topic without the text in [brackets], which may be nested. A bracket that is never closed is text. */
export function spokenTextOf(topic: string): string {
  const inBrackets = /\[[^[\]]*\]/g;
  return topic.replace(inBrackets, " ").replace(inBrackets, " ");
}

/**
 * A video's name: the first spoken words, or the topic's first words if nothing is spoken. On one line, at most
 * 80 characters (code points), without part of a word at its end. Unsafe characters stay in it.
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

/** The unit that is counted: words or, in scripts without spaces between words, characters or syllables. */
type Unit = "words" | "characters" | "syllables";

/** Units a second at normal pacing: estimates, since the speed of the service's voices isn't documented. */
const RATES: readonly (readonly [Unit, number, readonly string[]])[] = [
  ["words", 2.5, ["en"]],
  ["words", 2.4, ["es", "fr"]],
  ["words", 2.2, ["de", "nl", "it", "pt", "sv", "da", "nb", "no"]],
  ["words", 1.6, ["ar", "et", "eu", "fi", "hu", "ko", "ml", "sw", "ta", "te", "tr", "zu"]],
  // Written with a space after each syllable.
  ["words", 3, ["vi"]],
  ["characters", 5, ["ja"]],
  ["characters", 4, ["zh", "yue"]],
  ["syllables", 3, ["th", "lo", "km", "my"]],
];
const OTHER = ["words", 2] as const;
/** The approximate number of letters and marks in a Thai, Lao, Khmer or Burmese syllable. */
const SYLLABLE_CHARACTERS = 3;

/** How fast a language, as a BCP-47 code, is spoken. */
export function speakingRate(language: string): { readonly unit: Unit; readonly perSecond: number } {
  const spoken = new Intl.Locale(language).language;
  const [unit, perSecond] = RATES.find(([, , languages]) => languages.includes(spoken)) ?? OTHER;
  return { unit, perSecond };
}

/** Roughly how many units a text has. Among characters and syllables, a word of another script counts as one. */
export function countSpoken(text: string, unit: Unit): number {
  if (unit === "words") return countMatches(text, WORD);
  const unspaced = countMatches(text, `[${UNSPACED}]`);
  const others = countMatches(text.replace(new RegExp(`[${UNSPACED}]+`, "gu"), " "), WORD);
  return Math.ceil(unspaced / (unit === "syllables" ? SYLLABLE_CHARACTERS : 1)) + others;
}

/** How many letters a text has, and how many of them are not of the one script that the language is written in. */
export function countLetters(
  text: string,
  language: string,
): { readonly all: number; readonly foreign: number } {
  const { script = "Latn" } = new Intl.Locale(language).maximize();
  const all = countMatches(text, String.raw`\p{L}`);
  // Letters that all scripts share, such as a micro sign, are of no other one.
  const own = countMatches(text, String.raw`(?=\p{L})[\p{sc=${script}}\p{sc=Zyyy}\p{sc=Zinh}]`);
  return { all, foreign: all - own };
}

/** Scripts by their codes; those of Japanese come first, as it also uses Chinese characters. */
const SCRIPTS =
  "Hira Kana Hani Hang Cyrl Arab Deva Grek Hebr Thai Beng Taml Telu Gujr Knda Mlym Guru Sinh Khmr Laoo Mymr Geor Armn Ethi Latn";

/** The language in which most text of this kind of letters is written, as a BCP-47 code. */
export function likelyLanguage(text: string): string {
  const counts = SCRIPTS.split(" ").map(
    (script) => [script, countMatches(text, `\\p{sc=${script}}`)] as const,
  );
  const kana = counts.slice(0, 2).reduce((sum, [, count]) => sum + count, 0);
  const [script] = kana > 0 ? ["Hira"] : counts.reduce((most, next) => (next[1] > most[1] ? next : most));
  return new Intl.Locale(`und-${script}`).maximize().language;
}

function countMatches(text: string, pattern: string): number {
  let count = 0;
  for (const _ of text.matchAll(new RegExp(pattern, "gu"))) count += 1;
  return count;
}
