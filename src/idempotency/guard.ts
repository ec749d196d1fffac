// Records each paid or public request before it is sent, and its outcome afterwards. Knows no policy:
// generate-once.ts and publish-once.ts say which requests are the same and what follows from that.
//
//           begin                    finish
//   intent ───────▶ under way ──┬──────────▶ done       the answer, which may be late
//                       │       ├──────────▶ rejected   an answer that proves that nothing happened
//                       │       ├──────────▶ not_sent   it provably never left
//                       │       └──────────▶ unknown    six minutes without any of these
//                       └──────────────────▶ not_sent   another process has recorded the same request before

import { type Clock, pause } from "../clock.ts";
import { cancelledError, DeadlineError, toBridgeError } from "../errors.ts";
import type { CallOptions } from "../service/request-sender.ts";
import { CALL_MS, PAID_REQUEST_MS } from "../service/time-budget.ts";
import type { Intent, Journal, JournalEntry, RequestOutcome } from "./journal.ts";
import { fingerprintOf } from "./journal-facts.ts";

export interface GuardOptions {
  readonly journal: Journal;
  readonly clock: Clock;
  /** Called when a wait begins. If set, a call waits as long as it must. */
  readonly onWait?: ((awaited: "same request" | "answer" | "journal") => void) | undefined;
  /** Ends the waits for the journal, so that known outcomes can still be reported. */
  readonly leave?: AbortSignal | undefined;
}

/** One call, whose time begins now. */
export interface GuardedCall<Entry> {
  /** The entries of the same request. */
  readonly select: (entries: readonly JournalEntry[]) => readonly Entry[];
  /** Aborts once the caller cancels or the process begins to end. A request that was sent goes on. */
  readonly signal: AbortSignal;
  /** Milliseconds that are left for waiting and for the request. */
  leftMs(): number;
  /** Does not count the time that a user has taken. */
  extend(userMs: number): void;
}

/** The journal once nothing of the same request is under way, or once the call's time is over. */
export interface Snapshot<Entry> {
  readonly entries: readonly JournalEntry[];
  /** The entries of the same request. */
  readonly matching: readonly Entry[];
  /** The newest of these that is still under way, if one is: nothing can then be sent. */
  readonly inFlight: Entry | undefined;
}

/** A request that is recorded, and must now be sent and finished. */
export interface Begun {
  readonly entry: JournalEntry;
  /** The entries that take precedence over this request's. */
  readonly earlier: readonly JournalEntry[];
  /** How it is to be sent: within the time that the call has left by then. */
  options(): CallOptions;
}

const CANCELLED = "The call was cancelled before anything was sent.";
/** How often the entry of a request that is under way is read. */
const WAIT_STEP_MS = 250;

