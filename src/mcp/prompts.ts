// Writes the prompts.

import type { McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import { PROMPTS } from "../prompts/catalog.ts";
import { type Prompt, readArguments } from "../prompts/prompt.ts";
import type { Application } from "./application.ts";
import { canAsk, clientInfo, maxWaitSeconds } from "./connected-client.ts";
import { invalidParams } from "./results.ts";

/** The SDK's own schema would refuse arguments that aren't texts. */
const getParams = () =>
  z.looseObject({
    name: z.string(),
    arguments: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String))
      .default({}),
  });

/** All prompts lead to a new video, which a read-only server can't start. */
export function registerPrompts({ server }: McpServer, { config }: Application): void {
  if (config.readOnly) return;
  server.setRequestHandler(
    "prompts/get",
    { params: getParams() },
    ({ name, arguments: given }, { mcpReq }) => {
      const prompt = findPrompt(name);
      const { values, problems } = readArguments(prompt, given);
      if (problems.length > 0)
        throw invalidParams(`Invalid arguments for prompt ${name}: ${problems.join(", ")}`);
      const { description, text } = prompt.write(values, {
        ...config,
        asksUser: config.confirmGenerate !== "off" && canAsk(server, mcpReq),
        // The waits that it names are those of get_video_status.
        maxWaitSeconds: maxWaitSeconds(clientInfo(server, mcpReq), true),
      });
      return { description, messages: [{ role: "user" as const, content: { type: "text" as const, text } }] };
    },
  );
}

export function findPrompt(name: string): Prompt {
  const prompt = PROMPTS.find((one) => one.name === name);
  if (prompt === undefined) throw invalidParams(`Prompt ${name} not found`);
  return prompt;
}
