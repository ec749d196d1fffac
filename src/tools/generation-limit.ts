// The most generations that this process may start: a limit of the operator's that no model can lift.

import { BridgeError } from "../errors.ts";

export interface GenerationLimit {
  /** Runs a generation if one more is allowed. It counts unless it is certain that no video was started. */
  count<Result>(generate: () => Promise<Result>): Promise<Result>;
}

/** `max` undefined: no limit. */
export function createGenerationLimit(max: number | undefined): GenerationLimit {
  let started = 0;
  return {
    async count(generate) {
      if (max !== undefined && started >= max) throw limitError(max);
      started += 1;
      try {
        return await generate();
      } catch (error) {
        if (error instanceof BridgeError && error.facts.outcome !== "unknown") started -= 1;
        throw error;
      }
    },
  };
}

function limitError(max: number): BridgeError {
  return new BridgeError({
    code: "limit_reached",
    message: `This server may start ${max === 0 ? "no videos" : max === 1 ? "one video" : `${max} videos`}, and that limit is reached.`,
    nextStep:
      "Tell the person: only they can raise FACELESS_MAX_GENERATIONS in this server's settings and restart it.",
    outcome: "not_sent",
    retryable: false,
  });
}
