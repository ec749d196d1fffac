// How many generations this process may start: a limit that the operator sets and no tool call can raise.

import { BridgeError } from "../errors.ts";

export class GenerationLimit {
  /** Undefined: no limit. */
  readonly #max: number | undefined;
  /** Generations that were started, may have been started, or are under way. */
  #started = 0;

  constructor(max: number | undefined) {
    this.#max = max;
  }

  /**
   * Runs a generation if the limit allows one more. It counts unless it is certain that no video was started: by its error, or because it
   * resolved with undefined.
   */
  async count<Result>(generate: () => Promise<Result | undefined>): Promise<Result | undefined> {
    if (this.#max !== undefined && this.#started >= this.#max) throw limitError(this.#max);
    this.#started += 1;
    try {
      const result = await generate();
      if (result === undefined) this.#started -= 1;
      return result;
    } catch (error) {
      if (error instanceof BridgeError && error.facts.outcome !== "unknown") this.#started -= 1;
      throw error;
    }
  }
}

function limitError(max: number): BridgeError {
  return new BridgeError({
    code: "limit_reached",
    message:
      max === 0
        ? "This server is set to start no videos."
        : `This server has reached its limit of ${max} ${max === 1 ? "video" : "videos"}.`,
    nextStep:
      "Tell the user: only they can raise FACELESS_MAX_GENERATIONS in this server's settings and restart the server.",
    outcome: "not_sent",
    retryable: false,
  });
}
