// Makes the server of a connection. Only wires: serveStdio may call it twice; the application has all state.

import { McpServer, type ProtocolEra } from "@modelcontextprotocol/server";
import { VERSION, WEBSITE } from "../version.ts";
import { UNSUPPORTED } from "../tools/catalog.ts";
import type { Application } from "./application.ts";
import { APPS_EXTENSION } from "./card/card.ts";
import type { ConnectedClient } from "./connected-client.ts";
import type { Elicitation } from "./elicitation.ts";
import { registerCompletions } from "./completions.ts";
import { registerPrompts } from "./prompts.ts";
import { registerResources } from "./resources.ts";
import type { Subscriptions } from "./subscriptions.ts";
import type { Tasks } from "./tasks.ts";
import { registerTools } from "./tools.ts";

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><rect x="11" y="2" width="26" height="44" rx="6" fill="#6d28d9"/><path d="M20 16.5v15l12-7.5z" fill="#fff"/></svg>';

export function createServer(
  application: Application,
  era: ProtocolEra,
  subscriptions: Subscriptions,
  tasks: Tasks,
  elicitation: Elicitation,
  client: ConnectedClient,
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
      instructions: instructionsFor(application, application.asksBeforeOrders && client.canAsk),
      capabilities: {
        resources: { subscribe: true, listChanged: true },
        // The card belongs to generate_video, which a read-only server doesn't offer.
        ...(!application.config.readOnly && { extensions: { [APPS_EXTENSION]: {} } }),
      },
    },
  );
  registerTools(server, application, tasks, elicitation);
  registerResources(server, application);
  registerPrompts(server, application);
  registerCompletions(server, application);
  subscriptions.attach(server);
  tasks.attach(server, era);
  return server;
}

/**
 * Names only what is offered. Some clients cut at 512 characters, so the second paragraph has what a model could
 * do without.
 */
function instructionsFor(
  { config, canPublish }: Pick<Application, "config" | "canPublish">,
  asksUser: boolean,
): string {
  const purpose = "Makes faceless short videos from a topic.";
  const unset = config.problems.length === 0 ? "" : " Not set up: calls say what to set.";
  const sandbox = config.sandbox ? " A sandbox: nothing is rendered, charged or posted." : "";
  if (config.readOnly)
    return `${purpose}${unset}${sandbox} This server only reads: list_videos shows the account's videos, get_video_status one of them. It shows no ${UNSUPPORTED.facts}.`;
  const order = asksUser
    ? "show them, call generate_video once a video (the user is asked then)"
    : "get their yes unless they left it to you, call generate_video once a video";
  const steps = `Write topics with the user, ${order}, follow with get_video_status, show the link`;
  const pays = config.sandbox ? "" : `: ${canPublish ? "each pays or posts" : "it pays"}`;
  const rest = canPublish
    ? `; publish_video only if asked. Never repeat either to check${pays}. No tool shows ${UNSUPPORTED.facts}; ${UNSUPPORTED.videos}; ${UNSUPPORTED.posts}: say so first.`
    : `. Never repeat generate_video to check${pays}. No tool shows ${UNSUPPORTED.facts}; ${UNSUPPORTED.videos}: say so first.`;
  return `${purpose}${unset}${sandbox} ${steps}${rest}

A change is a new video${config.sandbox ? "" : " that costs again"}. If a call gave no result, look with list_videos, and don't order the same in other words.`;
}
