// The only way to start a video. guard.ts records and waits; `run` has these steps in their order:
//
//   look ─┬─▶ the same order is under way ──────▶ wait, and look again; in_progress once the time is over
//    ▲    ├─▶ it looks like a mistake ──────────▶ check_order          ┐
//    │    ├─▶ the same order has a job ─────────▶ alreadyStarted       ├ unless the code confirms it
//    │    ├─▶ the outcome of one is unknown ────▶ duplicate            ┘
//    │    ├─▶ the limit is reached ─────────────▶ limit_reached
//    ├────┼── yes ◀── the user has to be asked ─▶ declined
//    └────┼── something newer ◀── record
//         └─▶ recorded ──▶ send ──▶ done, rejected, not_sent, or no outcome: under way, and then unknown
//
// A job guards its order unless it is known to have failed, or was a sandbox's that is gone.

import { inSentences, type Text } from "../sentences.ts";
import { stateOf } from "../service/job.ts";
import { BridgeError, cancelledError } from "../errors.ts";
import type { Service } from "../service/client.ts";
import type { StartedJob, Order, Job, Video } from "../service/responses.ts";
import {
  checkOrderError,
  describeCandidates,
  duplicateOrderError,
  limitError,
  orderInProgressError,
} from "./errors.ts";
import { CHECK_AFTER_MS } from "../service/time-budget.ts";
import type { Begun, Guard, GuardedCall } from "./guard.ts";
import type { OrderEntry, Journal, JournalEntry } from "./journal.ts";
import { confirmationCode, ordersOf } from "./journal-facts.ts";
import { argumentsOf, ORDER_GUARD_MS, orderKey, sameOrderAs } from "./same-order.ts";

/** The job as the service reports it; undefined if it couldn't be read in time. */
export type JobLookup = Job | "not found" | undefined;

export interface GenerateOnceOptions {
  readonly service: Pick<Service, "generate" | "listVideos">;
  readonly guard: Guard;
  readonly journal: Journal;
  /** Maximum number of orders in 24 hours; no limit if undefined. */
  readonly maxGenerations: number | undefined;
  readonly tryReadJob: (jobId: string, signal: AbortSignal) => Promise<JobLookup>;
  /** True in the sandbox, which forgets its jobs when it ends. */
  readonly isSandbox?: boolean;
  /** The jobs that this process knows. */
  readonly jobs: {
    hasFailed(jobId: string): boolean;
    /** Called for each job that is started, even if the answer comes after the call's end. */
    addStarted(jobId: string, order: Pick<OrderEntry, "arguments" | "client">, status: string): void;
    /** Called with the newest videos, as the service has just listed them. */
    updateFromPage(videos: readonly Video[], page: { readonly isFirstPage: boolean }): void;
    /** The videos among these that a request of this age may have started, if the journal can be read. */
    possibleJobs(videos: readonly Video[], requestAgeMs: number): Promise<readonly Video[] | undefined>;
  };
}

export interface CallerOptions {
  /** The code that an earlier answer gave for sending this request all the same. */
  readonly confirm?: string | undefined;
  /** Cancels the call, but not a request that was already sent. */
  readonly signal?: AbortSignal | undefined;
  /** The name and version of the MCP client, for the journal. */
  readonly client?: string | undefined;
}

export interface GenerateOptions extends CallerOptions {
  /** Why the order looks like a mistake. Ignored if the journal has an order with the same words. */
  readonly warnings?: readonly OrderWarning[];
  /** True if `ask` is called before every order, not only before what `confirm` confirms. */
  readonly asksFirst?: boolean;
  /** True to stop just before sending, without waiting, once `ask` has run. */
  readonly onlyChecks?: boolean;
  /** Throws unless the order may be sent; resolves to the time that the user took. */
  readonly ask?: (plan: OrderPlan) => Promise<{ readonly userMs: number }>;
}

