// When a job is due for its next poll: age and history in, delay out.
// Knows no clock, no timers and no rate limit.

import type { Job } from "../service/responses.ts";

/** What is known of a job at the moment of a poll. */
export interface PollState {
  /** Time since the job was created; undefined when that is not known. */
  readonly ageMs: number | undefined;
  /** Time since this process began to poll it. */
  readonly observedMs: number;
  /** Clips, as the status answer counts them. */
  readonly progress?: Job["progress"];
}

export interface ScheduleOptions {
  /** Polls at this interval instead of the schedule. */
  readonly fixedMs?: number | undefined;
  /** Gives numbers in [0, 1). */
  readonly random: () => number;
}

const FIRST_POLL_MS = 12_000;
const UNKNOWN_AGE = { intervalMs: 10_000, untilMs: 300_000 } as const;
const TAIL = { fromMs: 300_000, shareOfAge: 0.04, maxMs: 30_000 } as const;
const JITTER = 0.1;
const BANDS: readonly { readonly untilMs: number; readonly intervalMs: number }[] = [
  { untilMs: 95_000, intervalMs: 30_000 },
  { untilMs: 135_000, intervalMs: 8_000 },
  { untilMs: TAIL.fromMs, intervalMs: 6_000 },
];
/** A job that shares the list is asked for its own status, which has the clips, about this often. */
const STATUS_AGE_MS = 30_000;

// The bands were fitted to jobs with this median duration; other medians stretch or shrink them.
const FITTED_MEDIAN_MS = 165_000;
const SCALE = { min: 0.3, max: 4, fromCompletions: 5, ofLast: 50 } as const;

// A forecast from clips is rough: no sooner than this, and ever more slowly while it keeps being wrong.
const FORECAST = { minMs: 6_000, minShareOfAge: 0.25 } as const;

export class Schedule {
  /** How old a job's own status may get while the video list is polled for it. */
  readonly maxStatusAgeMs: number;
  readonly #fixedMs: number | undefined;
  readonly #random: () => number;
  /** How long the last completed jobs took, oldest first. */
  readonly #completionsMs: number[] = [];
  /** The factor on the whole schedule. */
  #scale = 1;

  constructor({ fixedMs, random }: ScheduleOptions) {
    this.maxStatusAgeMs = Math.max(STATUS_AGE_MS, fixedMs ?? 0);
    this.#fixedMs = fixedMs;
    this.#random = random;
  }

  /** The time from now to the first poll of a job that was never polled; 0 means at once. */
  firstDelayMs(ageMs: number | undefined): number {
    if (ageMs === undefined) return 0;
    const dueMs = this.#fixedMs ?? this.#jittered(FIRST_POLL_MS * this.#scale);
    return Math.max(0, dueMs - Math.max(0, ageMs));
  }

  /** The time from the poll just made to the next one, with jitter. */
  nextDelayMs(state: PollState): number {
    return this.#fixedMs ?? this.#jittered(this.#intervalMs(state));
  }

  #intervalMs({ ageMs, observedMs, progress }: PollState): number {
    const scale = this.#scale;
    if (ageMs === undefined) {
      if (observedMs < UNKNOWN_AGE.untilMs) return UNKNOWN_AGE.intervalMs;
      return scale * intervalAt(Math.max(TAIL.fromMs, observedMs / scale));
    }
    return Math.min(scale * intervalAt(ageMs / scale), forecastMs(ageMs, progress));
  }

  /**
   * Records how long a job took from creation to `completed`: best the middle between the last poll before
   * its end and the one that saw it. Leave out failed jobs: they say nothing about how long a render takes.
   */
  recordCompletion(durationMs: number): void {
    if (!Number.isFinite(durationMs) || durationMs <= 0) return;
    this.#completionsMs.push(durationMs);
    if (this.#completionsMs.length > SCALE.ofLast) this.#completionsMs.shift();
    if (this.#completionsMs.length < SCALE.fromCompletions) return;
    this.#scale = Math.min(SCALE.max, Math.max(SCALE.min, median(this.#completionsMs) / FITTED_MEDIAN_MS));
  }

  #jittered(ms: number): number {
    return ms * (1 - JITTER + 2 * JITTER * this.#random());
  }
}

function intervalAt(ageMs: number): number {
  const band = BANDS.find(({ untilMs }) => ageMs < untilMs);
  return band?.intervalMs ?? Math.min(TAIL.maxMs, TAIL.shareOfAge * ageMs);
}

/**
 * Time until the job should be done, judged by its clips. Only makes polls sooner, which matters for short
 * jobs: one of 20 s would otherwise be seen done at 42 s, since the bands expect nothing between 12 and 95 s.
 */
function forecastMs(ageMs: number, progress: PollState["progress"]): number {
  const { total = 0, completed = 0, failed = 0 } = progress ?? {};
  const finished = completed + failed;
  if (total <= 0 || finished <= 0) return Infinity;
  // The clip in work counts as nearly done: a poll too early costs a request, one too late the user's time.
  const share = Math.min(1, (finished + 0.75) / total);
  return Math.max(FORECAST.minMs, FORECAST.minShareOfAge * ageMs, ageMs / share - ageMs);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
  return (lower + upper) / 2;
}
