// The one place that sends a paid or public request: records it, looks whether another one was faster, sends it, and records what came of
// it, even if that comes after the call has ended. Knows no policy.

import { BridgeError, toBridgeError } from "../errors.ts";
import type { Intent, Journal, JournalEntry, Recorded, RequestOutcome } from "./journal.ts";

export interface SendOptions<Result> {
  readonly intent: Intent;
  /** Whether something newer is known than what the request was decided on. May throw: then nothing is sent. */
  readonly isOvertaken: (entries: readonly JournalEntry[], own: Recorded) => boolean;
  /** Calls `onLate` before it rejects if the answer may still come. */
  readonly request: (options: {
    readonly signal: AbortSignal;
    onLate(answer: Promise<Result>): void;
  }) => Promise<Result>;
  readonly outcomeOf: (result: Result) => RequestOutcome;
  /** Cancels the call. A request that was sent is still seen through. */
  readonly signal: AbortSignal | undefined;
}

export type Sent<Result> =
  | { readonly kind: "sent"; readonly result: Result; readonly isRecorded: boolean }
  /** Nothing was sent: look at the journal again. */
  | { readonly kind: "overtaken" };

export class RecordingSender {
  readonly #journal: Journal;
  readonly #shutdown = new AbortController();
  /** What has to be waited for when the process ends. */
  readonly #pending = new Set<Promise<unknown>>();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** The caller's signal, or that of the end of the process. */
  withShutdown(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.#shutdown.signal : AbortSignal.any([this.#shutdown.signal, signal]);
  }

  /** Rejects as `request` does. */
  async send<Result>(options: SendOptions<Result>): Promise<Sent<Result>> {
    return this.#track(this.#send(options));
  }

  /** Sends nothing any more. Resolves when the outcome of everything that was sent is in the journal. */
  async finish(): Promise<void> {
    this.#shutdown.abort();
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }

  async #send<Result>(options: SendOptions<Result>): Promise<Sent<Result>> {
    const { intent, isOvertaken, request, outcomeOf } = options;
    const journal = this.#journal;
    const signal = this.withShutdown(options.signal);
    if (signal.aborted) throw notBegunError();
    const own = await journal.begin(intent);
    let late: Promise<Result> | undefined;
    try {
      if (isOvertaken(await journal.entries(), own)) {
        await journal.recordOutcome(own.id, { outcome: "not_sent" });
        return { kind: "overtaken" };
      }
      const onLate = (answer: Promise<Result>) => void (late = answer);
      const result = await request({ signal, onLate });
      const isRecorded = await journal.recordOutcome(own.id, outcomeOf(result));
      return { kind: "sent", result, isRecorded: isRecorded && own.isOnDisk };
    } catch (error) {
      const record = (outcome: RequestOutcome) => journal.recordOutcome(own.id, outcome);
      if (late === undefined) await record(outcomeOfFailure(error));
      // Until then the request is under way for this process.
      else
        void this.#track(
          late.then(
            (result) => record(outcomeOf(result)),
            (failure: unknown) => record(outcomeOfFailure(failure)),
          ),
        );
      throw error;
    }
  }

  #track<Result>(work: Promise<Result>): Promise<Result> {
    const over = work.then(
      () => {},
      () => {},
    );
    this.#pending.add(over);
    void over.then(() => this.#pending.delete(over));
    return work;
  }
}

function outcomeOfFailure(error: unknown): RequestOutcome {
  return { outcome: toBridgeError(error, "unknown").facts.outcome };
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
