// Looks for signs that a topic is in another language than the one that will be spoken, and names that language only
// if it is certain. Pure.

import type { OrderWarning } from "../../idempotency/generate-once.ts";
import { countEnglish } from "./english-words.ts";
import { countryName, isCommonLanguage, languageName, mainLanguageOf } from "../../service/languages.ts";
import { DEFAULTS } from "../../service/options.ts";
import { likelyLanguage } from "../../service/spoken-words.ts";
import { readWords, type Word, wordsWrittenIn } from "./words.ts";
import { say } from "../../sentences.ts";
import { quote } from "../../text.ts";

/** A topic's language shows in its first pages. */
const MAX_CHARACTERS = 10_000;
/** A smaller share of words in another script means quotations and names. */
const MIN_FOREIGN_SHARE = 0.25;
/** Languages whose words are mostly English ones. */
const NEARLY_ENGLISH: ReadonlySet<string> = new Set(["en", "jam", "pcm", "sco"]);

export interface LanguageReview {
  readonly warnings: readonly OrderWarning[];
  /** The BCP-47 code of the language by whose units and speed the topic is measured. */
  readonly measuredAs: string;
  /** True if the topic is certainly in that language, so that a text may name it. */
  readonly isCertain: boolean;
}

/** `spoken` is the topic without its brackets; `language` is a BCP-47 code. */
export function reviewLanguage(topic: string, spoken: string, language: string): LanguageReview {
  // If nothing is spoken, the words in brackets count.
  const text = /\p{L}/u.test(spoken) ? spoken : topic;
  const words = readWords(text.slice(0, MAX_CHARACTERS));
  const english = countEnglish(text === spoken ? words : []);
  const { language: base } = new Intl.Locale(language);
  const name = languageName(language);
  const share = `${english.common} of ${english.words} words are common English ones`;

  if (english.reads === "English" && !NEARLY_ENGLISH.has(base)) {
    const warning = {
      finding: `The voice would speak ${name}, but the topic reads like English: ${share}.`,
      advice: say`[Call again with language "en"|Repeat the call with --language en], or write the topic in ${name}.`,
    };
    return { warnings: [warning], measuredAs: "en", isCertain: true };
  }
  const advice = `Call again with the topic's language, or write the topic in ${name}.`;
  const country = reviewCountryCode(words, language);
  const foreign = findForeignScript(words, language);
  if (foreign !== undefined) {
    const script = scriptName(language);
    const finding = `The voice would speak ${name}, but ${foreign.length} of the topic's ${words.length} words are in another script.`;
    const warning = {
      finding,
      // Words of the language itself in Latin letters, perhaps.
      advice:
        script === "Latin"
          ? advice
          : say`If the topic is in ${name}, [ask the user whether to |]write the same words in ${script} letters. If it is in another language, call again with that one.`,
    };
    const measuredAs = likelyLanguage(foreign.map((word) => word.text).join(" "));
    return { warnings: [warning, ...country], measuredAs, isCertain: false };
  }
  if (english.reads === "foreign" && base === DEFAULTS.language) {
    const finding = `The voice would speak ${name}, but the topic doesn't read like English: ${share}.`;
    return { warnings: [{ finding, advice }], measuredAs: language, isCertain: false };
  }
  return { warnings: country, measuredAs: language, isCertain: country.length === 0 };
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

/** A country's code that is also a small language's: "br" is Breton, "kr" is Kanuri. */
function reviewCountryCode(words: readonly Word[], language: string): OrderWarning[] {
  const { language: base, region, script } = new Intl.Locale(language);
  const country = countryName(base);
  const meant = mainLanguageOf(base);
  if (
    isCommonLanguage(base) ||
    country === undefined ||
    script !== undefined ||
    (region ?? base.toUpperCase()) !== base.toUpperCase() ||
    meant === undefined ||
    meant === base ||
    !isCommonLanguage(meant) ||
    // A topic that reads like English is doubted anyway.
    meant === "en" ||
    wordsWrittenIn(meant, words).length * 2 <= words.length
  )
    return [];
  return [
    {
      finding: `The language ${quote(language, 60)} is ${languageName(language)}, but ${quote(base, 60)} is also the code of the country ${country}, whose main language is ${languageName(meant)}.`,
      advice: say`If ${languageName(meant)} is meant, [call again with language "${meant}"|repeat the call with --language ${meant}].`,
    },
  ];
}
