// npm run stress: runs all stress tests in turn and writes their figures to docs/PERFORMANCE.md. Fails if a
// promise is not kept. `npm run stress -- fuzz twice` runs some of them, `npm run stress -- mutants retry`
// the mutants of one module. The command in the document has the seed that repeats a run.

import { MACHINE, report, TODAY } from "../report.ts";
import { MODULES, type Result, type Row, SEED, TESTS } from "./tests.ts";

const words = process.argv.slice(2);

function isAsked(name: string): boolean {
  const [test = "", module = ""] = name.split(" ");
  const isOfModule = module === "" || words.includes(module) || !words.some((word) => word in MODULES);
  return words.length === 0 || (words.includes(test) && isOfModule);
}

const asked = Object.entries(TESTS).filter(([name]) => isAsked(name));
if (asked.length === 0) throw new Error(`There are: ${Object.keys(TESTS).join(", ")}.`);
for (const [name, test] of asked) {
  const command = `SEED=${SEED} npm run stress -- ${name}`;
  process.stderr.write(`${command}\n`);
  let result: Result;
  try {
    result = await test();
  } catch (error) {
    // One test that fails to run must not cost the figures of the others.
    const [measured = ""] = String(error).split("\n", 1);
    result = [{ test: name, promised: "runs to its end", measured, met: false }];
  }
  const { text, met } = "text" in result ? result : listed(result);
  if (!met) process.exitCode = 1;
  await report("PERFORMANCE.md", name, `${text}\n\n${TODAY}, ${MACHINE}: \`${command}\`.`);
}

function listed(rows: readonly Row[]) {
  const lines = rows.map(
    ({ test: what, promised, measured, met }) =>
      `- **${what}**: ${measured}. ${met ? "Kept" : "**Not kept**"}: ${promised}.`,
  );
  return { text: lines.join("\n"), met: rows.every(({ met }) => met) };
}
// A server that could not be killed must not hold this process.
process.exit();
