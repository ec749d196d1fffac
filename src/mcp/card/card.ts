// The card of generate_video (MCP Apps): a page that follows the video in the chat. It is loaded when a
// client reads it; a client without MCP Apps never does, and resources/list does not name it.

import type { ReadResourceResult } from "@modelcontextprotocol/server";
import type { Application } from "../application.ts";

export const CARD_URI = "ui://faceless-video/card";
const MIME_TYPE = "text/html;profile=mcp-app";
export const APPS_EXTENSION = "io.modelcontextprotocol/ui";
const LIST_FRESH_MS = 10_000;
const MAX_ORIGINS = 12;
const RECENT_JOBS = 50;
/** An origin that is safe in a policy: a host name with a ; or a * would allow more than it should. */
const ORIGIN = /^https?:\/\/([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d+)?$/;

export async function readCard(application: Application, mayAsk: boolean): Promise<ReadResourceResult> {
  const { config } = application;
  const asks = mayAsk && config.confirmPublish !== "off";
  const [{ CARD_HTML }, origins] = await Promise.all([import("./html.ts"), findMediaOrigins(application)]);
  const publishes = !config.noPublish && (asks || config.confirmPublish !== "always");
  const flags = [
    publishes && "publishes",
    asks && "asks",
    mayAsk && config.confirmGenerate !== "off" && "asks-first",
    config.sandbox && "sandbox",
  ];
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

/**
 * The service's own origin, then those of known jobs and the newest videos: a host holds a card to the
 * origins named when it is read, which may be before the links of its own video are known. Never rejects.
 */
async function findMediaOrigins({ service, jobs, reader }: Application): Promise<readonly string[]> {
  const [own] = await Promise.all([service.origin().catch(() => ""), reader.refreshFromList(LIST_FRESH_MS)]);
  const links = jobs
    .recent(RECENT_JOBS)
    .flatMap(({ state, link }) => [...(state?.videoUrls ?? []), state?.audioUrl, link?.url]);
  const originOf = (link = "") => (URL.canParse(link) ? new URL(link).origin : "");
  const origins = [own, ...links.map(originOf)].filter((origin) => ORIGIN.test(origin));
  return [...new Set(origins)].slice(0, MAX_ORIGINS);
}
