// Follows the job of the call: reads it until it has ended, and looks for it in the list if the result does
// not name it in time. Reads nothing while nobody sees the card.

import { stateOf } from "../../../service/job.ts";
import { spokenTextOf } from "../../../service/spoken-words.ts";
import { callTool, type Failure, readJob } from "./server.ts";
import type { Card } from "./state.ts";

export const READ_MS = 3_000;
/** Longer, since a search sends a request to the service, unlike most reads. */
const SEARCH_MS = 6_000;
const MAX_MISSES = 100;
const MAX_FAILURES = 6;

interface Target {
  /** A text about the call. */
  readonly status: string;
  /** The job that the result names. */
  readonly id?: string | undefined;
  /** True to look for the job in the list while the result names none. */
  readonly isSearching?: boolean;
}

export function startFollowing(card: Card, { status, id = "", isSearching = false }: Target): void {
  clearTimeout(card.readTimer);
  card.status = status;
  card.isSearching = isSearching;
  if (card.id !== id) card.job = undefined;
  card.id = id;
  card.misses = 0;
  card.show();
  resume(card);
}

/** Continues following. Reads an ended job once more: the chat may have published its video. */
export function resume(card: Card): void {
  card.failures = 0;
  void follow(card, true);
}

async function follow(card: Card, isResumed = false): Promise<void> {
  if (!canRead(card) || card.isReading || document.hidden || card.isOutOfView) return;
  if (isOver(card) && !isResumed) return;
  clearTimeout(card.readTimer);
  await read(card);
  if (isOver(card)) return;
  const intervalMs = card.id === "" ? SEARCH_MS : READ_MS;
  card.readTimer = setTimeout(follow, intervalMs * 2 ** card.failures, card);
}

/** True if the host forwards the requests that reading needs. */
function canRead({ id, isSearching, can }: Card): boolean {
  const callsTools = can.serverTools !== undefined;
  return id === "" ? isSearching && callsTools : callsTools || can.serverResources !== undefined;
}

function isOver({ job, failures, misses }: Card): boolean {
  if (failures >= MAX_FAILURES || misses >= MAX_MISSES) return true;
  if (job?.done !== true) return job?.followingEnded !== undefined;
  return job.finalVideoUrl !== undefined || stateOf(job.status) !== "ready";
}

export async function read(card: Card): Promise<void> {
  card.isReading = true;
  try {
    card.misses += 1;
    const id = card.id === "" && card.isSearching ? await findJob(card) : card.id;
    if (id !== "") await readInto(card, id);
    card.failures = 0;
  } catch (error) {
    card.failures += 1;
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- of the host, or of a call
    if (card.failures > 1) card.error = `Can't look it up: ${(error as Failure).message}`;
  }
  card.isReading = false;
  card.show();
}

async function readInto(card: Card, id: string): Promise<void> {
  const job = await readJob(card.host, id, card.can.serverResources !== undefined);
  // A video that was found and has ended is an earlier one: the list lags behind.
  if (card.id === "" && card.isSearching && !job.done) card.id = id;
  // The result may have come meanwhile: it is more reliable.
  if (card.id !== id) return;
  card.job = job;
  card.error = job.followingEnded ?? "";
  if (!job.done) card.misses = 0;
}

/** The id of the newest video of this topic, or "". */
async function findJob(card: Card): Promise<string> {
  const wanted = startOf(card.order.topic);
  if (wanted === "") return "";
  const { videos = [] } = await callTool(card.host, "list_videos");
  return videos.find(({ topic }) => startOf(topic) === wanted)?.jobId ?? "";
}

/** The first letters that are spoken: lists cut a topic at 80 characters, and change its white space. */
function startOf(topic: unknown): string {
  return spokenText(topic)
    .replace(/[\s\p{C}…]+/gu, "")
    .slice(0, 40);
}

/** The spoken part of a topic, as lists show it; all of it if everything is in [brackets]. */
export function spokenText(topic: unknown): string {
  // A model may write anything as its topic.
  const text = typeof topic === "string" ? topic : "";
  return spokenTextOf(text).trim() || text;
}
