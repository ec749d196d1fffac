// The one place that sends a paid or public request: waits for what is under way, asks, records it, gives way
// to one that was faster, sends it and records what came of it, also after the call's end. Knows no policy.

import { type Clock, pause } from "../clock.ts";
import { cancelledError, DeadlineError, toBridgeError } from "../errors.ts";
import type { CallOptions } from "../service/request-sender.ts";
import type { Intent, Journal, JournalEntry, RequestOutcome } from "./journal.ts";
import { entriesAhead, versionOf } from "./same-request.ts";

export interface GuardedSenderOptions {
  readonly journal: Journal;
  readonly clock: Clock;
}

/** What the journal holds when a request is about to be sent. */
export interface Look<Entry> {
  readonly entries: readonly JournalEntry[];
  /** Those of the same request. */
  readonly same: readonly Entry[];
  /** The newest of these that is under way: nothing can be sent, and the time to wait for it is over. */
  readonly underWay: Entry | undefined;
  /** Aborted once the caller cancels or the process is told to end. */
  readonly signal: AbortSignal;
}

/** A request that may be sent, as far as was seen. */
export interface Sending<Result, Answer> {
  readonly intent: Intent;
  /** Asks the user, before anything is recorded, unless they agreed under this very key. */
  readonly question?: { readonly key: string; readonly ask: () => Promise<void> } | undefined;
  /** Throws where the entries ahead of one's own forbid to send. */
  readonly check?: (ahead: readonly JournalEntry[]) => void;
  readonly request: (options: CallOptions) => Promise<Result>;
  /** Takes the service's answer, also one that comes after the call's end. */
  readonly receive: (result: Result) => { readonly outcome: RequestOutcome; readonly answer: Answer };
}

/** What is to be done for one call. */
export interface GuardedCall<Entry, Result, Answer> {
  /** Cancels the call, but no request that was sent. */
  readonly signal: AbortSignal | undefined;
  /** The entries of the same request. */
  readonly select: (entries: readonly JournalEntry[]) => readonly Entry[];
  /** Answers from what was seen, or says what to send. Throws where neither is possible. */
  readonly decide: (look: Look<Entry>) => Promise<{ readonly answer: Answer } | Sending<Result, Answer>>;
}

const CANCELLED = "The call was cancelled before anything was sent.";
/** A call has 45 s in all. The rest is for listing the newest videos after a lost answer. */
const CALL_MS = 38_000;
/** How often a request that is under way is looked at. */
const WAIT_STEP_MS = 250;
/** An older request without an outcome is not waited for. */
const STUCK_MS = 60_000;

export class GuardedSender {
  readonly #options: GuardedSenderOptions;
  readonly #shutdown = new AbortController();
  /** What has to be waited for when the process ends. */
  readonly #pending = new Set<Promise<unknown>>();

  constructor(options: GuardedSenderOptions) {
    this.#options = options;
  }

  ageMs(entry: Pick<JournalEntry, "atMs">): number {
    return this.#options.journal.ageMs(entry);
  }

  /** Looks, decides and asks until there is an answer. Rejects as `decide`, `ask` and `request` do. */
  async run<Entry extends JournalEntry, Result, Answer>(
    call: GuardedCall<Entry, Result, Answer>,
  ): Promise<Answer> {
    const { signal: shutdown } = this.#shutdown;
    const signal = call.signal === undefined ? shutdown : AbortSignal.any([shutdown, call.signal]);
    let endsAtMs = this.#options.clock.monotonicMs() + CALL_MS;
    let agreedKey: string | undefined;
    for (;;) {
      const look = await this.#look(call, signal, endsAtMs);
      const decision = await call.decide(look);
      if ("answer" in decision) return decision.answer;
      const { question } = decision;
      if (question === undefined || question.key === agreedKey) {
        const sent = await this.#track(this.#send(call, look, decision, endsAtMs));
        if (sent !== "overtaken") return sent.answer;
      } else {
        await question.ask();
        // The user may have taken minutes: what they agreed to holds only if nothing newer is known by now.
        agreedKey = question.key;
        endsAtMs = this.#options.clock.monotonicMs() + CALL_MS;
      }
    }
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

  /** Looks until nothing that `select` takes is under way, or the time to wait for it is over. */
  async #look<Entry extends JournalEntry>(
    { select }: Pick<GuardedCall<Entry, unknown, unknown>, "select">,
    signal: AbortSignal,
    endsAtMs: number,
  ): Promise<Look<Entry>> {
    const { journal, clock } = this.#options;
    for (;;) {
      const entries = await journal.entries();
      const same = select(entries);
      const waitedFor = same.filter((entry) => journal.isUnderWay(entry));
      if (waitedFor.length > 0 && signal.aborted) throw cancelledError(CANCELLED);
      const isStuck = waitedFor.some((entry) => this.ageMs(entry) > STUCK_MS);
      if (waitedFor.length === 0 || isStuck || clock.monotonicMs() >= endsAtMs)
        return { entries, same, underWay: waitedFor.at(-1), signal };
      // Aborted or not, the next turn looks.
      await pause(clock, WAIT_STEP_MS, signal);
    }
  }

  /** "overtaken": nothing was sent, as something newer is known than was seen. */
  async #send<Entry extends JournalEntry, Result, Answer>(
    { select }: GuardedCall<Entry, Result, Answer>,
    { same, signal }: Look<Entry>,
    { intent, check, request, receive }: Sending<Result, Answer>,
    endsAtMs: number,
  ): Promise<"overtaken" | { readonly answer: Answer }> {
    const { journal, clock } = this.#options;
    if (signal.aborted) throw cancelledError(CANCELLED);
    const { own, entries } = await journal.begin(intent);
    const recordFailure = (failure: unknown) => {
      const { outcome } = toBridgeError(failure, "unknown").facts;
      return journal.end(own, outcome === "unknown" ? undefined : { outcome });
    };
    try {
      const ahead = entriesAhead(entries, own);
      check?.(ahead);
      if (versionOf(select(ahead)) !== versionOf(same)) {
        await journal.end(own, { outcome: "not_sent" });
        return "overtaken";
      }
      const result = await request({ signal, deadlineMs: endsAtMs - clock.monotonicMs() });
      const { outcome, answer } = receive(result);
      await journal.end(own, outcome);
      return { answer };
    } catch (error) {
      if (!(error instanceof DeadlineError)) await recordFailure(error);
      else {
        // Only `request` throws it.
        const late: Promise<Result> = error.late;
        void this.#track(late.then((result) => journal.end(own, receive(result).outcome), recordFailure));
      }
      throw error;
    }
  }
}
