// Real sockets in virtual time, for deadlines that a test can't wait for. The test has faked setTimeout, clearTimeout
// and Date.

import { vi } from "vitest";
import { type Clock, systemClock } from "../../src/clock.ts";

/** Small compared with what is measured. */
const STEP_MS = 50;
/** Enough for a request to arrive. */
const IDLE_TURNS = 500;

/** All times come from the faked Date. */
export function virtualClock(): Clock {
  const now = () => Date.now();
  return { ...systemClock, now, monotonicMs: now };
}

/** The result of a call, and when it came, if time passes only while a request or an attempt is waited for. */
export async function inVirtualTime<Result>(calling: Promise<Result>, waiting: () => number = () => 0) {
  const startMs = Date.now();
  let over = false;
  const call = calling.finally(() => (over = true));
  while (!over) {
    // Without a timer, whose time is virtual here. Between two attempts no request waits.
    for (let turn = 0; !over && waiting() === 0 && turn < IDLE_TURNS; turn++)
      await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(STEP_MS);
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  return { result: await call, seconds: (Date.now() - startMs) / 1000 };
}
