// The only way to post a video: leaves out platforms that have it, asks the user, and sends the rest once.
// A job's id is unique, so the account makes no difference.

import type { Service } from "../service/client.ts";
import type { Publication, PublishRequest } from "../service/responses.ts";
import { duplicatePublicationError, publicationInProgressError, withoutWaiting } from "./errors.ts";
import type { CallerOptions } from "./generate-once.ts";
import type { PlatformResult, PublicationEntry } from "./journal.ts";
import type { GuardedCall, GuardedSender } from "./record-and-send.ts";
import {
  confirmationCode,
  type EarlierPost,
  platformOf,
  platformsOf,
  postsOf,
  publicationsOn,
} from "./same-request.ts";

/** What the user is asked about before anything is sent. */
export interface PublicationPlan {
  readonly jobId: string;
  /** To be posted to; empty where the video was posted to all of them. */
  readonly platforms: readonly string[];
  /** The newest posts on those among them that were, or may have been, posted to before. */
  readonly repeated: readonly EarlierPost[];
  /** The newest posts on the platforms that are left out. */
  readonly already: readonly EarlierPost[];
  /** Changes whenever something else would be sent, or something newer is known. */
  readonly key: string;
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
  readonly sender: GuardedSender;
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
    { signal, confirmDuplicate }: CallerOptions = {},
  ): Promise<Published> {
    const { service, sender } = this.#options;
    const wanted = { jobId, platforms: [...new Set(platforms)] };
    let isRepeat = false;
    const call: GuardedCall<PublicationEntry, Publication, Published> = {
      signal,
      select: (entries) => publicationsOn(entries, jobId, wanted.platforms),
      decide: async ({ same, underWay }) => {
        if (underWay !== undefined)
          throw publicationInProgressError(sender.ageMs(underWay), platformsOf(underWay));
        const plan = planPublication(wanted, same, confirmDuplicate, (entry) => sender.ageMs(entry));
        isRepeat = plan.repeated.length > 0;
        if (plan.platforms.length === 0) return { answer: publishedBy(wanted, plan, { results: [] }) };
        const request = { jobId, platforms: [...plan.platforms] };
        return {
          question: { key: plan.key, ask: () => ask(plan) },
          intent: { operation: "publish", ...request },
          request: (options) => service.publish(request, options),
          receive: (publication) => ({
            outcome: { outcome: "done", results: publication.results },
            answer: publishedBy(wanted, plan, publication),
          }),
        };
      },
    };
    return sender.run(call).catch((error: unknown) => {
      throw isRepeat ? withoutWaiting(error) : error;
    });
  }
}

function publishedBy(
  wanted: PublishRequest,
  { platforms, already, code }: PublicationPlan,
  { results, ...answer }: Publication,
): Published {
  const mentioned = new Set(results.map(platformOf));
  const order = (result: PlatformResult) => wanted.platforms.indexOf(platformOf(result));
  const before = already.map(({ platform, result }) => ({
    ...result,
    platform,
    ok: true,
    alreadyPublished: true as const,
  }));
  return {
    code,
    results: [...before, ...results].sort((a, b) => order(a) - order(b)),
    answer,
    unmentioned: platforms.filter((platform) => !mentioned.has(platform)),
  };
}

/**
 * Which platforms are sent to, by the publications of the job on the wanted ones. Throws a BridgeError where
 * the outcome of an earlier one is unknown and the caller has not confirmed a repeat. Pure.
 */
function planPublication(
  { jobId, platforms }: PublishRequest,
  seen: readonly PublicationEntry[],
  confirmDuplicate: string | undefined,
  ageOf: (entry: Pick<PublicationEntry, "atMs">) => number,
): PublicationPlan {
  const codeFor = (some: readonly string[]) =>
    confirmationCode(
      `publish ${jobId.toLowerCase()} ${some.toSorted().join(" ")}`,
      publicationsOn(seen, jobId, some),
    );
  const code = codeFor(platforms);
  const keyOf = (toSend: readonly string[]) => `${jobId} ${toSend.join(" ")} ${code}`;
  // Of several posts on a platform, the newest one counts.
  const posts = new Map(seen.flatMap(postsOf).map((post) => [post.platform, post]));
  const earlier = platforms.flatMap((platform) => posts.get(platform) ?? []);

  if (confirmDuplicate === code)
    return { jobId, platforms, repeated: earlier, key: keyOf(platforms), already: [], code: undefined };
  const free = platforms.filter((platform) => !posts.has(platform));
  const unknown = earlier.filter(({ result }) => result === undefined);
  if (unknown.length > 0) {
    const unposted = platforms.filter((platform) => posts.get(platform)?.result === undefined);
    throw duplicatePublicationError(
      {
        ageMs: Math.min(...unknown.map(ageOf)),
        code: codeFor(unposted),
        isStale: confirmDuplicate !== undefined,
      },
      { unknown: unknown.map(({ platform }) => platform), free, unposted },
    );
  }
  return {
    jobId,
    platforms: free,
    repeated: [],
    key: keyOf(free),
    already: earlier,
    code: earlier.length === 0 ? undefined : codeFor(earlier.map(({ platform }) => platform)),
  };
}
