// MCP endpoints as a service may have them, made with the real SDKs of both protocol versions, with one tool:
// list_connected_platforms. Each is a handler for a scripted service's "POST /api/mcp".

import { McpServer as OldServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { type CallToolResult, createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { randomUUID } from "node:crypto";
import { onTestFinished } from "vitest";
import * as z from "zod";
import type { Handler } from "../fixtures/scripted-service.ts";

const TOOL = "list_connected_platforms";
const INFO = { name: "service", version: "1.0.0" };
const DESCRIPTION = { description: "The connected platforms." };

/** What the tool answers with. Throwing makes it a tool error. */
export type Answer = () => CallToolResult | Promise<CallToolResult>;

/** 2025-11-25 and before. */
export function legacyEndpoint(answer: Answer, { stateful = false, json = false } = {}): Handler {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const open = async () => {
    const transport = new StreamableHTTPServerTransport({
      ...(stateful && { sessionIdGenerator: () => randomUUID() }),
      ...(stateful && { onsessioninitialized: (id: string) => void transports.set(id, transport) }),
      enableJsonResponse: json,
    });
    const server = new OldServer(INFO);
    server.registerTool(TOOL, DESCRIPTION, async () => oldResult(await answer()));
    await server.connect(transport);
    onTestFinished(() => server.close());
    return transport;
  };
  return async (request, { incoming, outgoing }) => {
    const session = request.headers["mcp-session-id"];
    const known = typeof session === "string" ? transports.get(session) : undefined;
    const transport = known ?? (await open());
    await transport.handleRequest(incoming, outgoing, request.json);
  };
}

/** The same result for the other SDK's types, which know fewer fields. */
function oldResult({ content, structuredContent, isError }: CallToolResult) {
  const texts = content.flatMap((block) =>
    block.type === "text" ? [{ type: "text" as const, text: block.text }] : [],
  );
  return {
    content: texts,
    ...(structuredContent !== undefined && {
      structuredContent: z.record(z.string(), z.unknown()).parse(structuredContent),
    }),
    ...(isError === true && { isError }),
  };
}

/** 2026-07-28, and the legacy protocols unless `strict`. */
export function modernEndpoint(answer: Answer, { strict = false, sse = false } = {}): Handler {
  const handler = createMcpHandler(
    () => {
      const server = new McpServer(INFO);
      server.registerTool(TOOL, { ...DESCRIPTION, inputSchema: z.object({}) }, answer);
      return server;
    },
    { ...(strict && { legacy: "reject" as const }), ...(sse && { responseMode: "sse" as const }) },
  );
  onTestFinished(() => handler.close());
  return ({ body, headers }, { incoming }) => {
    const url = `http://${headers.host ?? ""}${incoming.url ?? ""}`;
    const list = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
    return handler.fetch(new Request(url, { method: "POST", headers: list, body }));
  };
}
