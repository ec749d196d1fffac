// Finds out if a topic is in another language than the spoken one, by its scripts and by the n-grams of each
// language with Latin letters. English alone is named. Pure.

import { lazyValue } from "../../lazy.ts";
import type { OrderWarning } from "../../idempotency/generate-once.ts";
import { inSentences, say, type Text } from "../../sentences.ts";
import { languageName } from "../../service/languages.ts";
import { likelyLanguage, readWords, type Word, wordsWrittenIn } from "../../service/words.ts";
import { readLanguageTable, SCORE_STEP, TABLE_LANGUAGES } from "./language-table.ts";

/** The first pages of a topic show its language. */
const MAX_CHARS = 10_000;
/** A smaller share of words in another script means quotations and names. */
const MIN_FOREIGN_SHARE = 0.25;

export interface LanguageReview {
  readonly warning?: OrderWarning;
  /** The BCP-47 code of the language by whose units and speed the topic is measured. */
  readonly measuredAs: string;
  /** True if the topic is certainly in that language, so that a text may name it. */
  readonly isCertain: boolean;
}

/** `spoken` is the topic without its brackets; `language` is a BCP-47 code. */
export function reviewLanguage(spoken: string, language: string): LanguageReview {
  const words = readWords(spoken.slice(0, MAX_CHARS));
  const name = languageName(language);
  const doubt = (found: string, advice: Text) => ({
    finding: `The voice would speak ${name}, but ${found}.`,
    advice,
  });
  const other = otherLanguage(words, language);
  if (other === "en") {
    const advice = say`[Call again with language "en"|Repeat the call with --language en], or write the topic in ${name}.`;
    return { warning: doubt("the topic reads like English", advice), measuredAs: "en", isCertain: true };
  }
  const advice = `Call again with the topic's language, or write the topic in ${name}.`;
  const foreign = findForeignScript(words, language);
  if (foreign !== undefined) {
    const script = scriptName(language);
    // Words of the language itself in Latin letters, perhaps.
    const others = inSentences(
      say`If the topic is in ${name}, [ask the user whether to |]write the same words in ${script} letters.`,
      "If it is in another language, call again with that one.",
    );
    const found = `${foreign.length} of the topic's ${words.length} words are in another script`;
    const warning = doubt(found, script === "Latin" ? advice : others);
    return { warning, measuredAs: likelyLanguage(foreign), isCertain: false };
  }
  if (other === undefined) return { measuredAs: language, isCertain: true };
  const warning = doubt(`the topic doesn't read like ${name}`, advice);
  return { warning, measuredAs: language, isCertain: false };
}

/** The script in which a language is written, in English: "Devanagari", "Latin". */
function scriptName(language: string): string {
  const { script = "Latn" } = new Intl.Locale(language).maximize();
  return new Intl.DisplayNames("en", { type: "script" }).of(script) ?? script;
}

/** The words in other scripts, if they are more than those in the language's own. Names count as neither. */
function findForeignScript(words: readonly Word[], language: string): readonly Word[] | undefined {
  const countable = words.filter(({ isName }) => !isName);
  const own = new Set(wordsWrittenIn(language, countable));
  const foreign = countable.filter((word) => !own.has(word));
  return foreign.length > own.size && foreign.length >= words.length * MIN_FOREIGN_SHARE
    ? foreign
    : undefined;
}

/** Languages that the table doesn't have, and the one that it has and that they read like. */
const RELATIVES = new Map(
  (
    "af nl,ast es,bs hr,ceb tl,ch es,cnr hr,co it,crh tr,fil tl,fo is,gag tr,gl pt,gsw de,hil tl,ia es,id ms,jam en," +
    "lad es,min ms,nb no,nn no,oc ca,pam tl,pap es,pcm en,sco en,sr hr"
  )
    .split(",")
    .map((pair): [string, string] => [pair.split(" ")[0] ?? "", pair.split(" ")[1] ?? ""]),
);

