// The arguments that the prompts share: how each is read, and what is suggested for it. MCP passes them as strings; clients send
// "" for a field that was left empty, so a blank string counts as absent.

import * as z from "zod";
import { languageCode, languageCodesStartingWith } from "../service/languages.ts";
import { DURATION, EXAMPLE_LANGUAGES, STYLES, type Style } from "../service/options.ts";
import { cleanServiceText } from "../text.ts";
import type { Complete } from "./prompt.ts";

/** Characters that are kept. */
export const SUBJECT_LIMIT = 1000;
export const TOPIC_LIMIT = 4000;
export const AUDIENCE_LIMIT = 200;

export const SERIES_COUNT = { min: 2, max: 10, default: 5 } as const;

const SUGGESTED_DURATIONS = ["30", "15", "20", "45", "60", "90", "10"];
const SUGGESTED_COUNTS = ["5", "3", "4", "6", "7", "8", "9", "10", "2"];
const SUGGESTED_AUDIENCES = [
  "general viewers",
  "children aged 6 to 10",
  "teenagers",
  "students",
  "parents",
  "complete beginners",
  "hobbyists",
  "professionals in the field",
  "small business owners",
  "people aged 60 and over",
];

const JOB_ID = /^(?:faceless:\/\/jobs\/)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i;

/** A video that the user names by its jobId or by its topic. */
export type NamedVideo = { readonly jobId: string } | { readonly topic: string };

export function requiredText(message: string, limit: number) {
  return z
    .string(message)
    .transform((text) => cleanServiceText(text, limit))
    .refine((text) => text !== "", message);
}

export const style = optional(readStyle, (text) => `must be one of ${STYLES.join(", ")}; got ${text}`);
export const language = optional(languageCode, describeLanguages);
export const requiredLanguage = required(languageCode, describeLanguages);
export const duration = optional(
  readDuration,
  (text) => `must be a number of seconds from ${DURATION.min} to ${DURATION.max}; got ${text}`,
);
export const count = optional(
  readCount,
  (text) => `must be a whole number from ${SERIES_COUNT.min} to ${SERIES_COUNT.max}; got ${text}`,
);
export const audience = optional(
  (text) => cleanServiceText(text, AUDIENCE_LIMIT) || undefined,
  () => "must be readable text",
);
export const jobId = optional(readJobId, (text) => `must be a jobId as list_videos shows it; got ${text}`);
export const video = required(readVideo, () => "must be a jobId or the topic of a video");

export const completeStyle: Complete = (typed) => startingWith(STYLES, typed);
/** Found by code or by name: `ger` and `deu` suggest `de`. */
export const completeLanguage: Complete = (typed) => languageCodesStartingWith(typed);
export const completeDuration: Complete = (typed) => startingWith(SUGGESTED_DURATIONS, typed);
export const completeCount: Complete = (typed) => startingWith(SUGGESTED_COUNTS, typed);
/** Found by the beginning of any word. */
export const completeAudience: Complete = (typed) =>
  SUGGESTED_AUDIENCES.filter(
    (audience) => starts(audience, typed) || audience.split(" ").some((word) => starts(word, typed)),
  );
export const completeJobId: Complete = async (typed, recentJobIds) =>
  startingWith(await recentJobIds(), typed);

/** Reads trimmed text. What `read` can't use is refused with the message that `describe` gives for the quoted text. */
function required<Value>(read: (text: string) => Value | undefined, describe: (text: string) => string) {
  return z.string(describe("nothing")).transform((text, context): Value => {
    const value = read(text.trim());
    if (value !== undefined) return value;
    context.addIssue({ code: "custom", message: describe(JSON.stringify(cleanServiceText(text, 60))) });
    return z.NEVER;
  });
}

/** The same for an argument that may be absent or blank, which gives undefined. */
function optional<Value>(read: (text: string) => Value | undefined, describe: (text: string) => string) {
  return z
    .string()
    .transform((text) => (text.trim() === "" ? undefined : text))
    .pipe(required(read, describe).optional())
    .optional();
}

function describeLanguages(text: string): string {
  return `must be a language such as English, français or Deutsch, or its BCP-47 code such as ${EXAMPLE_LANGUAGES.join(", ")}; got ${text}`;
}

function readStyle(text: string): Style | undefined {
  return STYLES.find((style) => style === text.toLowerCase());
}

/** "45", "45s", "45 sec", "45 seconds" and "1.5 min". */
function readDuration(text: string): number | undefined {
  const [, number, unit = ""] = /^(\d{1,4}(?:\.\d{1,4})?)\s?([a-z]{0,7})\.?$/i.exec(text) ?? [];
  const minutes = /^(?:m|min|mins|minutes?)$/i.test(unit);
  if (number === undefined || !(minutes || /^(?:s|sec|secs|seconds?)?$/i.test(unit))) return undefined;
  const seconds = Number(number) * (minutes ? 60 : 1);
  return seconds >= DURATION.min && seconds <= DURATION.max ? seconds : undefined;
}

function readCount(text: string): number | undefined {
  const value = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  return value >= SERIES_COUNT.min && value <= SERIES_COUNT.max ? value : undefined;
}

function readJobId(text: string): string | undefined {
  return JOB_ID.exec(text)?.[1]?.toLowerCase();
}

function readVideo(text: string): NamedVideo | undefined {
  const jobId = readJobId(text);
  if (jobId !== undefined) return { jobId };
  const topic = cleanServiceText(text, TOPIC_LIMIT);
  return topic === "" ? undefined : { topic };
}

function startingWith(values: readonly string[], typed: string): readonly string[] {
  return values.filter((value) => starts(value, typed));
}

function starts(value: string, typed: string): boolean {
  return value.toLowerCase().startsWith(typed.trim().toLowerCase());
}
