// The one place that sends a paid or public request: waits for what is under way, records the request, looks whether another one was
// faster, sends it, and records what came of it, even if that comes after the call has ended. Knows no policy.

import { BridgeError, toBridgeError } from "../errors.ts";
import { inProgressError, withoutRecord } from "./errors.ts";
import type { Intent, Journal, JournalEntry, Recorded, RequestOutcome } from "./journal.ts";

export interface PaidCallsOptions {
  readonly journal: Journal;
  /** Milliseconds on a monotonic clock. */
  readonly monotonicMs: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export interface SendOptions<Result> {
  readonly intent: Intent;
  /** Whether something newer is known than what the request was decided on. May throw: then nothing is sent. */
  readonly isOvertaken: (entries: readonly JournalEntry[], own: Recorded) => boolean;
  /** Calls `onLate` before it rejects if the answer may still come. */
  readonly request: (options: {
    readonly signal: AbortSignal;
    readonly deadlineMs: number;
    onLate(answer: Promise<Result>): void;
  }) => Promise<Result>;
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

export class PaidCalls {
  readonly #options: PaidCallsOptions;
  readonly #shutdown = new AbortController();
  /** What has to be waited for when the process ends. */
  readonly #pending = new Set<Promise<unknown>>();

  constructor(options: PaidCallsOptions) {
    this.#options = options;
  }

  /** A call whose time begins now. The caller's signal cancels it; a request that was sent is still seen through. */
  begin(caller: AbortSignal | undefined): PaidCall {
    const { signal: shutdown } = this.#shutdown;
    const signal = caller === undefined ? shutdown : AbortSignal.any([shutdown, caller]);
    return new PaidCall(this.#options, signal, (work) => this.#track(work));
  }

  /** Sends nothing any more. Resolves when the outcome of everything that was sent is in the journal. */
  async finish(): Promise<void> {
    this.#shutdown.abort();
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }

  #track(work: Promise<unknown>): void {
    const over = work.catch(() => {}).finally(() => this.#pending.delete(over));
    this.#pending.add(over);
  }
}

export class PaidCall {
  readonly signal: AbortSignal;
  readonly #options: PaidCallsOptions;
  readonly #track: (work: Promise<unknown>) => void;
  readonly #endsAtMs: number;

  constructor(options: PaidCallsOptions, signal: AbortSignal, track: (work: Promise<unknown>) => void) {
    this.signal = signal;
    this.#options = options;
    this.#track = track;
    this.#endsAtMs = options.monotonicMs() + CALL_MS;
  }

  /** All entries, and those that `select` takes of them, once none of these is under way. Throws when the call's time is over. */
  async look(select: (entries: readonly JournalEntry[]) => readonly JournalEntry[], what: string) {
    const { journal, sleep } = this.#options;
    for (;;) {
      const entries = await journal.entries();
      const seen = select(entries);
      if (seen.every(({ state }) => state !== "under way")) return { entries, seen };
      if (this.signal.aborted || this.#leftMs() <= 0) throw inProgressError(what, this.signal.aborted);
      // Aborted or not, the next turn looks.
      await sleep(WAIT_STEP_MS, this.signal).catch(() => {});
    }
  }

  /** Rejects as `request` does. */
  send<Result>(options: SendOptions<Result>): Promise<Sent<Result>> {
    const sending = this.#send(options);
    this.#track(sending);
    return sending;
  }

  async #send<Result>({
    intent,
    isOvertaken,
    request,
    outcomeOf,
  }: SendOptions<Result>): Promise<Sent<Result>> {
    const { journal } = this.#options;
    const { signal } = this;
    if (signal.aborted) throw notBegunError();
    const own = await journal.begin(intent);
    const record = (outcome: RequestOutcome) => journal.recordOutcome(own.id, outcome);
    let late: Promise<Result> | undefined;
    try {
      if (isOvertaken(await journal.entries(), own)) {
        await record({ outcome: "not_sent" });
        return { kind: "overtaken" };
      }
      const onLate = (answer: Promise<Result>) => void (late = answer);
      const result = await request({ signal, deadlineMs: this.#leftMs(), onLate });
      const isRecorded = await record(outcomeOf(result));
      return { kind: "sent", result, isRecorded: isRecorded && own.isOnDisk };
    } catch (error) {
      const recordFailure = (failure: unknown) =>
        record({ outcome: toBridgeError(failure, "unknown").facts.outcome });
      if (late === undefined) await recordFailure(error);
      // Until then the request is under way for this process.
      else this.#track(late.then((result) => record(outcomeOf(result)), recordFailure));
      throw own.isOnDisk ? error : withoutRecord(error);
    }
  }

  #leftMs(): number {
    return this.#endsAtMs - this.#options.monotonicMs();
  }
}

function notBegunError(): BridgeError {
  return new BridgeError({
    code: "cancelled",
    message: "The call was cancelled before anything was sent.",
    nextStep: "Call again if it is still wanted.",
    outcome: "not_sent",
    retryable: true,
  });
}
