// Reads what the service answers: first its JSON, tidied within bounds, then the documented fields. Unknown
// fields stay, and any word may be a status. Parses or throws.

import * as z from "zod";
import { BRIDGE_FIELDS, DOCUMENTED_FIELDS } from "./fields.ts";
import { jobIdFrom } from "./job.ts";
import { isLoopback } from "../settings/loopback.ts";
import type { Redact } from "../redact.ts";
import { cleanName, cutText, stripUnsafeCharacters } from "../text.ts";
import { MAX_LEVELS } from "../value-at.ts";
import { boundJson } from "./bound-json.ts";
import type { Choices } from "./options.ts";
import type { ResponseHeaders } from "./rate-limiter.ts";

/** The size of an answer, also of what a compressed one becomes. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** The items of any list, and thus the videos on a page. */
const MAX_ITEMS = 1_000;
const MAX_CLIPS = 500;
/** Results of a post, and connected accounts. */
export const MAX_RESULTS = 100;
/** The maximum number of characters of an id. */
export const MAX_ID_CHARS = 500;
/** The maximum number of characters of any other text. */
const MAX_TEXT_CHARS = 2_000;
/** The number of characters of a text that are examined. */
const MAX_READ_CHARS = 65_536;
/** The maximum number of characters of a link, which is never cut. Signed links have about 2,000. */
const MAX_LINK_CHARS = 4_096;

export interface ServiceResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly text: string;
}

/** An answer and its tidied JSON, which is undefined if it has none. */
export interface ParsedResponse extends ServiceResponse {
  readonly json: unknown;
  /** What an answer without JSON says, tidied: the title of its page, or its text. */
  readonly page?: string | undefined;
}

/** The documented fields that must be links. In other fields only texts that are links are checked. */
const LINK_FIELDS: ReadonlySet<string> = new Set(["videoUrls", "audioUrl", "finalVideoUrl"]);
/** The documented lists that are empty if they are null. Results are not among them: null may hide a post. */
const LIST_FIELDS: ReadonlySet<string> = new Set(["videos", "videoUrls", "platforms"]);
/** The name of a field, documented or not, that has a link or links. */
const LINK_NAME = /(?:ur[il]|link|href)s?$/i;
/** A whole text that leads somewhere, or runs, when it is opened. */
const LINK = /^\s*(?:[a-z][a-z\d+.-]*:\/\/|(?:https?|javascript|vbscript|data|file):(?=\S))\S*\s*$/i;

export type JsonReader = ReturnType<typeof jsonReader>;

/** Everything that the service at `baseUrl` says passes here before anything is checked, cut or shown. */
export function jsonReader(redact: Redact, baseUrl: URL) {
  const isLocal = isLoopback(baseUrl.hostname);
  // A cut text shows no part of the key: it is removed first.
  const start = (text: string) =>
    text.length > MAX_READ_CHARS ? redact(text).slice(0, MAX_READ_CHARS) : text;
  /**
   * Copies a parsed value in one walk: without nulls, invisible characters, the key, blank and unsafe links,
   * fields that would look like the bridge's, and what is nested too deep; long texts are cut. A list that is
   * null is an empty one: services in Go write it so.
   */
  const tidy = (json: unknown): unknown => {
    let unsafeLinks = 0;
    const visit = (value: unknown, name: string, levels: number): unknown => {
      if (typeof value === "string") {
        const text = redact(stripUnsafeCharacters(start(value)));
        if (text.trim() === "" && LINK_NAME.test(name)) return undefined;
        const isLinkField = LINK_FIELDS.has(name);
        if (!isLinkField && !LINK.test(text)) return cutText(text, MAX_TEXT_CHARS);
        const link = isLinkField ? text.trim().replaceAll(" ", "%20") : text;
        if (isSafeLink(link, isLocal)) return link;
        unsafeLinks += 1;
        return undefined;
      }
      if (typeof value !== "object") return value;
      if (value === null) return LIST_FIELDS.has(name) ? [] : undefined;
      if (levels === 0) return undefined;
      if (Array.isArray(value))
        return value
          .map((item) => (item === null ? undefined : visit(item, name, levels - 1)))
          .filter((item) => item !== undefined);
      const fields: Record<string, unknown> = {};
      for (const [given, field] of Object.entries<unknown>({ ...value })) {
        const inner = DOCUMENTED_FIELDS.has(given) ? given : redact(cleanName(start(given)));
        // A name that only looks like another one must not replace it.
        const isForged = inner !== given && Object.hasOwn(value, inner);
        const kept = BRIDGE_FIELDS.has(inner) || isForged ? undefined : visit(field, inner, levels - 1);
        if (kept === undefined) continue;
        // Assigned, it would be the object's prototype. Defining every field takes ten times as long.
        if (inner === "__proto__") Object.defineProperty(fields, inner, { value: kept, enumerable: true });
        else fields[inner] = kept;
      }
      return fields;
    };
    const tidied = json === null ? null : visit(json, "", MAX_LEVELS);
    if (unsafeLinks > 0 && typeof tidied === "object" && tidied !== null)
      Reflect.set(tidied, "unsafeLinksLeftOut", unsafeLinks);
    return tidied;
  };
  return {
    tidy,
    /** The tidied title of a page, or the text of anything else; undefined if there is none. */
    readPage(text: string): string | undefined {
      const read = start(text);
      const isMarkup = /^\s*</.test(read);
      const page = isMarkup ? /<(?:title|message)\b[^>]{0,200}>([^<]{1,1000})/i.exec(read)?.[1] : read;
      return page === undefined ? undefined : cutText(redact(stripUnsafeCharacters(page)), MAX_TEXT_CHARS);
    },
    /** The tidied JSON of a text; undefined if the text isn't JSON. */
    parse(text: string): unknown {
      try {
        return tidy(JSON.parse(boundJson(text, MAX_ITEMS)));
      } catch {
        return undefined;
      }
    },
  };
}

