// Says what the journal's entries tell of orders and jobs. Pure.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { JournalEntry, OrderEntry } from "./journal.ts";
import { type EarlierPost, postsOf } from "./same-post.ts";

/** How much of a long journal is gone through at a time. */
export const ENTRIES_PER_TURN = 10_000;

export function ordersOf(entries: readonly JournalEntry[]): OrderEntry[] {
  return entries.filter((entry) => entry.operation === "generate");
}

export interface JobHistory {
  /** The request that started the job, if this computer made it. */
  readonly order?: OrderEntry | undefined;
  readonly posts: readonly EarlierPost[];
}

/** The orders and jobs of the entries, with times of a clock that is this far ahead of the journal's. */
export async function readFacts(entries: readonly JournalEntry[], aheadMs: number) {
  const local = aheadMs === 0 ? entries : entries.map((entry) => ({ ...entry, atMs: entry.atMs + aheadMs }));
  return { orders: ordersOf(local), jobs: await jobHistories(local) };
}

/** Remembers the facts of the entries until they change, since a long journal is read again and again. */
export class FactsCache {
  #last:
    | { entries: readonly JournalEntry[]; aheadMs: number; facts: ReturnType<typeof readFacts> }
    | undefined;

  /** Clocks that differ by less than half a second count as equal. */
  of(entries: readonly JournalEntry[], clockAheadMs: number): ReturnType<typeof readFacts> {
    const aheadMs = 1_000 * Math.round(clockAheadMs / 1_000);
    if (this.#last?.entries !== entries || this.#last.aheadMs !== aheadMs)
      this.#last = { entries, aheadMs, facts: readFacts(entries, aheadMs) };
    return this.#last.facts;
  }
}

/** By job, in the order in which they were started. A long journal must not hold up other work. */
export async function jobHistories(
  entries: readonly JournalEntry[],
): Promise<ReadonlyMap<string, JobHistory>> {
  const histories = new Map<string, { order?: OrderEntry; readonly posts: EarlierPost[] }>();
  for (const [index, entry] of entries.entries()) {
    // eslint-disable-next-line no-await-in-loop -- it gives others their turn
    if (index % ENTRIES_PER_TURN === ENTRIES_PER_TURN - 1) await nextTurn();
    const { jobId } = entry;
    if (jobId === undefined) continue;
    const known = histories.get(jobId);
    const history = known ?? { posts: [] };
    if (known === undefined) histories.set(jobId, history);
    if (entry.operation === "generate") history.order ??= entry;
    else history.posts.push(...postsOf(entry));
  }
  return histories;
}
