// How topics are mixed for a judge who must not know their writers, how ranks are counted, and what is kept
// of a round: the texts that were compared, the wins, ranks, reasons and topics. Pure.

import { createHash } from "node:crypto";
import { table } from "../../../.config/docs-parts.ts";

export interface Wish {
  readonly id: string;
  readonly wish: string;
  /** What a client fixes. */
  readonly language: string;
  readonly duration: number;
  readonly style: string;
}

/** Topics by arm and the wish's id. */
export type Topics = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface Round {
  readonly title: string;
  readonly wishes: readonly Wish[];
  readonly arms: readonly string[];
  readonly verdicts: readonly Verdict[];
  /** What writers were given, by the arm's name without the writer's number. */
  readonly texts: Readonly<Record<string, { readonly sha256: string; readonly tokens: string }>>;
  readonly topics: Topics;
}

export function describeWish({ id, wish, language, duration, style }: Wish): string {
  return `## ${id}\n\n“${wish}”\n\nSettings: language ${language}, duration ${duration} seconds, style ${style}`;
}

/** Keeps the lines as its writer broke them. */
export function showTopic(heading: string, topic = ""): string {
  return `${heading}\n\n\`\`\`text\n${topic}\n\`\`\``;
}

/** The figures of a round in Markdown. */
export function summarize({ arms, verdicts, texts }: Round): string {
  const judges = [...new Set(verdicts.map(({ judge }) => judge))];
  const groups = [
    ["all", verdicts],
    ...judges.map(
      (judge) => [`judge ${judge}`, verdicts.filter((verdict) => verdict.judge === judge)] as const,
    ),
    ["English", verdicts.filter(({ language }) => language === "en")],
    ["other languages", verdicts.filter(({ language }) => language !== "en")],
  ] as const;
  const names = [...new Set(arms.map(textOf))];
  const compared = names.map((name) => [name, texts[name]?.sha256 ?? "", texts[name]?.tokens ?? ""]);
  const wins = pairsOf(names).map((pair) => [
    pair.join(" before "),
    ...groups.map(([, group]) => countWins(group, pair)),
  ]);
  return `${table(["text", "SHA-256", "tokens (characters / 4)"], compared)}

${table(["wins", ...groups.map(([name]) => name)], wins)}
`;
}

/** What the figures were counted from, in Markdown. */
export function listVerdicts({ wishes, arms, verdicts, topics }: Round): string {
  const sections = wishes.map((wish) => {
    const ranked = verdicts.filter((verdict) => verdict.wish === wish.id);
    const written = arms.map((arm) => showTopic(`Topic of ${arm}:`, topics[arm]?.[wish.id]));
    return [describeWish(wish), ...ranked.map(describeVerdict), ...written].join("\n\n");
  });
  return `${sections.join("\n\n")}\n`;
}

function describeVerdict({ judge, ranks, reasons }: Verdict): string {
  const lines = ranks.map((arm, index) => `${index + 1}. ${arm}: ${reasons[arm] ?? ""}`);
  return `Judge ${judge}:\n\n${lines.join("\n")}`;
}

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
function textOf(arm: string): string {
  return arm.replace(/\d+$/, "");
}

/** How often a topic of the first text was ranked before one of the second: "11 of 16". */
function countWins(
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
function pairsOf(texts: readonly string[]): readonly (readonly [string, string])[] {
  return texts.flatMap((first, index) => texts.slice(index + 1).map((second) => [first, second] as const));
}
