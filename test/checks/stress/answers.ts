// What a service that means harm can make one call cost, as a table.

import { costOf, HOSTILE, isAsTold } from "../../fixtures/hostile-answers.ts";

const MAX_PROCESSOR_MS = 1_000;
const MAX_PEAK_MB = 200;
const PROMISED = `≤ ${MAX_PROCESSOR_MS} ms, ≤ ${MAX_PEAK_MB} MB`;
const MAX_TEXT = 70;

export async function answers() {
  const rows: { cells: string; met: boolean }[] = [];
  for (const [name, hostile] of Object.entries(HOSTILE)) {
    const { wireBytes, processorMs, peakMb, text } = await costOf(hostile);
    const met = processorMs <= MAX_PROCESSOR_MS && peakMb <= MAX_PEAK_MB && isAsTold(hostile, text);
    const [got = ""] = text.split("\n", 1);
    const shown = got.length <= MAX_TEXT ? got : `${got.slice(0, MAX_TEXT)}…`;
    const cells = [
      name,
      `${(wireBytes / 1000).toFixed(1)} kB`,
      `${processorMs} ms`,
      `+${Math.round(peakMb)} MB`,
      shown.replaceAll("|", String.raw`\|`),
      met ? "yes" : "**no**",
    ];
    process.stderr.write(`${cells.join(" | ")}\n`);
    rows.push({ cells: `| ${cells.join(" | ")} |`, met });
  }
  const head = `| answer | on the wire, gzipped | processor | peak memory | the caller got | ${PROMISED} |`;
  const text = [head, `|${" --- |".repeat(6)}`, ...rows.map(({ cells }) => cells)].join("\n");
  return { text, met: rows.every(({ met }) => met) };
}
