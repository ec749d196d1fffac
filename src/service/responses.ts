// Reads what the service answers. First its JSON, within bounds, without nulls, invisible characters and the
// API key; then the documented fields, tolerantly: unknown fields stay, any word may be a status, and an item
// that can't be used costs no other. Links that are unsafe to open are left out.

import * as z from "zod";
import { jobIdFrom } from "../job.ts";
import { isLoopback } from "../loopback.ts";
import type { Redact } from "../redact.ts";
import { fitInto, MAX_JOB_BYTES, memoryOf } from "../result-size.ts";
import { cutText, stripUnsafeCharacters } from "../text.ts";
import type { Choices } from "./options.ts";
import type { ResponseHeaders } from "./rate-limiter.ts";

export interface ServiceResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly text: string;
}

/** An answer with its JSON, cleaned; undefined where there is none. */
export interface ParsedResponse extends ServiceResponse {
  readonly json: unknown;
}

/** The size of an answer, also of what a compressed one becomes. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** JSON with more of them would take too long to parse, and is refused. Real answers have fewer. */
export const MAX_SEPARATORS = 250_000;
/** Values beyond these limits are left out. */
const MAX_VALUES = 50_000;
/** The limit of one list or object, and thus of the videos on a page. */
const MAX_ITEMS = 1_000;
const MAX_DEPTH = 20;

/** Everything that the service says passes here before anything is checked, cut or shown. */
export function jsonReader(redact: Redact) {
  // Invisible characters go first, since they could hide the key.
  const cleanText = (text: string) => redact(stripUnsafeCharacters(text));
  /** The same JSON without nulls (properties and array elements), invisible characters and the key. */
  const clean = (value: unknown) => cleanJson(value, cleanText);
  /** The parsed text, cleaned; undefined if it is not JSON or has far too many values. */
  const parse = (text: string): unknown => {
    if (hasMoreValues(text, MAX_SEPARATORS)) return undefined;
    try {
      return clean(JSON.parse(text));
    } catch {
      return undefined;
    }
  };
  return { parse, clean };
}

export type JsonReader = ReturnType<typeof jsonReader>;

/** Counts commas and opening brackets, also those within texts: JSON has at most one value more. */
export function hasMoreValues(text: string, separators: number): boolean {
  let count = 0;
  for (let index = 0; index < text.length && count <= separators; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0x2c || code === 0x5b || code === 0x7b) count += 1;
  }
  return count > separators;
}

function cleanJson(json: unknown, cleanText: (text: string) => string): unknown {
  let valuesLeft = MAX_VALUES;
  const keep = (item: unknown, depth: number) => {
    if (item === null || valuesLeft === 0) return undefined;
    valuesLeft -= 1;
    return clean(item, depth);
  };
  const clean = (value: unknown, depth: number): unknown => {
    if (typeof value === "string") return cleanText(value);
    if (typeof value !== "object" || value === null) return value;
    if (depth === MAX_DEPTH) return undefined;
    if (Array.isArray(value)) {
      const items = value.slice(0, MAX_ITEMS).map((item) => keep(item, depth + 1));
      return items.filter((item) => item !== undefined);
    }
    const fields: [string, unknown][] = [];
    for (const name in value) {
      const kept = keep(Reflect.get(value, name), depth + 1);
      if (kept !== undefined) fields.push([cleanText(name), kept]);
      if (fields.length === MAX_ITEMS) break;
    }
    return Object.fromEntries(fields);
  };
  return clean(json, 0);
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

const MAX_CLIPS = 500;
const MAX_RESULTS = 100;
/** Characters of an id: a longer one would fill memory, the disk and the model's context. */
export const MAX_ID = 500;
/** Characters of a text that is not documented. */
const MAX_TEXT = 2_000;

const status = z
  .string()
  .min(1)
  .transform((word) => cutText(word, MAX_ID));
const jobId = z.string().min(1).max(MAX_ID).transform(jobIdFrom);
/** A number that stands where a text is documented means its digits. */
const textOrNumber = z.union([z.string(), z.number().transform(String)]);
/** A value of another type counts as absent. */
const optional = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined);

