// What the prompts say by their arguments. test/contract has a whole text of each, for review.

import { expect, test } from "vitest";
import { STYLE_BRIEFS } from "../../src/prompts/style-briefs.ts";
import { DURATION, MUSIC, PACINGS, STYLES } from "../../src/service/options.ts";
import { JOB_ID } from "../fixtures/constants.ts";
import { callIn, type PromptArguments, textOf, write } from "./fixture.ts";

const text = (args: PromptArguments = {}) => textOf("write_video_topic", args);

const cases = STYLES.flatMap((style) =>
  [DURATION.min, DURATION.max].map((seconds) => [style, seconds] as const),
);

test.each(cases)(
  "the call that write_video_topic ends with is within what the service documents: %s, %s seconds",
  async (style, seconds) => {
    const call = callIn(await text({ style, duration: String(seconds), language: "pt-br" }));

    expect(call).toEqual({
      topic: "<the topic I agreed to>",
      language: "pt-BR",
      duration: seconds,
      style,
      pacing: expect.toBeOneOf([...PACINGS]),
      music: expect.toBeOneOf([...MUSIC]),
    });
  },
);

test("without settings the service's defaults are used, and the model chooses among all styles", async () => {
  const prompt = await text();

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

test("the topic that write_video_topic asks for is measured in characters or syllables where words are not separated", async () => {
  const japanese = await text({ style: "story", language: "ja" });
  const thai = await text({ style: "story", language: "th" });

  expect(japanese).toContain("128 to 142 characters spoken");
  expect(japanese).toContain("First line: eight to fourteen characters");
  expect(thai).toContain("77 to 85 syllables spoken");
  expect(japanese + thai).not.toMatch(/(\d|six) words/);
});

test("the topic that write_video_topic asks for is spoken for two thirds of the time at most in asmr, and shows the finished thing", async () => {
  const prompt = await text({ style: "asmr", duration: "30" });

  expect(prompt).toContain("at most 39 words spoken");
  expect(prompt).toContain("the last shows it finished");
});

test("the topic that write_video_topic asks for is written as people talk there, with an opening as strong as in English", async () => {
  expect(await text({ language: "Deutsch" })).toContain(
    "- Language: German (`de`), as people talk there; an opening as strong as in English",
  );
  expect(await text({ language: "en-GB" })).toContain("- Language: British English (`en-GB`)\n");
});

test.each(STYLES)("write_video_topic has the brief of %s and none of another style", async (style) => {
  const prompt = await text({ style });

  const { course, telling, pictures, settings } = STYLE_BRIEFS[style];
  for (const sentence of [course, telling, pictures]) expect(prompt).toContain(sentence);
  expect(callIn(prompt)).toMatchObject({ style, ...settings });
  for (const other of STYLES.filter((name) => name !== style)) {
    const brief = STYLE_BRIEFS[other];
    for (const sentence of [brief.course, brief.telling, brief.fit]) expect(prompt).not.toContain(sentence);
  }
});

test("the description of write_video_topic says what the prompt was filled in with", async () => {
  const { description } = await write("write_video_topic", {
    subject: "Sand",
    style: "asmr",
    language: "Japanese",
    duration: "15s",
  });

  expect(description).toBe('Topic for a faceless asmr video, 15 seconds in Japanese: "Sand"');
});

test.each(
  ["", ...STYLES].flatMap((style) =>
    ["en", "de", "fr-CA", "ja"].map((language) => [style, language] as const),
  ),
)(
  "write_video_topic takes at most 700 tokens, four characters each, with style %j in %s",
  async (style, language) => {
    const prompt = await text({ style, language, duration: "90" });

    expect(prompt.length / 4).toBeLessThanOrEqual(700);
  },
);

test("localize_video rewrites for the new language's speaking rate, and keeps the length unless one is given", async () => {
  const same = await textOf("localize_video", { language: "de" });
  const longer = await textOf("localize_video", { language: "Deutsch", duration: "45" });

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
])(
  "localize_video takes the jobId %j, and the whole topic from its status, or else from the user",
  async (video) => {
    expect(await textOf("review_video", { jobId: video })).toContain(`jobId \`${JOB_ID}\``);
    const prompt = await textOf("localize_video", { video });

    expect(prompt).toContain(`- Original: jobId \`${JOB_ID}\`.`);
    expect(prompt).toContain("gives its whole topic and its settings as `arguments`");
    expect(prompt).toContain("Without these, ask me for the topic");
  },
);

test("plan_series plans as many videos as are asked for, or five, in the style that is asked for", async () => {
  const prompt = await textOf("plan_series", { count: "3", style: "education" });

  expect(prompt).toContain("3 videos cost 3 times what one costs");
  expect(callIn(prompt)).toMatchObject({ style: "education", pacing: "normal", music: "educational" });
  expect(await textOf("plan_series")).toContain("Plan a series of 5 faceless short videos");
});

test("review_video takes the newest video by default", async () => {
  expect(await textOf("review_video")).toContain("- Video: the newest that `list_videos` shows");
});
