// The service's documented requests and answers, read tolerantly: unknown fields stay, null counts as absent,
// any word may be a status. Fields that the bridge itself adds, and links unsafe to open, are removed.

import * as z from "zod";
import { isLoopback } from "../loopback.ts";
import { stripUnsafeCharacters } from "../text.ts";
import type { Choices } from "./options.ts";

/** Body of POST /api/v1/generate. The service has a default for each field that is left out. */
export interface GenerationRequest extends Choices {
  readonly topic: string;
  readonly language?: string | undefined;
  /** Seconds. */
  readonly duration?: number | undefined;
  readonly voice?: string | undefined;
}

export interface PublishRequest {
  readonly jobId: string;
  readonly platforms: readonly string[];
}

export interface VideosQuery {
  readonly limit?: number | undefined;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
}

const status = z.string().min(1);
const jobId = z.string().min(1);

// The job was paid for: its id counts, whatever the status is. Bounded, as it goes to disk and is shown.
const generation = z.looseObject({ jobId: jobId.max(500), status: status.catch("processing") });
export type Generation = z.infer<typeof generation>;

const progress = z.looseObject({
  total: z.number().optional(),
  completed: z.number().optional(),
  failed: z.number().optional(),
});
const jobStatus = z.looseObject({
  status,
  videoUrls: z.array(z.string()).default([]),
  audioUrl: z.string().optional(),
  finalVideoUrl: z.string().optional(),
  progress: progress.optional(),
});
/** A job: the service's answer, the id that was asked for, and whether the job has ended. */
export type Job = z.infer<typeof jobStatus> & { jobId: string; done: boolean };

const video = z.looseObject({ jobId, status, finalVideoUrl: z.string().optional() });
export type Video = z.infer<typeof video>;

const videoPage = z.looseObject({
  videos: z.array(video),
  // Documented as a timestamp string; a bare number means the same. An empty one ends the list.
  nextCursor: z
    .union([z.string(), z.number().transform(String)])
    .transform((cursor) => cursor || undefined)
    .optional(),
});
export type VideoPage = z.infer<typeof videoPage>;

const publication = z.looseObject({
  results: z.array(z.looseObject({ platform: z.string(), ok: z.boolean() })),
});
export type Publication = z.infer<typeof publication>;

const results = z.looseObject({ results: z.array(z.unknown()).nonempty() });

/** Whether an answer of publish says what became of platforms: then it counts, whatever its status is. */
export function hasResults(json: unknown): boolean {
  return results.safeParse(json).success;
}

export interface ConnectedPlatforms {
  readonly platforms: readonly ({ platform: string } & Record<string, unknown>)[];
}

// A field of another type must not cost the other field. A numeric code is taken as its digits.
export const errorEnvelopeSchema = z.looseObject({
  error: z.looseObject({
    code: z
      .union([z.string(), z.number().transform(String)])
      .optional()
      .catch(undefined),
    message: z.string().optional().catch(undefined),
  }),
});

export type AnswerSchemas = ReturnType<typeof answerSchemas>;

/** Parse and clean the answers of the service at `baseUrl`. The names given to `clean` are never links. */
export function answerSchemas(baseUrl: URL) {
  const isLocal = isLoopback(baseUrl.hostname);
  const clean = <Fields extends object>(fields: Fields, ...kept: string[]): Fields =>
    new LinkFilter(isLocal).filter(withoutBridgeFields(fields), kept);
  return {
    generation: generation.transform((answer) => clean(answer, "jobId", "status")),
    jobStatus: jobStatus.transform((answer) => {
      const filter = new LinkFilter(isLocal);
      const safe = filter.filter(withoutBridgeFields(answer), ["status"]);
      return filter.leftOut === 0 ? safe : { ...safe, unsafeLinksLeftOut: filter.leftOut };
    }),
    publication: publication.transform(({ results, ...rest }) => ({
      ...clean(rest),
      results: results.map((result) => clean(result, "platform")),
    })),
    videoPage: videoPage.transform(({ videos, ...rest }) => ({
      ...clean(rest, "nextCursor"),
      videos: videos.map((item) => clean(item, "jobId", "status")),
    })),
    connectedPlatforms: ({ platforms }: ConnectedPlatforms): ConnectedPlatforms => ({
      platforms: platforms.map((item) => clean(item, "platform")),
    }),
  };
}

