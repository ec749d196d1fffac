// Prompts as a client gets them, without the protocol.

import { PROMPTS } from "../../src/prompts/catalog.ts";
import type { Prompt, WrittenPrompt } from "../../src/prompts/prompt.ts";

export type PromptArguments = Readonly<Record<string, string>>;

/** The least that each prompt takes. */
export const REQUIRED: Readonly<Record<string, PromptArguments>> = {
  write_video_topic: { subject: "Tides" },
  plan_series: { theme: "Tides" },
  localize_video: { video: "The sea breathes twice a day. [waves]", language: "German" },
  review_video: {},
};

export async function loadPrompt(name: string): Promise<Prompt> {
  const listed = PROMPTS.find((prompt) => prompt.name === name);
  if (listed === undefined) throw new Error(`There is no prompt ${name}.`);
  return listed.load(true);
}

export async function write(name: string, args: PromptArguments = {}): Promise<WrittenPrompt> {
  return (await loadPrompt(name)).schema.parse({ ...REQUIRED[name], ...args });
}

export async function textOf(name: string, args: PromptArguments = {}): Promise<string> {
  return (await write(name, args)).text;
}

/** Why arguments are refused: the argument's name and the message of each problem. */
export async function refusal(name: string, args: PromptArguments): Promise<string | undefined> {
  const { error } = (await loadPrompt(name)).schema.safeParse(args);
  return error?.issues.map(({ path, message }) => `${path.join(".")} ${message}`).join("; ");
}

/** The arguments of generate_video that a prompt ends with. */
export function callIn(prompt: string): unknown {
  const [, json = ""] = /```json\n([^`]+)```/.exec(prompt) ?? [];
  return JSON.parse(json);
}