/** An https link that needs no parser to be found safe: without a user, a password or a port. */
const PLAIN_LINK = /^https:\/\/(?:[a-z\d-]+\.)+[a-z]{2,}\/[!-~]*$/;

/** Safe is https, and http to this computer if the service runs on it too; never with a user or password. */
function isSafeLink(link: string, isLocal: boolean): boolean {
  if (link.length > MAX_LINK_CHARS || /\s/.test(link)) return false;
  if (PLAIN_LINK.test(link)) return true;
  if (!URL.canParse(link)) return false;
  const { protocol, hostname, username, password } = new URL(link);
  const isHere = protocol === "http:" && isLocal && isLoopback(hostname);
  return (protocol === "https:" || isHere) && username === "" && password === "";
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

/** A list without the items that can't be read. Fails if none can. */
function readableItems<Item>(schema: z.ZodType<Item>, max: number) {
  return z.array(z.unknown()).transform((items, context): Item[] => {
    const readable = items.slice(0, max).flatMap((item) => schema.safeParse(item).data ?? []);
    if (readable.length > 0 || items.length === 0) return readable;
    context.addIssue("no item can be read");
    return z.NEVER;
  });
}

const status = z.string().min(1);
const jobId = z
  .union([z.string(), z.int().transform(String)])
  .pipe(z.string().min(1).max(MAX_ID_CHARS))
  .transform(jobIdFrom);
const link = z.string().optional().catch(undefined);
const links = z
  .array(z.unknown())
  .catch([])
  .transform((items) => items.slice(0, MAX_CLIPS).filter((item) => typeof item === "string"));
/** The status of a job whose own status can't be read. */
const UNREADABLE_STATUS = "unknown";

// The job was paid for: its id counts, whatever the status is.
export const startedJobSchema = z.looseObject({ jobId, status: status.catch("processing") });
export type StartedJob = z.infer<typeof startedJobSchema>;

const count = z.number().optional();
export const jobStatusSchema = z
  .looseObject({
    status: status.optional().catch(undefined),
    videoUrls: links,
    audioUrl: link,
    finalVideoUrl: link,
    // Progress only illustrates the status, whose links the user has paid for.
    progress: z.looseObject({ total: count, completed: count, failed: count }).optional().catch(undefined),
  })
  .transform((job, context) => {
    const { status: word, videoUrls, audioUrl, finalVideoUrl } = job;
    const hasLinks = videoUrls.length > 0 || audioUrl !== undefined || finalVideoUrl !== undefined;
    if (word === undefined && !hasLinks) context.addIssue({ code: "custom", path: ["status"] });
    return Object.assign(job, { status: word ?? UNREADABLE_STATUS });
  });
/** A job: the service's answer, the id that was asked for, and whether the job has ended. */
export type Job = z.infer<typeof jobStatusSchema> & { jobId: string; done: boolean };

// A video without a status must not hide the others: the list alone has their links.
const video = z.looseObject({ jobId, status: status.catch(UNREADABLE_STATUS), finalVideoUrl: link });
export type Video = z.infer<typeof video>;

export const videoPageSchema = z.looseObject({
  videos: readableItems(video, MAX_ITEMS),
  // 0, false and an empty cursor end the list.
  nextCursor: z
    .union([z.string(), z.number().transform((cursor) => (cursor === 0 ? "" : String(cursor)))])
    .transform((cursor) => cursor || undefined)
    .optional()
    .catch(undefined),
});
export type VideoPage = z.infer<typeof videoPageSchema>;

const result = z.looseObject({ platform: z.string().max(MAX_ID_CHARS), ok: z.boolean() });
// A platform whose result can't be read counts as one without a result: the others' posts are public.
export const publicationSchema = z.looseObject({ results: readableItems(result, MAX_RESULTS) });
export type Publication = z.infer<typeof publicationSchema>;

/** A connected account; its platform is UNKNOWN_PLATFORM if the service doesn't name it. */
export type ConnectedPlatform = Record<string, unknown> & { readonly platform: string };
