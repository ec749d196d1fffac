// Divides a video's seconds into hook, beats and ending, and says how much can be spoken in each. Pure.

import type { Pacing } from "../service/options.ts";
import { speakingRate, type SpeakingRate } from "./speaking-rate.ts";

/** The hook must land before the thumb moves on. */
export const HOOK_SECONDS = 2;

const MOST_BEATS: Readonly<Record<Pacing, number>> = { slow: 6, normal: 8, fast: 10 };
const BEAT_SECONDS: Readonly<Record<Pacing, number>> = { slow: 10, normal: 7, fast: 5 };
const PICTURE_SECONDS: Readonly<Record<Pacing, number>> = { slow: 6, normal: 4, fast: 2.5 };
const LONGEST_ENDING_SECONDS: Readonly<Record<Pacing, number>> = { slow: 8, normal: 7, fast: 4 };
const SHORTEST_ENDING_SECONDS = 3;
const ENDING_SHARE = 0.12;
const MOSTLY_SILENT = 0.75;

/** A part's length, and the most that can be spoken in it, in the rate's unit. */
interface Part {
  readonly seconds: number;
  readonly spoken: number;
}

export interface Timing {
  readonly rate: SpeakingRate;
  readonly hook: Part;
  /** Each of the `count` beats is as long as the others. */
  readonly beat: Part & { readonly count: number; readonly pictures: number };
  readonly ending: Part;
  /** The sum of the parts. */
  readonly spoken: number;
}

export interface TimingRequest {
  /** Seconds. */
  readonly duration: number;
  readonly pacing: Pacing;
  readonly language: string;
  /** The part of the time in which someone speaks, 0 to 1: a quiet style leaves room. */
  readonly spokenShare: number;
}

export function planTiming({ duration, pacing, language, spokenShare }: TimingRequest): Timing {
  const rate = speakingRate(language, pacing);
  const endingSeconds = Math.min(
    Math.max(Math.round(duration * ENDING_SHARE), SHORTEST_ENDING_SECONDS),
    LONGEST_ENDING_SECONDS[pacing],
  );
  const middleSeconds = duration - HOOK_SECONDS - endingSeconds;
  const count = Math.min(Math.max(Math.round(middleSeconds / BEAT_SECONDS[pacing]), 1), MOST_BEATS[pacing]);
  const beatSeconds = middleSeconds / count;

  const spokenIn = (partSeconds: number, share: number): number =>
    (rate.perMinute / 60) * partSeconds * share;
  // Rounded down, for a part must not overrun; the small term undoes binary fractions such as 19.999….
  const part = (partSeconds: number): Part => ({
    seconds: partSeconds,
    spoken: Math.max(Math.floor(spokenIn(partSeconds, spokenShare) + 1e-6), 1),
  });
  // Two seconds hold few words as it is: only a style that is mostly silent gives some of them away.
  const hookShare = spokenShare < MOSTLY_SILENT ? spokenShare : 1;
  const hook = {
    seconds: HOOK_SECONDS,
    spoken: Math.max(Math.round(spokenIn(HOOK_SECONDS, hookShare)), 1),
  };
  const beat = {
    ...part(beatSeconds),
    count,
    pictures: Math.max(Math.round(beatSeconds / PICTURE_SECONDS[pacing]), 1),
  };
  const ending = part(endingSeconds);
  return { rate, hook, beat, ending, spoken: hook.spoken + count * beat.spoken + ending.spoken };
}
