// Finds out if a topic is in another language than the spoken one. English alone is named. Pure.

import type { OrderWarning } from "../../idempotency/generate-once.ts";
import { inSentences, say, type Text } from "../../sentences.ts";
import { languageName } from "../../service/languages.ts";
import { likelyLanguage, readWords, type Word, wordsWrittenIn } from "../../service/words.ts";
import { otherLanguage } from "./language-scores.ts";

/** A topic's language shows in its first pages. */
const MAX_CHARACTERS = 10_000;
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
  const words = readWords(spoken.slice(0, MAX_CHARACTERS));
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
