// What one call costs when a service that means harm answers it.

import { type Cost, costOf, HOSTILE, isAsTold } from "../../fixtures/hostile-answers.ts";

const MAX_PROCESSOR_MS = 1_000;
const MAX_PEAK_MB = 200;

export async function answers() {
  const costs: (Cost & { readonly name: string; readonly met: boolean })[] = [];
  for (const [name, hostile] of Object.entries(HOSTILE)) {
    const cost = await costOf(hostile);
    const { processorMs, peakMb, text } = cost;
    const met = processorMs <= MAX_PROCESSOR_MS && peakMb <= MAX_PEAK_MB && isAsTold(hostile, text);
    if (!met) process.stderr.write(`${name}: ${processorMs} ms, +${peakMb} MB, ${text.slice(0, 200)}\n`);
    costs.push({ ...cost, name, met });
  }
  const slowest = costs.toSorted((one, other) => other.processorMs - one.processorMs)[0];
  const largest = costs.toSorted((one, other) => other.peakMb - one.peakMb)[0];
  return [
    {
      test: "hostile answers, one call each",
      promised: `at most ${MAX_PROCESSOR_MS} ms of the processor and ${MAX_PEAK_MB} MB, and the caller is told`,
      measured: `${costs.length} answers, the slowest ${slowest?.processorMs} ms (${slowest?.name}), the largest +${Math.round(largest?.peakMb ?? 0)} MB (${largest?.name})`,
      met: costs.every(({ met }) => met),
    },
  ];
}
