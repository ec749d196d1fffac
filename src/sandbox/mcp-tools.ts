// The service's own MCP tools, on the same studio as the REST endpoints. Knows nothing of HTTP.
import { McpServer } from "@modelcontextprotocol/server";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { z } from "zod";
import {
  generateRequestSchema,
  publishRequestSchema,
  statusRequestSchema,
  videosRequestSchema,
} from "./schemas.ts";
import { envelope, ServiceError } from "./service-error.ts";
import type { Studio } from "./studio.ts";

export function createToolServer(studio: Studio): McpServer {
  const server = new McpServer({ name: "faceless-video-sandbox", version: "1.0.0" });
  server.registerTool(
    "generate_video",
    { description: "Start the generation of a video; costs one credit.", inputSchema: generateRequestSchema },
    (input) => result(() => studio.generate(input)),
  );
  server.registerTool(
    "get_video_status",
    {
      description: "How far a job has come.",
      inputSchema: statusRequestSchema,
      annotations: { readOnlyHint: true },
    },
    ({ jobId }) => result(() => studio.status(jobId)),
  );
  server.registerTool(
    "publish_video",
    { description: "Publish a completed video to connected platforms.", inputSchema: publishRequestSchema },
    (input) => result(() => studio.publish(input)),
  );
  server.registerTool(
    "list_videos",
    {
      description: "The account's videos, newest first.",
      inputSchema: videosRequestSchema,
      annotations: { readOnlyHint: true },
    },
    (input) => result(() => studio.videos(input)),
  );
  server.registerTool(
    "list_connected_platforms",
    {
      description: "The platforms that the account can publish to.",
      inputSchema: z.object({}),
      annotations: { readOnlyHint: true },
    },
    () => result(() => studio.platforms()),
  );
  return server;
}

function result(operate: () => object): CallToolResult {
  try {
    const value = operate();
    return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: { ...value } };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const refusal = envelope(error);
    return {
      isError: true,
      content: [{ type: "text", text: `${error.code}: ${error.message}` }],
      structuredContent: { ...refusal },
    };
  }
}
