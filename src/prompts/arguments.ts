// The arguments that the prompts share: how each is read, and what is suggested for it. A blank string, which
// clients send for a field left empty, counts as absent. Some clients preselect the first suggestion: it is
// always safe to accept, being the default or words that stand for leaving the argument out.

import * as z from "zod";
import { readJobId } from "../job.ts";
import { languageCode, languageName, languageNamesStartingWith } from "../service/languages.ts";
import { DEFAULTS, DURATION, EXAMPLE_LANGUAGES, STYLES } from "../service/options.ts";
import { cleanServiceText } from "../text.ts";
import type { Complete } from "./prompt.ts";

/** Characters that are kept. */
export const SUBJECT_LIMIT = 1000;
export const TOPIC_LIMIT = 4000;
export const AUDIENCE_LIMIT = 200;

export const DEFAULT_COUNT = 5;
export const ORIGINAL_LENGTH = "as the original";
const BEST_STYLE = "best fit";
const COUNTS = ["5", "3", "4", "6", "7", "8", "9", "10", "2"];
const DURATIONS = ["30", "15", "20", "45", "60", "90", "10"];
const AUDIENCES = ["general viewers", "children aged 6 to 10", "teenagers", "parents", "complete beginners"];

const LANGUAGE = `a language such as English, français or Deutsch, or its BCP-47 code such as ${EXAMPLE_LANGUAGES.join(", ")}`;
const SECONDS = `a number of seconds from ${DURATION.min} to ${DURATION.max}`;

const suggest = (values: readonly string[]) => (typed: string) =>
  values.filter((value) => value.startsWith(typed.trim().toLowerCase()));

export const video = required(readVideo, "a jobId or the topic of a video");
export const jobId = optional(readJobId, "a jobId as list_videos shows it");
export const newLanguage = required(languageCode, LANGUAGE);
export const newDuration = optional(readDuration, SECONDS, ORIGINAL_LENGTH);
export const count = optional(
  (text) => (COUNTS.includes(text) ? Number(text) : undefined),
  "a whole number from 2 to 10",
);
export const target = {
  style: optional(
    (text) => STYLES.find((style) => style === text.toLowerCase()),
    `one of ${STYLES.join(", ")}`,
    BEST_STYLE,
  ),
  language: optional(languageCode, LANGUAGE),
  duration: optional(readDuration, SECONDS),
  audience: optional((text) => cleanServiceText(text, AUDIENCE_LIMIT) || undefined, "readable text"),
};

export const completeJobId: Complete = async (typed, recentJobIds) => suggest(await recentJobIds())(typed);
/** Most videos are in the default language, so it is suggested last as a new one. */
export const completeNewLanguage: Complete = (typed) => {
  const usual = languageName(DEFAULTS.language);
  return languageNamesStartingWith(typed).sort((a, b) => Number(a === usual) - Number(b === usual));
};
export const completeNewDuration = suggest([ORIGINAL_LENGTH, ...DURATIONS]);
export const completeCount = suggest(COUNTS);
export const completeTarget: Readonly<Record<keyof typeof target, Complete>> = {
  style: suggest([BEST_STYLE, ...STYLES]),
  // A code or any name finds a language: `deu` finds `German`. VS Code hides what lacks the typed text.
  language: languageNamesStartingWith,
  duration: suggest(DURATIONS),
  audience: suggest(AUDIENCES),
};

export function requiredText(message: string, limit: number) {
  return z
    .string(message)
    .transform((text) => cleanServiceText(text, limit))
    .refine((text) => text !== "", message);
}

/** Reads trimmed text. What `read` can't use is refused by quoting it and naming what is allowed. */
function required<Value>(read: (text: string) => Value | undefined, allowed: string) {
  const message = (got: string) => `must be ${allowed}; got ${got}`;
  return z.string(message("nothing")).transform((text, context): Value => {
    const value = read(text.trim());
    if (value !== undefined) return value;
    context.addIssue({ code: "custom", message: message(JSON.stringify(cleanServiceText(text, 60))) });
    return z.NEVER;
  });
}

/** The same for an argument that may be absent, which blank text and the words of `absent` stand for. */
function optional<Value>(read: (text: string) => Value | undefined, allowed: string, absent = "") {
  return z
    .string()
    .transform((text) => (["", absent].includes(text.trim().toLowerCase()) ? undefined : text))
    .pipe(required(read, allowed).optional())
    .optional();
}

/** "45", "45s", "45 sec", "45 seconds" and "1.5 min". */
function readDuration(text: string): number | undefined {
  const [, number, minutes] =
    /^(\d{1,4}(?:\.\d{1,4})?)\s?(?:(m|min|mins|minutes?)|s|sec|secs|seconds?)?\.?$/i.exec(text) ?? [];
  const seconds = Number(number) * (minutes === undefined ? 1 : 60);
  return seconds >= DURATION.min && seconds <= DURATION.max ? seconds : undefined;
}

/** Reads a video's jobId or its topic. */
function readVideo(text: string): { readonly jobId: string } | { readonly topic: string } | undefined {
  const jobId = /\s/.test(text) ? undefined : readJobId(text);
  if (jobId !== undefined) return { jobId };
  const topic = cleanServiceText(text, TOPIC_LIMIT);
  return topic === "" ? undefined : { topic };
}
