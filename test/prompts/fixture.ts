// Prompts as a client gets them, without the protocol.

import { PROMPTS } from "../../src/prompts/catalog.ts";
import { type Prompt, readArguments } from "../../src/prompts/prompt.ts";

export type PromptArguments = Readonly<Record<string, string>>;

/** The least that each prompt takes. */
export const REQUIRED: Readonly<Record<string, PromptArguments>> = {
  write_video_topic: { subject: "Tides" },
  plan_series: { theme: "Tides" },
  localize_video: { video: "The sea breathes twice a day. [waves]", language: "German" },
  review_video: {},
};

export function findPrompt(name: string): Prompt {
  const found = PROMPTS.find((prompt) => prompt.name === name);
  if (found === undefined) throw new Error(`There is no prompt ${name}.`);
  return found;
}

export function write(name: string, args: PromptArguments = {}): ReturnType<Prompt["write"]> {
  const read = readArguments(findPrompt(name), { ...REQUIRED[name], ...args });
  if ("issues" in read) throw new Error(JSON.stringify(read.issues));
  return findPrompt(name).write(read.value, true);
}

export function textOf(name: string, args: PromptArguments = {}): string {
  return write(name, args).text;
}

/** Why arguments are refused: the argument's name and the message of each problem. */
export function refusal(name: string, args: PromptArguments): string | undefined {
  const { issues } = readArguments(findPrompt(name), args);
  return issues?.map(({ path, message }) => `${path.join(".")} ${message}`).join("; ");
}

/** The arguments of generate_video that a prompt ends with. */
export function callIn(prompt: string): unknown {
  const [, json = ""] = /```json\n([^`]+)```/.exec(prompt) ?? [];
  return JSON.parse(json);
}
