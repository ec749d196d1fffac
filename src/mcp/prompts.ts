// Registers the prompts with the SDK.

import { completable, type McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import { PROMPTS } from "../prompts/catalog.ts";
import { type Prompt, readArguments } from "../prompts/prompt.ts";
import type { Application } from "./application.ts";
import { schemaFrom } from "./tools.ts";

const SUGGESTED_JOBS = 20;

/** All of them lead to a new video, which a server that only reads can't start. */
export function registerPrompts(server: McpServer, application: Application): void {
  if (application.config.readOnly) return;
  const recentJobIds = () => application.jobs.recent(SUGGESTED_JOBS).map(({ jobId }) => jobId);
  for (const prompt of PROMPTS) {
    const { name, title, description } = prompt;
    server.registerPrompt(
      name,
      { title, description, argsSchema: schemaOf(prompt, recentJobIds) },
      (values) => {
        const written = prompt.write(values, application.canPublish);
        return {
          description: written.description,
          messages: [{ role: "user", content: { type: "text", text: written.text } }],
        };
      },
    );
  }
}

/** The SDK has checked that they are texts. */
const argumentsSchema = () => z.record(z.string(), z.string()).default({});

function schemaOf(prompt: Prompt, recentJobIds: () => readonly string[]) {
  const args = Object.entries(prompt.arguments);
  const json = {
    type: "object",
    properties: Object.fromEntries(
      args.map(([name, { description }]) => [name, { type: "string", description }]),
    ),
    required: args.filter(([, { required }]) => required).map(([name]) => name),
  };
  // The SDK looks here for completable arguments. It uses only their completion, not the schemas.
  const shape = Object.fromEntries(
    args.map(([name, { suggest }]) => [
      name,
      completable(z.string(), (typed) => [...(suggest?.(typed, recentJobIds) ?? [])]),
    ]),
  );
  return { ...schemaFrom(json, (given) => readArguments(prompt, argumentsSchema().parse(given))), shape };
}
