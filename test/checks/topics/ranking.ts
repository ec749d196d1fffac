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
  /** By arm. */
  readonly reasons: Readonly<Record<string, string>>;
}

/** How often the first arm was ranked before the second: "11 of 16". */
export function countWins(
  verdicts: readonly Pick<Verdict, "ranks">[],
  [first, second]: readonly [string, string],
): string {
  const wins = verdicts.filter(({ ranks }) => ranks.indexOf(first) < ranks.indexOf(second));
  return `${wins.length} of ${verdicts.length}`;
}

/** Each two of the arms, in their order. */
export function pairsOf(arms: readonly string[]): readonly (readonly [string, string])[] {
  return arms.flatMap((first, index) => arms.slice(index + 1).map((second) => [first, second] as const));
}
