// How topics are mixed for a judge who must not know their writers, and how the ranks are counted. Pure.

import { createHash } from "node:crypto";

interface Deal {
  readonly seed: number;
  readonly judge: string;
  /** The wish's id. */
  readonly wish: string;
}

/** Which arm stands behind each letter: dealt anew for each seed, judge and wish. */
export function dealLetters(
  arms: readonly string[],
  { seed, judge, wish }: Deal,
): ReadonlyMap<string, string> {
  const hashOf = (arm: string) =>
    createHash("sha256")
      .update(JSON.stringify([seed, judge, wish, arm]))
      .digest("hex");
  const dealt = [...arms].sort((a, b) => hashOf(a).localeCompare(hashOf(b)));
  return new Map(dealt.map((arm, index) => [String.fromCodePoint(65 + index), arm]));
}

/** What one judge thought of one wish's topics. */
export interface Verdict {
  readonly judge: string;
  /** The wish's id. */
  readonly wish: string;
  readonly language: string;
  /** The arms, best first. */
  readonly ranks: readonly string[];
  /** The reasons by arm. */
  readonly reasons: Readonly<Record<string, string>>;
}

/** What several writers wrote from: `prompt` for the arms prompt1 and prompt2. */
export function textOf(arm: string): string {
  return arm.replace(/\d+$/, "");
}

/** How often a topic of the first text was ranked before one of the second: "11 of 16". */
export function countWins(
  verdicts: readonly Pick<Verdict, "ranks">[],
  [first, second]: readonly [string, string],
): string {
  const pairs = verdicts.flatMap(({ ranks }) =>
    ranks.flatMap((better, index) =>
      ranks.slice(index + 1).map((worse) => `${textOf(better)} ${textOf(worse)}`),
    ),
  );
  const wins = pairs.filter((pair) => pair === `${first} ${second}`).length;
  return `${wins} of ${wins + pairs.filter((pair) => pair === `${second} ${first}`).length}`;
}

/** Each two of the texts, in their order. */
export function pairsOf(texts: readonly string[]): readonly (readonly [string, string])[] {
  return texts.flatMap((first, index) => texts.slice(index + 1).map((second) => [first, second] as const));
}
