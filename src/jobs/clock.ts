// Time as a parameter: what watches gets its clock and its timers from outside, so that a bench can run an hour in a second.

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs `action` after `delayMs` unless the returned function is called first. Keeps no process alive. */
  after(delayMs: number, action: () => void): () => void;
}

/** setTimeout fires at once for anything longer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: Date.now,
  after(delayMs, action) {
    const timer = setTimeout(action, Math.min(delayMs, LONGEST_TIMER_MS)).unref();
    return () => clearTimeout(timer);
  },
};
