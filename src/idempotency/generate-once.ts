// The only way to start a video: returns the job that the same order has started, refuses where that is not
// known, or sends the request once. `run` has all steps in their order; guard.ts records and waits.

import { stateOf } from "../job.ts";
import { BridgeError } from "../errors.ts";
import type { Service } from "../service/client.ts";
import type { StartedJob, Order, Job, Video } from "../service/responses.ts";
import { describeCandidates, duplicateOrderError, orderInProgressError, limitError } from "./errors.ts";
import { LOOK_AFTER_MS } from "../time-budget.ts";
import type { Guard, GuardedCall } from "./guard.ts";
import type { OrderEntry, Journal, JournalEntry } from "./journal.ts";
import { argumentsOf, confirmationCode, DAY_MS, orderFingerprint, ordersOf } from "./same-request.ts";

/** How the service says that a job stands; undefined where that can't be found out in time. */
export type JobLookup = Job | "not found" | undefined;

export interface GenerateOnceOptions {
  readonly service: Pick<Service, "generate" | "listVideos">;
  readonly guard: Guard;
  readonly journal: Journal;
  /** Most orders in 24 hours; none is no limit. */
  readonly maxGenerations: number | undefined;
  readonly tryReadJob: (jobId: string, signal: AbortSignal) => Promise<JobLookup>;
  /** What this process knows of jobs. */
  readonly jobs: {
    ids(): ReadonlySet<string>;
    /** Called for each job that is started, also where the answer comes after the call's end. */
    addStarted(jobId: string, topic: string, status: string): void;
    /** Called with the newest videos, as the service has just listed them. */
    updateFromPage(videos: readonly Video[], page: { readonly isFirstPage: boolean }): void;
  };
}

export interface CallerOptions {
  /** The code that an earlier answer gave for sending the same request again. */
  readonly confirmDuplicate?: string | undefined;
  /** Cancels the call. A request that was sent is still seen through. */
  readonly signal?: AbortSignal | undefined;
  /** The name and version of the MCP client, for the journal. */
  readonly client?: string | undefined;
}

export interface GenerateOptions extends CallerOptions {
  /**
   * Called before a confirmed repeat is sent. Throws unless the user agrees or can't be asked, and gives the
   * milliseconds that the user has taken.
   */
  readonly ask?: (repeat: ConfirmedRepeat) => Promise<number>;
}

export interface ConfirmedRepeat {
  /** Changes whenever something newer is known of the same request. */
  readonly key: string;
  /** Of the newest order of the same video. */
  readonly ageMs: number;
  /** How many videos of the same words were ordered before. */
  readonly count: number;
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
  /** How many videos of the same words were ordered, this one among them. */
  readonly count: number;
  /** Confirms another video. */
  readonly code: string;
}

/** Read for one call, beside those of the last day. An older job that still runs is almost always among them. */
const MAX_LOOKUPS = 10;

export class GenerateOnce {
  readonly #options: GenerateOnceOptions;

  constructor(options: GenerateOnceOptions) {
    this.#options = options;
  }

  /** Starts a video unless the same order is under way, is unknown, or has a job that forbids another. */
  async run(
    order: Order,
    { confirmDuplicate, signal, client, ask }: GenerateOptions = {},
  ): Promise<NewlyStarted | AlreadyStarted> {
    const { guard, journal, jobs } = this.#options;
    const fingerprint = orderFingerprint(order);
    const intent = { operation: "generate", fingerprint, arguments: argumentsOf(order), client } as const;
    const select = (entries: readonly JournalEntry[]) =>
      ordersOf(entries).filter((entry) => entry.fingerprint === fingerprint);
    const call = guard.startCall(select, signal);
    let agreedTo: string | undefined; // the code under which the user has agreed to a repeat
    for (;;) {
      const seen = await guard.settled(call);
      if (seen.underWay !== undefined) {
        const ageMs = journal.ageMs(seen.underWay);
        throw await this.#withCandidates(orderInProgressError(ageMs), ageMs);
      }

      const code = confirmationCode(fingerprint, seen.same);
      const newest = seen.same.at(-1);
      const isRepeat = newest !== undefined && confirmDuplicate === code;
      const earlier = isRepeat
        ? undefined
        : await this.#findEarlier(seen.same, code, confirmDuplicate !== undefined, call);
      if (earlier !== undefined) return earlier;
      this.#checkLimit(seen.entries);

      if (isRepeat && ask !== undefined && agreedTo !== code) {
        const ageMs = journal.ageMs(newest);
        call.extend(await ask({ key: `generate ${code}`, ageMs, count: seen.same.length }));
        // The user may have taken minutes: their yes holds only if nothing newer is known by now.
        agreedTo = code;
        continue;
      }

      const begun = await guard.begin(call, seen, intent);
      if (begun === undefined) continue;
      // Taken before the request: while it is under way, a look at the video list may make its job known.
      const known = jobs.ids();
      try {
        const answer = this.#send(order, begun.ahead, call);
        const startedJob = await guard.finish(begun.own, answer, ({ jobId, status }) => {
          jobs.addStarted(jobId, order.topic, status);
          return { outcome: "done", jobId };
        });
        return { alreadyStarted: false, startedJob };
      } catch (error) {
        const isUnknown = error instanceof BridgeError && error.facts.outcome === "unknown";
        throw isUnknown ? await this.#withCandidates(error, 0, known) : error;
      }
    }
  }