/** Returns the items that match the schema. z.array would collect an issue for each that doesn't. */
function usable<Schema extends z.ZodType>(items: readonly unknown[], schema: Schema): z.output<Schema>[] {
  return items.flatMap((item) => {
    const { success, data } = schema.safeParse(item);
    return success ? [data] : [];
  });
}

// The job was paid for: its id counts, whatever the status is.
const startedJob = z.looseObject({ jobId, status: status.catch("processing") });
export type StartedJob = z.infer<typeof startedJob>;

/** The one job id in the text of an answer to generate that can't be read otherwise: the job was paid for. */
export function findStartedJob(text: string): { readonly jobId: string } | undefined {
  const ids = Array.from(
    text.matchAll(/"jobId"\s*:\s*(?:"([^"\\\s]{1,500})"|(\d{1,40}))/g),
    ([, id, n]) => id ?? n,
  );
  const [only] = ids;
  return only !== undefined && new Set(ids).size === 1 ? { jobId: jobIdFrom(only) } : undefined;
}

const count = () => optional(z.number());
const progress = z.looseObject({ total: count(), completed: count(), failed: count() });
const jobStatus = z.looseObject({
  status,
  // Anything but a text counts as an unsafe link.
  videoUrls: z
    .array(z.unknown())
    .transform((links) => links.slice(0, MAX_CLIPS).map((link) => (typeof link === "string" ? link : "")))
    .default([]),
  audioUrl: optional(z.string()),
  finalVideoUrl: optional(z.string()),
  progress: optional(progress),
});
/** A job: the service's answer, the id that was asked for, and whether the job has ended. */
export type Job = z.infer<typeof jobStatus> & { jobId: string; done: boolean };

const video = z.looseObject({ jobId, status, finalVideoUrl: optional(z.string()) });
export type Video = z.infer<typeof video>;

const videoPage = z.looseObject({
  videos: z.array(z.unknown()),
  // An empty one ends the list.
  nextCursor: optional(textOrNumber.pipe(z.string().min(1).max(MAX_TEXT))),
});
/** `leftOut` counts the items that can't be used. */
export type VideoPage = Omit<z.infer<typeof videoPage>, "videos"> & {
  readonly videos: Video[];
  readonly leftOut?: number;
};

const result = z.looseObject({ platform: z.string().max(MAX_ID), ok: z.boolean() });
const publication = z.looseObject({
  results: z
    .array(z.unknown())
    .transform((items) => ({ items, results: usable(items.slice(0, MAX_RESULTS), result) }))
    .refine(({ items, results }) => results.length > 0 || items.length === 0)
    .transform(({ results }) => results),
});
export type Publication = z.infer<typeof publication>;

/** Whether an answer of publish says what became of platforms: then it counts, whatever its status is. */
export function hasResults(json: unknown): boolean {
  const results = fieldOf(json, "results");
  return Array.isArray(results) && results.length > 0;
}

