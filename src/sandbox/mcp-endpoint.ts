// /api/mcp: the service's own MCP tools in both protocol versions, on the account of the REST endpoints.
// Loaded by the first request to it, because the SDK is most of the sandbox's weight.

import {
  type CallToolResult,
  createMcpHandler,
  McpServer,
  type StandardSchemaWithJSON,
} from "@modelcontextprotocol/server";
import type { Account } from "./account.ts";
import type { RouteRequest } from "./app.ts";
import { readBody } from "./http-message.ts";
import { OPERATION_SCHEMAS } from "./operation-schemas.ts";
import { type Operation, OPERATIONS } from "./operations.ts";
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

function createToolServer(account: Account): McpServer {
  const server = new McpServer({ name: "faceless-video-sandbox", version: "1.0.0" });
  for (const { name, summary, input, run } of OPERATIONS)
    server.registerTool(name, { description: `${summary}.`, inputSchema: withJson(input, name) }, (given) =>
      result(() => run(account, given)),
    );
  return server;
}

/** The schema as the SDK takes it. The built zod makes no JSON Schema. */
function withJson(
  { "~standard": { validate } }: Operation["input"],
  name: string,
): StandardSchemaWithJSON<unknown, Record<string, unknown>> {
  const jsonSchema = () => ({ ...OPERATION_SCHEMAS[name] });
  return {
    "~standard": {
      version: 1,
      vendor: "zod",
      validate,
      jsonSchema: { input: jsonSchema, output: jsonSchema },
    },
  };
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
      structuredContent: error.envelope(),
    };
  }
}
