// Publishes by two clicks: the first arms the button, which then names the platforms; the second calls
// publish_video, with its guard, limits and question.

import { stateOf } from "../../../service/job.ts";
import { hasFlag, quote } from "./dom.ts";
import { read } from "./follow.ts";
import { type Answer, callTool, type Failure } from "./host.ts";
import type { Card } from "./state.ts";

const ARMED_MS = 15_000;
/** A second click within this time belongs to a double click. */
const SECOND_CLICK_MS = 700;

/** Nothing is made public before the result has named the job. */
export function isPublishable({ job, isSearching, can }: Card): boolean {
  const isReady = job !== undefined && stateOf(job.status) === "ready";
  return isReady && hasFlag("publishes") && can.serverTools !== undefined && !isSearching;
}

export function choose(card: Card, platform: string): void {
  if (!card.chosen.delete(platform)) card.chosen.add(platform);
  disarm(card);
}

/** Keeps no platform chosen that has the video: the chat may have published it. */
export function dropPosted(card: Card): void {
  for (const { platform } of card.job?.publishedTo ?? []) if (card.chosen.delete(platform)) disarm(card);
}

/** Handles a click on the one button, which looks up the accounts again, arms itself, or publishes. */
export function press(card: Card, timeStamp: number): void {
  if (card.isBusy) return;
  if (card.accounts === undefined) void loadAccounts(card);
  else if (card.armedAt !== undefined) {
    if (timeStamp - card.armedAt > SECOND_CLICK_MS) void publish(card);
  } else if (card.chosen.size > 0) {
    card.armedAt = timeStamp;
    card.armTimer = setTimeout(disarm, ARMED_MS, card);
    card.publishText = "Click again to post it: this can't be undone here.";
    card.show();
  }
}

export function disarm(card: Card): void {
  clearTimeout(card.armTimer);
  if (card.armedAt !== undefined) card.publishText = "";
  card.armedAt = undefined;
  card.show();
}

export function loadAccounts(card: Card): Promise<void> {
  return runWhileBusy(card, "", async () => {
    const { platforms = [], summary = "" } = await callTool(card.host, "list_connected_platforms");
    card.accounts = platforms;
    return platforms.length > 0 ? "" : summary;
  });
}

async function publish(card: Card): Promise<void> {
  disarm(card);
  const { host, id, can, chosen } = card;
  card.outcomes = [];
  const question = hasFlag("asks") ? " If your app asks, answer there." : "";
  await runWhileBusy(card, `Publishing…${question}`, async () => {
    const call = callTool(host, "publish_video", { jobId: id, platforms: [...chosen] });
    const answer: Answer = await call.catch(({ message: summary, outcome }: Failure) => ({
      summary,
      outcome,
    }));
    const { summary = "", results = [], outcome } = answer;
    if (outcome === "not_sent" || outcome === "rejected") return summary;
    card.outcomes = results;
    chosen.clear();
    // It was posted, or may have been: the model has to know.
    const text = `The user chose to publish video ${quote(id)} in its card. ${summary}`;
    if (can.updateModelContext !== undefined)
      void host.request("ui/update-model-context", { content: [{ type: "text", text }] }).catch(() => {});
    return summary;
  });
  void read(card);
}

/** Runs `action` with the button disabled, and shows the text that it returns. */
async function runWhileBusy(card: Card, text: string, action: () => Promise<string>): Promise<void> {
  card.isBusy = true;
  card.publishText = text;
  card.show();
  card.publishText = await action().catch(({ message }: Failure) => message);
  card.isBusy = false;
  card.show();
}
