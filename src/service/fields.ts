// Every field of a result, by its name: whose it is, and what it means. The readers of answers, the size of
// results, the documents and the card take the names from here.

import { STATES } from "./job.ts";
import { DEFAULTS } from "./options.ts";

interface Field {
  /** A field of the bridge is ours alone: one of that name in the service's answer is dropped. */
  readonly from: "service" | "bridge";
  readonly meaning: string;
}

const service = (meaning: string): Field => ({ from: "service", meaning });
const bridge = (meaning: string): Field => ({ from: "bridge", meaning });

const STATUSES = Array.from(STATES.keys(), (word) => `\`${word}\``).join(", ");

export const FIELDS = {
  summary: bridge("One or two sentences that say what the result means"),
  nextStep: bridge("What to do next; absent if nothing is left to do"),
  jobId: service("The id of the video's job"),
  status: service(`${STATUSES}, or another word of the service`),
  resourceUri: bridge("The job as a resource, `faceless://jobs/{jobId}`"),
  alreadyStarted: bridge(
    "`true` if this is the job of the same order from the last 20 hours, and nothing was paid",
  ),
  done: bridge("Whether the job has ended"),
  videoUrls: service("The clips that are ready"),
  audioUrl: service("The voiceover"),
  finalVideoUrl: service("The finished video"),
  savedTo: bridge("The saved file, with `FACELESS_SAVE_DIR`"),
  progress: service("Clips: `total`, `completed`, `failed`"),
  total: service("All clips of the video"),
  completed: service("The clips that are ready"),
  failed: service("The clips that failed"),
  unsafeLinksLeftOut: bridge("`true` if links that are not safe to open were left out"),
  followingEnded: bridge("Why the job is no longer followed"),
  publishedTo: bridge("Where and when this computer posted it: `platform`, `url`, `at`, or `unknown`"),
  url: service("The link of a post"),
  at: service("When something happened"),
  unknown: service("`true` for a post whose outcome is not known"),
  arguments: bridge("What was ordered, if this computer ordered it"),
  results: service(
    "One entry per platform: `platform`, `ok`, and `alreadyPublished` if it was posted there before",
  ),
  ok: service("Whether the post succeeded"),
  alreadyPublished: bridge("`true` if this is an earlier post, and nothing was sent"),
  videos: service(
    "The videos: `jobId`, `status`, and, as far as they are known, `topic`, `createdAt`, `ordered`, `progress`, `ageSeconds`, `finalVideoUrl`, `savedTo`, `publishedTo`",
  ),
  topic: service("What the video says and shows"),
  createdAt: service("When the video was ordered"),
  ordered: bridge("The order in one line, without what is the default of `voice`, `music` and `pacing`"),
  ageSeconds: bridge("How long ago the video was started"),
  nextCursor: service("The `cursor` of the next page, if there is one"),
  platforms: service("The connected accounts: `platform` is the id for `publish_video`"),
  platform: service("The id of a platform"),
} satisfies Readonly<Record<string, Field>>;

export type FieldName = keyof typeof FIELDS;

/** Fields that the bridge adds to results. A field of the service with the same name would look like one. */
export const BRIDGE_FIELDS: ReadonlySet<string> = new Set(
  Object.entries<Field>(FIELDS).flatMap(([name, { from }]) => (from === "bridge" ? [name] : [])),
);

/** All names that are documented, with those of an order's arguments. */
export const DOCUMENTED_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(FIELDS),
  ...Object.keys(DEFAULTS),
]);
