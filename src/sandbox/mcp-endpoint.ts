// /api/mcp: the service's own MCP tools in both protocol versions, on the account of the REST endpoints.
// Loaded by the first request to it, because the SDK is most of the sandbox's weight.

import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Account } from "./account.ts";
import type { RouteRequest } from "./app.ts";
import type { Reply } from "./reply.ts";
import { readBody } from "./request-body.ts";
import {
  generateRequestSchema,
  publishRequestSchema,
  statusRequestSchema,
  videosRequestSchema,
} from "./request-schemas.ts";
import { envelope, ServiceError } from "./service-error.ts";

export interface McpEndpoint {
  answer(request: RouteRequest): Promise<Reply>;
  close(): Promise<void>;
}

export function createMcpEndpoint(account: Account): McpEndpoint {
  const handler = createMcpHandler(() => createToolServer(account));
  return {
    async answer({ incoming, url, signal }) {
      const body = await readBody(incoming);
      const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as const);
      const init = { method: incoming.method ?? "GET", headers: Object.fromEntries(headers), signal };
      const response = await handler.fetch(new Request(url, { ...init, ...(body.length > 0 && { body }) }));
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        ...(response.body !== null && { body: response.body }),
      };
    },
    close: () => handler.close(),
  };
}

function createToolServer(account: Account): McpServer {
  const server = new McpServer({ name: "faceless-video-sandbox", version: "1.0.0" });
  server.registerTool(
    "generate_video",
    { description: "Start a video; costs one credit.", inputSchema: generateRequestSchema },
    (input) => result(() => account.generate(input)),
  );
  server.registerTool(
    "get_video_status",
    { description: "The status and clips of a job.", inputSchema: statusRequestSchema },
    ({ jobId }) => result(() => account.status(jobId)),
  );
  server.registerTool(
    "publish_video",
    { description: "Publish a completed video to connected platforms.", inputSchema: publishRequestSchema },
    (input) => result(() => account.publish(input)),
  );
  server.registerTool(
    "list_videos",
    { description: "The account's videos, newest first.", inputSchema: videosRequestSchema },
    (input) => result(() => account.videos(input)),
  );
  server.registerTool(
    "list_connected_platforms",
    { description: "The platforms that the account can publish to.", inputSchema: z.object({}) },
    () => result(() => account.platforms()),
  );
  return server;
}

function result(operate: () => object): CallToolResult {
  try {
    const value = operate();
    return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: { ...value } };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return {
      isError: true,
      content: [{ type: "text", text: `${error.code}: ${error.message}` }],
      structuredContent: { ...envelope(error) },
    };
  }
}
