import { describe, expect, test } from "vitest";
import { callIn, outOfOrder, textOf } from "./fixture.ts";

const JOB_ID = "0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";

describe("plan_series", () => {
  test("asks once, for the number of generations, before any spending, and makes no more than agreed", async () => {
    const prompt = await textOf("plan_series", { count: "3", style: "education" });

    expect(
      outOfOrder(prompt, [
        "Nothing is made before I agree, and never more videos than I agreed to.",
        "1. Show me a table with number, working title, hook and idea",
        "show each topic in full",
        "3 videos are 3 generations",
        "spends credits",
        "all, some, or only the first",
        "Wait for my answer",
        "2. For each video that I agreed to, and no other, call `generate_video` exactly once",
        "```json",
        "Stop at the first call that fails or whose outcome is unknown",
        "is no yes to another generation",
        "`waitSeconds` 45",
        "the link to the final video",
        "Only when I have named the platforms for this video",
      ]),
    ).toBeUndefined();
    expect(callIn(prompt)).toEqual({
      topic: "<the topic of this video>",
      language: "en",
      duration: 30,
      style: "education",
      pacing: "normal",
      music: "educational",
    });
  });

  test("plans five videos by default", async () => {
    expect(await textOf("plan_series")).toContain("Plan a series of 5 faceless short videos");
  });
});

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
        "`waitSeconds` 45",
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

describe("review_video", () => {
  test("leaves seeing and hearing to the user, and neither publishes nor generates without being asked", async () => {
    const prompt = await textOf("review_video", { jobId: JOB_ID });

    expect(
      outOfOrder(prompt, [
        "Publish nothing and generate nothing unless I ask for it",
        `jobId \`${JOB_ID}\``,
        "`get_video_status`",
        "the link to the final video",
        "You can't see or hear the video.",
        "What only I can check",
        "Only when I have named the platforms for this video, call `publish_video`, exactly once.",
        "Only when I have agreed, call `generate_video`, exactly once.",
      ]),
    ).toBeUndefined();
  });

  test("takes the newest video by default", async () => {
    expect(await textOf("review_video")).toContain("the newest video that `list_videos` shows");
  });
});
