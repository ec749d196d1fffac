// Registers the prompts with the SDK. Listing them needs the catalog only; a prompt is loaded when a client
// first gets it or completes one of its arguments.

import { completable, type McpServer, type StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import * as z from "zod";
import { lazy } from "../lazy.ts";
import { type CatalogPrompt, PROMPTS } from "../prompts/catalog.ts";
import type { Prompt, WrittenPrompt } from "../prompts/prompt.ts";
import type { Application } from "./application.ts";

const SUGGESTED_JOBS = 20;

/** All of them lead to a new video, which a server that only reads can't start. */
export function registerPrompts(server: McpServer, application: Application): void {
  if (application.config.readOnly) return;
  const recentJobIds = async () => {
    await application.recallJobs();
    return application.jobs.recent(SUGGESTED_JOBS).map(({ jobId }) => jobId);
  };
  for (const listed of PROMPTS) {
    const { name, title, description } = listed;
    const load = lazy(() => listed.load(application.canPublish));
    const argsSchema = lazySchema(listed, load, recentJobIds);
    server.registerPrompt(name, { title, description, argsSchema }, (written) => ({
      description: written.description,
      messages: [{ role: "user", content: { type: "text", text: written.text } }],
    }));
  }
}

/** Lists the arguments from the catalog. Validation, which makes the text, and completion load the prompt. */
function lazySchema(
  listed: CatalogPrompt,
  load: () => Promise<Prompt>,
  recentJobIds: () => Promise<readonly string[]>,
): StandardSchemaWithJSON<unknown, WrittenPrompt> {
  const names = Object.keys(listed.arguments);
  const json = {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(listed.arguments).map(([name, { description }]) => [
        name,
        { type: "string", description },
      ]),
    ),
    required: names.filter((name) => listed.arguments[name]?.required === true),
  };
  // A variable, because the type of a schema has no `shape`.
  const schema = {
    "~standard": {
      version: 1 as const,
      vendor: "faceless-video-mcp",
      validate: async (value: unknown) => (await load()).schema["~standard"].validate(value),
      jsonSchema: { input: () => json, output: () => json },
    },
    // The SDK looks here for completable arguments. It uses only their completion, not the schemas.
    shape: Object.fromEntries(
      names.map((name) => [
        name,
        completable(z.string(), async (typed) => [
          ...((await (await load()).completions[name]?.(typed, recentJobIds)) ?? []),
        ]),
      ]),
    ),
  };
  return schema;
}
