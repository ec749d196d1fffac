// The least that a server of the same SDK can be over stdio: its one tool returns a constant.

import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const { ANSWER = "{}" } = process.env;
const result = JSON.parse(ANSWER);
serveStdio(() => {
  const server = new McpServer({ name: "echo", version: "1.0.0" });
  server.registerTool("get_video_status", {}, () => result);
  return server;
});
