// The service's requests and answers as they are documented, tolerant of what the documentation leaves open: unknown fields
// stay, null counts as absent, unknown status values mean that the job is still running. Every domain type comes from here.

import * as z from "zod";
import { stripUnsafeCharacters } from "../text.ts";
import type { Music, Pacing, Style } from "./options.ts";

/** Body of POST /api/v1/generate. The service has a default for each field that is left out. */
export interface GenerationRequest {
  readonly topic: string;
  readonly language?: string | undefined;
  /** Seconds. */
  readonly duration?: number | undefined;
  readonly style?: Style | undefined;
  readonly voice?: string | undefined;
  readonly music?: Music | undefined;
  readonly pacing?: Pacing | undefined;
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

/** Fields in which results say what the bridge knows. The service's own fields of these names would be taken for them. */
const BRIDGE_FIELDS = [
  "summary",
  "nextStep",
  "alreadyStarted",
  "alreadyPublished",
  "savedTo",
  "publishedTo",
  "settings",
  "unsafeLinksLeftOut",
];

function withoutBridgeFields<Fields extends object>(fields: Fields): Fields {
  const kept = { ...fields };
  for (const name of BRIDGE_FIELDS) Reflect.deleteProperty(kept, name);
  return kept;
}

// Whatever the status is, the job was paid for and its id is here. The id is bounded, as it is written to disk and shown.
export const generationSchema = z
  .looseObject({ jobId: jobId.max(500), status: status.catch("processing") })
  .transform(withoutBridgeFields);
export type Generation = z.infer<typeof generationSchema>;

const progressSchema = z.looseObject({
  total: z.number().optional(),
  completed: z.number().optional(),
  failed: z.number().optional(),
});

export const jobStatusSchema = z
  .looseObject({
    status,
    videoUrls: z.array(z.string()).default([]),
    audioUrl: z.string().optional(),
    finalVideoUrl: z.string().optional(),
    progress: progressSchema.optional(),
  })
  .transform(withoutBridgeFields);

/** A job: the service's answer, the id that was asked for, and whether the job has ended. */
export type Job = z.infer<typeof jobStatusSchema> & { jobId: string; done: boolean };

const videoSchema = z
  .looseObject({ jobId, status, finalVideoUrl: z.string().optional() })
  .transform(withoutBridgeFields);
export type Video = z.infer<typeof videoSchema>;

export const videoPageSchema = z
  .looseObject({
    videos: z.array(videoSchema),
    // Documented as a timestamp string; a service that sends the bare number means the same.
    nextCursor: z.union([z.string(), z.number().transform(String)]).optional(),
  })
  .transform(withoutBridgeFields);
export type VideoPage = z.infer<typeof videoPageSchema>;

export const publicationSchema = z
  .looseObject({
    results: z.array(z.looseObject({ platform: z.string(), ok: z.boolean() }).transform(withoutBridgeFields)),
  })
  .transform(withoutBridgeFields);
export type Publication = z.infer<typeof publicationSchema>;

export interface ConnectedPlatforms {
  readonly platforms: readonly ({ platform: string } & Record<string, unknown>)[];
}

// One field of another type must not cost the other. A numeric code is as good as its digits.
export const errorEnvelopeSchema = z.looseObject({
  error: z.looseObject({
    code: z
      .union([z.string(), z.number().transform(String)])
      .optional()
      .catch(undefined),
    message: z.string().optional().catch(undefined),
  }),
});

/** `completed` and `failed` end a job; every other value, known or not, means that it is running. */
export function isTerminal(status: string): boolean {
  return status === "completed" || status === "failed";
}

/**
 * The same JSON without its nulls (properties and array elements) and without invisible characters in its texts. Throws a
 * RangeError where it is nested too deeply to be walked.
 */
export function tidied(value: unknown): unknown {
  if (typeof value === "string") return stripUnsafeCharacters(value);
  if (Array.isArray(value)) return value.filter((item) => item !== null).map(tidied);
  if (typeof value !== "object" || value === null) return value;
  const kept: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value))
    if (item !== null) kept.push([stripUnsafeCharacters(key), tidied(item)]);
  return Object.fromEntries(kept);
}
