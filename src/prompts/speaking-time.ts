// How much can be spoken in a video's seconds. Estimates: the speed of the service's voices isn't documented.

import type { Pacing } from "../service/options.ts";

/** Words are counted or, in scripts without spaces between words, characters or syllables. */
type Unit = "words" | "characters" | "syllables";

/** Units a second at normal pacing, and the languages that have this rate. */
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

const PACING_FACTOR: Readonly<Record<Pacing, number>> = { slow: 0.85, normal: 1, fast: 1.1 };

/** Fills 85 to 95 % of the time: less leaves paid seconds empty, more is rushed. The language is BCP-47. */
export function spokenRange(language: string, pacing: Pacing, seconds: number) {
  const spoken = new Intl.Locale(language).language;
  const [unit, perSecond] = RATES.find(([, , languages]) => languages.includes(spoken)) ?? OTHER;
  const capacity = perSecond * PACING_FACTOR[pacing] * seconds;
  return { unit, min: Math.ceil(capacity * 0.85), max: Math.floor(capacity * 0.95) };
}
