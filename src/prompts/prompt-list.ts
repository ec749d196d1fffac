// What prompts/list shows. The build replaces this file with the finished JSON, so that the list loads no prompt.

import { PROMPTS } from "./catalog.ts";

/** In the order in which every client sees them. */
export const PROMPT_LIST = PROMPTS.map(({ name, title, description, arguments: args }) => ({
  name,
  title,
  description,
  arguments: Object.entries(args).map(([argument, { description: about, required = false }]) => ({
    name: argument,
    description: about,
    required,
  })),
}));