export interface OrderWarning {
  /** The finding in figures, as one or more sentences. */
  readonly finding: string;
  readonly advice: Text;
}

/** The order that the user is asked about. */
export interface OrderPlan {
  /** Changes whenever anything newer is known of the same order. */
  readonly key: string;
  /** The newest of the same orders that haven't failed, and how many there are; undefined for the first. */
  readonly repeat: { readonly ageMs: number; readonly count: number } | undefined;
  /** The findings, in figures, that the code confirms. */
  readonly doubts: readonly string[];
}

export interface NewlyStarted {
  readonly alreadyStarted: false;
  readonly startedJob: StartedJob;
}

/** Nothing was sent: the same order has started this job. */
export interface AlreadyStarted {
  readonly alreadyStarted: true;
  readonly jobId: string;
  readonly job: JobLookup;
  readonly ageMs: number;
  /** The number of orders in the last 20 hours, including this one, that are not known to have failed. */
  readonly count: number;
  /** Confirms another video. */
  readonly code: string;
}

const DAY_MS = 24 * 3_600_000;

export class GenerateOnce {
  readonly #options: GenerateOnceOptions;

  constructor(options: GenerateOnceOptions) {
    this.#options = options;
  }

  async run(order: Order, options: GenerateOptions = {}): Promise<NewlyStarted | AlreadyStarted> {
    const { guard, journal, jobs } = this.#options;
    const { confirm, warnings = [], asksFirst = false, onlyChecks = false, ask, signal, client } = options;
    const ordered = argumentsOf(order);
    const intent = { operation: "generate", arguments: ordered, client } as const;
    const isSame = sameOrderAs(ordered);
    // Ages are compared first: comparing the topics of a long journal takes time.
    const call = guard.startCall(
      (entries) => journal.youngerThan(ORDER_GUARD_MS, entries).filter(isSame),
      signal,
    );
    let confirmedKey: string | undefined; // the plan that the user has agreed to
    for (;;) {
      const { entries, matching, inFlight } = await guard.waitUntilIdle(call, !onlyChecks);
      if (inFlight !== undefined)
        throw await this.#withCandidates(orderInProgressError(journal.ageMs(inFlight)), inFlight);

      const newest = matching.at(-1);
      const isKnown = newest !== undefined || (warnings.length > 0 && entries.some(isSame));
      const doubts = isKnown ? [] : warnings;
      const code = confirmationCode([orderKey(ordered), ...doubts.map(({ finding }) => finding)], matching);
      if (confirm !== code) {
        const isStale = confirm !== undefined;
        if (doubts.length > 0) throw checkOrderError(doubts, { code, isStale });
        const earlier = await this.#findEarlier(call, matching, { code, isStale });
        if (earlier !== undefined) return earlier;
      }
      if (!onlyChecks) await this.#checkLimit(entries);

      const isRepeat = newest !== undefined && confirm === code;
      const isDoubted = doubts.length > 0; // without the code it was refused above
      if (ask !== undefined && (isRepeat || isDoubted || asksFirst || onlyChecks) && confirmedKey !== code) {
        const repeat = isRepeat ? await this.#countStanding(matching, newest) : undefined;
        const findings = doubts.map(({ finding }) => finding);
        const { userMs } = await ask({ key: `generate ${code}`, repeat, doubts: findings });
        call.extend(userMs);
        // The user may have taken minutes: their yes holds only if nothing newer is known by now.
        confirmedKey = code;
        continue;
      }

      if (onlyChecks) throw cancelledError("The order was checked, not sent.");
      const begun = await guard.begin(call, matching, intent);
      if (begun === undefined) continue;
      try {
        const answer = this.#send(order, begun);
        const startedJob = await guard.finish(begun.entry, answer, ({ jobId, status }) => {
          jobs.addStarted(jobId, intent, status);
          return { outcome: "done", jobId };
        });
        return { alreadyStarted: false, startedJob };
      } catch (error) {
        const isUnknown = error instanceof BridgeError && error.facts.outcome === "unknown";
        throw isUnknown ? await this.#withCandidates(error, begun.entry) : error;
      }
    }
  }

