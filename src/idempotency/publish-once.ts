// The only way to post a video: leaves out the platforms that have it, asks the user, records the request and sends it at most once.
// A job's id is unique, so the account makes no difference.

import type { Service } from "../service/client.ts";
import type { Publication, PublishRequest } from "../service/answers.ts";
import { duplicatePublicationError, inProgressError, withoutWaiting } from "./errors.ts";
import { CALL_MS, type CallerOptions, WAIT_STEP_MS } from "./generate-once.ts";
import type { Journal, JournalEntry, PlatformResult } from "./journal.ts";
import type { RecordingSender } from "./record-and-send.ts";
import {
  confirmationCode,
  isOvertaken,
  platformOf,
  type PlatformState,
  platformState,
  publicationsOn,
} from "./same-request.ts";

/** What the user is asked about before anything is sent. */
export interface PublicationPlan {
  readonly jobId: string;
  /** To be posted to; empty where the video was posted to all of them. */
  readonly platforms: readonly string[];
  /** Those among them that were, or may have been, posted to before. */
  readonly repeated: readonly { readonly platform: string; readonly state: PlatformState }[];
  /** Changes whenever something else would be sent, or something newer is known. */
  readonly key: string;
  /** What the service said of the platforms that are left out because the video was posted there. */
  readonly already: readonly (PlatformResult & { readonly alreadyPublished: true })[];
  /** Confirms posting again to exactly the platforms in `already`. */
  readonly code: string | undefined;
}

export interface Published {
  /** One for each platform that was asked for, as far as the service named it. */
  readonly results: readonly (PlatformResult & { alreadyPublished?: true })[];
  /** The rest of the service's answer. */
  readonly answer: Readonly<Record<string, unknown>>;
  /** Platforms that the service's answer did not mention. */
  readonly unmentioned: readonly string[];
  /** Confirms posting again to exactly the platforms that were posted to before. */
  readonly code: string | undefined;
  /** Whether other processes will notice a repeat. */
  readonly isRecorded: boolean;
}

export interface PublishOnceOptions {
  readonly service: Pick<Service, "publish">;
  readonly journal: Journal;
  readonly sender: RecordingSender;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds on a monotonic clock. */
  readonly monotonicMs: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export class PublishOnce {
  readonly #options: PublishOnceOptions;

  constructor(options: PublishOnceOptions) {
    this.#options = options;
  }

  /**
   * Posts a video to the platforms that do not have it yet. `ask` gets what is about to be sent and throws unless the user agrees. Throws a
   * BridgeError, and what `ask` throws.
   */
  async run(
    { jobId, platforms }: PublishRequest,
    ask: (plan: PublicationPlan) => Promise<void>,
    caller: CallerOptions = {},
  ): Promise<Published> {
    const wanted = { jobId, platforms: [...new Set(platforms)] };
    for (;;) {
      const { plan } = await this.#look(wanted, caller, this.#deadlineMs());
      if (plan.platforms.length === 0)
        return { results: plan.already, code: plan.code, answer: {}, unmentioned: [], isRecorded: true };
      await ask(plan);
      // The user may have taken minutes: what they agreed to holds only if nothing newer is known by now.
      const deadlineMs = this.#deadlineMs();
      const latest = await this.#look(wanted, caller, deadlineMs);
      if (latest.plan.key !== plan.key) continue;
      const published = await this.#send(wanted, latest, { ...caller, deadlineMs });
      if (published !== undefined) return published;
    }
  }

  #deadlineMs(): number {
    return this.#options.monotonicMs() + CALL_MS;
  }

