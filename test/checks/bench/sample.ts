// Measures two things alternately, so that other load affects both, and returns their medians.

export interface Turns<Sample> {
  readonly base: readonly Sample[];
  readonly ours: readonly Sample[];
}

/** The first round does not count. */
export async function inTurns<Sample>(
  rounds: number,
  base: () => Promise<Sample>,
  ours: () => Promise<Sample>,
): Promise<Turns<Sample>> {
  const turns: { base: Sample[]; ours: Sample[] } = { base: [], ours: [] };
  for (let round = 0; round <= rounds; round += 1) {
    const [a, b] = [await base(), await ours()];
    if (round === 0) continue;
    turns.base.push(a);
    turns.ours.push(b);
  }
  return turns;
}

export function compare<Sample>(turns: Turns<Sample>, figure: (sample: Sample) => number) {
  const base = median(turns.base.map(figure));
  const ours = median(turns.ours.map(figure));
  return { base, ours, ratio: ours / base };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
