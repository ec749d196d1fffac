// Plants bugs in some files, and counts how many the tests find.

import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import * as z from "zod";
import manifest from "../../../package.json" with { type: "json" };
import { installed, VERSIONS } from "../../fixtures/npm-tools.ts";
import type { Module } from "./tests.ts";

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

export async function mutants({ files, steps }: Module) {
  const [core, runner] = ["@stryker-mutator/core", "@stryker-mutator/vitest-runner"] as const;
  // The runner would bring the newest one along.
  const { vitest } = manifest.devDependencies;
  const stryker = await installed({ [core]: VERSIONS[core], [runner]: VERSIONS[runner], vitest });
  const startMs = performance.now();
  /** By file and bug: whether a test has found it. */
  const found = new Map<string, Map<string, boolean>>();
  let places = files;
  for (const tests of steps) {
    const planted = plant(stryker, places, tests);
    for (const [file, bugs] of Object.entries(planted)) {
      const known = found.get(file);
      const isOfFirst = (bug: Mutant) => known === undefined || known.get(identify(bug)) === false;
      const news = bugs.filter((bug) => (isFound(bug) || isMissed(bug)) && isOfFirst(bug));
      const all = known ?? new Map<string, boolean>();
      for (const bug of news) all.set(identify(bug), isFound(bug));
      found.set(file, all);
    }
    const missed = Object.entries(planted).flatMap(([file, bugs]) =>
      bugs.filter((bug) => found.get(file)?.get(identify(bug)) === false).map(rangeIn(file)),
    );
    if (missed.length === 0) break;
    places = [...new Set(missed)].join(",");
  }
  const seconds = Math.round((performance.now() - startMs) / 1000);
  const shares = [...found].map(([file, bugs]) => {
    const left = [...bugs].filter(([, isKilled]) => !isKilled);
    for (const [bug] of left) process.stderr.write(`Not noticed: ${file} ${bug}\n`);
    return { file: basename(file), found: bugs.size - left.length, all: bugs.size };
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

/** `tests`: their files, as patterns with commas between them. */
function plant(stryker: string, mutate: string, tests: string): Mutants {
  rmSync(REPORT, { force: true });
  const command = join(stryker, "node_modules/.bin/stryker");
  const { status } = spawnSync(
    command,
    ["run", "test/external/stress/stryker.config.json", "--mutate", mutate],
    {
      env: { ...process.env, MUTATION_TESTS: tests },
      stdio: ["ignore", process.stderr.fd, "inherit"],
    },
  );
  if (status !== 0) throw new Error(`Stryker ended with ${status}: see above, and run ${tests} without it`);
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
