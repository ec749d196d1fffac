// /api/mcp: the service's own MCP tools in both protocol versions, on the account of the REST endpoints.
// Loaded by the first request to it, because the SDK is most of the sandbox's weight.

import {
  type CallToolRequest,
  type CallToolResult,
  createMcpHandler,
  Server,
} from "@modelcontextprotocol/server";
import type { Account } from "./account.ts";
import { readBody, type RouteRequest } from "./app.ts";
import { OPERATION_SCHEMAS } from "./operation-schemas.ts";
import { carryOut, OPERATIONS } from "./operations.ts";
import { ServiceError } from "./service-error.ts";

export type McpEndpoint = ReturnType<typeof createMcpEndpoint>;

export function createMcpEndpoint(account: Account) {
  const handler = createMcpHandler(() => createToolServer(account));
  return {
    async answer({ incoming, url, signal }: RouteRequest): Promise<Response> {
      const body = await readBody(incoming);
      const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]);
      const init = { method: incoming.method ?? "GET", headers, signal, ...(body.length > 0 && { body }) };
      return handler.fetch(new Request(url, init));
    },
    close: () => handler.close(),
  };
}

function createToolServer(account: Account): Server {
  const about = { name: "faceless-video-sandbox", version: "1.0.0" };
  const server = new Server(about, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({
    tools: OPERATIONS.map(({ name, summary }) => {
      const schema: Record<string, unknown> = { ...OPERATION_SCHEMAS[name] };
      return { name, description: `${summary}.`, inputSchema: { ...schema, type: "object" as const } };
    }),
  }));
  server.setRequestHandler("tools/call", ({ params }) => callTool(account, params));
  return server;
}

function callTool(account: Account, call: CallToolRequest["params"]): CallToolResult {
  try {
    const operation = OPERATIONS.find(({ name }) => name === call.name);
    if (operation === undefined) throw new ServiceError(404, "not_found", "No such tool.");
    const value = carryOut(operation, account, call.arguments ?? {});
    return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: { ...value } };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return {
      isError: true,
      content: [{ type: "text", text: `${error.code}: ${error.message}` }],
      structuredContent: error.envelope(),
    };
  }
}
