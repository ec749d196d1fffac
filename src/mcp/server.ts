// What a connection is served with. Only wires: serveStdio may call it twice, and all state is the application's.

import { McpServer } from "@modelcontextprotocol/server";
import { WEBSITE } from "../version.ts";
import type { Application } from "./application.ts";
import { registerPrompts } from "./prompts.ts";
import { registerResources } from "./resources.ts";
import type { Subscriptions } from "./subscriptions.ts";
import { registerTools } from "./tools.ts";

// Some clients cut this at 512 characters, so the first of its paragraphs stands alone.
const INSTRUCTIONS = `Makes faceless short videos (clips plus a voiceover) from a text topic. Order of work: write the topic with the person, get their yes, call generate_video once, follow the job with get_video_status for the 2 to 4 minutes that it takes, show the clips, and publish_video only where the person asks for it. generate_video spends credits and publish_video posts publicly: never repeat either to check on it. Errors say whether anything was spent and whether calling again is safe.

The prompt write_video_topic turns a subject into a good topic. faceless://catalog lists styles, music, pacing, voices and limits; faceless://jobs/{jobId} is a job's status. A failed render refunds its credits by itself. list_connected_platforms names the platforms that publish_video takes.`;

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><rect x="11" y="2" width="26" height="44" rx="6" fill="#6d28d9"/><path d="M20 16.5v15l12-7.5z" fill="#fff"/></svg>';

export function createServer(application: Application, subscriptions: Subscriptions): McpServer {
  const server = new McpServer(
    {
      name: "faceless-video-mcp",
      title: "Faceless Video",
      version: application.version,
      description: "Makes faceless short videos from a topic and publishes them.",
      websiteUrl: WEBSITE,
      icons: [
        {
          src: `data:image/svg+xml;base64,${Buffer.from(ICON).toString("base64")}`,
          mimeType: "image/svg+xml",
          sizes: ["any"],
        },
      ],
    },
    {
      instructions: INSTRUCTIONS,
      // A person who is asked may be away from the screen for a while.
      inputRequired: { roundTimeoutMs: 5 * 60_000 },
      capabilities: {
        tools: { listChanged: false },
        prompts: { listChanged: false },
        resources: { subscribe: true, listChanged: true },
      },
    },
  );
  registerTools(server, application);
  registerResources(server, application);
  registerPrompts(server, application);
  subscriptions.attach(server);
  return server;
}