/** Fields that the bridge adds to results. The service's own of the same name would be taken for them. */
const BRIDGE_FIELDS: ReadonlySet<string> = new Set([
  "summary",
  "nextStep",
  "done",
  "alreadyStarted",
  "alreadyPublished",
  "savedTo",
  "publishedTo",
  "arguments",
  "resourceUri",
  "unsafeLinksLeftOut",
]);

function withoutBridgeFields<Fields extends object>(fields: Fields): Fields {
  const kept = { ...fields };
  for (const name of BRIDGE_FIELDS) Reflect.deleteProperty(kept, name);
  return kept;
}

/** The documented fields that must be links. In other fields only texts that are links are checked. */
const LINK_FIELDS: ReadonlySet<string> = new Set(["videoUrls", "audioUrl", "finalVideoUrl"]);

// A whole text that leads somewhere, or runs, when it is opened. One with a blank is prose, unless a script
// or data URL, and even then if the blank follows the colon ("Data: 5 clips").
const LINK = /^(?:[a-z][a-z\d+.-]*:\/\/\S*|(?:https?|ftp|file):\S+|(?:javascript|vbscript|data):\S.*)$/is;

/** Signed links have about 2,000 at most. */
const MAX_LINK_CHARACTERS = 4_096;

/**
 * Removes unsafe links from an answer at any depth, and counts them. Safe: https, and http to this computer
 * if the service runs on it too; never with a user name or password.
 */
class LinkFilter {
  leftOut = 0;
  readonly #isLocal: boolean;

  constructor(isLocal: boolean) {
    this.#isLocal = isLocal;
  }

  filter<Fields extends object>(fields: Fields, kept: readonly string[] = []): Fields {
    const safe = { ...fields };
    for (const [name, value] of Object.entries(fields)) {
      if (kept.includes(name)) continue;
      const passed = this.#pass(value, LINK_FIELDS.has(name));
      if (passed === undefined) Reflect.deleteProperty(safe, name);
      else Reflect.set(safe, name, passed);
    }
    return safe;
  }

  #pass(value: unknown, mustBeLink: boolean): unknown {
    if (typeof value === "string") {
      if ((!mustBeLink && !LINK.test(asOpened(value))) || this.#isSafe(value)) return value;
      this.leftOut += 1;
      return undefined;
    }
    if (Array.isArray(value))
      return value.map((item) => this.#pass(item, mustBeLink)).filter((item) => item !== undefined);
    return typeof value === "object" && value !== null ? this.filter(value) : value;
  }

  #isSafe(link: string): boolean {
    // Prose after a link would reach the model as our own words.
    if (link.length > MAX_LINK_CHARACTERS || /\s/.test(link) || !URL.canParse(link)) return false;
    const { protocol, hostname, username, password } = new URL(link);
    if (username !== "" || password !== "") return false;
    return protocol === "https:" || (protocol === "http:" && this.#isLocal && isLoopback(hostname));
  }
}

/** A link as browsers read it: without tabs, line breaks and outer blanks, which could hide its scheme. */
function asOpened(text: string): string {
  return text.replace(/[\t\n\r]+/g, "").trim();
}

/** The parsed text, `tidied`; undefined if it is not JSON, or nested too deeply to be walked. */
export function parseJson(text: string): unknown {
  try {
    return tidied(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The same JSON without nulls (properties and array elements) and without invisible characters. */
export function tidied(value: unknown): unknown {
  if (typeof value === "string") return cleaned(value);
  if (Array.isArray(value)) return value.filter((item) => item !== null).map(tidied);
  if (typeof value !== "object" || value === null) return value;
  const kept: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) if (item !== null) kept.push([cleaned(key), tidied(item)]);
  return Object.fromEntries(kept);
}

/** Runs on every text of every answer, most of which are plain ASCII. */
function cleaned(text: string): string {
  return /^[\t\n -~]*$/.test(text) ? text : stripUnsafeCharacters(text);
}
