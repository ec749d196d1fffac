// When a watched job is due for its next poll: age and history in, delay out.
// Pure but for the last completions it is told of; knows no clock, no timers and no allowance (the watcher's affair).

/** What is known of a watched job at the moment of a poll. */
export interface WatchedAge {
  /** Since the job was created; undefined when nobody knows. */
  ageMs: number | undefined;
  /** Since this process first polled it. */
  observedMs: number;
  /** Someone is waiting for it in a call. */
  awaited: boolean;
  /** Clips, as the status answer counts them. */
  progress?: { total: number; completed: number; failed: number } | undefined;
}

export interface Schedule {
  /** From now to the first poll of a job that was never polled; 0 means at once. */
  firstDelayMs(ageMs: number | undefined): number;
  /** From the poll just made to the next one, jittered. */
  nextDelayMs(job: WatchedAge): number;
  /** The same without jitter. The most urgent of several due jobs has the greatest (now - lastPoll) / intervalMs. */
  intervalMs(job: WatchedAge): number;
  /**
   * How long a job took from creation to `completed`: best the middle between the last poll that saw it running and the one that
   * saw it done. Failures are no measure of a render: leave them out.
   */
  recordCompletion(durationMs: number): void;
  /** The factor on the whole schedule: 1 until five completions are known. */
  scale(): number;
}

const FIRST_MS = 12_000;
const UNKNOWN_AGE = { intervalMs: 10_000, untilMs: 300_000 } as const;
const TAIL = { fromMs: 300_000, shareOfAge: 0.04, maxMs: 30_000 } as const;
const JITTER = 0.1;

interface Band {
  untilMs: number;
  everyMs: number;
}

const WATCHED: readonly Band[] = [
  { untilMs: 95_000, everyMs: 30_000 },
  { untilMs: 135_000, everyMs: 8_000 },
  { untilMs: TAIL.fromMs, everyMs: 6_000 },
];

// Hardly any job ends before 95 s: polling there for the person who waits would double the requests and find nothing.
const AWAITED: readonly Band[] = [
  { untilMs: 95_000, everyMs: 30_000 },
  { untilMs: 135_000, everyMs: 6_000 },
  { untilMs: 240_000, everyMs: 5_000 },
  { untilMs: TAIL.fromMs, everyMs: 6_000 },
];

// The schedule was fitted to jobs with this median; other medians stretch or shrink it.
const FITTED_MEDIAN_MS = 165_000;
const SCALE = { min: 0.3, max: 4, fromCompletions: 5, ofLast: 50 } as const;

// A forecast from clips is rough: no sooner than this, and ever more slowly while it keeps being wrong.
const FORECAST = { minMs: 6_000, minShareOfAge: 0.25 } as const;

/** @param options.fixedMs polls at this interval instead of the schedule. @param options.random in [0, 1). */
export function createSchedule(options: { fixedMs?: number | undefined; random: () => number }): Schedule {
  const { fixedMs, random } = options;
  const completionsMs: number[] = [];

  const jittered = (ms: number) => ms * (1 - JITTER + 2 * JITTER * random());

  function scale(): number {
    if (completionsMs.length < SCALE.fromCompletions) return 1;
    return Math.min(SCALE.max, Math.max(SCALE.min, median(completionsMs) / FITTED_MEDIAN_MS));
  }

  function intervalMs({ ageMs, observedMs, awaited, progress }: WatchedAge): number {
    if (fixedMs !== undefined) return fixedMs;
    const factor = scale();
    if (ageMs === undefined) {
      if (observedMs < UNKNOWN_AGE.untilMs) return UNKNOWN_AGE.intervalMs;
      return factor * intervalAt(Math.max(TAIL.fromMs, observedMs / factor), WATCHED);
    }
    const scheduledMs = factor * intervalAt(ageMs / factor, awaited ? AWAITED : WATCHED);
    return Math.min(scheduledMs, forecastMs(ageMs, progress));
  }

  return {
    scale,
    intervalMs,
    firstDelayMs(ageMs) {
      if (ageMs === undefined) return 0;
      const dueMs = fixedMs ?? jittered(FIRST_MS * scale());
      return Math.max(0, dueMs - Math.max(0, ageMs));
    },
    nextDelayMs: (job) => (fixedMs === undefined ? jittered(intervalMs(job)) : fixedMs),
    recordCompletion(durationMs) {
      if (!Number.isFinite(durationMs) || durationMs <= 0) return;
      completionsMs.push(durationMs);
      if (completionsMs.length > SCALE.ofLast) completionsMs.shift();
    },
  };
}

function intervalAt(ageMs: number, bands: readonly Band[]): number {
  const band = bands.find(({ untilMs }) => ageMs < untilMs);
  return band?.everyMs ?? Math.min(TAIL.maxMs, TAIL.shareOfAge * ageMs);
}

/**
 * Until the job should be done, judged by its clips. It only ever makes a poll sooner, and matters for short jobs: one of
 * 20 s would otherwise be seen done at 42 s, since the schedule expects nothing between 12 and 95 s.
 */
function forecastMs(ageMs: number, progress: WatchedAge["progress"]): number {
  const counted = progress === undefined ? 0 : progress.completed + progress.failed;
  if (progress === undefined || counted <= 0) return Infinity;
  // The clip in work counts as nearly done: a little early costs one poll, late costs the person the whole wait.
  const share = Math.min(1, (counted + 0.75) / progress.total);
  return Math.max(FORECAST.minMs, FORECAST.minShareOfAge * ageMs, ageMs / share - ageMs);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
  return (lower + upper) / 2;
}
