// npm run bench: compares the built server with a minimal one of the SDK, and its launch with others', and
// writes tables to docs/PERFORMANCE.md. Fails if a goal is missed in any of three runs. Wants a quiet machine.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { table } from "../../../scripts/markdown.ts";
import { makeFolder, removeFolder } from "../../fixtures/folder.ts";
import { nodeProgram } from "../fixtures/npm-versions.ts";
import { MACHINE, report, TODAY } from "../report.ts";
import { benchCalls } from "./calls.ts";
import { benchJournal } from "./journal.ts";
import { benchLaunch } from "./launch.ts";
import type { Comparison } from "./sample.ts";
import { benchStart } from "./start.ts";

type Run = Awaited<ReturnType<typeof run>>;

/** The goal is the limit of the ratio. None for what is only shown for comparison. */
type Figure = readonly [
  name: string,
  of: (run: Run) => Comparison,
  details: (medians: Comparison) => string,
  goal?: number,
];

const RUNS = 3;
/** The most of the time of an entry with npx that an installed one may take. */
const INSTALLED_SHARE = 0.25;
const SDK_SERVER = fileURLToPath(new URL("sdk-server.ts", import.meta.url));
const newerNode = await nodeProgram("24");

async function run(sdkServer: string) {
  const start = await benchStart(process.execPath, sdkServer);
  const newer = await benchStart(newerNode, sdkServer);
  return { start, newer, calls: await benchCalls(sdkServer) };
}

const times = (ratio: number) => `${ratio.toFixed(2)}×`;
const percent = (share: number) => `${(100 * share).toFixed(0)} %`;
const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
const milliseconds = ({ ours, base }: Comparison) => `${ms(ours)} / ${ms(base)}`;
const megabytes = ({ ours, base }: Comparison) => `${ours.toFixed(1)} MB / ${base.toFixed(1)} MB`;
const rates = ({ ours, base }: Comparison) => `${ours.toFixed(0)} / ${base.toFixed(0)} a second`;
const FIGURES: readonly Figure[] = [
  ["start, Node.js 20", ({ start }) => start.ms, milliseconds, 0.92],
  ["second start and later, Node.js 24", ({ newer }) => newer.ms, milliseconds, 0.82],
  ["memory then, Node.js 20", ({ start }) => start.megabytes, megabytes],
  ["memory then, Node.js 24", ({ newer }) => newer.megabytes, megabytes],
  ["get_video_status, one at a time", ({ calls }) => calls.p50Ms, milliseconds, 1.25],
  ["get_video_status, 32 at once", ({ calls }) => calls.perSecond, rates, 0.75],
];

let allMet = true;
const folder = makeFolder();
try {
  // As ours is, but for what our build leaves out of the SDK, of zod and of undici.
  await build({
    input: { server: SDK_SERVER },
    platform: "node",
    transform: { target: "node20" },
    output: { dir: folder, format: "cjs", entryFileNames: "[name].cjs", minify: true },
  });
  const sdkServer = join(folder, "server.cjs");
  const runs: Run[] = [];
  while (runs.length < RUNS) runs.push(await run(sdkServer));
  const rows = FIGURES.map(([name, of, details, goal]) => {
    // More is better.
    const isRate = details === rates;
    const show = isRate ? percent : times;
    const sorted = runs.map(of).toSorted((one, other) => one.ratio - other.ratio);
    const shown = sorted.at(isRate ? 0 : -1);
    if (shown === undefined) throw new Error("There are no runs.");
    const measured = [name, show(shown.ratio), details(shown)];
    if (goal === undefined) return [...measured, "", ""];
    const isMet = isRate ? shown.ratio >= goal : shown.ratio <= goal;
    return [...measured, `${isRate ? "≥" : "≤"} ${show(goal)}`, verdict(isMet)];
  });
  const text = table(["figure", "measured", "medians", "goal", "met"], rows);
  const intro = `Measured on ${MACHINE}, ${TODAY}, the least favourable of ${RUNS} runs:`;
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

function verdict(met: boolean): string {
  allMet &&= met;
  return met ? "yes" : "**no**";
}
