// Measures several things in turns, so that other load affects them all, and compares their medians.

/** The samples of each contender, in the order of their turns. The first round does not count. */
export async function inTurns<Sample>(
  rounds: number,
  contenders: readonly (() => Promise<Sample>)[],
): Promise<Sample[][]> {
  const samples = contenders.map((): Sample[] => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, measure] of contenders.entries()) {
      const sample = await measure();
      if (round > 0) samples[index]?.push(sample);
    }
  }
  return samples;
}

/** The medians of a figure, and of its ratios in each round the median and the two quartiles around it. */
export interface Comparison {
  readonly base: number;
  readonly ours: number;
  readonly ratio: number;
  readonly spread: readonly [low: number, high: number];
}

export function compare<Sample>(
  base: readonly Sample[],
  ours: readonly Sample[],
  figure: (sample: Sample) => number,
): Comparison {
  const ratios = base.flatMap((sample, round) => {
    const other = ours[round];
    return other === undefined ? [] : [figure(other) / figure(sample)];
  });
  return {
    base: median(base.map(figure)),
    ours: median(ours.map(figure)),
    ratio: median(ratios),
    spread: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
  };
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
}
