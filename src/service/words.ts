// Splits a text into the words of all scripts: how long they take to say, which script they are in, and which
// of them are names. Pure, and linear however long a text is.

import { lazyValue } from "../lazy.ts";
import { UNSPACED } from "./spoken-words.ts";

/** The punctuation marks after which a sentence or clause begins. */
const PUNCTUATION = /^[.!?\u2026:;\n\u00BF\u00A1"\u201C\u201D\u201E\u00AB\u00BB]$/;
const LATIN = /\p{sc=Latn}/u;
const LETTER = /\p{L}/u;
const CAPITAL = /\p{Lu}/u;

/** Made on first use: Unicode's sets of characters would cost every start some milliseconds. */
const patterns = lazyValue(() => ({
  unspaced: new RegExp(`^[${UNSPACED}]`, "u"),
  tokens: new RegExp(
    [
      String.raw`[\p{sc=Latn}\p{N}](?:[\p{sc=Latn}\p{M}\p{N}'\u2019-]*[\p{sc=Latn}\p{M}\p{N}])?`,
      // Without spaces between words, this many characters make about one word.
      String.raw`[\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}\u30FC]{1,2}|[${UNSPACED}]{1,5}`,
      String.raw`(?:(?![\p{sc=Latn}${UNSPACED}])\p{L}[\p{M}\p{N}'\u2019-]*)+`,
      PUNCTUATION.source.slice(1, -1),
    ].join("|"),
    "gu",
  ),
}));

export interface Word {
  readonly text: string;
  readonly isLatin: boolean;
  /** Written with a capital letter that no sentence asks for. Names say nothing about a language. */
  readonly isName: boolean;
}

/** The words of a text. Numbers don't count. */
export function readWords(text: string): Word[] {
  const tokens = (text.match(patterns().tokens) ?? []).filter(
    (token) => LETTER.test(token) || PUNCTUATION.test(token),
  );
  const hasNames = !isShoutedOrTitle(text, tokens);
  return tokens.flatMap((token, index) => {
    if (PUNCTUATION.test(token)) return [];
    const isLatin = LATIN.test(token);
    const [before = "\n", next = ""] = [tokens[index - 1], tokens[index + 1]];
    const beginsSentence = PUNCTUATION.test(before) && LETTER.test(next) && !CAPITAL.test(next);
    return [{ text: token, isLatin, isName: hasNames && isLatin && CAPITAL.test(token) && !beginsSentence }];
  });
}

/** A title has few small words, and few punctuation marks: a list of names has more. */
const TITLE = { minWords: 8, wordsPerMark: 6, capitals: 0.75 } as const;

/** Capitals Throughout Aren't a Sign of Names, and neither ARE THESE. Among other scripts, they are. */
function isShoutedOrTitle(text: string, tokens: readonly string[]): boolean {
  const words = tokens.filter((token) => LETTER.test(token));
  if (!words.every((word) => LATIN.test(word))) return false;
  const isShouted = (word: string) => word.length > 1 && word === word.toUpperCase();
  if (words.filter(isShouted).length * 2 > words.length) return true;
  const marks = text.match(/[,.;:!?&/|]/g)?.length ?? 0;
  return (
    words.length >= TITLE.minWords &&
    marks * TITLE.wordsPerMark < words.length &&
    words.filter((word) => CAPITAL.test(word)).length >= words.length * TITLE.capitals
  );
}

/** The scripts of a language, or of a script that combines alphabets, if there are several. */
const SCRIPTS: Readonly<Record<string, string>> = {
  Jpan: "Hira Kana Hani",
  Kore: "Hang Hani",
  Hans: "Hani Bopo",
  Hant: "Hani Bopo",
  ...Object.fromEntries("sr bs uz az kk tk".split(" ").map((language) => [language, "Latn Cyrl"])),
  ...Object.fromEntries("pa sd ku ha ms".split(" ").map((language) => [language, "Latn Guru Deva Arab"])),
};

/** The words that are written in a script of the language, a BCP-47 code. */
export function wordsWrittenIn(language: string, words: readonly Word[]): Word[] {
  const locale = new Intl.Locale(language);
  const { script = "Latn" } = locale.maximize();
  const others = locale.script === undefined ? (SCRIPTS[locale.language] ?? "") : "";
  // Letters that all scripts share, such as a micro sign, belong to each of them.
  const codes = `${SCRIPTS[script] ?? script} ${others} Zyyy Zinh`.match(/\w+/g) ?? [];
  try {
    const isOwn = new RegExp(`^[${codes.map((code) => `\\p{sc=${code}}`).join("")}\\p{N}]`, "u");
    return words.filter(({ text }) => isOwn.test(text));
  } catch {
    // Some codes of BCP-47, such as Latf, aren't Unicode scripts.
    return [...words];
  }
}

/** The unit that is counted: words or, in scripts without spaces between words, characters or syllables. */
type Unit = "words" | "characters" | "syllables";

/**
 * Units a second at normal pacing: estimates, since the speed of the service's voices isn't documented. Among
 * languages that share a script, the most likely one comes first.
 */
const RATES: readonly (readonly [Unit, number, readonly string[]])[] = [
  ["words", 2.5, ["en"]],
  ["words", 2.4, ["es", "fr"]],
  ["words", 2.2, ["de", "nl", "it", "pt", "sv", "da", "nb", "no"]],
  ["characters", 4, ["zh", "yue"]],
  ["characters", 5, ["ja"]],
  ["words", 1.6, ["ar", "et", "eu", "fi", "hu", "ko", "ml", "sw", "ta", "te", "tr", "zu"]],
  // Written with a space after each syllable.
  ["words", 3, ["vi"]],
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

/** Roughly how many units a text has. Where characters are counted, a word in another script is one unit. */
export function countUnits(text: string, unit: Unit): number {
  const { tokens, unspaced } = patterns();
  const words = (text.match(tokens) ?? []).filter((token) => !PUNCTUATION.test(token));
  if (unit === "words") return words.length;
  const own = words.filter((word) => unspaced.test(word));
  const characters = Array.from(own.join("")).length;
  return Math.ceil(characters / (unit === "syllables" ? SYLLABLE_CHARACTERS : 1)) + words.length - own.length;
}

/** The language whose speaking rate applies: the first whose script has the most words. */
export function likelyLanguage(words: readonly Word[]): string {
  const counts = RATES.flatMap(([, , languages]) => languages).map(
    (language) => [language, wordsWrittenIn(language, words).length] as const,
  );
  return counts.reduce((most, next) => (next[1] > most[1] ? next : most), ["und", 0] as const)[0];
}
