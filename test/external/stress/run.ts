// npm run stress: runs all stress tests in turn and writes their figures to figures.md. Fails if a promise is
// not kept. `npm run stress -- exits soak` runs some of them, `npm run stress -- mutants retry` the mutants of
// one module.

import { readFileSync, writeFileSync } from "node:fs";
import { TODAY } from "../report.ts";
import { MODULES, type Row, SEED, TESTS } from "./tests.ts";

const FIGURES = new URL("figures.md", import.meta.url);
const words = process.argv.slice(2);

function isAsked(name: string): boolean {
  const [test = "", module = ""] = name.split(" ");
  const isOfModule = module === "" || words.includes(module) || !words.some((word) => word in MODULES);
  return words.length === 0 || (words.includes(test) && isOfModule);
}

const asked = Object.entries(TESTS).filter(([name]) => isAsked(name));
if (asked.length === 0) throw new Error(`There are: ${Object.keys(TESTS).join(", ")}.`);
for (const [name, test] of asked) {
  process.stderr.write(`SEED=${SEED} npm run stress -- ${name}\n`);
  let rows: readonly Row[];
  try {
    rows = await test();
  } catch (error) {
    // A test that fails to run must not cost the figures of the others.
    const [measured = ""] = String(error).split("\n", 1);
    rows = [{ test: name, promised: "runs to its end", measured, met: false }];
  }
  const cells = rows.map(({ test: tried, promised, measured, met }) => [
    `\`${name}\``,
    TODAY,
    tried,
    promised,
    measured,
    met ? "yes" : "**no**",
  ]);
  for (const row of cells) process.stdout.write(`${row.join(", ")}\n`);
  if (!rows.every(({ met }) => met)) process.exitCode = 1;
  replaceRows(name, cells);
}
// A server that could not be killed must not hold this process.
process.exit();

/** Puts these rows in the place of those that the test had in figures.md. */
function replaceRows(name: string, rows: readonly (readonly string[])[]): void {
  const page = readFileSync(FIGURES, "utf8");
  const lines = page.trimEnd().split("\n");
  const isOld = (line: string) => line.startsWith(`| \`${name}\` `);
  const first = lines.findIndex(isOld);
  const others = lines.filter((line) => !isOld(line));
  const written = rows.map((row) => `| ${row.join(" | ")} |`);
  const changed = others.toSpliced(first === -1 ? others.length : first, 0, ...written);
  writeFileSync(FIGURES, `${changed.join("\n")}\n`);
}
