// Time as a parameter, so that tests and benches can run an hour in a second.

export interface Clock {
  /** Epoch milliseconds. May jump: for what the service or a user dates, never for durations. */
  now(): number;
  /** Monotonic milliseconds since some moment: for durations and due times. */
  monotonicMs(): number;
  /** Runs `action` after `delayMs` unless the returned function is called. Doesn't keep the process alive. */
  after(delayMs: number, action: () => void): () => void;
}

/** The longest delay that setTimeout knows: it fires at once for anything longer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: Date.now,
  monotonicMs: () => performance.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, Math.min(delayMs, MAX_TIMER_MS)).unref();
    return () => clearTimeout(timer);
  },
};

/**
 * Reads what has come, which a deadline must do before it counts: after a sleep, timers fire before sockets
 * are read. `progress` changes with each part that is read.
 */
export async function readWhatHasCome(progress: () => unknown = () => 0): Promise<void> {
  let before: unknown;
  do {
    before = progress();
    // The first turn may begin after the sockets of this one were read.
    // eslint-disable-next-line no-await-in-loop -- each turn may bring another part
    for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  } while (progress() !== before);
}

/** Rejects with the reason if the work takes longer. What has come by then is read first. */
export function inTime<Result>(
  clock: Pick<Clock, "after">,
  limitMs: number,
  reason: string,
  work: Promise<Result>,
  { progress, onLate = () => {} }: { progress?: () => unknown; onLate?: () => void } = {},
): Promise<Result> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const end = async () => {
      await readWhatHasCome(progress);
      if (isOver) return;
      reject(new Error(`${reason} in ${limitMs / 1000} s`));
      onLate();
    };
    const cancel = clock.after(limitMs, () => void end());
    void work.then(resolve, reject).finally(() => {
      isOver = true;
      cancel();
    });
  });
}

const MAX_PER_TURN = 1_000;

/** Gives the values of a long list part by part, and other work its turn between them. */
export async function* inTurns<Value>(values: readonly Value[]): AsyncGenerator<readonly Value[]> {
  for (let from = 0; from < values.length; from += MAX_PER_TURN) {
    if (from > 0) await new Promise((resolve) => setImmediate(resolve));
    yield values.slice(from, from + MAX_PER_TURN);
  }
}

/** Runs `action` at this interval until the returned function is called. */
export function repeat(clock: Pick<Clock, "after">, intervalMs: number, action: () => void): () => void {
  let cancel = () => {};
  const wait = () => {
    cancel = clock.after(intervalMs, () => {
      action();
      wait();
    });
  };
  wait();
  return () => cancel();
}

/** Resolves after this time, or when the signal aborts. Doesn't keep the process alive. */
export function pause(clock: Pick<Clock, "after">, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(delayMs, end);
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted === true) end();
  });
}
