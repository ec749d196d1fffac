// Plants bugs in some files, and counts how many the tests find.

import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import * as z from "zod";
import manifest from "../../../package.json" with { type: "json" };
import { installed, VERSIONS } from "../../fixtures/npm-tools.ts";

const MIN_PERCENT = 90;
/** The configuration names it too. */
const REPORT = ".stryker-tmp/mutation.json";
const positionSchema = z.object({ line: z.number(), column: z.number() });
const mutantSchema = z.object({
  status: z.string(),
  location: z.object({ start: positionSchema, end: positionSchema }),
  mutatorName: z.string(),
  replacement: z.string().optional(),
});
const reportSchema = z.object({
  files: z.record(z.string(), z.object({ mutants: z.array(mutantSchema) })),
});
type Mutant = z.output<typeof mutantSchema>;
/** The planted bugs by the file that they are in. */
type Mutants = Readonly<Record<string, readonly Mutant[]>>;

const isFound = ({ status }: Mutant) => status === "Killed" || status === "Timeout";
const isMissed = ({ status }: Mutant) => status === "Survived" || status === "NoCoverage";

export async function mutants(files: string) {
  const [core, runner] = ["@stryker-mutator/core", "@stryker-mutator/vitest-runner"] as const;
  // The runner would bring the newest one along.
  const { vitest } = manifest.devDependencies;
  const stryker = await installed({ [core]: VERSIONS[core], [runner]: VERSIONS[runner], vitest });
  const startMs = performance.now();
  const quick = plant(stryker, files, "quick");
  const missed = Object.entries(quick).flatMap(([file, planted]) =>
    planted.filter(isMissed).map(rangeIn(file)),
  );
  const slow = missed.length === 0 ? {} : plant(stryker, [...new Set(missed)].join(","), "slow");
  const seconds = Math.round((performance.now() - startMs) / 1000);
  const shares = Object.entries(quick).map(([file, planted]) => {
    const foundLater = new Set(slow[file]?.filter(isFound).map(identify));
    const left = planted.filter((mutant) => isMissed(mutant) && !foundLater.has(identify(mutant)));
    for (const mutant of left) process.stderr.write(`Not noticed: ${file} ${identify(mutant)}\n`);
    const all = planted.filter((mutant) => isFound(mutant) || isMissed(mutant)).length;
    return { file: basename(file), found: all - left.length, all };
  });
  const figures = shares.map(
    ({ file, found, all }) => `${file} ${((100 * found) / all).toFixed(1)} % of ${all}`,
  );
  return [
    {
      test: `bugs planted in \`${files}\``,
      promised: `tests find ${MIN_PERCENT} % or more`,
      measured: `${figures.join(", ")}, in ${seconds} s`,
      met: shares.every(({ found, all }) => 100 * found >= MIN_PERCENT * all),
    },
  ];
}

function plant(stryker: string, mutate: string, tests: "quick" | "slow"): Mutants {
  rmSync(REPORT, { force: true });
  const command = join(stryker, "node_modules/.bin/stryker");
  spawnSync(command, ["run", "test/external/stress/stryker.config.json", "--mutate", mutate], {
    env: { ...process.env, MUTATION_TESTS: tests },
    stdio: ["ignore", process.stderr.fd, "inherit"],
  });
  const { files } = reportSchema.parse(JSON.parse(readFileSync(REPORT, "utf8")));
  return Object.fromEntries(Object.entries(files).map(([file, { mutants: planted }]) => [file, planted]));
}

/** The place of a bug as an argument of Stryker, whose columns begin at 0 there and at 1 in the report. */
function rangeIn(file: string) {
  return ({ location: { start, end } }: Mutant) =>
    `${file}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`;
}

function identify({ location: { start, end }, mutatorName, replacement = "" }: Mutant): string {
  return `${start.line}:${start.column}-${end.line}:${end.column} ${mutatorName} ${replacement}`;
}
