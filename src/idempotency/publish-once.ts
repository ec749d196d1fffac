// The only way to post a video: leaves out platforms that have it, asks the user, and sends the rest once.
// `run` has all steps in their order; guard.ts records and waits. A job's id is unique, so the account makes
// no difference.

import type { Service } from "../service/client.ts";
import { platformId, reasonOf } from "../service/platforms.ts";
import type { Publication, PublishRequest } from "../service/responses.ts";
import { cleanServiceText } from "../text.ts";
import { duplicatePublicationError, publicationInProgressError, withoutWaiting } from "./errors.ts";
import type { CallerOptions } from "./generate-once.ts";
import type { Guard, GuardedCall } from "./guard.ts";
import type { Journal, JournalEntry, PlatformResult, PublicationEntry, RequestOutcome } from "./journal.ts";
import { confirmationCode, type EarlierPost, platformsOf, postsOf, publicationsOn } from "./same-request.ts";

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
  readonly results: readonly (Publication["results"][number] & { alreadyPublished?: true })[];
  /** The rest of the service's answer. */
  readonly answer: Readonly<Record<string, unknown>>;
  /** Platforms that the service's answer did not mention. */
  readonly unmentioned: readonly string[];
  /** Confirms posting again to exactly the platforms that were posted to before. */
  readonly code: string | undefined;
}

/** The one who publishes. */
export interface Publisher {
  /**
   * Gets what is about to be sent. Throws unless the user agrees or can't be asked, and gives the
   * milliseconds that the user has taken.
   */
  ask(plan: PublicationPlan): Promise<number>;
  /** Looks for the reason of a failure, which may show that nothing was posted. Gives the error to throw. */
  explain(failure: unknown, request: PublishRequest): Promise<unknown>;
}

export interface PublishOnceOptions {
  readonly service: Pick<Service, "publish">;
  readonly guard: Guard;
  readonly journal: Journal;
}

const MAX_REASON_CHARACTERS = 200;

export class PublishOnce {
  readonly #options: PublishOnceOptions;

  constructor(options: PublishOnceOptions) {
    this.#options = options;
  }

  /** Posts a video to the platforms that do not have it yet. Throws a BridgeError, and what `ask` throws. */
  async run(
    { jobId, platforms }: PublishRequest,
    publisher: Publisher,
    { signal, client, confirmDuplicate }: CallerOptions = {},
  ): Promise<Published> {
    const { guard, journal } = this.#options;
    // Of several names of a platform the first one is sent.
    const ids = platforms.map(platformId);
    const wanted = {
      jobId,
      platforms: platforms.filter((_, index) => ids.indexOf(ids[index] ?? "") === index),
    };
    const select = (entries: readonly JournalEntry[]) => publicationsOn(entries, jobId, wanted.platforms);
    const call = guard.startCall(select, signal);
    let agreedTo: string | undefined; // the key of the plan to which the user has agreed
    for (;;) {
      const seen = await guard.settled(call);
      if (seen.underWay !== undefined)
        throw publicationInProgressError(journal.ageMs(seen.underWay), platformsOf(seen.underWay));

      const plan = planPublication(wanted, seen.same, confirmDuplicate, (entry) => journal.ageMs(entry));
      if (plan.platforms.length === 0) return publishedBy(wanted, plan, { results: [] });

      if (agreedTo !== plan.key) {
        call.extend(await publisher.ask(plan));
        // The user may have taken minutes: their yes holds only if nothing newer is known by now.
        agreedTo = plan.key;
        continue;
      }

      const request = { jobId, platforms: [...plan.platforms] };
      const begun = await guard.begin(call, seen, { operation: "publish", ...request, client });
      if (begun === undefined) continue;
      try {
        const publication = await guard.finish(begun.own, this.#send(request, publisher, call), toOutcome);
        return publishedBy(wanted, plan, publication);
      } catch (error) {
        throw plan.repeated.length > 0 ? withoutWaiting(error) : error;
      }
    }
  }

  async #send(
    request: PublishRequest,
    publisher: Publisher,
    { signal, leftMs }: GuardedCall<PublicationEntry>,
  ): Promise<Publication> {
    try {
      return await this.#options.service.publish(request, { signal, deadlineMs: leftMs() });
    } catch (error) {
      throw await publisher.explain(error, request);
    }
  }
}

/** Keeps what the guard and a user's history need: the service's whole answer would fill the journal. */
function toOutcome({ results }: Publication): RequestOutcome {
  const short = results.map((result): PlatformResult => {
    const { platform, ok, url } = result;
    const reason = ok ? undefined : reasonOf(result);
    return {
      platform: cleanServiceText(platform, 100),
      ok,
      ...(typeof url === "string" && { url }),
      ...(reason !== undefined && { reason: cleanServiceText(reason, MAX_REASON_CHARACTERS) }),
    };
  });
  return { outcome: "done", results: short };
}

function publishedBy(
  wanted: PublishRequest,
  { platforms, already, code }: PublicationPlan,
  { results, ...answer }: Publication,
): Published {
  const mentioned = new Set(results.map(({ platform }) => platformId(platform)));
  const ids = wanted.platforms.map(platformId);
  const order = ({ platform }: { readonly platform: string }) => ids.indexOf(platformId(platform));
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
    unmentioned: platforms.filter((platform) => !mentioned.has(platformId(platform))),
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
      `publish ${jobId.toLowerCase()} ${some.map(platformId).toSorted().join(" ")}`,
      publicationsOn(seen, jobId, some),
    );
  const code = codeFor(platforms);
  const keyOf = (toSend: readonly string[]) => `${jobId} ${toSend.join(" ")} ${code}`;
  // Of several posts on a platform, the newest one counts.
  const posts = new Map(seen.flatMap(postsOf).map((post) => [platformId(post.platform), post]));
  const earlierOn = (platform: string) => posts.get(platformId(platform));
  const earlier = platforms.flatMap((platform): EarlierPost[] => {
    const post = earlierOn(platform);
    return post === undefined ? [] : [{ ...post, platform }];
  });

  if (confirmDuplicate === code)
    return { jobId, platforms, repeated: earlier, key: keyOf(platforms), already: [], code: undefined };
  const free = platforms.filter((platform) => earlierOn(platform) === undefined);
  const unknown = earlier.filter(({ result }) => result === undefined);
  if (unknown.length > 0) {
    const unposted = platforms.filter((platform) => earlierOn(platform)?.result === undefined);
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
