// The only way to post a video: leaves out platforms that have it, has the rest checked and confirmed, and
// sends it once. `run` has all steps in their order; guard.ts records and waits. A job's id is unique.

import type { Service } from "../service/client.ts";
import { reasonOf } from "../service/platforms.ts";
import type { Publication, PublishRequest } from "../service/responses.ts";
import { cleanServiceText } from "../text.ts";
import { duplicatePublicationError, publicationInProgressError, withoutWaiting } from "./errors.ts";
import type { CallerOptions } from "./generate-once.ts";
import type { Guard } from "./guard.ts";
import type { Journal, PlatformResult, PublicationEntry, RequestOutcome } from "./journal.ts";
import { confirmationCode } from "./journal-facts.ts";
import { type EarlierPost, platformId, platformsOf, postsOf, publicationsOn } from "./same-post.ts";

/** The posts that are about to be sent, for the last checks and the question to the user. */
export interface PublicationPlan {
  readonly jobId: string;
  /** The platforms to post to; empty if the video was posted to all of them. */
  readonly platforms: readonly string[];
  /** The newest posts on those of them that have the video, or may have it. */
  readonly reposted: readonly (EarlierPost & { readonly ageMs: number })[];
  /** The newest posts on the platforms that are left out. */
  readonly alreadyPosted: readonly EarlierPost[];
  /** Changes whenever something else would be sent, or something newer is known. */
  readonly key: string;
  /** Confirms posting again to exactly the platforms in `alreadyPosted`. */
  readonly code: string | undefined;
}

export interface Published {
  /** One for each requested platform that the service named. */
  readonly results: readonly (Publication["results"][number] & { alreadyPublished?: true })[];
  /** The rest of the service's answer. */
  readonly answer: Readonly<Record<string, unknown>>;
  /** Platforms that the service's answer did not mention. */
  readonly missingResults: readonly string[];
  /** Confirms posting again to exactly the platforms that were posted to before. */
  readonly code: string | undefined;
}

/** Checks a post and asks the user. Throws unless it may be sent; resolves to the time that the user took. */
export type PreparePost = (plan: PublicationPlan) => Promise<{ readonly userMs: number }>;

export interface PublishOnceOptions {
  readonly service: Pick<Service, "publish">;
  readonly guard: Guard;
  readonly journal: Journal;
}

const MAX_REASON_CHARS = 200;

export class PublishOnce {
  readonly #options: PublishOnceOptions;

  constructor(options: PublishOnceOptions) {
    this.#options = options;
  }

  /** Posts a video where it isn't yet. Throws BridgeErrors, and what `prepare` throws. */
  async run(
    { jobId, platforms }: PublishRequest,
    prepare: PreparePost,
    { signal, client, confirm }: CallerOptions = {},
  ): Promise<Published> {
    const { guard, journal, service } = this.#options;
    const wanted = { jobId, platforms: [...new Set(platforms.map(platformId))] };
    const call = guard.startCall((entries) => publicationsOn(entries, jobId, wanted.platforms), signal);
    let preparedKey: string | undefined; // the plan that was checked, and that the user has agreed to
    for (;;) {
      const { inFlight, matching } = await guard.waitUntilIdle(call);
      if (inFlight !== undefined)
        throw publicationInProgressError(journal.ageMs(inFlight), platformsOf(inFlight));

      const plan = planPublication(wanted, matching, confirm, (entry) => journal.ageMs(entry));
      if (plan.platforms.length === 0) return publishedBy(wanted, plan, { results: [] });

      if (preparedKey !== plan.key) {
        const { userMs } = await prepare(plan);
        call.extend(userMs);
        // The user may have taken minutes: their yes holds only if nothing newer is known by now.
        preparedKey = plan.key;
        continue;
      }

      const request = { jobId, platforms: [...plan.platforms] };
      const begun = await guard.begin(call, matching, { operation: "publish", ...request, client });
      if (begun === undefined) continue;
      try {
        const answer = service.publish(request, begun.options());
        return publishedBy(wanted, plan, await guard.finish(begun.entry, answer, toOutcome));
      } catch (error) {
        throw plan.reposted.length > 0 ? withoutWaiting(error) : error;
      }
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
      ...(reason !== undefined && { reason: cleanServiceText(reason, MAX_REASON_CHARS) }),
    };
  });
  return { outcome: "done", results: short };
}

function publishedBy(
  { platforms: wanted }: PublishRequest,
  { platforms: sent, alreadyPosted, code }: PublicationPlan,
  { results, ...answer }: Publication,
): Published {
  const named = new Set(results.map(({ platform }) => platformId(platform)));
  const order = ({ platform }: { readonly platform: string }) => wanted.indexOf(platformId(platform));
  const before = alreadyPosted.map(({ platform, result }) => ({
    ...result,
    platform,
    ok: true,
    alreadyPublished: true as const,
  }));
  return {
    code,
    results: [...before, ...results].sort((a, b) => order(a) - order(b)),
    answer,
    missingResults: sent.filter((platform) => !named.has(platform)),
  };
}

/** Decides where to post. Throws a BridgeError if an outcome is unknown and no repeat is confirmed. */
function planPublication(
  { jobId, platforms }: PublishRequest,
  matching: readonly PublicationEntry[],
  confirm: string | undefined,
  ageOf: (entry: Pick<PublicationEntry, "atMs">) => number,
): PublicationPlan {
  const codeFor = (some: readonly string[]) =>
    confirmationCode(["publish", jobId, ...some.toSorted()], publicationsOn(matching, jobId, some));
  const code = codeFor(platforms);
  const keyOf = (toSend: readonly string[]) => `${jobId} ${toSend.join(" ")} ${code}`;
  // The newest post of each platform counts.
  const posts = new Map(matching.flatMap(postsOf).map((post) => [post.platform, post]));
  const earlier = platforms.flatMap((platform) => posts.get(platform) ?? []);
  if (confirm === code) {
    const reposted = earlier.map((post) => ({ ...post, ageMs: ageOf(post) }));
    return { jobId, platforms, reposted, key: keyOf(platforms), alreadyPosted: [], code: undefined };
  }

  const free = platforms.filter((platform) => !posts.has(platform));
  const unknown = earlier.filter(({ result }) => result === undefined);
  if (unknown.length > 0) {
    const unposted = platforms.filter((platform) => posts.get(platform)?.result === undefined);
    throw duplicatePublicationError(
      { ageMs: Math.min(...unknown.map(ageOf)), code: codeFor(unposted), isStale: confirm !== undefined },
      { unknown: unknown.map(({ platform }) => platform), free, unposted },
    );
  }
  return {
    jobId,
    platforms: free,
    reposted: [],
    key: keyOf(free),
    alreadyPosted: earlier,
    code: earlier.length === 0 ? undefined : codeFor(earlier.map(({ platform }) => platform)),
  };
}
