// /api/mcp: node:http on one side, the SDK's web-standard handler (both protocol eras) on the other.
// Loaded on the first request to it, since the SDK is most of the sandbox's weight.
import { createMcpHandler } from "@modelcontextprotocol/server";
import { createToolServer } from "./mcp-tools.ts";
import { readBody } from "./request-body.ts";
import type { Reply } from "./reply.ts";
import type { RouteRequest } from "./routes.ts";
import type { Studio } from "./studio.ts";

export interface McpEndpoint {
  answer(request: RouteRequest): Promise<Reply>;
  close(): Promise<void>;
}

export function createMcpEndpoint(studio: Studio): McpEndpoint {
  const handler = createMcpHandler(() => createToolServer(studio));
  return {
    async answer({ incoming, url, signal }) {
      const body = await readBody(incoming);
      const headers = new Headers();
      for (const [name, value] of Object.entries(incoming.headers)) {
        if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
      }
      const response = await handler.fetch(
        new Request(url, {
          method: incoming.method ?? "GET",
          headers,
          signal,
          ...(body.length > 0 && { body }),
        }),
      );
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        ...(response.body !== null && { body: response.body }),
      };
    },
    close: () => handler.close(),
  };
}
