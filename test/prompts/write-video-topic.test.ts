import { describe, expect, test } from "vitest";
import { STYLE_BRIEFS } from "../../src/prompts/style-briefs.ts";
import { DURATION, MUSIC, PACINGS, STYLES } from "../../src/service/options.ts";
import { callIn, outOfOrder, type PromptArguments, textOf, write } from "./fixture.ts";

const text = (args: PromptArguments = {}) => textOf("write_video_topic", args);

describe("the work it describes", () => {
  test("goes from the topic to the user's yes, one generation, the wait, the link and publishing", async () => {
    const steps = [
      "The video is made only if I agree",
      "1. Show me the topic",
      "spends credits",
      "about 2 to 4 minutes",
      "wait for my answer",
      "Only when I have agreed",
      "`generate_video`, exactly once",
      "```json",
      "`get_video_status`",
      "`waitSeconds` 50",
      "Never call `generate_video` again",
      "the link to the final video",
      "Ask whether to publish it",
      "Only when I have named the platforms",
      "`publish_video`, exactly once",
      "no caption, title or hashtags",
    ];

    expect(outOfOrder(await text(), steps)).toBeUndefined();
  });

  const cases = STYLES.flatMap((style) =>
    [DURATION.min, 12.5, DURATION.max].map((duration) => [style, duration]),
  );

  test.each(cases)(
    "ends with a call within what the service documents: %s, %s seconds",
    async (style, duration) => {
      const call = callIn(
        await text({ style: String(style), duration: String(duration), language: "pt-br" }),
      );

      expect(call).toEqual({
        topic: "<the topic I agreed to>",
        language: "pt-BR",
        duration,
        style,
        pacing: expect.toBeOneOf([...PACINGS]),
        music: expect.toBeOneOf([...MUSIC]),
      });
    },
  );

  test("uses the service's defaults, and leaves the choice of a style to the model", async () => {
    const prompt = await text();

    expect(callIn(prompt)).toEqual({
      topic: "<the topic I agreed to>",
      language: "en",
      duration: 30,
      style: "<the chosen style>",
      pacing: "<its pacing>",
      music: "<its music>",
    });
    expect(prompt).toContain("- Length: 30 seconds, the default, because none was given");
    expect(prompt).toContain("If I write to you in another language, ask me first");
  });
});

describe("the topic it asks for", () => {
  test("is one idea with a hook, beats and an ending, each line followed by what is seen", async () => {
    const prompt = await text({ duration: "30" });

    expect(
      outOfOrder(prompt, [
        "## One idea",
        "hold at most 75 words of English at `normal` pacing, about 2.5 words a second",
        "Hook, the first 2 seconds: about 5 words",
        "3 beats, each one step of the idea: at most 20 words each",
        "Ending: at most 9 words",
        "A line is what is spoken",
        "after it, in square brackets, what is seen, in at most 12 words",
      ]),
    ).toBeUndefined();
    expect(prompt).toContain("Invent no figure, date, name, quotation or result");
  });

  test("has no labels, which the voice might speak", async () => {
    expect(await text()).toContain(
      "no labels such as “Hook:” or “Beat 1:”, because the voice might speak them",
    );
  });

  test("is measured in characters or syllables where words are not separated", async () => {
    const japanese = await text({ style: "story", language: "ja" });
    const thai = await text({ style: "story", language: "th" });

    expect(japanese).toContain("hold at most 150 characters of Japanese");
    expect(japanese).toContain("what is seen, in at most 25 characters");
    expect(thai).toContain("hold at most 90 syllables of Thai");
    expect(japanese + thai).not.toMatch(/\d words/);
  });

  test("is not padded at ninety seconds: four beats, no number of pictures, and a shorter length if the subject is thin", async () => {
    const prompt = await text({ style: "brainrot", duration: "90" });

    expect(prompt).toContain("4 beats");
    expect(prompt).not.toMatch(/\d+ pictures/);
    expect(prompt).toContain(
      "If the subject does not fill 90 seconds, propose a shorter length instead of padding it.",
    );
  });

  test("leaves half of the time silent in asmr", async () => {
    const prompt = await text({ style: "asmr", duration: "30" });

    expect(prompt).toContain("hold at most 30 words");
    expect(prompt).toContain("For the rest nobody speaks.");
  });
});

describe("a style", () => {
  test.each(STYLES)("%s has its own rules and none of another style", async (style) => {
    const prompt = await text({ style });

    const { idea, hook, beats, ending, pictures, voice, facts, avoid } = STYLE_BRIEFS[style];
    for (const sentence of [idea, hook, beats, ending, pictures, voice, facts, `Avoid: ${avoid}`])
      expect(prompt).toContain(sentence);
    for (const other of STYLES.filter((name) => name !== style)) {
      const brief = STYLE_BRIEFS[other];
      for (const sentence of [brief.hook, brief.ending, brief.avoid, `\`${other}\``])
        expect(prompt).not.toContain(sentence);
    }
  });

  test("that was not given is offered with what it suits and how much it holds", async () => {
    const prompt = await text({ duration: "40" });

    for (const style of STYLES) {
      const { fit, avoid, pacing, music } = STYLE_BRIEFS[style];
      const words = { slow: style === "asmr" ? 40 : 80, normal: 100, fast: 116 }[pacing];
      expect(prompt).toContain(
        `- \`${style}\` (pacing \`${pacing}\`, music \`${music}\`, at most ${words} words): ${fit}.`,
      );
      expect(prompt).toContain(`Avoid: ${avoid}.`);
    }
  });
});

test("the description says what the prompt was filled in with", async () => {
  const { description } = await write("write_video_topic", {
    subject: "Sand",
    style: "asmr",
    language: "Japanese",
    duration: "15s",
  });

  expect(description).toBe('Topic for a 15-second faceless asmr video in Japanese: "Sand"');
});

test("the prompt stays within about a page with a style, and two without", async () => {
  const words = (prompt: string) => prompt.split(/\s+/).length;

  for (const style of STYLES) expect(words(await text({ style, duration: "90" }))).toBeLessThan(900);
  expect(words(await text())).toBeLessThan(1300);
});
