// Completes the arguments of prompts and the ids of jobs.

import type { McpServer } from "@modelcontextprotocol/server";
import { JOB_ID, JOB_URI_TEMPLATE } from "../service/job.ts";
import { findByWords } from "../service/spoken-words.ts";
import type { Application } from "./application.ts";
import { findPrompt } from "./prompts.ts";

/** The protocol's limit. */
const MAX_VALUES = 100;
/** Clients complete with every keystroke. */
const FRESH_MS = 10_000;

export function registerCompletions({ server }: McpServer, application: Application): void {
  const { config, jobs, reader } = application;
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
    const { length } = values;
    return {
      completion: { values: values.slice(0, MAX_VALUES), total: length, hasMore: length > MAX_VALUES },
    };
  });
}
