// The prompts as prompts/list shows them. Their schemas and texts are loaded on first use.

import type { Prompt } from "./prompt.ts";

interface PromptArgument {
  readonly description: string;
  readonly required?: true;
}

export interface CatalogPrompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** In the order in which clients ask for them. */
  readonly arguments: Readonly<Record<string, PromptArgument>>;
  readonly load: (canPublish: boolean) => Promise<Prompt>;
}

const TARGET: Readonly<Record<string, PromptArgument>> = {
  style: { description: "story, education, documentary, asmr, brainrot or ugc. Left out: what fits best" },
  language: { description: "Language of the video, such as English, français or pt-BR. Left out: English" },
  duration: { description: "Length of a video in seconds, 10 to 90. Left out: 30" },
  audience: { description: "Who should watch it, such as children aged 6 to 10" },
};

export const PROMPTS: readonly CatalogPrompt[] = [
  {
    name: "write_video_topic",
    title: "Write a video topic",
    description:
      "Turns a subject into a topic for a faceless short video: a first line that holds, pictures, words that fill the seconds, an ending. You see it first; the video is made only if you agree.",
    arguments: {
      subject: { description: "What the video is about, in your own words", required: true },
      ...TARGET,
    },
    load: async (canPublish) => (await import("./write-video-topic.ts")).writeVideoTopic(canPublish),
  },
  {
    name: "plan_series",
    title: "Plan a series of videos",
    description:
      "Turns a theme into a series: a table of titles, first lines and ideas, and a topic for each video. You see everything first, and say how many videos are made.",
    arguments: {
      theme: { description: "What the series is about, in your own words", required: true },
      count: { description: "Number of videos, 2 to 10. Left out: 5" },
      ...TARGET,
    },
    load: async (canPublish) => (await import("./plan-series.ts")).planSeries(canPublish),
  },
  {
    name: "localize_video",
    title: "Make a video in another language",
    description:
      "Rewrites a video's topic for viewers of another language, in lines that fit its speaking rate. You see it first; the new video is made only if you agree.",
    arguments: {
      video: { description: "The video's jobId, or its topic", required: true },
      language: { description: "The new language, such as German, español or pt-BR", required: true },
      duration: { description: "Length in seconds, 10 to 90. Left out: as the original" },
    },
    load: async (canPublish) => (await import("./localize-video.ts")).localizeVideo(canPublish),
  },
  {
    name: "review_video",
    title: "Review a video before publishing",
    description:
      "Goes through a finished video with you, with a checklist for what only you can see and hear. Publishes and generates nothing unless you ask for it.",
    arguments: { jobId: { description: "The video's jobId. Left out: the newest video" } },
    load: async (canPublish) => (await import("./review-video.ts")).reviewVideo(canPublish),
  },
];
