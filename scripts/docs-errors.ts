// Finds an error's code by the first words of its text, from the snapshots of all such texts.

import { readFileSync } from "node:fs";
import { table } from "./markdown.ts";

const SNAPSHOTS = ["errors.txt", "held-back.txt"];
/** A situation with the code of its error, and below it each reader's text. */
const ENTRY = /^\S.* \[(\w+)[^\]]*\]\n((?: {2}.+\n)+)/gm;
const READER = /^ {2}(?:To a \w+: )?/;
/** In the texts, these stand for what a user would read there. */
const VALUE =
  /"[^"]*"|\d+ \w+ ago|\b\d+\b|\bFACELESS_\w+|TikTok|YouTube|--[a-z-]+|\b[a-z]+_[a-z_]+\b|(?<=argument )\w+|^\w+(?=:)|(?<=(?:the request|was left) to ).*/g;
/** Nobody types more. */
const MAX_WORDS = 7;

/** The codes by the first words, with "…" for values. */
export function firstWordsTable(): string {
  const codes = new Map<string, Set<string>>();
  for (const name of SNAPSHOTS) {
    const text = readFileSync(new URL(`../test/contract/${name}`, import.meta.url), "utf8");
    // The reasons of a network's failures never begin a text.
    const [errors = ""] = text.split("\n# the network\n", 1);
    for (const [, code = "", texts = ""] of errors.matchAll(ENTRY))
      for (const words of texts.trimEnd().split("\n").map(firstWords))
        codes.set(words, (codes.get(words) ?? new Set()).add(code));
  }
  const rows = [...codes].sort(([one], [other]) => one.localeCompare(other, "en"));
  return table(
    ["the text begins", "code"],
    rows.map(([words, names]) => [words, [...names].map((name) => `\`${name}\``).join(", ")]),
  );
}

function firstWords(line: string): string {
  const [sentence = ""] = line
    .replace(READER, "")
    .replace(VALUE, "…")
    .split(/[.?](?: |$)/, 1);
  return sentence.split(" ").slice(0, MAX_WORDS).join(" ").replace(/\W+$/, "");
}
