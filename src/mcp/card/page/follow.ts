// Follows the job of the call: reads it until it has ended, and looks for it in the list where the result
// does not name it in time. Never while nobody sees the card.

import { stateOf } from "../../../job.ts";
import { callTool, type Failure, readJob } from "./server.ts";
import type { Card } from "./state.ts";

export const READ_MS = 3_000;
/** A search is a request to the service, where most reads are none. */
const SEARCH_MS = 6_000;
const MAX_MISSES = 100;
const MAX_FAILURES = 6;

/** Follows the job that the result names; `isSearching` looks for it in the list while none is named. */
export function startFollowing(card: Card, status: string, id = "", isSearching = false): void {
  clearTimeout(card.readTimer);
  card.status = status;
  card.isSearching = isSearching;
  // The card drops the job of another id.
  if (card.id !== id) card.job = undefined;
  card.id = id;
  card.misses = 0;
  card.show();
  resume(card);
}

/** Goes on where it stopped, and reads once where it had ended: the chat may have published the video. */
export function resume(card: Card): void {
  card.failures = 0;
  void follow(card, true);
}

async function follow(card: Card, isResumed = false): Promise<void> {
  const { serverTools, serverResources } = card.can;
  if (!(card.id ? (serverResources ?? serverTools) : card.isSearching && serverTools)) return;
  if (card.isReading || (!isResumed && isOver(card)) || document.hidden || card.isOutOfView) return;
  clearTimeout(card.readTimer);
  await read(card);
  if (!isOver(card))
    card.readTimer = setTimeout(follow, (card.id ? READ_MS : SEARCH_MS) * 2 ** card.failures, card);
}

function isOver({ job, failures, misses }: Card): unknown {
  if (failures >= MAX_FAILURES || misses >= MAX_MISSES) return true;
  return job?.done ? job.finalVideoUrl || stateOf(job.status) !== "ready" : job?.watchEnded;
}

export async function read(card: Card): Promise<void> {
  card.isReading = true;
  try {
    card.misses++;
    const id = card.id || (card.isSearching && (await find(card)));
    if (id) {
      const job = await readJob(card.host, id, card.can.serverResources);
      // A video that was found and has ended is an earlier one: the list lags behind.
      if (card.isSearching && !job.done) card.id ||= id;
      // The result may have come meanwhile, and knows better.
      if (card.id === id) {
        card.job = job;
        card.error = job.watchEnded ?? "";
        if (!job.done) card.misses = 0;
      }
    }
    card.failures = 0;
  } catch (error) {
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- of the host, or of a call
    if (card.failures++) card.error = `Can't look it up: ${(error as Failure).message}`;
  }
  card.isReading = false;
  card.show();
}

/** The newest video of this topic. */
async function find(card: Card): Promise<string | undefined> {
  const wanted = startOf(card.order.topic);
  if (!wanted) return undefined;
  const { videos = [] } = await callTool(card.host, "list_videos");
  return videos.find(({ topic }) => startOf(topic) === wanted)?.jobId;
}

/** What is spoken first: lists cut a topic at 80 characters, and change its white space. */
function startOf(topic?: unknown): string {
  return spokenText(topic)
    .replace(/[\s\p{C}…]+/gu, "")
    .slice(0, 40);
}

/** What of a topic is spoken, as lists show it: not what stands in [brackets], unless there is nothing else. */
export function spokenText(topic: unknown = ""): string {
  // A model may write anything as its topic. As in spoken-words.ts, in fewer bytes.
  const text = String(topic);
  const inBrackets = /\[[^[\]]*\]/g;
  return text.replace(inBrackets, " ").replace(inBrackets, " ").trim() || text;
}
