// The one place that sends a paid or public request: waits for what is under way, records it, gives way to
// one that was faster, sends it and records what came of it, also after the call's end. Knows no policy.

import { toBridgeError } from "../errors.ts";
import type { PostOptions } from "../service/request-sender.ts";
import { cancelledError, inProgressError, withoutRecord } from "./errors.ts";
import type { Intent, Journal, JournalEntry, Recorded, RequestOutcome } from "./journal.ts";

export interface PaidCallsOptions {
  readonly journal: Journal;
  /** Milliseconds on a monotonic clock. */
  readonly monotonicMs: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export interface SendOptions<Result> {
  readonly intent: Intent;
  /** Whether something newer is known than when the request was decided. May throw: then nothing is sent. */
  readonly isOvertaken: (entries: readonly JournalEntry[], own: Recorded) => boolean;
  readonly request: (options: PostOptions<Result>) => Promise<Result>;
  readonly outcomeOf: (result: Result) => RequestOutcome;
}

export type Sent<Result> =
  | { readonly kind: "sent"; readonly result: Result; readonly isRecorded: boolean }
  /** Nothing was sent: look at the journal again. */
  | { readonly kind: "overtaken" };

/** A call has 45 s in all. The rest is for listing the newest videos after a lost answer. */
const CALL_MS = 38_000;
/** How often a request that is under way is looked at. */
const WAIT_STEP_MS = 250;

/** A call and the time that it has. */
export interface PaidCall {
  readonly signal: AbortSignal;
  readonly endsAtMs: number;
}

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

  /** All entries and those that `select` takes, once none of these is under way. Throws when time is over. */
  async look<Entry extends JournalEntry>(
    { signal, endsAtMs }: PaidCall,
    select: (entries: readonly JournalEntry[]) => readonly Entry[],
  ) {
    const { journal, monotonicMs, sleep } = this.#options;
    for (;;) {
      const entries = await journal.entries();
      const seen = select(entries);
      if (seen.every(({ state }) => state !== "under way")) return { entries, seen };
      if (signal.aborted) throw cancelledError();
      if (monotonicMs() >= endsAtMs) throw inProgressError();
      // Aborted or not, the next turn looks.
      await sleep(WAIT_STEP_MS, signal).catch(() => {});
    }
  }

  /** Rejects as `request` does. */
  send<Result>(call: PaidCall, options: SendOptions<Result>): Promise<Sent<Result>> {
    return this.#track(this.#send(call, options));
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

  async #send<Result>(
    { signal, endsAtMs }: PaidCall,
    { intent, isOvertaken, request, outcomeOf }: SendOptions<Result>,
  ): Promise<Sent<Result>> {
    const { journal, monotonicMs } = this.#options;
    if (signal.aborted) throw cancelledError();
    const own = await journal.begin(intent);
    const record = (outcome: RequestOutcome) => journal.recordOutcome(own.id, outcome);
    let late: Promise<Result> | undefined;
    try {
      if (isOvertaken(await journal.entries(), own)) {
        await record({ outcome: "not_sent" });
        return { kind: "overtaken" };
      }
      const onLate = (answer: Promise<Result>) => void (late = answer);
      const result = await request({ signal, deadlineMs: endsAtMs - monotonicMs(), onLate });
      const isRecorded = await record(outcomeOf(result));
      return { kind: "sent", result, isRecorded: isRecorded && own.isOnDisk };
    } catch (error) {
      const recordFailure = (failure: unknown) =>
        record({ outcome: toBridgeError(failure, "unknown").facts.outcome });
      if (late === undefined) await recordFailure(error);
      // Until then the request is under way for this process.
      else void this.#track(late.then((result) => record(outcomeOf(result)), recordFailure));
      throw own.isOnDisk ? error : withoutRecord(error);
    }
  }
}
