import { expect, test } from "vitest";
import { isEnded } from "../../src/service/options.ts";
import { jobIdOf, jobUri } from "../../src/jobs/job.ts";

const JOB = "3f0c2a9e-0000-4000-8000-000000000001";

test.each([
  [JOB, `faceless://jobs/${JOB}`],
  ["a/b?c#d e%", "faceless://jobs/a%2Fb%3Fc%23d%20e%25"],
  ["x\uD800y", "faceless://jobs/x%EF%BF%BDy"],
])("the job %j has the URI %s", (jobId, uri) => {
  expect(jobUri(jobId)).toBe(uri);
});

test.each([
  [`faceless://jobs/${JOB}`, JOB],
  [`faceless://jobs/${JOB.toUpperCase()}`, JOB.toUpperCase()],
  [`faceless://jobs/${JOB}?x=1`, undefined],
  [`faceless://jobs/${JOB}/`, undefined],
  ["faceless://jobs/42", undefined],
  [`faceless://videos/${JOB}`, undefined],
  [JOB, undefined],
])("the URI %s names the job %s", (uri, jobId) => {
  expect(jobIdOf(uri)).toBe(jobId);
});

test("completed and failed are the ends of a job, and no other status is", () => {
  const statuses = ["completed", "failed", "processing", "queued", "cancelled", "Completed", ""];

  expect(statuses.filter(isEnded)).toEqual(["completed", "failed"]);
});
