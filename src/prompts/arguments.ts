// The arguments that the prompts share. Some clients preselect the first suggestion: it is always safe to
// accept, being the default or words that stand for leaving the argument out.

import { readJobId } from "../service/job.ts";
import { languageCode, languageNamesStartingWith } from "../service/languages.ts";
import { DURATION, EXAMPLE_LANGUAGES, STYLES } from "../service/options.ts";
import { findByWords, firstSpokenWords } from "../service/spoken-words.ts";
import { cleanServiceText, readSeconds } from "../text.ts";
import type { Suggest } from "./prompt.ts";

/** The maximum number of characters of a text; the rest is cut. */
export const MAX_TEXT_CHARS = 4_000;

const BEST_STYLE = "best fit";
const COUNTS = ["5", "3", "4", "6", "7", "8", "9", "10", "2"];
const DURATIONS = ["30", "15", "20", "45", "60", "90", "10"];
const AUDIENCES = ["general viewers", "children aged 6 to 10", "teenagers", "parents", "complete beginners"];

const suggest = (values: readonly string[]) => (typed: string) =>
  values.filter((value) => value.startsWith(typed.trim().toLowerCase()));
const suggestVideo: Suggest = (typed, recentVideos) =>
  findByWords(typed, recentVideos()).map(({ jobId, topic }) =>
    topic === undefined ? jobId : `${cleanServiceText(firstSpokenWords(topic), 80)} (${jobId})`,
  );
const readText = (text: string) => cleanServiceText(text, MAX_TEXT_CHARS) || undefined;

/** The subject of a video, in the user's words. */
export const subject = {
  required: true,
  read: readText,
  allowed: "readable text that says what it is about",
} as const;

export const count = {
  description: "Number of videos, 2 to 10. Left out: 5",
  read: (text: string) => (COUNTS.includes(text) ? Number(text) : undefined),
  allowed: "a whole number from 2 to 10",
  suggest: suggest(COUNTS),
};

export const jobId = {
  description: "The video's jobId. Left out: the newest video",
  read: readJobId,
  allowed: "a jobId as list_videos shows it",
  suggest: suggestVideo,
};

export const video = {
  description: "The video's jobId, or its topic",
  required: true,
  read: readText,
  allowed: "a jobId or the topic of a video",
  suggest: suggestVideo,
} as const;

const language = {
  description: "Language of the video, such as English, français or pt-BR. Left out: English",
  read: languageCode,
  allowed: `a language such as English, français or Deutsch, or its BCP-47 code such as ${EXAMPLE_LANGUAGES.join(", ")}`,
  // A code or any name finds a language: `deu` finds `German`. VS Code hides what lacks the typed text.
  suggest: languageNamesStartingWith,
};

const duration = {
  description: "Length of a video in seconds, 10 to 90. Left out: 30",
  read(text: string): number | undefined {
    const seconds = readSeconds(text) ?? 0;
    return seconds >= DURATION.min && seconds <= DURATION.max ? seconds : undefined;
  },
  allowed: `a number of seconds from ${DURATION.min} to ${DURATION.max}`,
  suggest: suggest(DURATIONS),
};

/** The wishes that a topic is written for. */
export const target = {
  style: {
    description: "story, education, documentary, asmr, brainrot or ugc. Left out: what fits best",
    read: (text: string) => STYLES.find((style) => style === text.toLowerCase()),
    allowed: `one of ${STYLES.join(", ")}`,
    absent: BEST_STYLE,
    suggest: suggest([BEST_STYLE, ...STYLES]),
  },
  language,
  duration,
  audience: {
    description: "Who should watch it, such as children aged 6 to 10",
    read: readText,
    allowed: "readable text",
    suggest: suggest(AUDIENCES),
  },
};

export const newLanguage = {
  ...language,
  description: "The new language, such as German, español or pt-BR",
  required: true,
} as const;

export const ORIGINAL_LENGTH = "as the original";
export const newDuration = {
  ...duration,
  description: "Length in seconds, 10 to 90. Left out: as the original",
  absent: ORIGINAL_LENGTH,
  suggest: suggest([ORIGINAL_LENGTH, ...DURATIONS]),
};
