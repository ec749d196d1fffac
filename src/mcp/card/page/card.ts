// The card: follows one job, plays what is there, and publishes after two clicks. What it shows comes from the job's resource, since
// hosts strip tool results. This file connects it with the host.

import type { McpUiHostContext, McpUiInitializeResult } from "@modelcontextprotocol/ext-apps/app-bridge";
import { on } from "./dom.ts";
import { awaitResult, resume, settle } from "./follow.ts";
import { connectHost } from "./host.ts";
import { disarm, isPublishable, loadAccounts } from "./publish.ts";
import { answerOf, wordsOf } from "./server.ts";
import { Card } from "./state.ts";
import { createView } from "./view.ts";

// What is cast below is the host's word.
/* eslint-disable typescript/no-unsafe-type-assertion */

async function openCard(): Promise<void> {
  const host = connectHost({
    "tool-input": (params) => {
      card.order = params["arguments"] ?? {};
      card.show();
      awaitResult(card);
    },
    "tool-result": (params) => {
      try {
        settle(card, "Started. Ask in the chat how far it is.", answerOf(params).jobId);
      } catch (error) {
        card.problem = wordsOf(error);
        settle(card, "No video was started.");
      }
    },
    "tool-cancelled": () => {
      // The render goes on.
      if (!card.jobId) settle(card, "The call was cancelled.");
    },
    "host-context-changed": applyContext,
    "resource-teardown": () => {
      // Nothing is asked of the host any more.
      card.can = {};
      settle(card, "");
      disarm(card);
    },
  });
  const card = new Card(host, () => {
    view();
    if (isPublishable(card) && !card.accounts && !card.isBusy && !card.remark) void loadAccounts(card);
  });
  const view = createView(card);

  on(document, "visibilitychange" as "change", () => resume(card));
  new IntersectionObserver(([entry]) => {
    card.isInView = !!entry?.isIntersecting;
    resume(card);
  }).observe(document.body);
  new ResizeObserver(() => {
    const { scrollWidth, offsetHeight } = document.body;
    host.notify("size-changed", { width: scrollWidth, height: offsetHeight });
  }).observe(document.body);

  const { hostCapabilities, hostContext } = (await host.request("ui/initialize", {
    protocolVersion: "2026-01-26",
    appInfo: { name: "faceless-video", version: "1" },
    appCapabilities: {},
  })) as McpUiInitializeResult;
  card.can = hostCapabilities ?? {};
  applyContext(hostContext);
  card.show();
  host.notify("initialized", {});
}

function applyContext({ theme, styles, containerDimensions }: McpUiHostContext = {}): void {
  const { style } = document.documentElement;
  if (theme) style.colorScheme = theme;
  for (const [name, value] of Object.entries(styles?.variables ?? {})) style.setProperty(name, value ?? null);
  // A host cuts the card at its own height: what is below the video stays above that.
  const maxHeight = (containerDimensions as { maxHeight?: number } | undefined)?.maxHeight;
  if (maxHeight) style.setProperty("--max", `${maxHeight}px`);
}

void openCard();
