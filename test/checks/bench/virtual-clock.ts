// A clock that jumps from timer to timer, so that the real poller runs an hour in a second.

import type { Clock } from "../../../src/clock.ts";

export interface VirtualClock extends Clock {
  /** How many timers are set. */
  pending(): number;
  /** Runs every timer that is due until then. */
  runUntil(untilMs: number): Promise<void>;
  runFor(ms: number): Promise<void>;
  /** Does what a user does who sets the system clock: `now` jumps; monotonic time and timers go on. */
  set(byMs: number): void;
}

export function createVirtualClock(startMs: number): VirtualClock {
  let nowMs = startMs;
  let setMs = 0;
  let order = 0;
  const timers = new Map<number, { atMs: number; action: () => void }>();
  const next = () => {
    let first: readonly [number, { atMs: number; action: () => void }] | undefined;
    for (const timer of timers) if (first === undefined || timer[1].atMs < first[1].atMs) first = timer;
    return first;
  };
  const runUntil = async (untilMs: number) => {
    for (;;) {
      // A timer's callback may need several microtasks.
      await new Promise<void>((resolve) => setImmediate(resolve));
      const timer = next();
      if (timer === undefined || timer[1].atMs > untilMs) break;
      timers.delete(timer[0]);
      nowMs = Math.max(nowMs, timer[1].atMs);
      timer[1].action();
    }
    nowMs = untilMs;
  };
  return {
    now: () => nowMs + setMs,
    monotonicMs: () => nowMs,
    set: (byMs) => void (setMs += byMs),
    pending: () => timers.size,
    after(delayMs, action) {
      const id = order++;
      timers.set(id, { atMs: nowMs + delayMs, action });
      return () => void timers.delete(id);
    },
    runUntil,
    runFor: (ms) => runUntil(nowMs + ms),
  };
}
