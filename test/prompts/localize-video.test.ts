import { describe, expect, test } from "vitest";
import { callIn, outOfOrder, textOf } from "./fixture.ts";

const JOB_ID = "0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";

describe("localize_video", () => {
  test("rewrites for the new language's speaking rate and generates once, after a yes", async () => {
    const prompt = await textOf("localize_video", { language: "Deutsch", duration: "45" });

    expect(
      outOfOrder(prompt, [
        "The new video is made only if I agree.",
        "- New language: German (`de`)",
        "- Length: 45 seconds",
        "Rewrite, don't translate",
        "Add no figure, date, name or quotation.",
        "45 seconds hold at most 90 words of German",
        "wait for my answer",
        "Only when I have agreed, call `generate_video`, exactly once.",
        "`waitSeconds` 50",
        "the link to the final video",
      ]),
    ).toBeUndefined();
    expect(callIn(prompt)).toMatchObject({ topic: "<the topic I agreed to>", language: "de", duration: 45 });
  });

  test.each([JOB_ID, ` ${JOB_ID.toUpperCase()} `, `faceless://jobs/${JOB_ID}`])(
    "takes the jobId %j, and asks for the topic where no tool shows it",
    async (video) => {
      const prompt = await textOf("localize_video", { video });

      expect(prompt).toContain(`- Original: jobId \`${JOB_ID}\`.`);
      expect(prompt).toContain("If neither shows the topic, ask me for it");
    },
  );
});
