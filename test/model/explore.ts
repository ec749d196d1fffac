// Explores every order of events of a scenario, the shortest runs first, and visits no state twice.

import type { Scenario, State } from "./types.ts";
import { type Violation, World } from "./world.ts";

export interface Exploration {
  readonly states: number;
  /** The shortest run that breaks the law. */
  readonly counterexample: Violation | undefined;
}

interface Run {
  readonly label: string;
  readonly before: Run | undefined;
}

/** `faults`: how many crashes, lost answers, clock jumps and other faults a run may have. */
export async function explore(scenario: Scenario, faults: number): Promise<Exploration> {
  const world = new World(scenario);
  const start = await world.start(faults);
  const seen = new Set([world.keyOf(start)]);
  let layer: { readonly state: State; readonly run: Run | undefined }[] = [{ state: start, run: undefined }];
  while (layer.length > 0) {
    const longer: typeof layer = [];
    for (const { state, run } of layer) {
      const law = state.violation;
      const actions = world.actions(state);
      const atEnd = actions.length === 0 ? await world.violationAtEnd(state) : undefined;
      const broken = law === undefined ? atEnd : { law, steps: [] };
      if (broken !== undefined) {
        const counterexample = { law: broken.law, steps: [...stepsOf(run), ...broken.steps] };
        return { states: seen.size, counterexample };
      }
      for (const { label, apply } of actions) {
        const next = await apply();
        const key = world.keyOf(next);
        if (seen.has(key)) continue;
        seen.add(key);
        longer.push({ state: next, run: { label, before: run } });
      }
    }
    layer = longer;
  }
  return { states: seen.size, counterexample: undefined };
}

function stepsOf(run: Run | undefined): string[] {
  return run === undefined ? [] : [...stepsOf(run.before), run.label];
}

/** A counterexample as a readable list. */
export function describeCounterexample({ counterexample }: Exploration): string {
  if (counterexample === undefined) return "none";
  const { law, steps } = counterexample;
  return [...steps.map((step, index) => `${index + 1}. ${step}`), `So: ${law}`].join("\n");
}
