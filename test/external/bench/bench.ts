// npm run bench: compares the built server with a minimal SDK server, and its launch with others', and
// writes tables to docs/PERFORMANCE.md. Fails if a goal is missed in any of three runs. Wants a quiet machine, for the
// clock's figures more than for the processor's. `-- --beside DIR` prints how this build compares to the one in DIR.

import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "rolldown";
import { table } from "../../../scripts/markdown.ts";
import { makeFolder, removeFolder } from "../../fixtures/folder.ts";
import { nodeProgram } from "../fixtures/npm-versions.ts";
import { MACHINE, report, TODAY } from "../report.ts";
import { BUILT_FILE } from "../../fixtures/clients.ts";
import { benchCalls, type Calls } from "./calls.ts";
import { benchJournal } from "./journal.ts";
import { benchLaunch } from "./launch.ts";
import { compare, type Comparison } from "./sample.ts";
import { bareMegabytes, benchStart, type Start } from "./start.ts";

/** The samples of each contender, in the order of the files, and the memory of a bare Node of the two versions. */
interface Run {
  readonly start: readonly Start[][];
  readonly newer: readonly Start[][];
  readonly calls: readonly Calls[][];
  readonly bare: readonly [number, number];
}

/** The goal is the limit of the ratio; absent for what is only shown for comparison. */
type Figure = readonly [
  name: string,
  of: (run: Run, base: number) => Comparison,
  details: (medians: Comparison) => string,
  goal?: number,
];

const RUNS = 3;
/** The largest share of an npx entry's launch time that an installed entry may take. */
const INSTALLED_SHARE = 0.25;
const SDK_SERVER = fileURLToPath(new URL("sdk-server.ts", import.meta.url));
const newerNode = await nodeProgram("24");

const { beside } = parseArgs({ options: { beside: { type: "string" } } }).values;
/** The places of the files among the contenders. */
const [SDK, OURS, OLDER] = [0, 1, 2];

async function run(files: readonly string[]): Promise<Run> {
  return {
    start: await benchStart(process.execPath, files),
    newer: await benchStart(newerNode, files),
    calls: await benchCalls(files),
    bare: [await bareMegabytes(process.execPath), await bareMegabytes(newerNode)],
  };
}

/** Compares ours with the contender at the place `base`. */
function against<Sample>(samples: readonly Sample[][], base: number, figure: (sample: Sample) => number) {
  return compare(samples[base] ?? [], samples[OURS] ?? [], figure);
}

/** Compares the memory of the start with a bare Node's, which every contender has as its base. */
function memory(samples: readonly Start[][], bare: number): Comparison {
  const ours = samples[OURS] ?? [];
  return compare(
    ours.map(() => bare),
    ours.map(({ megabytes: used }) => used),
    (used) => used,
  );
}

const times = (ratio: number) => `${ratio.toFixed(2)}×`;
const percent = (share: number) => `${(100 * share).toFixed(0)} %`;
const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
const milliseconds = ({ ours, base }: Comparison) => `${ms(ours)} / ${ms(base)}`;
const megabytes = ({ ours, base }: Comparison) => `${ours.toFixed(1)} MB / ${base.toFixed(1)} MB`;
const rates = ({ ours, base }: Comparison) => `${ours.toFixed(0)} / ${base.toFixed(0)} a second`;
const FIGURES: readonly Figure[] = [
  ["start, Node.js 20", ({ start }, base) => against(start, base, ({ ms }) => ms), milliseconds, 0.8],
  [
    "start, Node.js 20, processor",
    ({ start }, base) => against(start, base, ({ processorMs }) => processorMs),
    milliseconds,
    0.8,
  ],
  [
    "second start and later, Node.js 24",
    ({ newer }, base) => against(newer, base, ({ ms }) => ms),
    milliseconds,
    0.8,
  ],
  [
    "second start and later, Node.js 24, processor",
    ({ newer }, base) => against(newer, base, ({ processorMs }) => processorMs),
    milliseconds,
    0.8,
  ],
  [
    "get_video_status, one at a time",
    ({ calls }, base) => against(calls, base, ({ p50Ms }) => p50Ms),
    milliseconds,
    1.25,
  ],
  [
    "get_video_status, one at a time, processor",
    ({ calls }, base) => against(calls, base, ({ processorMs }) => processorMs),
    milliseconds,
  ],
  [
    "get_video_status, 32 at once",
    ({ calls }, base) => against(calls, base, ({ perSecond }) => perSecond),
    rates,
    0.8,
  ],
  [
    "get_video_status, 32 at once, processor",
    ({ calls }, base) => against(calls, base, ({ processorMsAtOnce }) => processorMsAtOnce),
    milliseconds,
  ],
];
/** Their base is a bare Node. */
const MEMORY: readonly Figure[] = [
  ["memory then, Node.js 20", ({ start, bare }) => memory(start, bare[0]), megabytes, 1.3],
  ["memory then, Node.js 24", ({ newer, bare }) => memory(newer, bare[1]), megabytes, 1.3],
];

