// Which platforms of a publication are sent to, and what the caller is told of the others. Pure; the journal's entries come in.

import type { PublishRequest } from "../service/answers.ts";
import { duplicatePublicationError } from "./errors.ts";
import type { JournalEntry, PlatformResult } from "./journal.ts";
import { confirmationCode, type PlatformState, platformState, type Publication } from "./same-request.ts";

/** What the user is asked about before anything is sent. */
export interface PublicationPlan {
  readonly jobId: string;
  /** To be posted to; empty where the video is public on all of them. */
  readonly platforms: readonly string[];
  /** Those among them that were, or may have been, posted to before. */
  readonly repeated: readonly { readonly platform: string; readonly state: PlatformState }[];
  /** Changes whenever something else would be sent, or something newer is known. */
  readonly key: string;
  /** What the service said of the platforms that are left out because the video is public there. */
  readonly already: readonly (PlatformResult & { readonly alreadyPublished: true })[];
  /** Confirms posting again to exactly the platforms in `already`. */
  readonly code: string | undefined;
}

export interface PlanOptions {
  readonly account: string;
  /** Platforms without repeats. */
  readonly wanted: PublishRequest;
  readonly confirmDuplicate: string | undefined;
  /** All that is known of posting this job. */
  readonly known: readonly Publication[];
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

/** Throws a BridgeError where the outcome of an earlier publication is not known and the caller has not confirmed a repeat. */
export async function planPublication(options: PlanOptions): Promise<PublicationPlan> {
  const { account, wanted, confirmDuplicate, known, nowMs } = options;
  const { jobId, platforms } = wanted;
  const codeFor = (some: readonly string[]) => {
    const request = `${account} publish ${jobId.toLowerCase()} ${some.toSorted().join(" ")}`;
    return confirmationCode(request, entriesOn(known, some));
  };
  const states = platforms.map((platform) => ({ platform, state: platformState(known, platform) }));
  const inState = (kind: PlatformState["kind"]) =>
    states.filter(({ state }) => state.kind === kind).map(({ platform }) => platform);
  const code = await codeFor(platforms);
  const keyOf = (toSend: readonly string[]) => `${jobId} ${toSend.join(" ")} ${code}`;

  if (confirmDuplicate === code) {
    const repeated = states.filter(({ state }) => state.kind !== "free");
    return { jobId, platforms, repeated, key: keyOf(platforms), already: [], code: undefined };
  }
  const posted = inState("posted");
  const unknown = inState("unknown");
  if (unknown.length > 0) {
    const unposted = platforms.filter((platform) => !posted.includes(platform));
    const lastMs = states.map(({ state }) => (state.kind === "unknown" ? state.atMs : -Infinity));
    throw duplicatePublicationError({
      unknown,
      unposted,
      free: inState("free"),
      ageMs: Math.max(0, nowMs - Math.max(...lastMs)),
      code: await codeFor(unposted),
      isRefusal: confirmDuplicate !== undefined,
    });
  }
  const free = inState("free");
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

/** The entries of the publications that concern any of the platforms. */
export function entriesOn(
  publications: readonly Publication[],
  platforms: readonly string[],
): JournalEntry[] {
  return publications
    .filter((publication) => publication.platforms.some((platform) => platforms.includes(platform)))
    .map(({ entry }) => entry);
}
