// Argument schemas that more than one tool takes.

import * as z from "zod";

// Both cases spelt out: the pattern is advertised as JSON Schema, which knows no flags.
const UUID = /^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;

/** A job's id: any UUID, of whatever version. */
export const jobIdArgument = () =>
  z
    .string()
    .regex(UUID, "must be the UUID that generate_video or list_videos gave")
    .describe("The job, as generate_video or list_videos named it");

/** A code and not a flag, so that a caller can only repeat what it was told about. */
export const confirmDuplicateArgument = () =>
  z
    .string()
    .trim()
    .meta({ description: "The code that an earlier answer gave for sending the same request again" })
    .optional();

/** Whether a text is a job's id. */
export function isJobId(text: string): boolean {
  return UUID.test(text);
}

/** A well-formed BCP-47 language tag. */
export function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}
