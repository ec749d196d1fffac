// The arguments of the prompt write_video_topic. MCP passes them as strings; clients send "" for a field that a
// person left empty, so a blank string counts as left out.

import { z } from "zod";
import { DEFAULTS, DURATION, EXAMPLE_LANGUAGES, STYLES, type Style } from "../service/options.ts";
import { languageName, languageTag, OFFERED_LANGUAGES } from "./languages.ts";
import { cleanServiceText } from "../text.ts";

/** Characters of the subject and the audience that are kept. */
export const SUBJECT_LIMIT = 1000;
export const AUDIENCE_LIMIT = 200;

const OFFERED_DURATIONS = ["10", "15", "20", "30", "45", "60", "90"] as const;
const OFFERED_AUDIENCES = [
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
] as const;

// Messages are predicates: the SDK puts the argument's name before them.
const NO_SUBJECT = "must say what the video is about";

/** Reads a trimmed string; a blank one becomes undefined, and one that `read` can't use is refused with `message`. */
function optionalText<T>(read: (text: string) => T | undefined, message: (text: string) => string) {
  return z.string().transform((text, context): T | undefined => {
    const trimmed = text.trim();
    if (trimmed === "") return undefined;
    const value = read(trimmed);
    if (value === undefined)
      context.addIssue({ code: "custom", message: message(cleanServiceText(trimmed, 60)) });
    return value;
  });
}

export const writeVideoTopicArguments = z.object({
  subject: z
    .string(NO_SUBJECT)
    .transform((text) => cleanServiceText(text, SUBJECT_LIMIT))
    .refine((text) => text !== "", NO_SUBJECT)
    .describe("What the video is about, in your own words"),
  style: optionalText(readStyle, (text) => `must be one of ${STYLES.join(", ")}; got "${text}"`)
    .optional()
    .describe(`${STYLES.join(", ")}. Left out: the style that fits best is chosen`),
  language: optionalText(
    languageTag,
    (text) => `must be a BCP-47 tag such as en, fr, es, de or pt-BR; got "${text}"`,
  )
    .optional()
    .describe(
      `BCP-47 tag of the video's language, such as ${EXAMPLE_LANGUAGES.join(", ")}. Left out: ${DEFAULTS.language}`,
    ),
  duration: optionalText(
    readDuration,
    (text) => `must be a number of seconds from ${DURATION.min} to ${DURATION.max}; got "${text}"`,
  )
    .optional()
    .describe(`Length in seconds, ${DURATION.min} to ${DURATION.max}. Left out: ${DEFAULTS.duration}`),
  audience: optionalText(
    (text) => cleanServiceText(text, AUDIENCE_LIMIT) || undefined,
    () => "must be readable text",
  )
    .optional()
    .describe("Who should watch it, such as children aged 6 to 10"),
});

export type WriteVideoTopicArguments = z.output<typeof writeVideoTopicArguments>;

/** What a client may offer while a person types an argument. */
export const WRITE_VIDEO_TOPIC_COMPLETIONS = {
  style: (typed: string): string[] => startingWith(STYLES, typed),
  /** Tags, found by tag or by English name: `ger` offers `de`. */
  language: (typed: string): string[] =>
    OFFERED_LANGUAGES.filter((tag) => starts(tag, typed) || starts(languageName(tag) ?? "", typed)),
  duration: (typed: string): string[] => startingWith(OFFERED_DURATIONS, typed),
  /** Found by the beginning of any word. */
  audience: (typed: string): string[] =>
    OFFERED_AUDIENCES.filter(
      (audience) => starts(audience, typed) || audience.split(" ").some((word) => starts(word, typed)),
    ),
} as const;

function readStyle(text: string): Style | undefined {
  return STYLES.find((style) => style === text.toLowerCase());
}

function readDuration(text: string): number | undefined {
  if (!/^\d+(\.\d+)?$/.test(text)) return undefined;
  const seconds = Number(text);
  return seconds >= DURATION.min && seconds <= DURATION.max ? seconds : undefined;
}

function startingWith(values: readonly string[], typed: string): string[] {
  return values.filter((value) => starts(value, typed));
}

function starts(value: string, typed: string): boolean {
  return value.toLowerCase().startsWith(typed.trim().toLowerCase());
}
