// Real sockets in virtual time, for deadlines that a test can't wait for. The test has faked setTimeout, clearTimeout
// and Date.

import { vi } from "vitest";
import { type Clock, systemClock } from "../../src/clock.ts";

/** Short compared with the times that tests measure. */
const STEP_MS = 50;
/** Enough for a request to arrive: the other side of the connection runs in this process. */
const IDLE_TURNS = 100;

/** All times come from the faked Date. */
export function virtualClock(): Clock {
  const now = () => Date.now();
  return { ...systemClock, now, monotonicMs: now };
}

/**
 * The result of a call, and its time. `waiting` counts what the call waits for: at 0, hardly any time
 * passes, as for the pause between two attempts, so that a busy machine costs none. By default it all passes.
 */
export async function inVirtualTime<Result>(calling: Promise<Result>, waiting?: () => number) {
  const startMs = Date.now();
  let over = false;
  const call = calling.finally(() => (over = true));
  const isIdle = () => waiting === undefined || waiting() === 0;
  while (!over) {
    // Not a timer, whose time would be virtual here.
    for (let turn = 0; !over && (isAtDisk() || (isIdle() && turn < IDLE_TURNS)); turn++)
      await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(waiting !== undefined && isIdle() ? 1 : STEP_MS);
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  return { result: await call, seconds: (Date.now() - startMs) / 1000 };
}

/** True while a file is read or written, which takes real time on a busy machine. */
function isAtDisk(): boolean {
  return process.getActiveResourcesInfo().some((kind) => kind.startsWith("FSReq"));
}
