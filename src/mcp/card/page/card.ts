// The card: follows one job, plays its clips and video, and publishes after two clicks. It shows the job's
// resource, since hosts strip tool results. This file connects it with the host.

import type { McpUiHostContext, McpUiInitializeResult } from "@modelcontextprotocol/ext-apps/app-bridge";
import { hasFlag } from "./dom.ts";
import { READ_MS, resume, startFollowing } from "./follow.ts";
import { answerOf, connectHost, type Failure } from "./host.ts";
import { disarm, dropPosted, isPublishable, loadAccounts } from "./publish.ts";
import { Card } from "./state.ts";
import { createView } from "./view.ts";

// The values that are cast below come from the host.
/* eslint-disable typescript/no-unsafe-type-assertion */

async function openCard(): Promise<void> {
  const { body } = document;
  const host = connectHost({
    "tool-input": (params) => {
      card.order = params["arguments"] ?? {};
      if (hasFlag("asksFirst")) card.status = "Starting… If your app asks, answer there.";
      card.show();
      // A late result means that the call is a task: its result comes when the video is ready.
      card.readTimer = setTimeout(startFollowing, READ_MS, card, { status: card.status, isSearching: true });
    },
    "tool-result": (params) => {
      try {
        const { jobId } = answerOf(params);
        startFollowing(card, { status: "Started. Ask in the chat for its progress.", id: jobId });
      } catch (error) {
        const { message, outcome } = error as Failure;
        const isSearching = outcome === "unknown";
        startFollowing(card, { status: message, id: isSearching ? card.id : "", isSearching });
      }
    },
    "tool-cancelled": () => {
      // A render that was started goes on.
      const status = "The call was cancelled. It is not known whether a video was started.";
      if (card.id === "") startFollowing(card, { status, isSearching: true });
    },
    "host-context-changed": applyContext,
    "resource-teardown": () => {
      // The host gets no more requests.
      card.can = {};
      startFollowing(card, {});
      disarm(card);
    },
  });
  const card: Card = new Card(host, () => {
    dropPosted(card);
    view();
    if (isPublishable(card) && card.accounts === undefined && !card.isBusy && card.publishText === "")
      void loadAccounts(card);
  });
  const view = createView(card);

  document.addEventListener("visibilitychange", () => resume(card));
  // Before another click the chat may publish the video.
  addEventListener("click", () => resume(card));
  new IntersectionObserver(([entry]) => {
    card.isOutOfView = entry?.isIntersecting !== true;
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
  if (theme !== undefined) style.colorScheme = theme;
  for (const [name, value] of Object.entries(styles?.variables ?? {})) style.setProperty(name, value ?? null);
  // A host may limit the card's height. The video shrinks to leave room for the rest.
  const { maxHeight } = (containerDimensions ?? {}) as { readonly maxHeight?: number };
  if (maxHeight !== undefined) style.setProperty("--max", `${maxHeight}px`);
}

void openCard();