  /** The job of the same order, if it forbids another. Throws if an unknown outcome does. */
  async #findEarlier(
    { signal, leftMs }: GuardedCall<OrderEntry>,
    matching: readonly OrderEntry[],
    { code, isStale }: { readonly code: string; readonly isStale: boolean },
  ): Promise<AlreadyStarted | undefined> {
    const { journal, tryReadJob, isSandbox = false } = this.#options;
    let guarding = matching;
    for (const entry of matching.toReversed()) {
      const { jobId } = entry;
      if (jobId === undefined) continue;
      // A read that began any later could end after the call.
      const job = leftMs() > CHECK_AFTER_MS ? await tryReadJob(jobId, signal) : undefined;
      const hasFailed = typeof job === "object" && stateOf(job.status) === "refunded";
      if (!hasFailed && !(isSandbox && job === "not found")) {
        const { count } = await this.#countStanding(guarding, entry);
        return { alreadyStarted: true, jobId, job, ageMs: journal.ageMs(entry), count, code };
      }
      guarding = guarding.filter((other) => other !== entry);
    }
    const unknown = guarding.findLast(({ outcome }) => outcome === undefined);
    if (unknown === undefined) return undefined;
    const repeat = { ageMs: journal.ageMs(unknown), code, isStale };
    throw await this.#withCandidates(duplicateOrderError(repeat, guarding.length), unknown);
  }

  /** The number of orders that aren't known to have failed, at least `newest`, and the age of the newest. */
  async #countStanding(orders: readonly OrderEntry[], newest: OrderEntry) {
    const standing = orders.length > 1 ? await this.#standingOf(orders) : [];
    return {
      ageMs: this.#options.journal.ageMs(standing.at(-1) ?? newest),
      count: Math.max(1, standing.length),
    };
  }

  /** The orders that aren't known to have failed. Costs a request; without an answer, all of them count. */
  async #standingOf(orders: readonly OrderEntry[]): Promise<readonly OrderEntry[]> {
    await this.#listVideos().catch(() => []);
    const { jobs } = this.#options;
    return orders.filter(({ jobId }) => jobId === undefined || !jobs.hasFailed(jobId));
  }

  /** Sends the request unless concurrent orders have used up the limit. */
  async #send(order: Order, { earlier, options }: Begun): Promise<StartedJob> {
    await this.#checkLimit(earlier);
    return this.#options.service.generate(order, options());
  }

  /** Throws if too many videos were ordered in the last 24 hours, or by a clock that is ahead. */
  async #checkLimit(entries: readonly JournalEntry[]): Promise<void> {
    const { maxGenerations, journal } = this.#options;
    if (maxGenerations === undefined) return;
    const recent = ordersOf(journal.youngerThan(DAY_MS, entries));
    if (recent.length < maxGenerations) return;
    const { length: standing } = await this.#standingOf(recent);
    if (standing >= maxGenerations) throw limitError(maxGenerations, recent.length, recent.length - standing);
  }

  /** Adds the jobs that a request may have started, as far as they can be known. */
  async #withCandidates(failure: BridgeError, entry: JournalEntry): Promise<BridgeError> {
    const { jobs, journal } = this.#options;
    const videos = await this.#listVideos().catch(() => undefined);
    const candidates = videos && (await jobs.possibleJobs(videos, journal.ageMs(entry)));
    const nextStep = inSentences(describeCandidates(candidates), failure.facts.nextStep);
    return new BridgeError({ ...failure.facts, nextStep }, failure);
  }

  async #listVideos(): Promise<readonly Video[]> {
    const { service, jobs } = this.#options;
    const { videos } = await service.listVideos({}, { deadlineMs: CHECK_AFTER_MS });
    jobs.updateFromPage(videos, { isFirstPage: true });
    return videos;
  }
}