let allMet = true;
const folder = makeFolder();
try {
  // Bundled like ours, but with the parts of the SDK, zod and undici that our build leaves out.
  await build({
    input: { server: SDK_SERVER },
    platform: "node",
    transform: { target: "node20" },
    output: { dir: folder, format: "cjs", entryFileNames: "[name].cjs", minify: true },
  });
  const older = beside === undefined ? [] : [join(resolve(beside), "dist/bin.cjs")];
  const files = [join(folder, "server.cjs"), BUILT_FILE, ...older];
  const runs: Run[] = [];
  while (runs.length < RUNS) runs.push(await run(files));
  const head = ["figure", "measured", "spread", "medians"];
  const rows = [...FIGURES, ...MEMORY].map((figure) => {
    const [, , details, goal] = figure;
    const { ratio, shown } = worst(runs, figure, SDK);
    if (goal === undefined) return [...shown, "", ""];
    const isMet = details === rates ? ratio >= goal : ratio <= goal;
    return [...shown, `${details === rates ? "≥" : "≤"} ${show(details)(goal)}`, verdict(isMet)];
  });
  if (beside !== undefined) {
    const compared = FIGURES.map((figure) => worst(runs, figure, OLDER).shown);
    process.stdout.write(`Beside ${beside}:\n\n${table(head, compared)}\n\n`);
  }
  const text = table([...head, "goal", "met"], rows);
  const intro = `Measured on ${MACHINE}, ${TODAY}, the least favourable of ${RUNS} runs. The spread is that of the middle half of the rounds, and memory is compared to a bare Node.js:`;
  await report("docs/PERFORMANCE.md", "bench", `${intro}\n\n${text}`);
} finally {
  removeFolder(folder);
}

const launched = await benchLaunch();
const [installed, withNpx] = launched;
const share = (installed?.ms ?? Number.NaN) / (withNpx?.ms ?? Number.NaN);
await report(
  "docs/PERFORMANCE.md",
  "launch",
  `${table(
    ["entry", "to the list of tools"],
    launched.map(({ name, ms }) => [name, `${(ms / 1000).toFixed(2)} s`]),
  )}

Installed takes ${share.toFixed(2)} of the time of the printed entry; the goal is at most ${INSTALLED_SHARE}: ${verdict(share <= INSTALLED_SHARE)}.`,
);
await report("docs/PERFORMANCE.md", "journal", await benchJournal());
process.exitCode = allMet ? 0 : 1;

/** The least favourable of the runs: its ratio, and the cells that show it. */
function worst(runs: readonly Run[], [name, of, details]: Figure, base: number) {
  const sorted = runs.map((one) => of(one, base)).toSorted((one, other) => one.ratio - other.ratio);
  // More is better.
  const least = sorted.at(details === rates ? 0 : -1);
  if (least === undefined) throw new Error("There are no runs.");
  const shown = [least.ratio, ...least.spread].map(show(details));
  return { ratio: least.ratio, shown: [name, shown[0] ?? "", shown.slice(1).join(" to "), details(least)] };
}

function show(details: Figure[2]): (ratio: number) => string {
  return details === rates ? percent : times;
}

function verdict(met: boolean): string {
  allMet &&= met;
  return met ? "yes" : "**no**";
}
