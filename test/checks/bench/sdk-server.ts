// The least that a server of the SDK can be: get_video_status sends the request and returns what came.

import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { Agent, request } from "undici";
import * as z from "zod";

const { FACELESS_BASE_URL: baseUrl, FACELESS_API_KEY: key } = process.env;
const dispatcher = new Agent();
const headers = { authorization: `Bearer ${key}` };

serveStdio(() => {
  const server = new McpServer({ name: "least", version: "1.0.0" });
  const inputSchema = z.object({ jobId: z.string() });
  const outputSchema = z.looseObject({ status: z.string() });
  server.registerTool("get_video_status", { inputSchema, outputSchema }, async ({ jobId }) => {
    const { body } = await request(`${baseUrl}/api/v1/status/${jobId}`, { dispatcher, headers });
    const structuredContent = outputSchema.parse(await body.json());
    return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
  });
  return server;
});