/** An n-gram that a language has scores this much at least. */
const BASE_SCORE = 53;
/** A text of a language that the table doesn't have is taken to score this much for each n-gram. */
const UNKNOWN_SCORE = 25;
/** Another language is certain if its score is this many times the given one's, and this much higher. */
const CERTAIN = { times: 2, more: 150, moreBelowWords: 7, moreIfShort: 300 } as const;
/** Texts in a language score about 100 for each n-gram. */
const TYPICAL = { score: 70, grams: 12 } as const;
/** English in a few words, or among names, scores half of that. */
const NAMED_FROM = 50;
/** A title of two words is too short to tell. */
const MIN_WORDS = 3;

/** The other language that the words certainly read like. Only English can be told from its relatives. */
function otherLanguage(words: readonly Word[], language: string): "en" | "another" | undefined {
  const latin = words.filter(({ isLatin }) => isLatin);
  if (latin.length < MIN_WORDS || latin.length * 2 <= words.length) return undefined;
  const grams = gramsOf(latin.filter(({ isName }) => !isName));
  const scores = scoresOf(grams);
  const best = scores.indexOf(Math.max(...scores));
  const bestScore = scores[best] ?? 0;
  const locale = new Intl.Locale(language);
  const known = TABLE_LANGUAGES.indexOf(RELATIVES.get(locale.language) ?? locale.language);
  // Latin letters can't be in a language that is written in others.
  const given = scores[known] ?? (locale.maximize().script === "Latn" ? undefined : 0);
  const other = TABLE_LANGUAGES[best] === "en" && bestScore >= NAMED_FROM * grams.size ? "en" : "another";
  if (given === undefined) {
    const isTypical = grams.size >= TYPICAL.grams && bestScore >= TYPICAL.score * grams.size;
    return isTypical ? other : undefined;
  }
  const { times, more, moreBelowWords, moreIfShort } = CERTAIN;
  const needed = times * given + (latin.length < moreBelowWords ? moreIfShort : more);
  if (bestScore >= needed) return other;
  return UNKNOWN_SCORE * grams.size >= needed ? "another" : undefined;
}

/** The n-grams of words as the package makes them: four bytes, every three, with a space at a word's ends. */
function gramsOf(words: readonly Word[]): ReadonlySet<string> {
  const grams = new Set<string>();
  for (const part of words.flatMap(
    ({ text }) => text.normalize("NFC").match(/[\p{L}\p{M}'\u2019]+/gu) ?? [],
  )) {
    const bytes = Buffer.from(part.toLowerCase()).toString("latin1").slice(0, 70);
    let at = 0;
    for (; at + 4 < bytes.length; at += 3) grams.add(`${at === 0 ? " " : ""}${bytes.slice(at, at + 4)}`);
    grams.add(`${at === 0 ? " " : ""}${bytes.length === 3 ? bytes : bytes.slice(-4)} `);
  }
  return grams;
}

/** Takes about 10 ms, so that only the first order pays for it. */
const table = lazyValue(() => {
  const [grams, languages, scores] = readLanguageTable();
  return { grams: grams.split("\n"), languages: languages.split("\n"), scores };
});

/** The score of each of the table's languages. Goes through all lines: a map of them would take 15 MB. */
function scoresOf(grams: ReadonlySet<string>): readonly number[] {
  const sums = TABLE_LANGUAGES.map(() => 0);
  const { grams: lines, languages, scores } = table();
  let gram = "";
  let at = 0;
  lines.forEach((line, index) => {
    gram = gram.slice(0, Number(line[0])) + line.slice(1);
    const letters = languages[index] ?? "";
    if (grams.has(gram))
      Array.from(letters, indexOf).forEach((language, offset) => {
        sums[language] = (sums[language] ?? 0) + indexOf(scores[at + offset]) * SCORE_STEP + BASE_SCORE;
      });
    at += letters.length;
  });
  return sums;
}

/** The number for which a letter of the table stands. */
function indexOf(letter = "a"): number {
  return letter.charCodeAt(0) - 97;
}
