// npm run bench: measures the built server against the minimum that it could cost, prints one table and
// writes it to docs/PERFORMANCE.md. Fails if a figure is not reached in each of three runs.

import { table } from "../../../.config/docs-parts.ts";
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
  /** For the ratio. Absent for a floor, which is there for comparison. */
  readonly goal?: { readonly atMost?: number; readonly atLeast?: number };
}

const RUNS = 3;
const MISSED = "**no**";
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
const atOnce = { show: percent, details: rates };
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
    figure: "its answer as a constant, without a request, by a tool of the same SDK",
    of: ({ calls }) => calls.sdk.p50Ms,
    ...inTime,
  },
  {
    figure: "the same by a process that reads and writes JSON lines",
    of: ({ calls }) => calls.echo.p50Ms,
    ...inTime,
  },
  {
    figure: "get_video_status, 32 at once, share of the direct rate",
    of: ({ calls }) => calls.ours.perSecond,
    ...atOnce,
    goal: { atLeast: 0.4 },
  },
  {
    figure: "its answer as a constant by a tool of the same SDK, 32 at once",
    of: ({ calls }) => calls.sdk.perSecond,
    ...atOnce,
  },
];

const runs: Run[] = [];
while (runs.length < RUNS) runs.push(await run());
const rows = FIGURES.map(({ figure, of, show, details, goal = {} }) => {
  const [lowest, middle, highest] = runs.map(of).toSorted((one, other) => one.ratio - other.ratio);
  const { atLeast, atMost } = goal;
  const shown = atLeast !== undefined ? lowest : atMost !== undefined ? highest : middle;
  if (shown === undefined) throw new Error("Some run is missing.");
  const { ratio } = shown;
  const cells = [figure, show(ratio), details(shown)];
  if (atLeast !== undefined) return [...cells, `≥ ${show(atLeast)}`, ratio >= atLeast ? "yes" : MISSED];
  if (atMost !== undefined) return [...cells, `≤ ${show(atMost)}`, ratio <= atMost ? "yes" : MISSED];
  return [...cells, "a floor", "–"];
});
const text = table(["figure", "measured", "medians", "to reach", "met"], rows);
const intro = `Measured on ${MACHINE}, ${TODAY}, the least favourable of ${RUNS} runs (of a floor, the middle one):`;
await report("PERFORMANCE.md", "bench", `${intro}\n\n${text}`);
await report("PERFORMANCE.md", "journal", await benchJournal());
process.exitCode = rows.some((row) => row.includes(MISSED)) ? 1 : 0;
