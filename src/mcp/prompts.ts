// Writes the prompts, and completes their arguments and the ids of jobs.

import type { McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import { PROMPTS } from "../prompts/catalog.ts";
import { type Prompt, readArguments } from "../prompts/prompt.ts";
import { JOB_ID, JOB_URI_TEMPLATE } from "../service/job.ts";
import { findByWords } from "../service/spoken-words.ts";
import type { Application } from "./application.ts";
import type { ConnectedClient } from "./connected-client.ts";
import { invalidParams } from "./results.ts";

/** The protocol's limit of suggestions. */
const MAX_VALUES = 100;
/** Clients complete with every keystroke. */
const FRESH_MS = 10_000;

export function registerPrompts(
  { server }: McpServer,
  { config, jobs, reader }: Application,
  client: ConnectedClient,
): void {
  const recentVideos = () =>
    jobs
      .recent(MAX_VALUES)
      .filter(({ jobId }) => JOB_ID.test(jobId))
      .map(({ jobId, order }) => ({
        jobId,
        ...(order !== undefined && { topic: String(order.arguments["topic"]) }),
      }));
  server.setRequestHandler("completion/complete", async ({ params: { ref, argument } }) => {
    let values: readonly string[] = [];
    if (ref.type === "ref/prompt" && !config.readOnly)
      values = findPrompt(ref.name).arguments[argument.name]?.suggest?.(argument.value, recentVideos) ?? [];
    else if (ref.type === "ref/resource" && ref.uri === JOB_URI_TEMPLATE) {
      await reader.refreshFromList(FRESH_MS);
      values = findByWords(argument.value, recentVideos()).map(({ jobId }) => jobId);
    }
    const { length: total } = values;
    return { completion: { values: values.slice(0, MAX_VALUES), total, hasMore: total > MAX_VALUES } };
  });
  // All prompts lead to a new video, which a read-only server can't start.
  if (config.readOnly) return;
  // The SDK's own schema would refuse arguments that aren't texts.
  const text = z.union([z.string(), z.number(), z.boolean()]).transform(String);
  const params = z.looseObject({ name: z.string(), arguments: z.record(z.string(), text).default({}) });
  server.setRequestHandler("prompts/get", { params }, ({ name, arguments: given }, { mcpReq }) => {
    const prompt = findPrompt(name);
    const { values, problems } = readArguments(prompt, given);
    if (problems.length > 0)
      throw invalidParams(`Invalid arguments for prompt ${name}: ${problems.join(", ")}`);
    const { description, text: words } = prompt.write(values, {
      ...config,
      asksUser: config.confirmGenerate !== "off" && client.canAsk(mcpReq),
      // The waits that it names are those of get_video_status.
      maxWaitSeconds: client.maxWaitSeconds(mcpReq, true),
    });
    const content = { type: "text" as const, text: words };
    return { description, messages: [{ role: "user" as const, content }] };
  });
}

function findPrompt(name: string): Prompt {
  const prompt = PROMPTS.find((one) => one.name === name);
  if (prompt === undefined) throw invalidParams(`Prompt ${name} not found`);
  return prompt;
}
