// Makes the server of a connection. Only wires: serveStdio may call it twice; the application has all state.

import { McpServer, type ProtocolEra } from "@modelcontextprotocol/server";
import { RENDER_TIME } from "../service/options.ts";
import { VERSION, WEBSITE } from "../version.ts";
import type { Application } from "./application.ts";
import { registerCard } from "./card/card.ts";
import { registerPrompts } from "./prompts.ts";
import { registerResources } from "./resources.ts";
import type { Subscriptions } from "./subscriptions.ts";
import type { Tasks } from "./tasks/tasks.ts";
import { registerTools } from "./tools.ts";

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><rect x="11" y="2" width="26" height="44" rx="6" fill="#6d28d9"/><path d="M20 16.5v15l12-7.5z" fill="#fff"/></svg>';

export function createServer(
  application: Application,
  era: ProtocolEra,
  subscriptions: Subscriptions,
  tasks: Tasks,
): McpServer {
  const server = new McpServer(
    {
      name: "faceless-video-mcp",
      title: "Faceless Video",
      version: VERSION,
      description: `Makes faceless short videos from a topic${application.canPublish ? " and publishes them" : ""}.`,
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
      instructions: instructionsFor(application),
      // The user may be away from the screen for a while.
      inputRequired: { roundTimeoutMs: 5 * 60_000 },
      capabilities: {
        tools: { listChanged: false },
        ...(!application.config.readOnly && { prompts: { listChanged: false } }),
        resources: { subscribe: true, listChanged: true },
      },
    },
  );
  registerTools(server, application, tasks.areOffered(era) ? tasks : undefined);
  registerResources(server, application);
  registerCard(server, application);
  registerPrompts(server, application);
  subscriptions.attach(server);
  tasks.attach(server, era);
  return server;
}

/** Names only what is offered. The first paragraph stands alone: some clients cut at 512 characters. */
function instructionsFor({ config, canPublish }: Pick<Application, "config" | "canPublish">): string {
  const what = "Makes faceless short videos from a text topic.";
  const unset =
    config.problems.length === 0
      ? ""
      : " It is not set up yet and every call fails: tell the user; any call says what to set.";
  const sandbox = config.sandbox
    ? " This is a sandbox: sample clips, nothing is rendered, charged or posted."
    : "";
  if (config.readOnly)
    return `${what} This server only reads: list_videos shows the account's videos, get_video_status one of them.${unset}${sandbox}`;
  const last = canPublish
    ? "show the link, and call publish_video only where they ask for it"
    : "and show the link";
  const never = canPublish
    ? "generate_video spends credits and publish_video posts publicly at once: never repeat either to check on it."
    : "generate_video spends credits: never repeat it to check on it.";
  const posts = canPublish ? ", adds captions, schedules or deletes a post" : " or adds captions";
  return `${what}${unset} Write the topic with the user, get their yes unless they left it to you, call generate_video once per video, follow it with get_video_status for ${RENDER_TIME}, ${last}. ${never} A change is a new video that costs again.${sandbox}

No tool shows the price or the credit balance, cancels or edits a video${posts}: say so instead of trying.`;
}
