import * as fc from "fast-check";
import { expect, test } from "vitest";
import { planRender, renderStateAt } from "../../src/sandbox/render.ts";

const plans = fc.record({
  clips: fc.integer({ min: 2, max: 6 }),
  renderMs: fc.integer({ min: 0, max: 600_000 }),
  fails: fc.boolean(),
});

test("a video has about one clip per 7.5 seconds, from two to six", () => {
  const clips = [10, 12.5, 30, 45, 90].map((duration) => planRender({ topic: "x", duration }, 20).clips);

  expect(clips).toEqual([2, 2, 4, 6, 6]);
});

test("a render never loses progress, and its final status never changes", () => {
  fc.assert(
    fc.property(plans, fc.nat(700_000), fc.nat(700_000), (plan, elapsedMs, moreMs) => {
      const before = renderStateAt(plan, elapsedMs);
      const after = renderStateAt(plan, elapsedMs + moreMs);
      expect({
        lostClip: after.clipsDone < before.clipsDone,
        lostVoice: before.voiceDone && !after.voiceDone,
        leftTheEnd: before.status !== "processing" && after.status !== before.status,
      }).toEqual({ lostClip: false, lostVoice: false, leftTheEnd: false });
    }),
  );
});

test("a render ends with every clip, or with one failed and at least one missing", () => {
  fc.assert(
    fc.property(plans, (plan) => {
      const { status, clipsDone, clipsFailed, voiceDone } = renderStateAt(plan, plan.renderMs);
      expect({ status, missing: clipsDone < plan.clips, clipsFailed, voiceDone }).toEqual({
        status: plan.fails ? "failed" : "completed",
        missing: plan.fails,
        clipsFailed: plan.fails ? 1 : 0,
        voiceDone: true,
      });
    }),
  );
});
