// npm run bench: measures the built server against the minimum that it could cost, prints one table and
// writes it to docs/PERFORMANCE.md. Fails if a figure is not reached.

import { table } from "../../../.config/docs-parts.ts";
import { nodeProgram } from "../../fixtures/npm-tools.ts";
import { MACHINE, report, TODAY } from "../report.ts";
import { benchCalls } from "./calls.ts";
import { benchStart } from "./start.ts";

interface Row {
  readonly figure: string;
  readonly measured: string;
  readonly details: string;
  /** Absent for a minimum, which is there for comparison. */
  readonly goal?: { readonly toReach: string; readonly met: boolean };
}

const start = await benchStart(process.execPath);
const newerNode = await nodeProgram("24");
const newer = await benchStart(newerNode);
const calls = await benchCalls();

const times = (ratio: number) => `${ratio.toFixed(1)}×`;
const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
const mb = (value: number) => `${value.toFixed(1)} MB`;
const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
const medians = ({ ours, base }: { ours: number; base: number }) => `${ms(ours)} / ${ms(base)}`;
const rates = ({ ours, base }: { ours: number; base: number }) =>
  `${ours.toFixed(0)} / ${base.toFixed(0)} a second`;
const atMost = (value: number, limit: number, toReach: string) => ({ toReach, met: value <= limit });
const START = "start to the answer of tools/list, against a bare Node.js process";
const rows: readonly Row[] = [
  {
    figure: START,
    measured: times(start.ms.ratio),
    details: medians(start.ms),
    goal: atMost(start.ms.ratio, 3, "≤ 3×"),
  },
  {
    figure: `${START}, Node.js 24`,
    measured: times(newer.ms.ratio),
    details: medians(newer.ms),
    goal: atMost(newer.ms.ratio, 3, "≤ 3×"),
  },
  {
    figure: "the same with NODE_COMPILE_CACHE",
    measured: times(newer.cachedMs.ratio),
    details: medians(newer.cachedMs),
    goal: atMost(newer.cachedMs.ratio, 3, "≤ 3×"),
  },
  {
    figure: "memory then, against the bare process",
    measured: times(start.megabytes.ratio),
    details: `${mb(start.megabytes.ours)} / ${mb(start.megabytes.base)}`,
    goal: atMost(start.megabytes.ratio, 1.6, "≤ 1.6×"),
  },
  {
    figure: "get_video_status, one at a time, against the same request sent directly by undici",
    measured: times(calls.ours.p50Ms.ratio),
    details: `p50 ${medians(calls.ours.p50Ms)}`,
    goal: atMost(calls.ours.p50Ms.ratio, 2.5, "≤ 2.5×"),
  },
  {
    figure: "its answer as a constant, without a request, by a tool of the same SDK",
    measured: times(calls.sdk.p50Ms.ratio),
    details: `p50 ${medians(calls.sdk.p50Ms)}`,
  },
  {
    figure: "the same by a process that reads and writes JSON lines",
    measured: times(calls.echo.p50Ms.ratio),
    details: `p50 ${medians(calls.echo.p50Ms)}`,
  },
  {
    figure: "get_video_status, 32 at once, share of the direct rate",
    measured: percent(calls.ours.perSecond.ratio),
    details: rates(calls.ours.perSecond),
    goal: { toReach: "≥ 25 %", met: calls.ours.perSecond.ratio >= 0.25 },
  },
  {
    figure: "its answer as a constant by a tool of the same SDK, 32 at once",
    measured: percent(calls.sdk.perSecond.ratio),
    details: rates(calls.sdk.perSecond),
  },
];

const text = table(
  ["figure", "measured", "medians", "to reach", "met"],
  rows.map(({ figure, measured, details, goal }) => [
    figure,
    measured,
    details,
    ...(goal === undefined ? ["a floor", "–"] : [goal.toReach, goal.met ? "yes" : "**no**"]),
  ]),
);
await report("PERFORMANCE.md", "bench", `Measured on ${MACHINE}, ${TODAY}:\n\n${text}`);
process.exitCode = rows.some(({ goal }) => goal?.met === false) ? 1 : 0;
