// The card: follows one job, plays what is there, and publishes after two clicks. Shows the job's resource,
// since hosts strip tool results. This file connects it with the host.

import type { McpUiHostContext, McpUiInitializeResult } from "@modelcontextprotocol/ext-apps/app-bridge";
import { body } from "./dom.ts";
import { READ_MS, resume, startFollowing } from "./follow.ts";
import { connectHost } from "./host.ts";
import { disarm, isPublishable, loadAccounts } from "./publish.ts";
import { answerOf, type Failure } from "./server.ts";
import { createCard } from "./state.ts";
import { createView } from "./view.ts";

// The values that are cast below come from the host.
/* eslint-disable typescript/no-unsafe-type-assertion, unicorn/prefer-add-event-listener */

const UNKNOWN = "It is not known whether a video was started.";
/** Codes of calls that sent nothing, while the same request of an earlier call may have started a video. */
const MAY_BE_STARTED = /in_progress|duplicate|cancelled/;

async function openCard(): Promise<void> {
  const host = connectHost({
    "tool-input": (params) => {
      card.order = params["arguments"] ?? {};
      card.show();
      // A late result means that the call is a task: its result comes when the video is ready.
      card.readTimer = setTimeout(startFollowing, READ_MS, card, card.status, "", true);
    },
    "tool-result": (params) => {
      try {
        startFollowing(card, "Started. Ask in the chat for its progress.", answerOf(params).jobId);
      } catch (error) {
        const { message, code = "", outcome } = error as Failure;
        card.error = message;
        if (outcome === "unknown" || MAY_BE_STARTED.test(code)) startFollowing(card, UNKNOWN, card.id, true);
        // Who declines a second video has a first one.
        else
          startFollowing(card, outcome && code !== "declined" ? "No video was started." : "The call failed.");
      }
    },
    "tool-cancelled": () => {
      // The render goes on.
      if (!card.id) startFollowing(card, `The call was cancelled. ${UNKNOWN}`, "", true);
    },
    "host-context-changed": applyContext,
    "resource-teardown": () => {
      // Nothing is asked of the host any more.
      card.can = {};
      startFollowing(card, "");
      disarm(card);
    },
  });
  const card = createCard(host, () => {
    view();
    if (isPublishable(card) && !card.accounts && !card.isBusy && !card.publishText) void loadAccounts(card);
  });
  const view = createView(card);

  document.onvisibilitychange = () => resume(card);
  new IntersectionObserver(([entry]) => {
    card.isOutOfView = !entry?.isIntersecting;
    resume(card);
  }).observe(body);
  new ResizeObserver(() => {
    host.notify("size-changed", { height: body.offsetHeight });
  }).observe(body);

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
  // A host may cut the card at a height of its own. The video shrinks to leave room for the rest.
  const maxHeight = (containerDimensions as { maxHeight?: number } | undefined)?.maxHeight;
  if (maxHeight) style.setProperty("--max", `${maxHeight}px`);
}

void openCard();
