// npm run bench: compares the built server with the cheapest way to do the same work, and writes a table to
// docs/PERFORMANCE.md. Fails if a goal is missed in any of three runs.

import { table } from "../../../scripts/docs-parts.ts";
import { nodeProgram } from "../../fixtures/npm-tools.ts";
import { MACHINE, report, TODAY } from "../report.ts";
import { benchCalls } from "./calls.ts";
import { benchJournal } from "./journal.ts";
import type { Comparison } from "./sample.ts";
import { benchStart } from "./start.ts";

type Run = Awaited<ReturnType<typeof run>>;

interface Figure {
  readonly figure: string;
  readonly of: (run: Run) => Comparison;
  readonly show: (ratio: number) => string;
  readonly details: (medians: Comparison) => string;
  /** The limit of the ratio. None for what is only shown for comparison. */
  readonly goal?: { readonly atMost: number } | { readonly atLeast: number };
}

const RUNS = 3;
const newerNode = await nodeProgram("24");

async function run() {
  const start = await benchStart(process.execPath);
  const newer = await benchStart(newerNode);
  return { start, newer, calls: await benchCalls() };
}

const times = (ratio: number) => `${ratio.toFixed(1)}×`;
const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
const milliseconds = ({ ours, base }: Comparison) => `${ms(ours)} / ${ms(base)}`;
const megabytes = ({ ours, base }: Comparison) => `${ours.toFixed(1)} MB / ${base.toFixed(1)} MB`;
const rates = ({ ours, base }: Comparison) => `${ours.toFixed(0)} / ${base.toFixed(0)} a second`;
const START = "start to the answer of tools/list, against a bare Node.js process";
const inTime = { show: times, details: milliseconds };
const FIGURES: readonly Figure[] = [
  { figure: START, of: ({ start }) => start.ms, ...inTime, goal: { atMost: 3 } },
  { figure: `${START}, Node.js 24`, of: ({ newer }) => newer.ms, ...inTime, goal: { atMost: 3 } },
  {
    figure: "the same with NODE_COMPILE_CACHE",
    of: ({ newer }) => newer.cachedMs,
    ...inTime,
    goal: { atMost: 3 },
  },
  {
    figure: "memory then, against the bare process",
    of: ({ start }) => start.megabytes,
    show: times,
    details: megabytes,
    goal: { atMost: 1.6 },
  },
  {
    figure: "get_video_status, one at a time, against the same request sent directly by undici",
    of: ({ calls }) => calls.ours.p50Ms,
    ...inTime,
    goal: { atMost: 2.5 },
  },
  {
    figure: "get_video_status, 32 at once, share of the direct rate",
    of: ({ calls }) => calls.ours.perSecond,
    show: percent,
    details: rates,
    goal: { atLeast: 0.4 },
  },
  {
    figure: "the same, one at a time, through a server of the SDK that does nothing else",
    of: ({ calls }) => calls.least.p50Ms,
    ...inTime,
  },
  {
    figure: "the same, 32 at once, through that server",
    of: ({ calls }) => calls.least.perSecond,
    show: percent,
    details: rates,
  },
];

const runs: Run[] = [];
while (runs.length < RUNS) runs.push(await run());
let allMet = true;
const rows = FIGURES.map(({ figure, of, show, details, goal }) => {
  const sorted = runs.map(of).toSorted((one, other) => one.ratio - other.ratio);
  const shown = goal !== undefined && "atLeast" in goal ? sorted.at(0) : sorted.at(-1);
  if (shown === undefined) throw new Error("There are no runs.");
  const measured = [figure, show(shown.ratio), details(shown)];
  if (goal === undefined) return [...measured, "", ""];
  const met = "atLeast" in goal ? shown.ratio >= goal.atLeast : shown.ratio <= goal.atMost;
  allMet &&= met;
  const limit = "atLeast" in goal ? `≥ ${show(goal.atLeast)}` : `≤ ${show(goal.atMost)}`;
  return [...measured, limit, met ? "yes" : "**no**"];
});
const text = table(["figure", "measured", "medians", "goal", "met"], rows);
const intro = `Measured on ${MACHINE}, ${TODAY}, the least favourable of ${RUNS} runs:`;
await report("PERFORMANCE.md", "bench", `${intro}\n\n${text}`);
await report("PERFORMANCE.md", "journal", await benchJournal());
process.exitCode = allMet ? 0 : 1;
