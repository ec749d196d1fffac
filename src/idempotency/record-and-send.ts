// The one place that sends a paid or public request: waits for what is under way, records it, gives way to
// one that was faster, sends it and records what came of it, also after the call's end. Knows no policy.

import { cancelledError, toBridgeError } from "../errors.ts";
import type { PostOptions } from "../service/request-sender.ts";
import type { Intent, Journal, JournalEntry, RequestOutcome } from "./journal.ts";
import { entriesAhead, isOvertaken } from "./same-request.ts";

export interface PaidCallsOptions {
  readonly journal: Journal;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds on a monotonic clock. */
  readonly monotonicMs: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** A call and the time that it has. */
export interface PaidCall {
  readonly signal: AbortSignal;
  readonly endsAtMs: number;
}

/** What the journal holds of a request. */
export interface Look<Entry> {
  readonly entries: readonly JournalEntry[];
  readonly select: (entries: readonly JournalEntry[]) => readonly Entry[];
  /** What `select` takes. */
  readonly seen: readonly Entry[];
  /** The newest of these that is under way: nothing can be sent, and the time to wait for it is over. */
  readonly underWay?: Entry | undefined;
}

export interface SendOptions<Result> {
  readonly intent: Intent;
  /** Throws where the entries ahead of one's own forbid to send. */
  readonly check?: (ahead: readonly JournalEntry[]) => void;
  readonly request: (options: PostOptions<Result>) => Promise<Result>;
  readonly outcomeOf: (result: Result) => RequestOutcome;
}

export type Sent<Result> =
  | { readonly kind: "sent"; readonly result: Result }
  /** Nothing was sent, as something newer is known than was seen. Look at the journal again. */
  | { readonly kind: "overtaken" };

const CANCELLED = "The call was cancelled before anything was sent.";
/** A call has 45 s in all. The rest is for listing the newest videos after a lost answer. */
const CALL_MS = 38_000;
/** How often a request that is under way is looked at. */
const WAIT_STEP_MS = 250;
/** A request that has had no outcome for longer than STUCK_MS is waited for only this long. */
const MOMENT_MS = 1_000;
const STUCK_MS = 60_000;

export class PaidCalls {
  readonly #options: PaidCallsOptions;
  readonly #shutdown = new AbortController();
  /** What has to be waited for when the process ends. */
  readonly #pending = new Set<Promise<unknown>>();

  constructor(options: PaidCallsOptions) {
    this.#options = options;
  }

  /** A call whose time begins now. The caller's signal cancels it, but no request that was sent. */
  begin(caller: AbortSignal | undefined): PaidCall {
    const { signal: shutdown } = this.#shutdown;
    const signal = caller === undefined ? shutdown : AbortSignal.any([shutdown, caller]);
    return { signal, endsAtMs: this.#options.monotonicMs() + CALL_MS };
  }

  /** Milliseconds since the request was begun; 0 for one from the future, as the clock was set back. */
  ageMs({ atMs }: Pick<JournalEntry, "atMs">): number {
    return Math.max(0, this.#options.now() - atMs);
  }

  /** Looks until nothing that `select` takes is under way, or the time to wait for it is over. */
  async look<Entry extends JournalEntry>(
    { signal, endsAtMs }: PaidCall,
    select: Look<Entry>["select"],
  ): Promise<Look<Entry>> {
    const { journal, monotonicMs, sleep } = this.#options;
    const momentEndsAtMs = Math.min(endsAtMs, monotonicMs() + MOMENT_MS);
    for (;;) {
      const entries = await journal.entries();
      const seen = select(entries);
      const waitedFor = seen.filter((entry) => journal.isUnderWay(entry));
      const isStuck = waitedFor.some((entry) => this.ageMs(entry) > STUCK_MS);
      const isOver = monotonicMs() >= (isStuck ? momentEndsAtMs : endsAtMs);
      if (waitedFor.length > 0 && signal.aborted) throw cancelledError(CANCELLED);
      if (waitedFor.length === 0 || isOver) return { entries, select, seen, underWay: waitedFor.at(-1) };
      // Aborted or not, the next turn looks.
      await sleep(WAIT_STEP_MS, signal).catch(() => {});
    }
  }

  /** Sends what was decided by `look`. Rejects as `request` does. */
  send<Result, Entry extends JournalEntry>(
    call: PaidCall,
    look: Look<Entry>,
    options: SendOptions<Result>,
  ): Promise<Sent<Result>> {
    return this.#track(this.#send(call, look, options));
  }

  /** Sends nothing any more. Resolves when the outcome of everything that was sent is in the journal. */
  async finish(): Promise<void> {
    this.#shutdown.abort();
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }

  #track<Work extends Promise<unknown>>(work: Work): Work {
    const over = work.catch(() => {}).finally(() => this.#pending.delete(over));
    this.#pending.add(over);
    return work;
  }

  async #send<Result, Entry extends JournalEntry>(
    { signal, endsAtMs }: PaidCall,
    { select, seen }: Look<Entry>,
    { intent, check, request, outcomeOf }: SendOptions<Result>,
  ): Promise<Sent<Result>> {
    const { journal, monotonicMs } = this.#options;
    if (signal.aborted) throw cancelledError(CANCELLED);
    const { own, entries } = await journal.begin(intent);
    const recordFailure = (failure: unknown) => {
      const { outcome } = toBridgeError(failure, "unknown").facts;
      return journal.end(own, outcome === "unknown" ? undefined : { outcome });
    };
    let late: Promise<Result> | undefined;
    try {
      check?.(entriesAhead(entries, own));
      if (isOvertaken(select(entries), seen, own)) {
        await journal.end(own, { outcome: "not_sent" });
        return { kind: "overtaken" };
      }
      const onLate = (answer: Promise<Result>) => void (late = answer);
      const result = await request({ signal, deadlineMs: endsAtMs - monotonicMs(), onLate });
      await journal.end(own, outcomeOf(result));
      return { kind: "sent", result };
    } catch (error) {
      if (late === undefined) await recordFailure(error);
      else void this.#track(late.then((result) => journal.end(own, outcomeOf(result)), recordFailure));
      throw error;
    }
  }
}
