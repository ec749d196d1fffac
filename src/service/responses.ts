// Reads what the service answers: first its JSON, tidied within bounds, then the documented fields. Unknown fields
// stay, and any word may be a status. Parses or throws.

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
  "followingEnded",
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
  if (link.length > MAX_LINK || /\s/.test(link)) return false;
  try {
    const { protocol, hostname, username, password } = new URL(link);
    if (username !== "" || password !== "") return false;
    return protocol === "https:" || (protocol === "http:" && isLocal && isLoopback(hostname));
  } catch {
    return false;
  }
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

const status = z.string().min(1);
const jobId = z.string().min(1).max(MAX_ID).transform(jobIdFrom);

// The job was paid for: its id counts, whatever the status is.
export const startedJobSchema = z.looseObject({ jobId, status: status.catch("processing") });
export type StartedJob = z.infer<typeof startedJobSchema>;

const count = z.number().optional();
export const jobStatusSchema = z.looseObject({
  status,
  videoUrls: z
    .array(z.string())
    .transform((links) => links.slice(0, MAX_CLIPS))
    .default([]),
  audioUrl: z.string().optional(),
  finalVideoUrl: z.string().optional(),
  // It only illustrates the status, whose links the user has paid for.
  progress: z.looseObject({ total: count, completed: count, failed: count }).optional().catch(undefined),
});
/** A job: the service's answer, the id that was asked for, and whether the job has ended. */
export type Job = z.infer<typeof jobStatusSchema> & { jobId: string; done: boolean };

// A video without a status must not hide the others: the list alone has their links.
const video = z.looseObject({
  jobId,
  status: status.catch("unknown"),
  finalVideoUrl: z.string().optional(),
});
export type Video = z.infer<typeof video>;

export const videoPageSchema = z.looseObject({
  videos: z.array(video),
  // An empty one ends the list.
  nextCursor: z
    .string()
    .transform((cursor) => cursor || undefined)
    .optional(),
});
export type VideoPage = z.infer<typeof videoPageSchema>;

const result = z.looseObject({ platform: z.string().max(MAX_ID), ok: z.boolean() });
// A platform whose result can't be read is one without a result: the others' posts are public.
const readResults = (results: readonly unknown[]) =>
  results.slice(0, MAX_RESULTS).flatMap((one) => result.safeParse(one).data ?? []);
export const publicationSchema = z.looseObject({
  results: z
    .array(z.unknown())
    .refine((results) => results.length === 0 || readResults(results).length > 0)
    .transform(readResults),
});
export type Publication = z.infer<typeof publicationSchema>;

export type ConnectedPlatform = Record<string, unknown> & { readonly platform: string };

export const errorEnvelopeSchema = z.looseObject({
  error: z.looseObject({ code: z.string().optional(), message: z.string().optional() }),
});
