// The parts of a prompt. Knows neither the SDK nor the service's HTTP.

import type * as z from "zod";

export interface WrittenPrompt {
  readonly description: string;
  /** The text of one user message. */
  readonly text: string;
}

/** Suggestions for an argument of which `typed` has been typed so far. */
export type Complete = (typed: string, recentJobIds: () => Promise<readonly string[]>) => Suggestions;
type Suggestions = readonly string[] | Promise<readonly string[]>;

export interface Prompt {
  /** Validates the arguments and writes the prompt. The SDK puts an argument's name before its messages. */
  readonly schema: z.ZodType<WrittenPrompt>;
  /** An argument without an entry gets no suggestions. */
  readonly completions: Readonly<Record<string, Complete>>;
}
