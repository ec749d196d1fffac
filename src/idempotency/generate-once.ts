// The only way to start a video: returns the job that the same order has started, refuses if its outcome is
// unknown, or sends the request once. `run` has all steps in their order; guard.ts records and waits.

import { stateOf } from "../service/job.ts";
import { BridgeError } from "../errors.ts";
import type { Service } from "../service/client.ts";
import type { StartedJob, Order, Job, Video } from "../service/responses.ts";
import {
  checkOrderError,
  describeCandidates,
  duplicateOrderError,
  limitError,
  orderInProgressError,
} from "./errors.ts";
import { LOOK_AFTER_MS, UNDER_WAY_MS } from "../service/time-budget.ts";
import type { Guard, GuardedCall, Snapshot } from "./guard.ts";
import type { OrderEntry, Journal, JournalEntry } from "./journal.ts";
import {
  argumentsOf,
  confirmationCode,
  ORDER_GUARD_MS,
  orderKey,
  ordersOf,
  SameOrders,
} from "./same-request.ts";

/** The job as the service reports it; undefined if it couldn't be read in time. */
export type JobLookup = Job | "not found" | undefined;

export interface GenerateOnceOptions {
  readonly service: Pick<Service, "generate" | "listVideos">;
  readonly guard: Guard;
  readonly journal: Journal;
  /** Maximum number of orders in 24 hours; no limit if undefined. */
  readonly maxGenerations: number | undefined;
  readonly tryReadJob: (jobId: string, signal: AbortSignal) => Promise<JobLookup>;
  /** The jobs that this process knows. */
  readonly jobs: {
    ids(): ReadonlySet<string>;
    hasFailed(jobId: string): boolean;
    /** Called for each job that is started, even if the answer comes after the call's end. */
    addStarted(jobId: string, order: Pick<OrderEntry, "arguments" | "client">, status: string): void;
    /** Called with the newest videos, as the service has just listed them. */
    updateFromPage(videos: readonly Video[], page: { readonly isFirstPage: boolean }): void;
  };
}

export interface CallerOptions {
  /** The code that an earlier answer gave for sending this request all the same. */
  readonly confirm?: string | undefined;
  /** Cancels the call. A request that was sent is still seen through. */
  readonly signal?: AbortSignal | undefined;
  /** The name and version of the MCP client, for the journal. */
  readonly client?: string | undefined;
}

export interface GenerateOptions extends CallerOptions {
  /** Why the order looks like a mistake. Counts only if the journal has no order of the same words. */
  readonly warnings?: readonly OrderWarning[];
  /** `ask` is called before every order, not only before what `confirm` confirms. */
  readonly asksFirst?: boolean;
  /** Called before an order is sent. Throws unless it may be sent; resolves to the time that the user took. */
  readonly ask?: (plan: OrderPlan) => Promise<{ readonly userMs: number }>;
}

export interface OrderWarning {
  /** The finding, in figures, as one or more sentences. */
  readonly finding: string;
  /** Advice that would fit, as a sentence. */
  readonly advice: string;
}

/** The order that the user is asked about. */
export interface OrderPlan {
  /** Changes whenever anything newer is known of the same order. */
  readonly key: string;
  /** The newest of the same orders, and how many there are; undefined for the first. */
  readonly repeat: { readonly ageMs: number; readonly count: number } | undefined;
  /** What the code confirms although it looks like a mistake: the findings, in figures. */
  readonly doubts: readonly string[];
}

export interface NewlyStarted {
  readonly alreadyStarted: false;
  readonly startedJob: StartedJob;
}

/** Nothing was sent: the same order started this job before. */
export interface AlreadyStarted {
  readonly alreadyStarted: true;
  readonly jobId: string;
  readonly job: JobLookup;
  readonly ageMs: number;
  /** How many videos of the same words were ordered in the last 20 hours, this one among them. */
  readonly count: number;
  /** Confirms another video. */
  readonly code: string;
}

const DAY_MS = 24 * 3_600_000;

export class GenerateOnce {
  readonly #options: GenerateOnceOptions;
  readonly #sameOrders = new SameOrders();

  constructor(options: GenerateOnceOptions) {
    this.#options = options;
  }

