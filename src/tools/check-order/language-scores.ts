// Says if words certainly read like another language than the given one, by the n-grams of each language with
// Latin letters. Pure.

import { lazyValue } from "../../lazy.ts";
import type { Word } from "../../service/words.ts";
import { readLanguageTable, SCORE_STEP, TABLE_LANGUAGES } from "./language-table.ts";

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
/** Another language is certain if it scores as many times as much as the given one, and this much more. */
const CERTAIN = { times: 2, more: 150, moreBelowWords: 7, moreIfShort: 300 } as const;
/** Texts in a language score about 100 for each n-gram. */
const TYPICAL = { score: 70, grams: 12 } as const;
/** English in a few words, or among names, scores half of that. */
const NAMED_FROM = 50;
/** A title of two words is too short to tell. */
const MIN_WORDS = 3;

/** The other language that the words certainly read like. Only English can be told from its relatives. */
export function otherLanguage(words: readonly Word[], language: string): "en" | "another" | undefined {
  const latin = words.filter(({ isLatin }) => isLatin);
  if (latin.length < MIN_WORDS || latin.length * 2 <= words.length) return undefined;
  const grams = gramsOf(latin.filter(({ isName }) => !isName));
  const scores = scoresOf(grams);
  const best = scores.indexOf(Math.max(...scores));
  const bestScore = scores[best] ?? 0;
  const locale = new Intl.Locale(language);
  const known = TABLE_LANGUAGES.indexOf(RELATIVES.get(locale.language) ?? locale.language);
  // Nobody takes Latin letters for a language that has others.
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
