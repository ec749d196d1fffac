// Says what the journal's entries tell of orders and jobs, and makes the codes for what they hold. Pure.

import { inTurns } from "../clock.ts";
import type { JournalEntry, OrderEntry } from "./journal.ts";
import { type EarlierPost, postsOf } from "./same-post.ts";

const CODE_CHARACTERS = 6;

export function ordersOf(entries: readonly JournalEntry[]): OrderEntry[] {
  return entries.filter((entry) => entry.operation === "generate");
}

/** Returns a value that changes only when an entry or an outcome is added. */
export function fingerprintOf(entries: readonly JournalEntry[]): string {
  return entries.map(({ id, outcome }) => `${id} ${outcome ?? "none"}`).join("\n");
}

/** The code that confirms sending `request` again. It changes with the state of the entries. */
export function confirmationCode(request: readonly string[], entries: readonly JournalEntry[]): string {
  const text = [...request, fingerprintOf(entries)].join("\n");
  // eslint-disable-next-line no-restricted-globals -- loaded on first use: it takes a thirtieth of the start
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(text).digest("hex").slice(0, CODE_CHARACTERS);
}

interface JobHistory {
  /** The request that started the job, if this computer made it. */
  order?: OrderEntry;
  readonly posts: EarlierPost[];
}

/** By job, in the order in which they were started. A long journal must not hold up other work. */
export async function jobHistories(
  entries: readonly JournalEntry[],
): Promise<ReadonlyMap<string, Readonly<JobHistory>>> {
  const histories = new Map<string, JobHistory>();
  for await (const part of inTurns(entries))
    for (const entry of part) {
      const { jobId } = entry;
      if (jobId === undefined) continue;
      const history = histories.get(jobId) ?? { posts: [] };
      histories.set(jobId, history);
      if (entry.operation === "generate") history.order ??= entry;
      else history.posts.push(...postsOf(entry));
    }
  return histories;
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