  /** Starts a video unless the same order is under way, unknown, or has a job that forbids another. */
  async run(order: Order, options: GenerateOptions = {}): Promise<NewlyStarted | AlreadyStarted> {
    const { guard, journal, jobs } = this.#options;
    const { confirm, warnings = [], asksFirst = false, ask, signal, client } = options;
    const ordered = argumentsOf(order);
    const intent = { operation: "generate", arguments: ordered, client } as const;
    const call = guard.startCall(this.#sameOrders.selectorFor(ordered), signal);
    let confirmedKey: string | undefined; // the plan to which the user has agreed
    for (;;) {
      const snapshot = await guard.waitUntilIdle(call);
      const { entries, matching, inFlight } = snapshot;
      if (inFlight !== undefined)
        throw await this.#withCandidates(orderInProgressError(journal.ageMs(inFlight)), inFlight, entries);

      const newest = matching.at(-1);
      const doubts = newest === undefined ? warnings : [];
      const code = confirmationCode([orderKey(ordered), ...doubts.map(({ finding }) => finding)], matching);
      if (confirm !== code) {
        const isStale = confirm !== undefined;
        if (doubts.length > 0) throw checkOrderError(doubts, { code, isStale });
        const earlier = await this.#findEarlier(call, snapshot, { code, isStale });
        if (earlier !== undefined) return earlier;
      }
      await this.#checkLimit(entries);

      const isRepeat = newest !== undefined && confirm === code;
      const isDoubted = doubts.length > 0; // without the code it was refused above
      if (ask !== undefined && (isRepeat || isDoubted || asksFirst) && confirmedKey !== code) {
        const repeat = isRepeat ? { ageMs: journal.ageMs(newest), count: matching.length } : undefined;
        const findings = doubts.map(({ finding }) => finding);
        const { userMs } = await ask({ key: `generate ${code}`, repeat, doubts: findings });
        call.extend(userMs);
        // The user may have taken minutes: their yes holds only if nothing newer is known by now.
        confirmedKey = code;
        continue;
      }

      const begun = await guard.begin(call, snapshot, intent);
      if (begun === undefined) continue;
      // Taken before the request: while it is under way, a look at the video list may make its job known.
      const known = jobs.ids();
      try {
        const answer = this.#send(order, begun.earlier, call);
        const startedJob = await guard.finish(begun.entry, answer, ({ jobId, status }) => {
          jobs.addStarted(jobId, intent, status);
          return { outcome: "done", jobId };
        });
        return { alreadyStarted: false, startedJob };
      } catch (error) {
        const isUnknown = error instanceof BridgeError && error.facts.outcome === "unknown";
        throw isUnknown ? await this.#withCandidates(error, begun.entry, undefined, known) : error;
      }
    }
  }

  /** The job of the same order, if it forbids another. Throws if the order's outcome is unknown. */
  async #findEarlier(
    { signal, leftMs }: GuardedCall<OrderEntry>,
    { entries, matching }: Snapshot<OrderEntry>,
    { code, isStale }: { readonly code: string; readonly isStale: boolean },
  ): Promise<AlreadyStarted | undefined> {
    const { journal, tryReadJob } = this.#options;
    const recent = matching.filter((entry) => journal.ageMs(entry) < ORDER_GUARD_MS).reverse();
    const count = recent.length;
    for (const { jobId, ...entry } of recent) {
      if (jobId === undefined) continue;
      // A look that began any later could end after the call.
      const job = leftMs() > LOOK_AFTER_MS ? await tryReadJob(jobId, signal) : undefined;
      if (typeof job === "object" && stateOf(job.status) === "refunded") continue;
      return { alreadyStarted: true, jobId, job, ageMs: journal.ageMs(entry), count, code };
    }
    const unknown = recent.find(({ outcome }) => outcome === undefined);
    if (unknown === undefined) return undefined;
    const repeat = { ageMs: journal.ageMs(unknown), code, isStale };
    throw await this.#withCandidates(duplicateOrderError(repeat, count), unknown, entries);
  }

  /** Sends the request unless requests that were faster have used up the limit. */
  async #send(
    order: Order,
    earlier: readonly JournalEntry[],
    { signal, leftMs }: GuardedCall<OrderEntry>,
  ): Promise<StartedJob> {
    await this.#checkLimit(earlier);
    return this.#options.service.generate(order, { signal, deadlineMs: leftMs() });
  }

  /** Throws if too many videos were ordered in the last 24 hours, or later: a clock may have been ahead. */
  async #checkLimit(entries: readonly JournalEntry[]): Promise<void> {
    const { maxGenerations, journal, jobs } = this.#options;
    if (maxGenerations === undefined) return;
    const recent = ordersOf(entries).filter((entry) => journal.ageMs(entry) < DAY_MS);
    if (recent.length < maxGenerations) return;
    // Costs a request, but only once the limit seems to be reached. Without an answer, all of them count.
    await this.#listVideos().catch(() => []);
    const hasFailed = ({ jobId }: OrderEntry) => jobId !== undefined && jobs.hasFailed(jobId);
    const failed = recent.filter(hasFailed).length;
    if (recent.length - failed >= maxGenerations) throw limitError(maxGenerations, recent.length, failed);
  }

  /**
   * Adds the jobs that a request may have started, as far as they can be listed. `entries` are those by which a code
   * was given, so that nothing newer is known with it; `known` are jobs from before the request.
   */
  async #withCandidates(
    failure: BridgeError,
    entry: JournalEntry,
    entries?: readonly JournalEntry[],
    known: ReadonlySet<string> = new Set(),
  ): Promise<BridgeError> {
    const candidates = await this.#findCandidates(entry, entries, known).catch(() => undefined);
    const nextStep = `${describeCandidates(candidates)} ${failure.facts.nextStep}`;
    return new BridgeError({ ...failure.facts, nextStep }, failure);
  }

  /** The newest videos without those that were known before, of another order, or older than the request. */
  async #findCandidates(
    { atMs }: JournalEntry,
    entries: readonly JournalEntry[] | undefined,
    known: ReadonlySet<string>,
  ): Promise<readonly Video[]> {
    const videos = await this.#listVideos();
    const orders = ordersOf(entries ?? (await this.#options.journal.entries()));
    const orderedMs = new Map(orders.map((order) => [order.jobId, order.atMs]));
    const ownerMs = ({ jobId }: Video) => orderedMs.get(jobId);
    // Newest first: below the job of an older order, all are older.
    const end = videos.findIndex((video) => (ownerMs(video) ?? Infinity) < atMs - UNDER_WAY_MS);
    return videos
      .slice(0, end === -1 ? undefined : end)
      .filter((video) => !known.has(video.jobId) && ownerMs(video) === undefined);
  }

  async #listVideos(): Promise<readonly Video[]> {
    const { service, jobs } = this.#options;
    const { videos } = await service.listVideos({}, { deadlineMs: LOOK_AFTER_MS });
    jobs.updateFromPage(videos, { isFirstPage: true });
    return videos;
  }
}
