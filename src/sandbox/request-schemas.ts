// The inputs of the service with their defaults and bounds, for REST, MCP and the OpenAPI document alike.
// Knows nothing of HTTP. Written from the service's documentation, never from the client's schemas.

import { z } from "zod";

// The ids of native voices are not documented, so anything that looks like an id is accepted.
const VOICE_PATTERN = /^(?:clone:[A-Za-z0-9_-]+|[a-z0-9]+(?:[-_][a-z0-9]+)*)$/;

const platformSchema = z
  .string()
  .regex(/^[a-z0-9]+(?:[-_][a-z0-9]+)*$/, "must be a lowercase platform identifier");

export const generateRequestSchema = z.strictObject({
  topic: z.string().refine((text) => text.trim() !== "", "must not be empty"),
  language: z
    .string()
    .refine(isLanguageTag, "must be a BCP-47 language code, for example en or pt-BR")
    .default("en"),
  duration: z.number().min(10).max(90).default(30).describe("seconds"),
  style: z.enum(["story", "education", "documentary", "asmr", "brainrot", "ugc"]).default("story"),
  voice: z
    .string()
    .regex(VOICE_PATTERN, "must be a catalog id, a native voice's id, or clone:<id>")
    .default("charlotte")
    .describe(
      "adam, charlotte, will, audrey, bryan, jett, amber, vanessa, kai, a native voice, or clone:<id>",
    ),
  music: z.enum(["none", "cinematic", "upbeat", "educational", "dramatic"]).default("none"),
  pacing: z.enum(["slow", "normal", "fast"]).default("normal"),
});
export type GenerateRequest = z.infer<typeof generateRequestSchema>;

export const publishRequestSchema = z.strictObject({
  jobId: z.string().min(1),
  platforms: z.array(platformSchema).min(1),
});
export type PublishRequest = z.infer<typeof publishRequestSchema>;

export const statusRequestSchema = z.strictObject({ jobId: z.string().min(1) });

export const videosRequestSchema = z.strictObject({
  limit: z.number().int().min(1).max(100).default(20),
  cursor: z.iso.datetime().optional().describe("nextCursor of the page before"),
});
export type VideosRequest = z.infer<typeof videosRequestSchema>;

function isLanguageTag(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}
