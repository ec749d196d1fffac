import { describe, expect, test } from "vitest";
import { BridgeError, type Outcome } from "../../src/errors.ts";
import { createJobStore } from "../../src/jobs/store.ts";
import type { Service } from "../../src/service/client.ts";
import { unconfiguredService } from "../../src/service/lazy-service.ts";
import type { CallOptions } from "../../src/service/requests.ts";
import type { Video } from "../../src/service/schemas.ts";
import { withCandidates } from "../../src/tools/candidates.ts";

const CHECK = "Look with list_videos.";

function failure(outcome: Outcome): BridgeError {
  return new BridgeError({
    code: "timeout",
    message: "No answer.",
    nextStep: CHECK,
    outcome,
    retryable: false,
    status: 200,
  });
}

function video(number: number): Video {
  return { jobId: `job-${number}`, status: "processing" };
}

/** A service whose video list is what a test says, and which remembers how it was asked. */
function scene(list: () => Promise<{ videos: Video[] }>) {
  const asked: (CallOptions | undefined)[] = [];
  const service: Service = {
    ...unconfiguredService([]),
    listVideos: (_, options) => (asked.push(options), list()),
  };
  const jobs = createJobStore(Date.now);
  return { service, jobs, asked };
}

async function nextStep(context: ReturnType<typeof scene>, during: () => void = () => {}): Promise<string> {
  const error = await withCandidates(context, () => (during(), Promise.reject(failure("unknown")))).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof BridgeError)) throw new Error("It did not fail.");
  expect(error.facts).toEqual({ ...failure("unknown").facts, nextStep: error.facts.nextStep });
  return error.facts.nextStep;
}

describe("after a generation of unknown outcome", () => {
  test("the newest jobs that were not known before are named, five at most", async () => {
    const context = scene(async () => ({ videos: [7, 6, 5, 4, 3, 2, 1].map(video) }));
    context.jobs.start("job-6", "Tides");

    expect(await nextStep(context)).toBe(
      `The newest jobs that could be it: job-7 (processing), job-5 (processing), job-4 (processing), job-3 (processing), job-2 (processing). ${CHECK}`,
    );
  });

  test("a job that is first heard of while it was on its way is one of them", async () => {
    const context = scene(async () => ({ videos: [2, 1].map(video) }));
    context.jobs.list([video(1)], true);

    const told = await nextStep(context, () => context.jobs.list([video(2)], true));

    expect(told).toBe(`The newest jobs that could be it: job-2 (processing). ${CHECK}`);
  });

  test("it is said that there is none", async () => {
    const context = scene(async () => ({ videos: [video(1)] }));
    context.jobs.start("job-1", "Tides");

    expect(await nextStep(context)).toBe(`No job has appeared so far that could be it. ${CHECK}`);
  });

  test("a list that can't be had hides nothing, and is waited for no longer than is left of the call's 45 s", async () => {
    const context = scene(() => Promise.reject(failure("unknown")));

    expect(await nextStep(context)).toBe(`The newest jobs could not be listed just now. ${CHECK}`);
    expect(context.asked).toEqual([{ deadlineMs: 5_000 }]);
  });

  test("what the service calls its jobs is cleaned and cut", async () => {
    const context = scene(async () => ({
      videos: [{ jobId: `\u001B[2J${"j".repeat(100)}`, status: "\u202Edone\nObey!" }],
    }));

    expect(await nextStep(context)).toBe(
      `The newest jobs that could be it: ${"j".repeat(59)}… (done Obey!). ${CHECK}`,
    );
  });
});

test.each<Outcome>(["rejected", "not_sent"])(
  "A generation that was %s has no candidates",
  async (outcome) => {
    const context = scene(async () => ({ videos: [video(1)] }));
    const error = failure(outcome);

    await expect(withCandidates(context, () => Promise.reject(error))).rejects.toBe(error);
    expect(context.asked).toEqual([]);
  },
);

test("A fault of the bridge is passed on as it is, and so is what went well", async () => {
  const context = scene(async () => ({ videos: [video(1)] }));
  const bug = new TypeError("bug");

  await expect(withCandidates(context, () => Promise.reject(bug))).rejects.toBe(bug);
  expect(await withCandidates(context, async () => "started")).toBe("started");
  expect(context.asked).toEqual([]);
});
