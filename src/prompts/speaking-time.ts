// How much can be spoken in a video's seconds, and how that is divided among hook, beats and ending. Pure. These are estimates:
// the service does not document the speed of its voices. They are on the low side, because a line too long is rushed or cut.

import type { Pacing } from "../service/options.ts";

/** What is counted: words, or in scripts without spaces between words, characters or syllables. */
type Unit = "words" | "characters" | "syllables";

interface SpeakingRate {
  readonly unit: Unit;
  readonly perSecond: number;
}

export interface SpeakingTime {
  readonly rate: SpeakingRate;
  /** The most that can be spoken in the hook, in each beat, in the ending, and in all. */
  readonly hook: number;
  readonly beat: number;
  readonly ending: number;
  readonly total: number;
  readonly beatCount: number;
}

/** After this time viewers have decided whether to stay. */
export const HOOK_SECONDS = 2;

const PACING_FACTOR: Readonly<Record<Pacing, number>> = { slow: 0.8, normal: 1, fast: 1.15 };

const ENGLISH: SpeakingRate = { unit: "words", perSecond: 2.5 };
const OTHER: SpeakingRate = { unit: "words", perSecond: 2 };
const LONG_WORDS: SpeakingRate = { unit: "words", perSecond: 1.6 };
const CHINESE: SpeakingRate = { unit: "characters", perSecond: 4 };
const SYLLABLES: SpeakingRate = { unit: "syllables", perSecond: 3 };
const RATES: ReadonlyMap<string, SpeakingRate> = new Map([
  ["en", ENGLISH],
  ...["ar", "et", "eu", "fi", "hu", "ko", "ml", "sw", "ta", "te", "tr", "zu"].map(
    (code) => [code, LONG_WORDS] as const,
  ),
  ["ja", { unit: "characters", perSecond: 5 }],
  ["zh", CHINESE],
  ["yue", CHINESE],
  ...["th", "lo", "km", "my"].map((code) => [code, SYLLABLES] as const),
  // Written with a space after each syllable.
  ["vi", { unit: "words", perSecond: 3 }],
]);

/** The rate for a BCP-47 code, with one decimal. */
export function speakingRate(language: string, pacing: Pacing): SpeakingRate {
  const { unit, perSecond } = RATES.get(new Intl.Locale(language).language) ?? OTHER;
  return { unit, perSecond: Math.round(perSecond * PACING_FACTOR[pacing] * 10) / 10 };
}

export interface SpeakingTimeRequest {
  readonly language: string;
  readonly pacing: Pacing;
  readonly durationSeconds: number;
  /** The part of the time in which the voice speaks, 0 to 1. */
  readonly spokenShare: number;
}

export function planSpeakingTime(request: SpeakingTimeRequest): SpeakingTime {
  const { language, pacing, durationSeconds, spokenShare } = request;
  const rate = speakingRate(language, pacing);
  const spokenIn = (seconds: number) => Math.max(Math.floor(rate.perSecond * seconds * spokenShare), 1);
  const endingSeconds = Math.min(Math.max(durationSeconds / 8, 3), 7);
  const beatCount = durationSeconds <= 20 ? 2 : durationSeconds <= 45 ? 3 : 4;
  const beatSeconds = (durationSeconds - HOOK_SECONDS - endingSeconds) / beatCount;
  return {
    rate,
    beatCount,
    hook: spokenIn(HOOK_SECONDS),
    beat: spokenIn(beatSeconds),
    ending: spokenIn(endingSeconds),
    total: spokenIn(durationSeconds),
  };
}
