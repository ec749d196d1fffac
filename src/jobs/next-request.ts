// Which of the due jobs to ask for next, and whether by its own status or by the video list that they share. Pure.

import type { WatchedJob } from "./watched-job.ts";

export type NextRequest = { readonly kind: "list" } | { readonly kind: "status"; readonly job: WatchedJob };

interface ChoiceOptions {
  readonly canList: boolean;
  readonly afterHint: boolean;
  readonly nowMs: number;
}

/**
 * The most important request, or undefined when nothing is due. The list is worth it for two or more jobs that are due, or nearly
 * so; a job that it doesn't show goes first once it is more urgent than those on average, so that neither side starves. A hinted job
 * goes first too, but not twice in a row: hints may be forged, and the others must not starve.
 * @param idle the jobs that no request in flight answers for
 * @param options.afterHint whether the last request was sent because of a hint
 */
export function chooseRequest(
  idle: readonly WatchedJob[],
  { canList, afterHint, nowMs }: ChoiceOptions,
): NextRequest | undefined {
  const due = idle.filter(({ dueMs }) => dueMs <= nowMs);
  const toConfirm = first(
    due.filter((job) => job.isToConfirm()),
    ({ dueMs }) => dueMs,
  );
  if (toConfirm !== undefined) return { kind: "status", job: toConfirm };
  const hinted = first(afterHint ? [] : due.filter((job) => job.isHinted()), ({ dueMs }) => dueMs);
  if (hinted !== undefined) return { kind: "status", job: hinted };
  const shared = new Set(canList ? idle.filter((job) => job.onFirstPage && job.isNearlyDue()) : []);
  const listed = shared.size > 1 ? due.filter((job) => shared.has(job)) : [];
  const others = listed.length > 0 ? due.filter((job) => !shared.has(job)) : due;
  const alone = first(others, (job) => -job.urgency());
  const urgency = listed.reduce((sum, job) => sum + job.urgency(), 0) / listed.length;
  if (alone !== undefined && (listed.length === 0 || alone.urgency() > urgency))
    return { kind: "status", job: alone };
  return listed.length > 0 ? { kind: "list" } : undefined;
}

/** The item of the lowest rank. */
export function first<Item>(items: readonly Item[], rank: (item: Item) => number): Item | undefined {
  let best: { readonly item: Item; readonly rank: number } | undefined;
  for (const item of items) {
    const ranked = { item, rank: rank(item) };
    if (best === undefined || ranked.rank < best.rank) best = ranked;
  }
  return best?.item;
}
