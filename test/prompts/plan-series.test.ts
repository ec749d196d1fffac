import { expect, test } from "vitest";
import { callIn, outOfOrder, textOf } from "./fixture.ts";

test("plan_series asks once, for the number of generations, before any spending, and makes no more than agreed", async () => {
  const prompt = await textOf("plan_series", { count: "3", style: "education" });

  expect(
    outOfOrder(prompt, [
      "Nothing is made before I agree, and never more videos than I agreed to.",
      "1. Show me a table with number, working title, first line and idea; below it each topic",
      "each video spends credits",
      "3 videos cost 3 times what one costs",
      "all, some, or only the first",
      "Wait for my answer",
      "2. For each video that I agreed to, and no other, call `generate_video` exactly once",
      "```json",
      "Stop at the first call that fails or whose outcome is unknown",
      "is no yes to another",
      "`waitSeconds` 50",
      "working title and link",
      "Publish only when I name the platforms for this video",
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

test("plan_series plans five videos by default", async () => {
  expect(await textOf("plan_series")).toContain("Plan a series of 5 faceless short videos");
});
