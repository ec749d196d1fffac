// Makes the table of src/tools/check-order/language-table.ts: the scores of n-grams in the languages with Latin letters,
// from the package eld.

import { readFileSync } from "node:fs";

/** Lines of n-grams, lines of the languages that each has, and the scores of all: a letter for each of both. */
type LanguageTable = readonly [grams: string, languages: string, scores: string];

/** The codes that the package has, in the order of the letters. */
export const TABLE_LANGUAGES =
  "az ca cs da de en es et eu fi fr hr hu is it lt lv ms nl no pl pt ro sk sl sq sv tl tr vi yo".split(" ");
/** A score is kept in steps, which takes a fifth less space and changes no verdict. */
export const SCORE_STEP = 16;

const FIRST_BEYOND_ASCII = 0x80;
/** 'ngram':{language:score,…}, also without quotation marks. */
const ROWS = /(?:'((?:\\.|[^\\'])+)'|([^\s{},:']+)):\{([\d:,]+)\}/g;

/** Each n-gram is a text of bytes, and its line holds the number of bytes that it shares with the one before. */
export function readLanguageTable(): LanguageTable {
  const data = readPackage("ngrams/extrasmall");
  // The package writes bytes beyond ASCII as characters of its own choice.
  const characters: readonly string[] = readPackage("dictionary").match(/(?<=')(?:\\.|[^\\])(?=')/g) ?? [];
  const byteOf = (character: string) => {
    const byte = characters.indexOf(character, FIRST_BEYOND_ASCII);
    return byte < 0 ? character : String.fromCharCode(byte);
  };
  const letters = new Map<string, string>();
  for (const [, id = "", code = ""] of data.matchAll(/(\d+):'(\w\w)'/g)) {
    const index = TABLE_LANGUAGES.indexOf(code);
    if (index >= 0) letters.set(id, letter(index));
  }
  const rows: { gram: string; languages: string; scores: string }[] = [];
  for (const [, quoted, plain = "", scores = ""] of data.matchAll(ROWS)) {
    const known = scores.split(",").flatMap((pair) => {
      const [id = "", score] = pair.split(":");
      const language = letters.get(id);
      return language === undefined
        ? []
        : [{ language, score: letter(Math.round(Number(score) / SCORE_STEP)) }];
    });
    const gram = (quoted?.replaceAll("\\", "") ?? plain).replace(/[^a-z'` ]/g, byteOf);
    const joined = (name: "language" | "score") => known.map((it) => it[name]).join("");
    if (known.length > 0) rows.push({ gram, languages: joined("language"), scores: joined("score") });
  }
  rows.sort((a, b) => (a.gram < b.gram ? -1 : 1));
  const grams = rows.map(({ gram }, index) => {
    const before = rows[index - 1]?.gram ?? "";
    let shared = 0;
    while (shared < gram.length && gram[shared] === before[shared]) shared += 1;
    return `${shared}${gram.slice(shared)}`;
  });
  return [
    grams.join("\n"),
    rows.map(({ languages }) => languages).join("\n"),
    rows.map(({ scores }) => scores).join(""),
  ];
}

function readPackage(name: string): string {
  return readFileSync(new URL(`../node_modules/eld/src/${name}.js`, import.meta.url), "utf8");
}

function letter(index: number): string {
  return String.fromCharCode(97 + index);
}
