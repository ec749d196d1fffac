// How long to wait before the next poll of a followed job. Knows no clock and no rate limit.

export interface Schedule {
  /** Polls at this interval instead of the schedule. */
  readonly fixedMs?: number | undefined;
  /** Gives numbers in [0, 1). */
  readonly random: () => number;
}

const FIRST_POLL_MS = 12_000;
/** Few renders end before this age. */
const USUAL_FROM_MS = 120_000;
const EARLY_INTERVAL_MS = 30_000;
/** From then on, a share of the job's age within these bounds. */
const LATE = { minMs: 6_000, shareOfAge: 0.02, maxMs: 30_000 } as const;
const JITTER = 0.1;

/** The ms from now to the first poll of a job of this age. A job of unknown age is polled immediately. */
export function firstDelayMs({ fixedMs = FIRST_POLL_MS }: Schedule, ageMs: number | undefined): number {
  return ageMs === undefined ? 0 : Math.max(0, fixedMs - ageMs);
}

/** The ms from a job's last poll to its next one. A job of unknown age may end at any moment. */
export function nextDelayMs({ fixedMs, random }: Schedule, ageMs = USUAL_FROM_MS): number {
  return fixedMs ?? intervalMs(ageMs) * (1 - JITTER + 2 * JITTER * random());
}

function intervalMs(ageMs: number): number {
  const untilUsualMs = USUAL_FROM_MS - ageMs;
  const longestMs = untilUsualMs > 0 ? Math.min(EARLY_INTERVAL_MS, untilUsualMs) : LATE.shareOfAge * ageMs;
  return Math.max(LATE.minMs, Math.min(LATE.maxMs, longestMs));
}
