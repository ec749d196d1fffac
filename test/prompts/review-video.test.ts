import { expect, test } from "vitest";
import { outOfOrder, textOf } from "./fixture.ts";

const JOB_ID = "0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";

test("review_video leaves seeing and hearing to the user, and neither publishes nor generates without being asked", async () => {
  const prompt = await textOf("review_video", { jobId: JOB_ID });

  expect(
    outOfOrder(prompt, [
      "Publish nothing and generate nothing unless I ask for it",
      `jobId \`${JOB_ID}\``,
      "`get_video_status`",
      "the whole topic and the settings as `arguments`",
      "the link to the final video",
      "You can't see or hear the video.",
      "What only I can check",
      "Its sex and accent are not documented",
      "Publish only when I name the platforms for this video, with one `publish_video`",
      "Only when I have agreed, call `generate_video`, exactly once.",
    ]),
  ).toBeUndefined();
});

test("review_video takes the newest video by default", async () => {
  expect(await textOf("review_video")).toContain("- Video: the newest that `list_videos` shows");
});
