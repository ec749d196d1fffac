// Lists and writes the prompts.

import { type McpServer, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import * as z from "zod";
import { PROMPTS } from "../prompts/catalog.ts";
import { type Prompt, readArguments } from "../prompts/prompt.ts";
import type { Application } from "./application.ts";
import { canAsk } from "./connected-client.ts";
import { maxWaitSeconds } from "./patience.ts";
import { clientInfo } from "./tools.ts";

/** The SDK's own schema would refuse arguments that aren't texts. */
const getParams = () =>
  z.looseObject({
    name: z.string(),
    arguments: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String))
      .default({}),
  });

/** All prompts lead to a new video, which a read-only server can't start. */
export function registerPrompts(
  { server }: McpServer,
  { config, canPublish, asksBeforeOrders }: Application,
): void {
  if (config.readOnly) return;
  server.registerCapabilities({ prompts: { listChanged: false } });
  server.setRequestHandler("prompts/list", () => ({ prompts: PROMPTS.map(toListing) }));
  server.setRequestHandler(
    "prompts/get",
    { params: getParams() },
    ({ name, arguments: given }, { mcpReq }) => {
      const prompt = findPrompt(name);
      const { values, problems } = readArguments(prompt, given);
      if (problems.length > 0)
        throw invalidParams(`Invalid arguments for prompt ${name}: ${problems.join(", ")}`);
      const { description, text } = prompt.write(values, {
        canPublish,
        asksUser: asksBeforeOrders && canAsk(server, mcpReq),
        sandbox: config.sandbox,
        sandboxSeconds: config.sandboxSeconds,
        // The waits that it names are those of get_video_status.
        maxWaitSeconds: maxWaitSeconds(clientInfo(server, mcpReq), true),
      });
      return { description, messages: [{ role: "user" as const, content: { type: "text" as const, text } }] };
    },
  );
}

function toListing({ name, title, description, arguments: args }: Prompt) {
  const known = Object.entries(args).map(([argument, { description: about, required = false }]) => ({
    name: argument,
    description: about,
    required,
  }));
  return { name, title, description, arguments: known };
}

export function findPrompt(name: string): Prompt {
  const prompt = PROMPTS.find((one) => one.name === name);
  if (prompt === undefined) throw invalidParams(`Prompt ${name} not found`);
  return prompt;
}

function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
