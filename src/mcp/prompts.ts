// Registers the prompts with the SDK.

import { completable, type McpServer, type StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import * as z from "zod";
import { JOB_ID } from "../service/job.ts";
import { PROMPTS } from "../prompts/catalog.ts";
import { type KnownVideo, type Prompt, readArguments } from "../prompts/prompt.ts";
import type { Application } from "./application.ts";
import { recentVideos } from "./resources.ts";
import type { Hook } from "./transport.ts";
import { valueAt } from "./value-at.ts";

/** Hooks for the transport. The SDK refuses arguments that aren't texts before a prompt sees them. */
export const promptHooks: Readonly<Record<string, Hook>> = {
  "prompts/get": {
    inbound(message) {
      const given = valueAt(message, "params", "arguments");
      if (!("method" in message) || typeof given !== "object" || given === null) return;
      const args = Object.entries(given).map(([name, value]: [string, unknown]) => [
        name,
        typeof value === "number" || typeof value === "boolean" ? String(value) : value,
      ]);
      return { ...message, params: { ...message.params, arguments: Object.fromEntries(args) } };
    },
  },
};

/** All of them lead to a new video, which a server that only reads can't start. */
export function registerPrompts(server: McpServer, application: Application): void {
  if (application.config.readOnly) return;
  const suggestedVideos = () => recentVideos(application).filter(({ jobId }) => JOB_ID.test(jobId));
  for (const prompt of PROMPTS) {
    const { name, title, description } = prompt;
    server.registerPrompt(
      name,
      { title, description, argsSchema: schemaOf(prompt, suggestedVideos) },
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

function schemaOf(prompt: Prompt, recentVideos: () => readonly KnownVideo[]) {
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
      completable(z.string(), (typed) => [...(suggest?.(typed, recentVideos) ?? [])]),
    ]),
  );
  const schema: StandardSchemaWithJSON<unknown, Parameters<Prompt["write"]>[0]> = {
    "~standard": {
      version: 1,
      vendor: "faceless-video-mcp",
      validate: (given) => readArguments(prompt, argumentsSchema().parse(given)),
      jsonSchema: { input: () => json, output: () => json },
    },
  };
  return { ...schema, shape };
}