  /** The job of the same order, if it forbids another. Throws where the order's outcome is unknown. */
  async #findEarlier(
    same: readonly OrderEntry[],
    code: string,
    isStale: boolean,
    { signal, leftMs }: GuardedCall<OrderEntry>,
  ): Promise<AlreadyStarted | undefined> {
    const { journal, tryReadJob } = this.#options;
    const newest = same.map((entry) => ({ ...entry, ageMs: journal.ageMs(entry) })).reverse();
    for (const [index, { jobId, ageMs }] of newest.entries()) {
      if (jobId === undefined || (index >= MAX_LOOKUPS && ageMs >= DAY_MS)) continue;
      // A look that began any later could end after the call.
      const job = leftMs() > LOOK_AFTER_MS ? await tryReadJob(jobId, signal) : undefined;
      if (forbidsAnother(job, ageMs))
        return { alreadyStarted: true, jobId, job, ageMs, count: same.length, code };
    }
    const unknown = newest.find(({ outcome, ageMs }) => outcome === undefined && ageMs < DAY_MS);
    if (unknown !== undefined)
      throw duplicateOrderError({ ageMs: unknown.ageMs, code, isStale }, same.length);
    return undefined;
  }

  /** Sends the request unless entries that were faster have used up the limit. */
  async #send(
    order: Order,
    ahead: readonly JournalEntry[],
    { signal, leftMs }: GuardedCall<OrderEntry>,
  ): Promise<StartedJob> {
    this.#checkLimit(ahead);
    return this.#options.service.generate(order, { signal, deadlineMs: leftMs() });
  }

  /** Throws if so many videos, or more, were started in the last 24 hours, or later: a clock may be ahead. */
  #checkLimit(entries: readonly JournalEntry[]): void {
    const { maxGenerations, journal } = this.#options;
    if (maxGenerations === undefined) return;
    const started = ordersOf(entries).filter((entry) => journal.ageMs(entry) < DAY_MS);
    if (started.length >= maxGenerations) throw limitError(maxGenerations);
  }

  /** Adds the jobs that the request of that age may have started, as far as they can be listed. */
  async #withCandidates(
    failure: BridgeError,
    ageMs: number,
    known: ReadonlySet<string> = new Set(),
  ): Promise<BridgeError> {
    const candidates = await this.#listUnclaimed(known).catch(() => undefined);
    const nextStep = `${describeCandidates(ageMs, candidates)} ${failure.facts.nextStep}`;
    return new BridgeError({ ...failure.facts, nextStep }, failure);
  }

  /** The newest videos but for those that were known before, and those of other orders in the journal. */
  async #listUnclaimed(known: ReadonlySet<string>): Promise<readonly Video[]> {
    const { service, journal, jobs } = this.#options;
    const { videos } = await service.listVideos({}, { deadlineMs: LOOK_AFTER_MS });
    jobs.updateFromPage(videos, { isFirstPage: true });
    const claimed = new Set(ordersOf(await journal.entries()).map(({ jobId }) => jobId?.toLowerCase()));
    return videos.filter(({ jobId }) => !known.has(jobId) && !claimed.has(jobId.toLowerCase()));
  }
}

/** Whether a job that the same order has started forbids another one. */
function forbidsAnother(job: JobLookup, ageMs: number): boolean {
  if (job === undefined) return true;
  if (job === "not found") return ageMs < DAY_MS;
  switch (stateOf(job.status)) {
    case "ready":
      return ageMs < DAY_MS;
    case "refunded":
      return false;
    case "rendering":
    case "other":
      return true;
  }
}
