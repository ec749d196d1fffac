// Makes the server of a connection, and answers what a client asks first: who this is, and what it offers. Loads
// nothing that only calls need. serveStdio may call it twice: it only wires.

import { McpServer, type ProtocolEra } from "@modelcontextprotocol/server";
import type { Config } from "../config.ts";
import { PROMPT_LIST } from "../prompts/prompt-list.ts";
import { textFor } from "../sentences.ts";
import { JOB_URI_TEMPLATE } from "../service/job.ts";
import { offered, USUAL_WAIT_SECONDS, waitLimit } from "../tools/listing.ts";
import { DECLARATIONS, TOOL_SCHEMAS, type ToolSchema } from "../tools/tool-schemas.ts";
import { VERSION, WEBSITE } from "../version.ts";
import { APPS_EXTENSION, CARD_URI } from "./card/card.ts";
import type { ConnectedClient } from "./connected-client.ts";

/** Wishes that no tool fulfils. The instructions name them, so that no model promises them. */
const UNSUPPORTED = {
  facts: "prices, credits, voices or views",
  videos: "cancels, edits, deletes or formats videos; adds subtitles, images or other music",
  posts: "picks an account; schedules, hides, captions or deletes posts",
};

/** How this server names the extension of tasks, and a job as a resource. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";
export const JOB_RESOURCE = {
  title: "Video job",
  description: "A video's status and clips, as get_video_status returns them.",
  mimeType: "application/json",
};

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><rect x="11" y="2" width="26" height="44" rx="6" fill="#6d28d9"/><path d="M20 16.5v15l12-7.5z" fill="#fff"/></svg>';
const ICON = `data:image/svg+xml;base64,${Buffer.from(SVG).toString("base64")}`;

export function createServer(config: Config, era: ProtocolEra, client: ConnectedClient): McpServer {
  const { readOnly, sandbox } = config;
  const asksBeforeOrders = config.confirmGenerate !== "off";
  const isModern = era === "modern";
  const server = new McpServer(
    {
      name: "faceless-video-mcp",
      title: "Faceless Video",
      version: VERSION,
      description: `Makes faceless short videos from a topic${readOnly || config.noPublish ? "" : " and publishes them"}.`,
      websiteUrl: WEBSITE,
      icons: [{ src: ICON, mimeType: "image/svg+xml", sizes: ["any"] }],
    },
    {
      instructions: instructionsFor(config, asksBeforeOrders && client.canAsk()),
      capabilities: {
        resources: { subscribe: true, listChanged: true },
        tools: { listChanged: false },
        completions: {},
        // Prompts, the card and tasks belong to generate_video, which a read-only server doesn't offer.
        ...(!readOnly && {
          prompts: { listChanged: false },
          extensions: { [APPS_EXTENSION]: {}, ...(isModern && { [TASKS_EXTENSION]: {} }) },
          ...(!isModern &&
            client.hasLegacyTasks && { tasks: { cancel: {}, requests: { tools: { call: {} } } } }),
        }),
      },
    },
  );
  const { server: protocol } = server;
  protocol.setRequestHandler("tools/list", (_request, { mcpReq }) => {
    const maxWait = client.maxWaitSeconds(mcpReq, true);
    const asksUser = asksBeforeOrders && client.canAsk(mcpReq);
    /** A tool as this client sees it. */
    const toListing = (tool: (typeof DECLARATIONS)[number]) => {
      const { name, title, annotations, startsJob = false } = tool;
      const description =
        (sandbox ? tool.sandboxDescription : asksUser ? tool.descriptionIfAsked : undefined) ??
        tool.description;
      const schemas = TOOL_SCHEMAS[name];
      if (schemas === undefined) throw new TypeError(`${name} has no schemas.`);
      return {
        name,
        title,
        description: textFor("model", description),
        inputSchema: withMaxWait(schemas.input, maxWait),
        annotations: { title, ...annotations },
        ...(startsJob && client.hasLegacyTasks && { execution: { taskSupport: "optional" as const } }),
        ...(startsJob && { _meta: { ui: { resourceUri: CARD_URI } } }),
        outputSchema: schemas.output,
      };
    };
    return { tools: offered(DECLARATIONS, config).map(toListing) };
  });
  if (!readOnly) protocol.setRequestHandler("prompts/list", () => ({ prompts: PROMPT_LIST }));
  protocol.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [{ name: "job", uriTemplate: JOB_URI_TEMPLATE, ...JOB_RESOURCE }],
  }));
  return server;
}

/** The arguments of a tool with this maximum of `waitSeconds`, if that is one of them. */
function withMaxWait(schema: ToolSchema, seconds: number): ToolSchema {
  const { waitSeconds } = schema.properties;
  if (waitSeconds === undefined || seconds === USUAL_WAIT_SECONDS) return schema;
  const properties = { ...schema.properties, waitSeconds: { ...waitSeconds, ...waitLimit(seconds) } };
  return { ...schema, properties };
}

/**
 * Names only what is offered. Some clients cut at 512 characters, so the second paragraph has what a model could
 * do without.
 */
function instructionsFor(config: Config, asksUser: boolean): string {
  const purpose = "Makes faceless short videos from a topic.";
  const unset = config.problems.length === 0 ? "" : " Not set up: calls say what to set.";
  const sandbox = config.sandbox ? " A sandbox: nothing is rendered, charged or posted." : "";
  if (config.readOnly)
    return `${purpose}${unset}${sandbox} This server only reads: list_videos shows the account's videos, get_video_status one of them. It shows no ${UNSUPPORTED.facts}.`;
  const order = asksUser
    ? "show them, call generate_video once a video (the user is asked then)"
    : "get their yes unless they left it to you, call generate_video once a video";
  const steps = `Write topics with the user, ${order}, follow with get_video_status, show the link`;
  const [publish, either, pays, posts] = config.noPublish
    ? ["", "generate_video", "it pays", ""]
    : ["; publish_video only if asked", "either", "each pays or posts", `; ${UNSUPPORTED.posts}`];
  const repeat = `Never repeat ${either} to check${config.sandbox ? "" : `: ${pays}`}`;
  const limits = `No tool shows ${UNSUPPORTED.facts}; ${UNSUPPORTED.videos}${posts}: say so first.`;
  return `${purpose}${unset}${sandbox} ${steps}${publish}. ${repeat}. ${limits}

A change is a new video${config.sandbox ? "" : " that costs again"}. If a call gave no result, look with list_videos, and don't order the same in other words.`;
}
