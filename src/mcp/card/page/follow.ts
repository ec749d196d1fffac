// Follows the job of the call: reads it until it has ended, and looks for it in the list if the result does
// not name it in time. Reads nothing while nobody sees the card.

import { stateOf } from "../../../service/job.ts";
import { firstSpokenWords } from "../../../service/spoken-words.ts";
import { callTool, type Failure, type Order, readJob } from "./host.ts";
import type { Card } from "./state.ts";

export const READ_MS = 3_000;
/** This many misses take a quarter of an hour, since the time between them doubles. */
const MAX_MISSES = 20;
const MAX_DOUBLINGS = 4;
/** The longest time from an order to its card. */
const OPENING_SECONDS = 10;

/** What is known of the call; a result that comes in time names its job. */
type Target = { readonly [Name in "status" | "id" | "isSearching"]?: Card[Name] | undefined };

export function startFollowing(card: Card, { status = "", id = "", isSearching = false }: Target): void {
  clearTimeout(card.readTimer);
  card.status = status;
  card.isSearching = isSearching;
  if (card.id !== id) card.job = undefined;
  card.id = id;
  card.show();
  resume(card);
}

/** Continues following. Reads an ended job once more: the chat may have published its video. */
export function resume(card: Card): void {
  card.misses = 0;
  void follow(card);
}

async function follow(card: Card): Promise<void> {
  if (!canRead(card) || card.isReading || document.hidden || card.isOutOfView) return;
  clearTimeout(card.readTimer);
  await read(card);
  if (isOver(card)) return;
  // A search sends a request to the service, and the user may think about a question for long.
  card.readTimer = setTimeout(follow, READ_MS * 2 ** Math.min(card.misses, MAX_DOUBLINGS), card);
}

/** True if the host forwards the requests that reading needs. */
function canRead({ id, isSearching, can }: Card): boolean {
  const callsTools = can.serverTools !== undefined;
  return id === "" ? isSearching && callsTools : callsTools || can.serverResources !== undefined;
}

function isOver({ job, misses }: Card): boolean {
  if (misses >= MAX_MISSES) return true;
  if (job?.done !== true) return job?.followingEnded !== undefined;
  return job.finalVideoUrl !== undefined || stateOf(job.status) !== "ready";
}

export async function read(card: Card): Promise<void> {
  card.isReading = true;
  card.misses += 1;
  card.error = "";
  try {
    const id = card.id || (await findJob(card));
    const job = id === "" ? undefined : await readJob(card.host, id, card.can.serverResources !== undefined);
    if (card.id === "" && card.isSearching) card.id = id;
    // The result may have come meanwhile: it is more reliable.
    if (job !== undefined && card.id === id) {
      card.job = job;
      card.error = job.followingEnded ?? "";
      if (!job.done) card.misses = 0;
    }
  } catch (error) {
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- of the host, or of a call
    if (card.misses > 1) card.error = `Can't look it up: ${(error as Failure).message}`;
  }
  card.isReading = false;
  card.show();
}

/** The id of the newest video of this topic that was ordered since the card was opened, or "". */
async function findJob({ host, order }: Card): Promise<string> {
  // The list drops invisible characters.
  const nameIn = (video: Order) => orderName(video).replace(/\p{Cf}/gu, "");
  const name = nameIn(order);
  if (name === "") return "";
  const { videos = [] } = await callTool(host, "list_videos");
  const maxSeconds = performance.now() / 1_000 + OPENING_SECONDS;
  const own = videos.find((video) => nameIn(video) === name && (video.ageSeconds ?? Infinity) <= maxSeconds);
  return own?.jobId ?? "";
}

/** The first spoken words of a topic, by which lists name its video. */
export function orderName({ topic }: Order): string {
  // A model may write anything as its topic.
  return typeof topic === "string" ? firstSpokenWords(topic) : "";
}
