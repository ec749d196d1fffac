// The card of generate_video (MCP Apps): a page that follows the video in the chat. It is loaded when a client reads it; a client
// without MCP Apps never does, and resources/list does not name it.

import type { McpServer, ReadResourceResult, ServerContext } from "@modelcontextprotocol/server";
import { canAsk, declaredCapabilities } from "../elicitation.ts";
import type { Application } from "../application.ts";
import { valueAt } from "../value-at.ts";
import { findMediaOrigins } from "./media-origins.ts";

export const CARD_URI = "ui://faceless-video/card";
const MIME_TYPE = "text/html;profile=mcp-app";
const APPS_EXTENSION = "io.modelcontextprotocol/ui";

/** Whether the client shows cards. */
export function showsCards(server: McpServer, request: ServerContext["mcpReq"]): boolean {
  return valueAt(declaredCapabilities(server, request), "extensions", APPS_EXTENSION) !== undefined;
}

/** Not listed: clients show what they list to users and models, who have no use for it. */
export function registerCard(server: McpServer, application: Application): void {
  // Its tool is not offered.
  if (application.config.readOnly) return;
  server.server.registerCapabilities({ extensions: { [APPS_EXTENSION]: {} } });
  server.registerResource("card", CARD_URI, { mimeType: MIME_TYPE }, (_uri, { mcpReq }) =>
    readCard(application, { asks: application.config.confirmPublish && canAsk(server, mcpReq) }),
  );
}

async function readCard(
  { config, canPublish, service, jobs, reader }: Application,
  { asks }: { readonly asks: boolean },
): Promise<ReadResourceResult> {
  const [{ CARD_HTML }, origins] = await Promise.all([
    import("./html.ts"),
    findMediaOrigins(service, jobs, reader),
  ]);
  const flags = [canPublish && "publishes", asks && "asks", config.sandbox && "sandbox"];
  const attributes = flags.filter((flag) => flag !== false).map((flag) => ` data-${flag}`);
  return {
    contents: [
      {
        uri: CARD_URI,
        mimeType: MIME_TYPE,
        text: CARD_HTML.replace("<body>", `<body${attributes.join("")}>`),
        _meta: { ui: { csp: { resourceDomains: origins }, prefersBorder: true } },
      },
    ],
  };
}
