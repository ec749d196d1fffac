// The only way to make a paid or public request. Each is in the journal before it is sent, is held back where an earlier one may have
// been carried out, and is sent at most once. Knows the policy; how a request is made is the service client's.

import { BridgeError, toBridgeError } from "../errors.ts";
import type { Service } from "../service/client.ts";
import type { Generation, GenerationRequest, Job, PublishRequest, Video } from "../service/answers.ts";
import { duplicateGenerationError, withCandidates, withoutWaiting } from "./errors.ts";
import type { GenerationLimit } from "./generation-limit.ts";
import { entriesOn, type PublicationPlan, planPublication } from "./plan-publication.ts";
import type { Ending, Intent, Journal, JournalEntry, PlatformResult, Settings } from "./journal.ts";
import {
  confirmationCode,
  fingerprintOf,
  GENERATION_GUARD_MS,
  generationFingerprint,
  type Publication,
  publicationsOf,
  platformState,
  sameGenerations,
  withDefaults,
  withoutDefaults,
} from "./same-request.ts";

export interface SendOnceOptions {
  readonly service: Pick<Service, "generate" | "publish" | "listVideos">;
  readonly journal: Journal;
  readonly generationLimit: GenerationLimit;
  /** What tells accounts apart: the normalised base URL and the key. Only its hash is kept. */
  readonly account: string;
  /** How a job stands now; undefined where that can't be found out within a second or two. */
  readonly lookAtJob: (jobId: string, signal: AbortSignal | undefined) => Promise<Job | undefined>;
  /** The jobs that this process knows at the moment. */
  readonly knownJobIds: () => ReadonlySet<string>;
  /** The newest videos, as the service has just listed them. */
  readonly onListed: (videos: readonly Video[]) => void;
  /** Whether a process of this machine is alive. */
  readonly isRunning: (pid: number) => boolean;
  readonly pid: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds on a monotonic clock. */
  readonly monotonicMs: () => number;
}

export interface CallerOptions {
  /** The code that an earlier answer gave for sending the same request again. */
  readonly confirmDuplicate?: string | undefined;
  /** Cancels the call. A request that was sent is still seen through. */
  readonly signal?: AbortSignal | undefined;
}

export type Started = { readonly alreadyStarted: false; readonly generation: Generation } | AlreadyStarted;

/** Nothing was sent: the same request started this job before. */
export interface AlreadyStarted {
  readonly alreadyStarted: true;
  readonly jobId: string;
  /** How it stands now; undefined where that is not known. */
  readonly job: Job | undefined;
  readonly ageMs: number;
  /** Confirms a second video. */
  readonly code: string;
}

export interface Published {
  /** One for each platform that was asked for, as far as the service named it; those that were public already have `alreadyPublished`. */
  readonly results: readonly (PlatformResult & { alreadyPublished?: true })[];
  /** The rest of the service's answer. */
  readonly answer: Readonly<Record<string, unknown>>;
  /** Platforms that the service's answer did not mention. */
  readonly unmentioned: readonly string[];
  /** Confirms posting again to exactly the platforms that were public already. */
  readonly code: string | undefined;
}

/** A job that an earlier request started. */
export interface StartedJob {
  readonly jobId: string;
  readonly topic: string;
  readonly createdAtMs: number;
}

/** What this computer knows of a job. */
export interface JobHistory {
  /** How it was ordered: the topic, and what differs from the defaults. */
  readonly settings?: Settings;
  /** Where it was posted. */
  readonly publishedTo: readonly string[];
}

/** A call has 45 s in all. The rest is for listing the newest videos after a lost answer. */
const CALL_MS = 38_000;
const LOOK_MS = 5_000;

export class SendOnce {
  readonly #options: SendOnceOptions;
  /** Made on first use. */
  #accountFingerprint: Promise<string> | undefined;
  /** The calls that have to be waited for when the process ends. */
  readonly #calls = new Set<Promise<unknown>>();
  /** The last of the calls that wait for one another, by what they would send. */
  readonly #queues = new Map<string, Promise<unknown>>();
  readonly #ending = new AbortController();
  #onJobStarted: (jobId: string) => void = () => {};

