// Explores every order of events of a scenario, the shortest runs first, and recognises states that it has seen.

import { createHash } from "node:crypto";
import { type Bounds, type Scenario, World } from "./world.ts";

export interface Exploration {
  readonly states: number;
  /** Whether these are all. */
  readonly isWhole: boolean;
  /** The shortest run that breaks the law. */
  readonly counterexample: { readonly law: string; readonly steps: readonly string[] } | undefined;
}

/** Ends early once `mayGoOn` says no. */
export async function explore(
  scenario: Scenario,
  bounds: Bounds,
  mayGoOn: () => boolean = () => true,
): Promise<Exploration> {
  const seen = new Set<string>();
  let runs: (readonly number[])[] = [[]];
  while (runs.length > 0) {
    const longer: (readonly number[])[] = [];
    for (const run of runs) {
      if (!mayGoOn()) return { states: seen.size, isWhole: false, counterexample: undefined };
      const { world, steps, choices } = await replay(scenario, bounds, run);
      if (choices === 0) await world.checkEnd(scenario);
      if (world.violation !== undefined)
        return { states: seen.size, isWhole: false, counterexample: { law: world.violation, steps } };
      // A digest: the keys of a million states would not fit into memory.
      const key = createHash("sha256").update(world.key()).digest("base64");
      if (seen.has(key)) continue;
      seen.add(key);
      for (let choice = 0; choice < choices; choice += 1) longer.push([...run, choice]);
    }
    runs = longer;
  }
  return { states: seen.size, isWhole: true, counterexample: undefined };
}

async function replay(scenario: Scenario, bounds: Bounds, run: readonly number[]) {
  const world = new World(scenario, bounds);
  const steps: string[] = [];
  let actions = await world.actions();
  for (const choice of run) {
    const action = actions[choice];
    if (action === undefined) throw new Error(`The run can't be repeated: ${steps.join(", ")}`);
    steps.push(action.label);
    world.apply(action);
    actions = await world.actions();
  }
  return { world, steps, choices: actions.length };
}

/** A counterexample as a list that a person can read. */
export function describeCounterexample({ counterexample }: Exploration): string {
  if (counterexample === undefined) return "none";
  const { law, steps } = counterexample;
  return [...steps.map((step, index) => `${index + 1}. ${step}`), `So: ${law}`].join("\n");
}
