// npm run bench: measures the built server against the minimum that it could cost, prints one table and writes it to
// docs/PERFORMANCE.md. Fails if a figure is not reached.

import { readFile, writeFile } from "node:fs/promises";
import { cpus, type as system } from "node:os";
import { table, withPart } from "../../../.config/docs-parts.ts";
import { benchCalls } from "./calls.ts";
import { benchPackage } from "./package.ts";
import { benchStart } from "./start.ts";
import { benchWatching } from "./watching.ts";

interface Row {
  readonly figure: string;
  readonly measured: string;
  readonly details: string;
  readonly toReach: string;
  readonly met: boolean;
}

const start = await benchStart();
const calls = await benchCalls();
const watching = await benchWatching();
const { bytes, clipBytes, packages } = await benchPackage();

const times = (ratio: number) => `${ratio.toFixed(1)}×`;
const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
const mb = (value: number) => `${value.toFixed(1)} MB`;
const grown = watching.watching - watching.idle;
const rows: readonly Row[] = [
  {
    figure: "start to the answer of tools/list, against a bare Node.js process",
    measured: times(start.ms.ratio),
    details: `${ms(start.ms.ours)} / ${ms(start.ms.base)}`,
    toReach: "≤ 3.5×",
    met: start.ms.ratio <= 3.5,
  },
  {
    figure: "memory then, against the bare process",
    measured: times(start.megabytes.ratio),
    details: `${mb(start.megabytes.ours)} / ${mb(start.megabytes.base)}`,
    toReach: "≤ 1.6×",
    met: start.megabytes.ratio <= 1.6,
  },
  {
    figure: "get_video_status, one at a time, against the same request sent directly by undici",
    measured: times(calls.p50Ms.ratio),
    details: `p50 ${ms(calls.p50Ms.ours)} / ${ms(calls.p50Ms.base)}`,
    toReach: "≤ 3×",
    met: calls.p50Ms.ratio <= 3,
  },
  {
    figure: "get_video_status, 32 at once, share of the direct rate",
    measured: `${(100 * calls.perSecond.ratio).toFixed(1)} %`,
    details: `${calls.perSecond.ours.toFixed(0)} / ${calls.perSecond.base.toFixed(0)} a second`,
    toReach: "≥ 25 %",
    met: calls.perSecond.ratio >= 0.25,
  },
  {
    figure: "heap of 200 watched jobs, as many as there may be, beyond idle",
    measured: mb(grown),
    details: `${mb(watching.watching)} − ${mb(watching.idle)}`,
    toReach: "≤ 5 MB",
    met: grown <= 5,
  },
  {
    figure: "tools/list",
    measured: `${start.listBytes} bytes`,
    details: "with its envelope",
    toReach: "≤ 7,500 bytes",
    met: start.listBytes <= 7_500,
  },
  {
    figure: "the package, unpacked",
    measured: `${(bytes / 1e6).toFixed(2)} MB`,
    details: `${(clipBytes / 1e6).toFixed(2)} MB of it the sandbox's clips`,
    toReach: "≤ 1.8 MB",
    met: bytes <= 1_800_000,
  },
  {
    figure: "packages that npm installs",
    measured: String(packages),
    details: "no install script",
    toReach: "1",
    met: packages === 1,
  },
];

const text = table(
  ["figure", "measured", "medians", "to reach", "met"],
  rows.map(({ figure, measured, details, toReach, met }) => [
    figure,
    measured,
    details,
    toReach,
    met ? "yes" : "**no**",
  ]),
);
process.stdout.write(`${text}\n`);
const document = new URL("../../../docs/PERFORMANCE.md", import.meta.url);
const date = new Date().toISOString().slice(0, 10);
const machine = `Node.js ${process.versions.node}, ${system()}, ${cpus().length} cores, ${date}`;
await writeFile(
  document,
  withPart(await readFile(document, "utf8"), "bench", `Measured on ${machine}:\n\n${text}`),
);
process.exitCode = rows.every(({ met }) => met) ? 0 : 1;