  /** The plan by what the journal says, once nothing is under way for any of the platforms. */
  async #look(wanted: PublishRequest, caller: CallerOptions, deadlineMs: number) {
    const { journal, sender, now, monotonicMs, sleep } = this.#options;
    const signal = sender.withShutdown(caller.signal);
    for (;;) {
      const seen = publicationsOn(await journal.entries(), wanted.jobId, wanted.platforms);
      if (seen.every(({ state }) => state !== "under way"))
        return { seen, plan: await planPublication(wanted, seen, caller.confirmDuplicate, now()) };
      if (signal.aborted || monotonicMs() >= deadlineMs) throw inProgressError("publication", signal.aborted);
      // Aborted or not, the next turn looks.
      await sleep(WAIT_STEP_MS, signal).catch(() => {});
    }
  }

  /** Nothing if something newer is known than what the user agreed to. */
  async #send(
    wanted: PublishRequest,
    { plan, seen }: { plan: PublicationPlan; seen: readonly JournalEntry[] },
    { deadlineMs, signal: callerSignal }: CallerOptions & { deadlineMs: number },
  ): Promise<Published | undefined> {
    const { service, sender, monotonicMs } = this.#options;
    const { jobId, platforms, already, code } = plan;
    const sent = await sender
      .send<Publication>({
        intent: { operation: "publish", jobId, platforms: [...platforms] },
        isOvertaken: (entries, own) =>
          isOvertaken(publicationsOn(entries, jobId, wanted.platforms), seen, own),
        request: ({ signal, onLate }) =>
          service.publish({ jobId, platforms }, { signal, deadlineMs: deadlineMs - monotonicMs(), onLate }),
        outcomeOf: ({ results }) => ({ outcome: "done", results }),
        signal: callerSignal,
      })
      .catch((error: unknown) => {
        throw plan.repeated.length === 0 ? error : withoutWaiting(error);
      });
    if (sent.kind === "overtaken") return undefined;
    const { results, ...answer } = sent.result;
    const mentioned = new Set(results.map(platformOf));
    const order = (result: PlatformResult) => wanted.platforms.indexOf(platformOf(result));
    return {
      code,
      results: [...already, ...results].sort((a, b) => order(a) - order(b)),
      answer,
      unmentioned: platforms.filter((platform) => !mentioned.has(platform)),
      isRecorded: sent.isRecorded,
    };
  }
}

/**
 * Which platforms are sent to, by the publications of the job on the wanted platforms. Throws a BridgeError where the outcome of an earlier
 * one is not known and the caller has not confirmed a repeat. Pure.
 */
async function planPublication(
  { jobId, platforms }: PublishRequest,
  seen: readonly JournalEntry[],
  confirmDuplicate: string | undefined,
  nowMs: number,
): Promise<PublicationPlan> {
  const codeFor = (some: readonly string[]) =>
    confirmationCode(
      `publish ${jobId.toLowerCase()} ${some.toSorted().join(" ")}`,
      publicationsOn(seen, jobId, some),
    );
  const states = platforms.map((platform) => ({ platform, state: platformState(seen, platform) }));
  const inState = (kind: PlatformState["kind"]) =>
    states.filter(({ state }) => state.kind === kind).map(({ platform }) => platform);
  const code = await codeFor(platforms);
  const keyOf = (toSend: readonly string[]) => `${jobId} ${toSend.join(" ")} ${code}`;

  if (confirmDuplicate === code) {
    const repeated = states.filter(({ state }) => state.kind !== "free");
    return { jobId, platforms, repeated, key: keyOf(platforms), already: [], code: undefined };
  }
  const [posted, unknown, free] = [inState("posted"), inState("unknown"), inState("free")];
  if (unknown.length > 0) {
    const unposted = platforms.filter((platform) => !posted.includes(platform));
    const lastMs = states.map(({ state }) => (state.kind === "unknown" ? state.atMs : -Infinity));
    throw duplicatePublicationError({
      unknown,
      unposted,
      free,
      ageMs: Math.max(0, nowMs - Math.max(...lastMs)),
      code: await codeFor(unposted),
      isStale: confirmDuplicate !== undefined,
    });
  }
  return {
    jobId,
    platforms: free,
    repeated: [],
    key: keyOf(free),
    already: states.flatMap(({ platform, state }) =>
      state.kind === "posted" ? [{ ...state.result, platform, ok: true, alreadyPublished: true }] : [],
    ),
    code: posted.length === 0 ? undefined : await codeFor(posted),
  };
}
