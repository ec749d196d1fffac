import { expect, test } from "vitest";
import { isEnded, jobIdOf, jobUri } from "../../src/service/job.ts";
import { ENDS, JOB_ID } from "../fixtures/constants.ts";

test.each([
  [JOB_ID, `faceless://jobs/${JOB_ID}`],
  ["a/b?c#d e%", "faceless://jobs/a%2Fb%3Fc%23d%20e%25"],
])("the job %j has the URI %s", (jobId, uri) => {
  expect(jobUri(jobId)).toBe(uri);
});

test.each([
  [`faceless://jobs/${JOB_ID}`, JOB_ID],
  [`faceless://jobs/${JOB_ID.toUpperCase()}`, JOB_ID],
  [`faceless://jobs/${JOB_ID}?x=1`, undefined],
  ["faceless://jobs/42", undefined],
  [`faceless://videos/${JOB_ID}`, undefined],
])("the URI %s names the job %s", (uri, jobId) => {
  expect(jobIdOf(uri)).toBe(jobId);
});

test("only the statuses completed and failed end a job", () => {
  const statuses = ["completed", "failed", "processing", "queued", "cancelled", "Completed", ""];

  expect(statuses.filter(isEnded)).toEqual(ENDS);
});
