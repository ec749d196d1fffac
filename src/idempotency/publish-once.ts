// The only way to post a video: leaves out platforms that have it, asks the user, and sends the rest once.
// A job's id is unique, so the account makes no difference.

import type { Service } from "../service/client.ts";
import type { Publication, PublishRequest } from "../service/answers.ts";
import { duplicatePublicationError, publicationInProgressError, withoutWaiting } from "./errors.ts";
import type { CallerOptions } from "./generate-once.ts";
import type { PlatformResult, PublicationEntry } from "./journal.ts";
import type { PaidCall, PaidCalls } from "./record-and-send.ts";
import {
  confirmationCode,
  isOvertaken,
  platformOf,
  platformsOf,
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
}

export interface PublishOnceOptions {
  readonly service: Pick<Service, "publish">;
  readonly calls: PaidCalls;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export class PublishOnce {
  readonly #options: PublishOnceOptions;

  constructor(options: PublishOnceOptions) {
    this.#options = options;
  }

  /**
   * Posts a video to the platforms that do not have it yet. `ask` gets what is about to be sent and throws
   * unless the user agrees. Throws a BridgeError, and what `ask` throws.
   */
  async run(
    { jobId, platforms }: PublishRequest,
    ask: (plan: PublicationPlan) => Promise<void>,
    caller: CallerOptions = {},
  ): Promise<Published> {
    const { calls } = this.#options;
    const wanted = { jobId, platforms: [...new Set(platforms)] };
    for (;;) {
      const { plan } = await this.#look(calls.begin(caller.signal), wanted, caller);
      if (plan.platforms.length === 0)
        return { results: plan.already, code: plan.code, answer: {}, unmentioned: [] };
      await ask(plan);
      // The user may have taken minutes: what they agreed to holds only if nothing newer is known by now.
      const call = calls.begin(caller.signal);
      const latest = await this.#look(call, wanted, caller);
      if (latest.plan.key !== plan.key) continue;
      const published = await this.#send(call, wanted, latest);
      if (published !== undefined) return published;
    }
  }

  async #look(call: PaidCall, wanted: PublishRequest, { confirmDuplicate }: CallerOptions) {
    const { calls, now } = this.#options;
    const { seen, underWay } = await calls.look(call, (entries) =>
      publicationsOn(entries, wanted.jobId, wanted.platforms),
    );
    if (underWay !== undefined) {
      const ageMs = Math.max(0, now() - underWay.atMs);
      throw publicationInProgressError(ageMs, platformsOf(underWay));
    }
    return { seen, plan: planPublication(wanted, seen, confirmDuplicate, now()) };
  }

  /** Nothing if something newer is known than what the user agreed to. */
  async #send(
    call: PaidCall,
    wanted: PublishRequest,
    { plan, seen }: { plan: PublicationPlan; seen: readonly PublicationEntry[] },
  ): Promise<Published | undefined> {
    const { jobId, platforms, already, code } = plan;
    const sending = this.#options.calls.send<Publication>(call, {
      intent: { operation: "publish", jobId, platforms: [...platforms] },
      isOvertaken: (entries, own) => isOvertaken(publicationsOn(entries, jobId, wanted.platforms), seen, own),
      request: (options) => this.#options.service.publish({ jobId, platforms }, options),
      outcomeOf: ({ results }) => ({ outcome: "done", results }),
    });
    const sent = await sending.catch((error: unknown) => {
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
    };
  }
}

/**
 * Which platforms are sent to, by the publications of the job on the wanted ones. Throws a BridgeError where
 * the outcome of an earlier one is unknown and the caller has not confirmed a repeat. Pure.
 */
function planPublication(
  { jobId, platforms }: PublishRequest,
  seen: readonly PublicationEntry[],
  confirmDuplicate: string | undefined,
  nowMs: number,
): PublicationPlan {
  const codeFor = (some: readonly string[]) =>
    confirmationCode(
      `publish ${jobId.toLowerCase()} ${some.toSorted().join(" ")}`,
      publicationsOn(seen, jobId, some),
    );
  const states = platforms.map((platform) => ({ platform, state: platformState(seen, platform) }));
  const inState = (kind: PlatformState["kind"]) =>
    states.filter(({ state }) => state.kind === kind).map(({ platform }) => platform);
  const code = codeFor(platforms);
  const keyOf = (toSend: readonly string[]) => `${jobId} ${toSend.join(" ")} ${code}`;

  if (confirmDuplicate === code) {
    const repeated = states.filter(({ state }) => state.kind !== "free");
    return { jobId, platforms, repeated, key: keyOf(platforms), already: [], code: undefined };
  }
  const [posted, unknown, free] = [inState("posted"), inState("unknown"), inState("free")];
  if (unknown.length > 0) {
    const unposted = platforms.filter((platform) => !posted.includes(platform));
    const lastMs = states.map(({ state }) => (state.kind === "unknown" ? state.atMs : -Infinity));
    const ageMs = Math.max(0, nowMs - Math.max(...lastMs));
    const repeat = { ageMs, code: codeFor(unposted), isStale: confirmDuplicate !== undefined };
    throw duplicatePublicationError(repeat, { unknown, free, unposted });
  }
  return {
    jobId,
    platforms: free,
    repeated: [],
    key: keyOf(free),
    already: states.flatMap(({ platform, state }) =>
      state.kind === "posted" ? [{ ...state.result, platform, ok: true, alreadyPublished: true }] : [],
    ),
    code: posted.length === 0 ? undefined : codeFor(posted),
  };
}