export class Guard {
  readonly #options: GuardOptions;
  readonly #shutdown = new AbortController();
  /** Work that has to end before the process does. */
  readonly #pending = new Set<Promise<unknown>>();
  readonly #unanswered = new Set<Promise<unknown>>();
  /** The requests that may have been carried out. */
  readonly #sent = new Set<JournalEntry>();

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  startCall<Entry>(
    select: GuardedCall<Entry>["select"],
    caller: AbortSignal | undefined,
  ): GuardedCall<Entry> {
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

  /** True while a request is sent, recorded or awaited. */
  get isBusy(): boolean {
    return this.#pending.size > 0;
  }

  /** True while a request that was sent has no answer, which may still come. */
  get awaitsAnswer(): boolean {
    return this.#unanswered.size > 0;
  }

  /** True once a request was sent, unless it certainly had no effect. */
  get hasSent(): boolean {
    return this.#sent.size > 0;
  }

  /** Waits, if it may, until nothing that the call selects is under way or its time is over. */
  async waitUntilIdle<Entry extends JournalEntry>(
    call: GuardedCall<Entry>,
    mayWait = true,
  ): Promise<Snapshot<Entry>> {
    const { journal, clock, onWait } = this.#options;
    for (let hasWaited = false; ; hasWaited = true) {
      const entries = await journal.entries();
      const matching = call.select(entries);
      const inFlight = matching.findLast((entry) => journal.isUnderWay(entry));
      if (inFlight !== undefined && call.signal.aborted) throw cancelledError(CANCELLED);
      const isPatient = onWait !== undefined;
      if (inFlight === undefined || !mayWait || (call.leftMs() <= 0 && !isPatient)) {
        // The call's own request needs the usual time.
        if (hasWaited && isPatient) call.extend(PAID_REQUEST_MS - call.leftMs());
        return { entries, matching, inFlight };
      }
      if (!hasWaited) onWait?.("same request");
      // Aborted or not, the next turn checks.
      await pause(clock, WAIT_STEP_MS, call.signal);
    }
  }

  /**
   * Records a request, which must then be sent and finished. Undefined if more is known of the same request
   * by now than the `matching` entries: then nothing may be sent. Throws a JournalError.
   */
  begin<Entry extends JournalEntry>(
    { select, signal, leftMs }: GuardedCall<Entry>,
    matching: readonly Entry[],
    intent: Intent,
  ): Promise<Begun | undefined> {
    const { journal, clock } = this.#options;
    const begin = async (): Promise<Begun | undefined> => {
      if (signal.aborted) throw cancelledError(CANCELLED);
      const begunAtMs = clock.now();
      const { own: entry, entries } = await journal.begin(intent);
      const earlier = entriesAhead(entries, entry);
      const options = () => ({ signal, deadlineMs: leftMs(), entry: { id: entry.id, begunAtMs } });
      if (fingerprintOf(select(earlier)) === fingerprintOf(matching)) return { entry, earlier, options };
      await journal.end(entry, { outcome: "not_sent" });
      return undefined;
    };
    return this.#track(begin());
  }

  /** Records the outcome of a request. A late answer comes once it is recorded. */
  finish<Result>(
    entry: JournalEntry,
    answer: Promise<Result>,
    outcomeOf: (result: Result) => RequestOutcome,
  ): Promise<Result> {
    const { onWait } = this.#options;
    this.#sent.add(entry);
    this.#unanswered.add(answer);
    const finish = async () => {
      try {
        const result = await answer.finally(() => this.#unanswered.delete(answer));
        await this.#record(entry, outcomeOf(result));
        return result;
      } catch (error) {
        if (error instanceof DeadlineError) {
          // eslint-disable-next-line typescript/no-unsafe-assignment -- only `answer` rejects with it: it is a Result
          const late: Promise<Result> = error.late;
          const finished = this.finish(entry, late, outcomeOf);
          onWait?.("answer");
          if (onWait !== undefined) return await finished;
          throw new DeadlineError(error, finished);
        }
        const { outcome } = toBridgeError(error, "unknown").facts;
        if (outcome !== "unknown") {
          this.#sent.delete(entry);
          await this.#record(entry, { outcome });
        }
        throw error;
      }
    };
    return this.#track(finish());
  }

  /** Stops sending. Resolves when all outcomes are in the journal, if it can be written. */
  async close(): Promise<void> {
    this.#shutdown.abort();
    // Writes before it awaits answers, too, since these may never come.
    const written = this.#writeOutcomes();
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
    await written;
    await this.#writeOutcomes();
  }

  async #record(entry: JournalEntry, outcome: RequestOutcome): Promise<void> {
    const { journal, onWait } = this.#options;
    await journal.end(entry, outcome);
    if (onWait === undefined || journal.unwrittenReason() === undefined) return;
    onWait("journal");
    await this.#writeOutcomes();
  }

  /** Tries to write what the journal didn't take, for as long as a call may take. */
  async #writeOutcomes(): Promise<void> {
    const { journal, clock, leave } = this.#options;
    const endsMs = clock.monotonicMs() + CALL_MS;
    for (;;) {
      await journal.writeOutcomes();
      const isOver = clock.monotonicMs() >= endsMs || leave?.aborted === true;
      if (isOver || journal.unwrittenReason() === undefined) return;
      await pause(clock, WAIT_STEP_MS, leave);
    }
  }

  #track<Work extends Promise<unknown>>(work: Work): Work {
    const over = work.catch(() => {}).finally(() => this.#pending.delete(over));
    this.#pending.add(over);
    return work;
  }
}

/** The entries that take precedence over `own`: those before it, in other sources, or already sent. */
function entriesAhead(entries: readonly JournalEntry[], own: JournalEntry): JournalEntry[] {
  const ownIndex = entries.findLastIndex(({ id }) => id === own.id);
  const ownSource = entries[ownIndex]?.source;
  const later = entries
    .slice(ownIndex)
    .filter(({ source, outcome }) => source !== ownSource || outcome !== undefined);
  return entries.slice(0, ownIndex).concat(later);
}