  constructor(options: SendOnceOptions) {
    this.#options = options;
  }

  /** Starts a video, unless the same request is under way, unknown or has given a job that did not fail. Throws a BridgeError. */
  async generate(request: GenerationRequest, caller: CallerOptions = {}): Promise<Started> {
    const fingerprint = await generationFingerprint(await this.#account(), request);
    return this.#inTurn(fingerprint, (deadlineMs) =>
      this.#generateInTurn(request, fingerprint, caller, deadlineMs),
    );
  }

  /**
   * Posts a video to the platforms on which it is not public yet. `ask` gets what is about to be sent and throws unless the user agrees.
   * Throws a BridgeError, and what `ask` throws.
   */
  async publish(
    request: PublishRequest,
    ask: (plan: PublicationPlan) => Promise<void>,
    caller: CallerOptions = {},
  ): Promise<Published> {
    const wanted = { jobId: request.jobId, platforms: [...new Set(request.platforms)] };
    const key = `publish ${request.jobId.toLowerCase()}`;
    for (;;) {
      const { plan } = await this.#inTurn(key, () => this.#planPublication(wanted, caller));
      if (plan.platforms.length === 0)
        return { results: plan.already, code: plan.code, answer: {}, unmentioned: [] };
      await ask(plan);
      // The user may have taken minutes: what they agreed to holds only if nothing newer is known by now.
      const published = await this.#inTurn(key, (deadlineMs) =>
        this.#publishInTurn(wanted, plan, caller, deadlineMs),
      );
      if (published !== undefined) return published;
    }
  }

  /**
   * The process ends: nothing that is not sent yet is sent any more. Resolves when the answers to what was sent are in the journal.
   * `onJobStarted` is called for each job that is started meanwhile.
   */
  async finish(onJobStarted: (jobId: string) => void): Promise<void> {
    this.#onJobStarted = onJobStarted;
    this.#ending.abort();
    while (this.#calls.size > 0) await Promise.allSettled(this.#calls);
  }

  /** The jobs that this computer started for the account, the latest first. Throws a BridgeError if the journal can't be read. */
  async startedJobs(): Promise<readonly StartedJob[]> {
    const account = await this.#account();
    const entries = await this.#options.journal.entries();
    return entries
      .filter((entry) => entry.operation === "generate" && entry.account === account)
      .flatMap(({ jobId, label, intentAtMs }) =>
        jobId === undefined ? [] : [{ jobId, topic: label, createdAtMs: intentAtMs }],
      )
      .reverse();
  }

  /** What this computer knows of the account's jobs, by their ids in lower case. Throws a BridgeError if the journal can't be read. */
  async history(): Promise<ReadonlyMap<string, JobHistory>> {
    const account = await this.#account();
    const jobs = new Map<string, { settings?: Settings; publishedTo: string[] }>();
    for (const entry of await this.#options.journal.entries()) {
      const { jobId, settings, platforms } = entry;
      if (entry.account !== account || jobId === undefined) continue;
      const job = jobs.get(jobId.toLowerCase()) ?? { publishedTo: [] };
      jobs.set(jobId.toLowerCase(), job);
      if (settings !== undefined) job.settings = withoutDefaults(settings);
      for (const platform of platforms ?? []) {
        const { kind } = platformState([{ entry, platforms: [platform] }], platform);
        if (kind === "posted" && !job.publishedTo.includes(platform)) job.publishedTo.push(platform);
      }
    }
    return jobs;
  }

  #account(): Promise<string> {
    return (this.#accountFingerprint ??= fingerprintOf(this.#options.account));
  }

  async #generateInTurn(
    request: GenerationRequest,
    fingerprint: string,
    caller: CallerOptions,
    deadlineMs: number,
  ): Promise<Started> {
    const { service, journal, generationLimit, onListed, knownJobIds } = this.#options;
    const account = await this.#account();
    const settings = withDefaults(request);
    const intent: Intent = { operation: "generate", account, label: request.topic, fingerprint, settings };
    const same = async () => sameGenerations(await journal.entries(), fingerprint);
    for (;;) {
      const known = await same();
      if (await this.#settleAbandoned(known)) continue;
      const code = await confirmationCode(fingerprint, known);
      const isConfirmed = caller.confirmDuplicate === code;
      const earlier = isConfirmed ? undefined : await this.#earlierGeneration(known, code, caller);
      if (earlier !== undefined) return earlier;
      const sent = await generationLimit.count(() =>
        this.#send(intent, same, known, {
          request: (signal) =>
            withCandidates(
              () =>
                service.generate(request, { signal, deadlineMs: deadlineMs - this.#options.monotonicMs() }),
              () => service.listVideos({}, { deadlineMs: LOOK_MS }),
              { onListed, knownJobIds },
            ),
          ending: ({ jobId }) => ({ outcome: "done", jobId }),
          signal: caller.signal,
        }),
      );
      if (sent === undefined) continue;
      this.#onJobStarted(sent.jobId);
      return { alreadyStarted: false, generation: sent };
    }
  }

  /**
   * A request whose process died was under way until then, which may be long after its beginning if the computer slept. When it died is not
   * known, so the first process to see it counts from now.
   */
  async #settleAbandoned(known: readonly JournalEntry[]): Promise<boolean> {
    const abandoned = known.filter(
      (entry) => entry.outcome === "open" && this.#ageMs(entry) >= GENERATION_GUARD_MS,
    );
    for (const { id } of abandoned) await this.#options.journal.settle(id, { outcome: "unknown" });
    return abandoned.length > 0;
  }

  /** The job that the same request has given, unless it failed. Throws where what became of the request is not known. */
  async #earlierGeneration(
    known: readonly JournalEntry[],
    code: string,
    { confirmDuplicate, signal }: CallerOptions,
  ): Promise<AlreadyStarted | undefined> {
    const guarding = known.filter((entry) => this.#ageMs(entry) < GENERATION_GUARD_MS).reverse();
    const unknown = guarding.find(({ jobId }) => jobId === undefined);
    if (unknown !== undefined)
      throw duplicateGenerationError({
        ageMs: this.#sinceIntentMs(unknown),
        code,
        isRefusal: confirmDuplicate !== undefined,
      });
    const untilEnding = anySignal(this.#ending.signal, signal);
    const looks = guarding.flatMap(({ jobId }) =>
      jobId === undefined
        ? []
        : [this.#options.lookAtJob(jobId, untilEnding).then((job) => ({ jobId, job }))],
    );
    for (const [index, { jobId, job }] of (await Promise.all(looks)).entries()) {
      const entry = guarding[index];
      if (job?.status !== "failed" && entry !== undefined)
        return { alreadyStarted: true, jobId, job, ageMs: this.#sinceIntentMs(entry), code };
    }
    return undefined;
  }

  async #planPublication(
    wanted: PublishRequest,
    { confirmDuplicate }: CallerOptions,
  ): Promise<{ plan: PublicationPlan; known: readonly Publication[] }> {
    const { journal, now } = this.#options;
    const account = await this.#account();
    const known = await publicationsOf(await journal.entries(), account, wanted.jobId);
    return {
      plan: await planPublication({ account, wanted, confirmDuplicate, known, nowMs: now() }),
      known,
    };
  }

  /** Undefined if something newer is known than what the user agreed to. */
  async #publishInTurn(
    wanted: PublishRequest,
    agreed: PublicationPlan,
    caller: CallerOptions,
    deadlineMs: number,
  ): Promise<Published | undefined> {
    const { service, journal } = this.#options;
    const account = await this.#account();
    const { jobId } = wanted;
    const { plan, known } = await this.#planPublication(wanted, caller);
    if (plan.key !== agreed.key) return undefined;
    const { platforms, already, code } = plan;
    const concerned = (publications: readonly Publication[]) => entriesOn(publications, platforms);
    const sent = await this.#send(
      { operation: "publish", account, label: "", jobId, platforms: [...platforms] },
      async () => concerned(await publicationsOf(await journal.entries(), account, jobId)),
      concerned(known),
      {
        request: (signal) =>
          service.publish(
            { jobId, platforms },
            { signal, deadlineMs: deadlineMs - this.#options.monotonicMs() },
          ),
        ending: ({ results }) => ({ outcome: "done", results }),
        signal: caller.signal,
      },
    ).catch((error: unknown) => {
      throw plan.repeated.length === 0 ? error : withoutWaiting(error);
    });
    if (sent === undefined) return undefined;
    const { results, ...answer } = sent;
    const mentioned = new Set(results.map(({ platform }) => platform.trim().toLowerCase()));
    const order = (platform: string) => wanted.platforms.indexOf(platform.trim().toLowerCase());
    return {
      code,
      results: [...already, ...results].sort((a, b) => order(a.platform) - order(b.platform)),
      answer,
      unmentioned: platforms.filter((platform) => !mentioned.has(platform)),
    };
  }

  /**
   * Makes one request with its intent in the journal. Undefined, with nothing sent, if another process wrote the same request since
   * `known` was read: of two that do so at once, the one whose line comes first is sent.
   */
  async #send<Result>(
    intent: Intent,
    same: () => Promise<readonly JournalEntry[]>,
    known: readonly JournalEntry[],
    plan: {
      readonly request: (signal: AbortSignal) => Promise<Result>;
      readonly ending: (result: Result) => Ending;
      readonly signal: AbortSignal | undefined;
    },
  ): Promise<Result | undefined> {
    const { journal } = this.#options;
    const signal = anySignal(this.#ending.signal, plan.signal);
    if (signal.aborted) throw notBegunError();
    const id = await journal.begin(intent);
    try {
      if (hasRival(await same(), known, id)) {
        await journal.settle(id, { outcome: "not_sent" });
        return undefined;
      }
      const result = await plan.request(signal);
      await journal.settle(id, plan.ending(result));
      return result;
    } catch (error) {
      const { outcome } = toBridgeError(error, "unknown").facts;
      await journal.settle(id, { outcome });
      throw error;
    }
  }

  #sinceIntentMs({ intentAtMs }: JournalEntry): number {
    return Math.max(0, this.#options.now() - intentAtMs);
  }

  /**
   * Since the last thing known of the request; 0 while another process is making it. Equal requests are made one at a time here, so an open
   * entry with the own pid is from an earlier process with the same pid, as in a container.
   */
  #ageMs({ outcome, pid, lastKnownAtMs }: JournalEntry): number {
    const { now, isRunning, pid: own } = this.#options;
    const isUnderWay = outcome === "open" && pid !== undefined && pid !== own && isRunning(pid);
    // Less than none: the clock was set back.
    return isUnderWay ? 0 : Math.max(0, now() - lastKnownAtMs);
  }

  /** Runs `send` when the calls before it that would send the same are over; `deadlineMs` is of the monotonic clock. */
  async #inTurn<Result>(key: string, send: (deadlineMs: number) => Promise<Result>): Promise<Result> {
    const deadlineMs = this.#options.monotonicMs() + CALL_MS;
    const before = this.#queues.get(key) ?? Promise.resolve();
    const call = before.then(() => send(deadlineMs));
    const settled = call.then(
      () => {},
      () => {},
    );
    this.#queues.set(key, settled);
    this.#calls.add(settled);
    try {
      return await call;
    } finally {
      this.#calls.delete(settled);
      if (this.#queues.get(key) === settled) this.#queues.delete(key);
    }
  }
}

/** Whether an entry has come since `known` that stands before the own one, or in another file, where the order can't be told. */
function hasRival(entries: readonly JournalEntry[], known: readonly JournalEntry[], ownId: string): boolean {
  const states = new Set(known.map(({ id, outcome }) => `${id} ${outcome}`));
  const ownIndex = entries.findIndex(({ id }) => id === ownId);
  const ownFile = entries[ownIndex]?.file;
  return entries.some(
    ({ id, outcome, file }, index) =>
      !states.has(`${id} ${outcome}`) && (file !== ownFile || index < ownIndex),
  );
}

function anySignal(ending: AbortSignal, signal: AbortSignal | undefined): AbortSignal {
  return signal === undefined ? ending : AbortSignal.any([ending, signal]);
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
