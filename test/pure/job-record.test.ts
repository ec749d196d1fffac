import { expect, test } from "vitest";
import {
  ageMs,
  hasChanged,
  type JobRecord,
  lastState,
  lastStatus,
  withAnswer,
  withListed,
} from "../../src/jobs/job-record.ts";
import type { Job } from "../../src/service/responses.ts";
import { job } from "../fixtures/polled-service.ts";

const NOW_MS = Date.UTC(2026, 10, 20);
const AT = { atMs: 7, nowMs: NOW_MS };
const CLIP = "https://cdn.example/1.mp4";
const FINAL = "https://cdn.example/final.mp4";
const NEW: JobRecord = { jobId: "a" };

const running = job("a", {
  videoUrls: [`${CLIP}?signature=1`],
  audioUrl: "https://cdn.example/a.mp3?signature=1",
  progress: { total: 3, completed: 1, failed: 0 },
});
const answered = (state: Job, record = NEW) => withAnswer(record, state, AT);

test.each<[string, Partial<Job>, boolean]>([
  ["another status", { status: "rendering" }, true],
  ["another clip", { videoUrls: [CLIP, "https://cdn.example/2.mp4"] }, true],
  ["another voiceover", { audioUrl: "https://cdn.example/b.mp3" }, true],
  ["a final video", { finalVideoUrl: FINAL }, true],
  ["a finished clip", { progress: { total: 3, completed: 2, failed: 0 } }, true],
  ["a link that is signed anew", { videoUrls: [`${CLIP}?signature=2`] }, false],
  ["a stamp that the documentation doesn't know", { updatedAt: "2026-11-20T00:00:01Z" }, false],
])("a change is one of a documented field: %s", (_, more, isChange) => {
  const before = answered(running);
  expect(hasChanged(before, answered(job("a", { ...running, ...more }), before))).toBe(isChange);
});

test("the first answer is a change only if the job has ended, and after its end nothing is", () => {
  const ended = answered(job("a", { status: "completed" }));
  const later = answered(job("a", { status: "completed", videoUrls: [CLIP] }), ended);

  expect(hasChanged(NEW, answered(running))).toBe(false);
  expect(hasChanged(NEW, ended)).toBe(true);
  expect(hasChanged(ended, later)).toBe(false);
});

test("a job that has ended stays ended, whatever a later answer or list says", () => {
  const ended = answered(job("a", { status: "failed" }));
  const denied = withListed(answered(job("a"), ended), { jobId: "a", status: "processing" }, AT);

  expect([lastState(denied), lastStatus(denied)]).toEqual([job("a", { status: "failed" }), "failed"]);
});

test("a list changes no state, but its status is used for a job that was never read", () => {
  const listed = (record: JobRecord) => withListed(record, { jobId: "a", status: "completed" }, AT);

  expect(listed(answered(running)).state).toEqual(running);
  expect(lastState(listed(NEW))).toEqual(job("a", { status: "completed" }));
  expect(lastState(NEW)).toEqual(job("a"));
});

test("the list's link is the final video of a completed job, whichever is known first, and of no other", () => {
  const video = { jobId: "a", status: "completed", finalVideoUrl: FINAL };
  const completed = job("a", { status: "completed" });
  const whole = { ...completed, finalVideoUrl: FINAL };
  const own = { ...completed, finalVideoUrl: "https://cdn.example/own.mp4" };
  const listed = withListed(NEW, video, AT);

  expect(answered(completed, listed).state).toEqual(whole);
  expect(withListed(answered(completed), video, AT).state).toEqual(whole);
  expect(answered(own, listed).state).toEqual(own);
  expect(answered(running, listed).state).toEqual(running);
});

test.each([
  ["2026-11-19T23:59:00Z", 60_000],
  ["2026-11-20T00:00:01Z", undefined],
  [1_700_000_000_000, undefined],
])("the creation time %j in a list means an age of %j ms", (createdAt, age) => {
  const listed = withListed(NEW, { jobId: "a", status: "processing", createdAt }, AT);
  const ordered = { ...listed, order: { arguments: {}, atMs: NOW_MS - 5 } };

  expect(ageMs(listed, NOW_MS)).toBe(age);
  // This computer's own time wins.
  expect(ageMs(ordered, NOW_MS)).toBe(5);
});