function fieldOf(json: unknown, name: string): unknown {
  return typeof json === "object" && json !== null ? Reflect.get(json, name) : undefined;
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

/** An answer with one of these fields is more than a refusal. */
const SUBJECTS = ["jobId", "results", "videos", "platforms"];

/** Whether an answer is the error envelope and nothing else: then it is a refusal, whatever its status. */
export function isRefusal(json: unknown, method: "GET" | "POST"): boolean {
  // A parse that fails costs more than this, and most answers have no error.
  if (fieldOf(json, "error") === undefined) return false;
  const { data: answer } = errorEnvelopeSchema.safeParse(json);
  if (answer?.error.code === undefined && answer?.error.message === undefined) return false;
  if (method === "POST") return !hasSubject(answer);
  return typeof answer["status"] !== "string" && !SUBJECTS.some((name) => Object.hasOwn(answer, name));
}

/** At any depth: where the service puts what it has started or posted beside an error is not documented. */
function hasSubject(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return SUBJECTS.some((name) => Object.hasOwn(value, name)) || Object.values(value).some(hasSubject);
}

/** Parse the answers of the service at `baseUrl`. The names given to `clean` are never links. */
export function responseSchemas(baseUrl: URL) {
  const isSafe = (link: string) => isSafeLink(link, isLoopback(baseUrl.hostname));
  const clean = <Fields extends object>(fields: Fields, ...kept: string[]): Fields =>
    withSafeLinks(fields, isSafe, kept, BRIDGE_FIELDS);
  return {
    startedJob: startedJob.transform((answer) => clean(answer, "jobId", "status")),
    jobStatus: jobStatus.transform((answer) => {
      let unsafeLinksLeftOut = 0;
      const count = (link: string) => {
        const isKept = isSafe(link);
        if (!isKept) unsafeLinksLeftOut += 1;
        return isKept;
      };
      const safe = withSafeLinks(answer, count, ["status"], BRIDGE_FIELDS);
      const { value, leftOut } = fitInto(safe, MAX_JOB_BYTES, memoryOf);
      return {
        ...value,
        ...(unsafeLinksLeftOut > 0 && { unsafeLinksLeftOut }),
        ...(leftOut !== undefined && { partsLeftOut: true }),
      };
    }),
    publication: publication.transform(({ results, ...rest }) => ({
      ...clean(rest),
      results: results.map((result) => clean(result, "platform")),
    })),
    videoPage: videoPage.transform(({ videos, ...rest }): VideoPage => {
      const kept = usable(videos, video).map((item) => clean(item, "jobId", "status"));
      const leftOut = videos.length - kept.length;
      return { ...clean(rest, "nextCursor"), videos: kept, ...(leftOut > 0 && { leftOut }) };
    }),
    connectedPlatforms: ({ platforms, ...rest }: ConnectedPlatforms): ConnectedPlatforms => ({
      ...rest,
      platforms: platforms.map((item) => clean(item, "platform")),
    }),
  };
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

// A whole text that leads somewhere, or runs, when it is opened. One with a blank is prose, unless a script
// or data URL, and even then if the blank follows the colon ("Data: 5 clips").
const LINK = /^(?:[a-z][a-z\d+.-]*:\/\/\S*|(?:https?|ftp|file):\S+|(?:javascript|vbscript|data):\S.*)$/is;

/** Signed links have about 2,000 at most. */
const MAX_LINK_CHARACTERS = 4_096;

/**
 * Returns all fields but the omitted, without unsafe links at any depth, and with other texts cut. Those in
 * `kept` are not checked.
 */
function withSafeLinks<Fields extends object>(
  fields: Fields,
  isSafe: (link: string) => boolean,
  kept: readonly string[] = [],
  omitted: ReadonlySet<string> = new Set(),
): Fields {
  const passOn = (value: unknown, mustBeLink: boolean): unknown => {
    if (typeof value === "string") {
      const isLink = mustBeLink || LINK.test(asOpened(value));
      return isLink ? (isSafe(value) ? value : undefined) : cutText(value, MAX_TEXT);
    }
    if (Array.isArray(value))
      return value.map((item) => passOn(item, mustBeLink)).filter((item) => item !== undefined);
    return typeof value === "object" && value !== null ? withSafeLinks(value, isSafe) : value;
  };
  const safe = { ...fields };
  for (const [name, value] of Object.entries(fields)) {
    if (kept.includes(name)) continue;
    const passed = omitted.has(name) ? undefined : passOn(value, LINK_FIELDS.has(name));
    if (passed === undefined) Reflect.deleteProperty(safe, name);
    else if (passed !== value) Reflect.set(safe, name, passed);
  }
  return safe;
}

/** Safe is https, and http to this computer if the service runs on it too; never with a user or password. */
function isSafeLink(link: string, isLocal: boolean): boolean {
  // Prose after a link would reach the model as our own words.
  if (link.length > MAX_LINK_CHARACTERS || /\s/.test(link)) return false;
  try {
    const { protocol, hostname, username, password } = new URL(link);
    if (username !== "" || password !== "") return false;
    return protocol === "https:" || (protocol === "http:" && isLocal && isLoopback(hostname));
  } catch {
    return false;
  }
}

/** A link as browsers read it: without tabs, line breaks and outer blanks, which could hide its scheme. */
function asOpened(text: string): string {
  return text.replace(/[\t\n\r]+/g, "").trim();
}
