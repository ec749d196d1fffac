// Reads what the service answers: first its JSON, tidied within bounds, then the documented fields. Unknown fields
// stay, any word may be a status, and an item that can't be used costs no other. Parses or throws.

import * as z from "zod";
import { jobIdFrom } from "./job.ts";
import { isLoopback } from "../settings/loopback.ts";
import type { Redact } from "../redact.ts";
import { cutText, stripUnsafeCharacters } from "../text.ts";
import type { Choices } from "./options.ts";
import type { ResponseHeaders } from "./rate-limiter.ts";

/** The size of an answer, also of what a compressed one becomes. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** The items of any list, and thus the videos on a page. */
const MAX_ITEMS = 1_000;
const MAX_CLIPS = 500;
/** Results of a post, and connected accounts. */
export const MAX_RESULTS = 100;
/** Characters of an id. */
export const MAX_ID = 500;
/** Characters of any other text. */
const MAX_TEXT = 2_000;
/** Characters of a link, which is never cut: a cut link doesn't open. Signed links have about 2,000 at most. */
const MAX_LINK = 4_096;

export interface ServiceResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly text: string;
}

/** An answer with its JSON, tidied; undefined if it has none. */
export interface ParsedResponse extends ServiceResponse {
  readonly json: unknown;
}

/** Fields that the bridge adds to results. A field of the service with the same name would pass for one. */
export const BRIDGE_FIELDS: ReadonlySet<string> = new Set([
  "summary",
  "nextStep",
  "done",
  "alreadyStarted",
  "alreadyPublished",
  "savedTo",
  "publishedTo",
  "arguments",
  "ordered",
  "ageSeconds",
  "resourceUri",
  "unsafeLinksLeftOut",
  "partsLeftOut",
  "followingEnded",
  "leftOut",
]);

/** The documented fields that must be links. In other fields only texts that are links are checked. */
const LINK_FIELDS: ReadonlySet<string> = new Set(["videoUrls", "audioUrl", "finalVideoUrl"]);
/** A whole text that leads somewhere, or runs, when it is opened. */
const LINK = /^\s*(?:[a-z][a-z\d+.-]*:\/\/|(?:https?|javascript|vbscript|data|file):(?=\S))\S*\s*$/i;

export type JsonReader = ReturnType<typeof jsonReader>;

/** Everything that the service at `baseUrl` says passes here before anything is checked, cut or shown. */
export function jsonReader(redact: Redact, baseUrl: URL) {
  const isLocal = isLoopback(baseUrl.hostname);
  /**
   * Tidies a parsed value in one walk: without nulls, invisible characters, the key, unsafe links and fields that
   * would pass for the bridge's; long texts are cut. Changes the value.
   */
  const tidy = (json: unknown): unknown => {
    let unsafeLinks = 0;
    const visit = (value: unknown, isLinkField: boolean): unknown => {
      if (typeof value === "string") {
        const text = redact(stripUnsafeCharacters(value));
        if (!isLinkField && !LINK.test(text)) return cutText(text, MAX_TEXT);
        const link = isLinkField ? text.trim().replaceAll(" ", "%20") : text;
        if (isSafeLink(link, isLocal)) return link;
        unsafeLinks += 1;
        return undefined;
      }
      if (typeof value !== "object") return value;
      if (value === null) return undefined;
      if (Array.isArray(value))
        return value
          .slice(0, MAX_ITEMS)
          .map((item) => visit(item, isLinkField))
          .filter((item) => item !== undefined);
      for (const name of Object.keys(value)) {
        const field: unknown = Reflect.get(value, name);
        const kept = BRIDGE_FIELDS.has(name) ? undefined : visit(field, LINK_FIELDS.has(name));
        const cleanName = redact(stripUnsafeCharacters(name));
        if (kept === undefined || cleanName !== name) Reflect.deleteProperty(value, name);
        if (kept !== undefined && (kept !== field || cleanName !== name)) Reflect.set(value, cleanName, kept);
      }
      return value;
    };
    const tidied = visit(json, false);
    if (unsafeLinks > 0 && typeof tidied === "object" && tidied !== null)
      Reflect.set(tidied, "unsafeLinksLeftOut", unsafeLinks);
    return tidied;
  };
  return {
    tidy,
    /** The tidied JSON of a text; undefined if it is none. */
    parse(text: string): unknown {
      try {
        return tidy(JSON.parse(text));
      } catch {
        return undefined;
      }
    },
  };
}

