import { expect, test } from "vitest";
import { callIn, outOfOrder, textOf } from "./fixture.ts";

const JOB_ID = "0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";

test("localize_video rewrites for the new language's speaking rate and generates once, after a yes", async () => {
  const prompt = await textOf("localize_video", { language: "Deutsch", duration: "45" });

  expect(
    outOfOrder(prompt, [
      "The new video is made only if I agree.",
      "- New language: German (`de`)",
      "- Length: 45 seconds",
      "Rewrite, don't translate",
      "Add no figure, date, name or quotation.",
      "85 to 94 words, numbers as said and brackets aside, fill 45 seconds",
      "wait for my answer",
      "Only when I have agreed, call `generate_video`, exactly once, with the original's style",
      "`waitSeconds` 50",
      "Give me the link",
    ]),
  ).toBeUndefined();
  expect(callIn(prompt)).toMatchObject({ topic: "<the topic I agreed to>", language: "de", duration: 45 });
});

test("localize_video says how many words fill thirty seconds where the original's length is kept", async () => {
  const prompt = await textOf("localize_video", { language: "de" });

  expect(prompt).toContain("57 to 62 words, numbers as said and brackets aside, fill 30 seconds");
  expect(prompt).toContain("other lengths in proportion");
  expect(callIn(prompt)).toMatchObject({ duration: "<of the original>" });
});

test.each([JOB_ID, ` ${JOB_ID.toUpperCase()} `, `faceless://jobs/${JOB_ID}`])(
  "localize_video takes the jobId %j, and the whole topic from its status, or else from the user",
  async (video) => {
    const prompt = await textOf("localize_video", { video });

    expect(prompt).toContain(`- Original: jobId \`${JOB_ID}\`.`);
    expect(prompt).toContain("gives its whole topic and its settings as `arguments`");
    expect(prompt).toContain("Without these, ask me for the topic");
  },
);
