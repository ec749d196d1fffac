// Sees to it that a paid or public request is recorded before it is sent, gives way to one that was faster,
// and is recorded again when its answer has come, even after the call's end. Knows no policy: generate-once.ts
// and publish-once.ts say which requests are the same and what follows from them.

import { type Clock, pause } from "../clock.ts";
import { cancelledError, DeadlineError, toBridgeError } from "../errors.ts";
import { PAID_REQUEST_MS } from "../time-budget.ts";
import type { Intent, Journal, JournalEntry, RequestOutcome } from "./journal.ts";
import { entriesAhead, versionOf } from "./same-request.ts";

export interface GuardOptions {
  readonly journal: Journal;
  readonly clock: Clock;
}

/** Which entries of the journal are the same request. */
export type Select<Entry> = (entries: readonly JournalEntry[]) => readonly Entry[];

/** One call, whose time begins now. */
export interface GuardedCall<Entry> {
  readonly select: Select<Entry>;
  /** Aborted once the caller cancels or the process is told to end. A request that was sent goes on. */
  readonly signal: AbortSignal;
  /** Milliseconds that are left for waiting and for the request. */
  leftMs(): number;
  /** Does not count the time that a user has taken. */
  extend(userMs: number): void;
}

/** What the journal holds once nothing of the same request is under way, or the call's time is over. */
export interface Settled<Entry> {
  readonly entries: readonly JournalEntry[];
  /** Those of the same request. */
  readonly same: readonly Entry[];
  /** The newest of these that is still under way: nothing can be sent. */
  readonly underWay: Entry | undefined;
}

const CANCELLED = "The call was cancelled before anything was sent.";
/** How often a request that is under way is looked at. */
const WAIT_STEP_MS = 250;
/** An older request without an outcome is not waited for. */
const STUCK_MS = 60_000;

export class Guard {
  readonly #options: GuardOptions;
  readonly #shutdown = new AbortController();
  /** What has to be waited for when the process ends. */
  readonly #pending = new Set<Promise<unknown>>();

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  startCall<Entry>(select: Select<Entry>, caller: AbortSignal | undefined): GuardedCall<Entry> {
    const { clock } = this.#options;
    const { signal: shutdown } = this.#shutdown;
    let endsAtMs = clock.monotonicMs() + PAID_REQUEST_MS;
    return {
      select,
      signal: caller === undefined ? shutdown : AbortSignal.any([shutdown, caller]),
      leftMs: () => endsAtMs - clock.monotonicMs(),
      extend: (userMs) => void (endsAtMs += userMs),
    };
  }

  /** Waits until nothing that the call selects is under way, or its time is over. */
  async settled<Entry extends JournalEntry>(call: GuardedCall<Entry>): Promise<Settled<Entry>> {
    const { journal, clock } = this.#options;
    for (;;) {
      const entries = await journal.entries();
      const same = call.select(entries);
      const waitedFor = same.filter((entry) => journal.isUnderWay(entry));
      if (waitedFor.length > 0 && call.signal.aborted) throw cancelledError(CANCELLED);
      const isStuck = waitedFor.some((entry) => journal.ageMs(entry) > STUCK_MS);
      if (waitedFor.length === 0 || isStuck || call.leftMs() <= 0)
        return { entries, same, underWay: waitedFor.at(-1) };
      // Aborted or not, the next turn looks.
      await pause(clock, WAIT_STEP_MS, call.signal);
    }
  }

  /**
   * Records a request, which must then be sent and finished, and gives the entries that it gives way to.
   * Undefined if something newer is known of the same request than was seen: then nothing may be sent, and the
   * call begins from the top. Throws a JournalError.
   */
  begin<Entry extends JournalEntry>(
    { select, signal }: GuardedCall<Entry>,
    seen: Settled<Entry>,
    intent: Intent,
  ): Promise<{ own: JournalEntry; ahead: readonly JournalEntry[] } | undefined> {
    const { journal } = this.#options;
    const begin = async () => {
      if (signal.aborted) throw cancelledError(CANCELLED);
      const { own, entries } = await journal.begin(intent);
      const ahead = entriesAhead(entries, own);
      if (versionOf(select(ahead)) === versionOf(seen.same)) return { own, ahead };
      await journal.end(own, { outcome: "not_sent" });
      return undefined;
    };
    return this.#track(begin());
  }

  /** Records what becomes of a request that was begun, also where its answer comes after the call's end. */
  finish<Result>(
    own: JournalEntry,
    answer: Promise<Result>,
    outcomeOf: (result: Result) => RequestOutcome,
  ): Promise<Result> {
    const { journal } = this.#options;
    const finish = async () => {
      try {
        const result = await answer;
        await journal.end(own, outcomeOf(result));
        return result;
      } catch (error) {
        if (error instanceof DeadlineError) {
          // eslint-disable-next-line typescript/no-unsafe-assignment -- only `answer` rejects with it: it is a Result
          const late: Promise<Result> = error.late;
          void this.finish(own, late, outcomeOf).catch(() => {});
        } else await journal.end(own, outcomeOfFailure(error));
        throw error;
      }
    };
    return this.#track(finish());
  }

  /** Sends nothing any more. Resolves when the outcome of everything that was sent is in the journal. */
  async close(): Promise<void> {
    this.#shutdown.abort();
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }

  #track<Work extends Promise<unknown>>(work: Work): Work {
    const over = work.catch(() => {}).finally(() => this.#pending.delete(over));
    this.#pending.add(over);
    return work;
  }
}

/** None where it is not known what became of the request. */
function outcomeOfFailure(error: unknown): RequestOutcome | undefined {
  const { outcome } = toBridgeError(error, "unknown").facts;
  return outcome === "unknown" ? undefined : { outcome };
}
