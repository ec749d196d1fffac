// The only way to start a video: looks what the same request has given, sends it at most once, and says what
// is known of it if the answer is lost. Knows the policy; record-and-send.ts sends and records.

import { stateOf } from "../job.ts";
import { BridgeError } from "../errors.ts";
import type { Service } from "../service/client.ts";
import type { Generation, GenerationRequest, Job, Video } from "../service/responses.ts";
import {
  describeCandidates,
  duplicateGenerationError,
  generationInProgressError,
  limitError,
} from "./errors.ts";
import type { GenerationEntry, JournalEntry } from "./journal.ts";
import type { GuardedCall, GuardedSender, Look } from "./record-and-send.ts";
import {
  argumentsOf,
  confirmationCode,
  DAY_MS,
  generationFingerprint,
  generationsOf,
} from "./same-request.ts";

/** How the service says that a job stands; undefined where that can't be found out in time. */
export type JobLookup = Job | "not found" | undefined;

export interface GenerateOnceOptions {
  readonly service: Pick<Service, "generate" | "listVideos">;
  readonly sender: GuardedSender;
  /** Most generations in 24 hours; none is no limit. */
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
}

export interface GenerateOptions extends CallerOptions {
  /** Called before a confirmed repeat is sent. Throws unless the user agrees or can't be asked. */
  readonly ask?: (repeat: ConfirmedRepeat) => Promise<void>;
}

export interface ConfirmedRepeat {
  /** Changes whenever something newer is known of the same request. */
  readonly key: string;
  /** Of the newest request for the same video. */
  readonly ageMs: number;
}

export interface NewlyStarted {
  readonly alreadyStarted: false;
  readonly generation: Generation;
}

/** Nothing was sent: the same request started this job before. */
export interface AlreadyStarted {
  readonly alreadyStarted: true;
  readonly jobId: string;
  readonly job: JobLookup;
  readonly ageMs: number;
  /** Confirms a second video. */
  readonly code: string;
}

const LIST_MS = 5_000;
/** Looked at for one call. A running job is almost always among the ten newest. */
const MAX_LOOKS = 10;

export class GenerateOnce {
  readonly #options: GenerateOnceOptions;

  constructor(options: GenerateOnceOptions) {
    this.#options = options;
  }

  /** Starts a video unless the same request is under way, is unknown, or has a job that forbids another. */
  async run(
    request: GenerationRequest,
    { confirmDuplicate, signal, ask }: GenerateOptions = {},
  ): Promise<NewlyStarted | AlreadyStarted> {
    const { service, sender, jobs } = this.#options;
    const fingerprint = generationFingerprint(request);
    // The request whose job may be among the newest: the one under way, or that of this call.
    let [ageMs, known]: [number, ReadonlySet<string>] = [0, new Set()];
    const call: GuardedCall<GenerationEntry, Generation, NewlyStarted | AlreadyStarted> = {
      signal,
      select: (entries) => generationsOf(entries).filter((entry) => entry.fingerprint === fingerprint),
      decide: async (look) => {
        if (look.underWay !== undefined) {
          ageMs = sender.ageMs(look.underWay);
          known = new Set(look.entries.flatMap(({ jobId = [] }) => jobId));
          throw generationInProgressError(ageMs);
        }
        const code = confirmationCode(fingerprint, look.same);
        const isConfirmed = confirmDuplicate === code;
        const earlier = isConfirmed ? undefined : await this.#findGuard(look, code, confirmDuplicate);
        if (earlier !== undefined) return { answer: earlier };
        const repeated = isConfirmed ? look.same.at(-1) : undefined;
        this.#checkLimit(look.entries);
        // Taken before the request: while it is under way, a look at the video list may make its job known.
        known = jobs.ids();
        return {
          question: repeated &&
            ask && { key: code, ask: () => ask({ key: `generate ${code}`, ageMs: sender.ageMs(repeated) }) },
          intent: { operation: "generate", fingerprint, arguments: argumentsOf(request) },
          check: (ahead) => this.#checkLimit(ahead),
          request: (options) => service.generate(request, options),
          receive: (generation) => {
            const { jobId, status } = generation;
            jobs.addStarted(jobId, request.topic, status);
            return { outcome: { outcome: "done", jobId }, answer: { alreadyStarted: false, generation } };
          },
        };
      },
    };
    return sender.run(call).catch(async (error: unknown) => {
      if (!(error instanceof BridgeError)) throw error;
      const { code, outcome, nextStep } = error.facts;
      if (code !== "in_progress" && outcome !== "unknown") throw error;
      const candidates = describeCandidates(ageMs, await this.#listNewest(known));
      throw new BridgeError({ ...error.facts, nextStep: `${candidates} ${nextStep}` }, error);
    });
  }

  /** The job of the same request, if it forbids another. Throws where the request's outcome is unknown. */
  async #findGuard(
    { same, signal }: Look<GenerationEntry>,
    code: string,
    given: string | undefined,
  ): Promise<AlreadyStarted | undefined> {
    const { sender, tryReadJob } = this.#options;
    const newest = same.map((entry) => ({ ...entry, ageMs: sender.ageMs(entry) })).reverse();
    for (const { jobId, ageMs } of newest.slice(0, MAX_LOOKS)) {
      if (jobId === undefined) continue;
      const job = await tryReadJob(jobId, signal);
      if (guards(job, ageMs)) return { alreadyStarted: true, jobId, job, ageMs, code };
    }
    const unknown = newest.find(({ outcome, ageMs }) => outcome === undefined && ageMs < DAY_MS);
    if (unknown === undefined) return undefined;
    throw duplicateGenerationError({ ageMs: unknown.ageMs, code, isStale: given !== undefined });
  }

  /** The newest videos but for those that are known; undefined if they can't be listed. */
  async #listNewest(known: ReadonlySet<string>): Promise<Video[] | undefined> {
    const { service, jobs } = this.#options;
    const listed = await service.listVideos({}, { deadlineMs: LIST_MS }).catch(() => undefined);
    if (listed !== undefined) jobs.updateFromPage(listed.videos, { isFirstPage: true });
    return listed?.videos.filter(({ jobId }) => !known.has(jobId));
  }

  /** Throws if so many videos, or more, were started in the last 24 hours, or later: a clock may be ahead. */
  #checkLimit(entries: readonly JournalEntry[]): void {
    const { maxGenerations, sender } = this.#options;
    if (maxGenerations === undefined) return;
    const started = generationsOf(entries).filter((entry) => sender.ageMs(entry) < DAY_MS);
    if (started.length >= maxGenerations) throw limitError(maxGenerations);
  }
}

/** Whether a job that the same request has started forbids another one. */
function guards(job: JobLookup, ageMs: number): boolean {
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
