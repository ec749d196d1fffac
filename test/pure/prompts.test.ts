// How the prompts depend on their arguments. test/contract has a whole text of each, for review.

import { expect, test } from "vitest";
import { STYLE_BRIEFS } from "../../src/prompts/prompt-parts.ts";
import { STYLES } from "../../src/service/options.ts";
import { JOB_ID } from "../fixtures/constants.ts";
import { callIn, type PromptArguments, textOf } from "../fixtures/prompt.ts";

const text = (args: PromptArguments = {}) => textOf("write_video_topic", args);

test("without arguments the service's defaults apply, and the model chooses the style", () => {
  const prompt = text();

  expect(callIn(prompt)).toEqual({
    topic: "<the topic I agreed to>",
    language: "en",
    duration: 30,
    style: "<chosen>",
    pacing: "<its>",
    music: "<its>",
  });
  expect(prompt).toContain("English, as none was given; if I write in another, ask first");
  for (const style of STYLES) {
    const { fit, settings } = STYLE_BRIEFS[style];
    expect(prompt).toContain(`- ${style} (${settings.pacing}, ${settings.music}): ${fit}\n`);
  }
});

test.each([
  ["en-GB", "64 to 71 words"],
  ["de", "57 to 62 words"],
  ["ja", "128 to 142 characters"],
  ["th", "77 to 85 syllables"],
])("thirty seconds of %s hold %s", (language, length) => {
  expect(text({ style: "story", language })).toContain(`Length: ${length} spoken`);
});

test.each([
  ["en-GB", "British English (`en-GB`)"],
  ["de", "German (`de`), as people talk there; an opening as strong as in English"],
])("the language %s is named, with how it is spoken if it isn't English", (language, line) => {
  expect(text({ language })).toContain(`- Language: ${line}\n`);
});

test("localize_video keeps the length at the new language's speaking rate", () => {
  const same = textOf("localize_video", { language: "de" });
  const longer = textOf("localize_video", { language: "Deutsch", duration: "45" });

  expect(same).toContain("57 to 62 words, numbers as said and brackets aside, fill 30 seconds");
  expect(same).toContain("other lengths in proportion");
  expect(callIn(same)).toMatchObject({ language: "de", duration: "<of the original>" });
  expect(longer).toContain("85 to 94 words, numbers as said and brackets aside, fill 45 seconds");
  expect(callIn(longer)).toMatchObject({ language: "de", duration: 45 });
});

test.each([
  ` ${JOB_ID.toUpperCase()} `,
  `FACELESS://JOBS/${JOB_ID.toUpperCase()}`,
  `https://videos.example/watch?job=${JOB_ID}`,
  `A fox steals one sock a night. (${JOB_ID})`,
])("localize_video takes the jobId %j and reads the topic from its status", (video) => {
  expect(textOf("review_video", { jobId: video })).toContain(`jobId \`${JOB_ID}\``);
  const prompt = textOf("localize_video", { video });

  expect(prompt).toContain(`- Original: jobId \`${JOB_ID}\`.`);
  expect(prompt).toContain("gives the video's topic and settings as `arguments`, free of charge. If it says");
  expect(prompt).toContain("Without `arguments`, ask me for the topic");
});