/** Safe is https, and http to this computer if the service runs on it too; never with a user or password. */
function isSafeLink(link: string, isLocal: boolean): boolean {
  if (link.length > MAX_LINK || /\s/.test(link) || !URL.canParse(link)) return false;
  const { protocol, hostname, username, password } = new URL(link);
  if (username !== "" || password !== "") return false;
  return protocol === "https:" || (protocol === "http:" && isLocal && isLoopback(hostname));
}

/** Body of POST /api/v1/generate. The service has a default for each field that is left out. */
export interface Order extends Choices {
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

const status = z
  .string()
  .min(1)
  .transform((word) => cutText(word, MAX_ID));
const jobId = z.string().min(1).max(MAX_ID).transform(jobIdFrom);
/** A number that stands where a text is documented means its digits. */
const textOrNumber = z.union([z.string(), z.number().transform(String)]);
/** A value of another type counts as absent. */
const optional = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined);
const list = z.array(z.unknown());

/** Returns the items that match the schema. z.array would collect an issue for each that doesn't. */
function parseEach<Schema extends z.ZodType>(items: readonly unknown[], schema: Schema): z.output<Schema>[] {
  return items.flatMap((item) => {
    const { success, data } = schema.safeParse(item);
    return success ? [data] : [];
  });
}

// The job was paid for: its id counts, whatever the status is.
export const startedJobSchema = z.looseObject({ jobId, status: status.catch("processing") });
export type StartedJob = z.infer<typeof startedJobSchema>;

const count = () => optional(z.number());
const progress = z.looseObject({ total: count(), completed: count(), failed: count() });
export const jobStatusSchema = z.looseObject({
  status,
  videoUrls: list
    .transform((links) => links.filter((link) => typeof link === "string").slice(0, MAX_CLIPS))
    .default([]),
  audioUrl: optional(z.string()),
  finalVideoUrl: optional(z.string()),
  progress: optional(progress),
  unsafeLinksLeftOut: optional(z.number()),
});
/** A job: the service's answer, the id that was asked for, and whether the job has ended. */
export type Job = z.infer<typeof jobStatusSchema> & { jobId: string; done: boolean };

const video = z.looseObject({ jobId, status, finalVideoUrl: optional(z.string()) });
export type Video = z.infer<typeof video>;

/** `leftOut` counts the items that can't be used. */
export type VideoPage = Record<string, unknown> & {
  readonly videos: Video[];
  readonly nextCursor?: string | undefined;
  readonly leftOut?: number;
};
export const videoPageSchema = z
  .looseObject({
    videos: list,
    // An empty one ends the list.
    nextCursor: optional(textOrNumber.pipe(z.string().min(1))),
  })
  .transform((page): VideoPage => {
    const videos = parseEach(page.videos, video);
    const leftOut = page.videos.length - videos.length;
    return { ...page, videos, ...(leftOut > 0 && { leftOut }) };
  });

const result = z.looseObject({ platform: z.string().max(MAX_ID), ok: z.boolean() });
export const publicationSchema = z.looseObject({
  results: list
    .transform((items) => ({ items, results: parseEach(items.slice(0, MAX_RESULTS), result) }))
    .refine(({ items, results }) => results.length > 0 || items.length === 0)
    .transform(({ results }) => results),
});
export type Publication = z.infer<typeof publicationSchema>;

/** True if an answer of publish says what became of platforms: then it counts, whatever its status is. */
export function hasResults(json: unknown): boolean {
  return typeof json === "object" && json !== null && "results" in json && Array.isArray(json.results)
    ? json.results.length > 0
    : false;
}

export type ConnectedPlatform = Record<string, unknown> & { readonly platform: string };
/** `leftOut` counts the accounts that can't be used. */
export interface ConnectedPlatforms {
  readonly platforms: readonly ConnectedPlatform[];
  readonly leftOut?: number;
}

// A code of another type must not hide the message, nor a message the code.
export const errorEnvelopeSchema = z.looseObject({
  error: z.looseObject({
    code: optional(textOrNumber),
    message: optional(z.string()),
  }),
});

/** True if an answer says that the account has too few credits, whatever its status is. */
export function isOutOfCredits(json: unknown): boolean {
  // A parse that fails costs more than this, and most answers have no error.
  if (typeof json !== "object" || json === null || !("error" in json)) return false;
  return errorEnvelopeSchema.safeParse(json).data?.error.code === "out_of_credits";
}
