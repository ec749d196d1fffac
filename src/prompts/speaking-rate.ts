// How much a voice can say in a minute, by language and pacing. Estimates: the service does not document the
// speed of its voices, so they lean to the short side, because a line too long is rushed or cut.

import type { Pacing } from "../service/options.ts";

/** What is counted: words, or where words are not written apart, characters or syllables. */
export type SpokenUnit = "words" | "characters" | "syllables";

export interface SpeakingRate {
  readonly unit: SpokenUnit;
  readonly perMinute: number;
}

/** English narration: audiobooks and corporate voiceover stand near 150, a calm documentary near 120. */
const ENGLISH_WORDS_PER_MINUTE: Readonly<Record<Pacing, number>> = { slow: 120, normal: 150, fast: 175 };

// Words per minute in relation to English, in three tiers after the reading-aloud speeds of IReST
// (Trauzettel-Klosinski & Dietz 2012: English 228, Spanish 218, Dutch 202, French 195, German 179, Turkish 166,
// Finnish 161, Arabic 138). Languages it did not measure are placed with their kin, or in the middle.
const MIDDLE_TIER = 0.8;
const SHORT_WORDS = tier(0.9, "af ca da es fr gl hi nb nl nn no sv ur");
const LONG_WORDS = tier(0.7, "am ar az et eu fi hu ka kk kn ko ky ml mn pl sw ta te tr ug uz zu");
const WORD_RATIO: ReadonlyMap<string, number> = new Map([["en", 1], ...SHORT_WORDS, ...LONG_WORDS]);

// Per minute at normal pacing. 300 for Japanese and 240 for Chinese are what announcers there work with
// (punctuation counted); Thai and Vietnamese follow the syllable rates of Coupé et al. 2019, as 150 words follow
// from their English.
const NORMAL_RATE: ReadonlyMap<string, SpeakingRate> = new Map([
  ["ja", { unit: "characters", perMinute: 300 }],
  ["zh", { unit: "characters", perMinute: 240 }],
  ["yue", { unit: "characters", perMinute: 240 }],
  ["th", { unit: "syllables", perMinute: 180 }],
  ["lo", { unit: "syllables", perMinute: 180 }],
  ["km", { unit: "syllables", perMinute: 180 }],
  ["my", { unit: "syllables", perMinute: 180 }],
  ["vi", { unit: "syllables", perMinute: 190 }],
]);

/** The rate for a BCP-47 tag and a pacing, rounded to five. */
export function speakingRate(language: string, pacing: Pacing): SpeakingRate {
  const base = new Intl.Locale(language).language;
  const words = ENGLISH_WORDS_PER_MINUTE[pacing];
  const other = NORMAL_RATE.get(base);
  if (other === undefined) {
    return { unit: "words", perMinute: roundToFive(words * (WORD_RATIO.get(base) ?? MIDDLE_TIER)) };
  }
  const tempo = words / ENGLISH_WORDS_PER_MINUTE.normal;
  return { unit: other.unit, perMinute: roundToFive(other.perMinute * tempo) };
}

function tier(ratio: number, languages: string): [string, number][] {
  return languages.split(" ").map((language) => [language, ratio]);
}

function roundToFive(value: number): number {
  return Math.round(value / 5) * 5;
}
