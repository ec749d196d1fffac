import * as fc from "fast-check";
import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { ProgressReporter } from "../../src/mcp/progress.ts";
import type { Job } from "../../src/service/responses.ts";

type Request = ConstructorParameters<typeof ProgressReporter>[0];

function reporting(meta: Request["_meta"], notify?: Request["notify"]) {
  const sent: unknown[] = [];
  const record: Request["notify"] = async (notification) => void sent.push(notification);
  const request: Request = { ...(meta !== undefined && { _meta: meta }), notify: notify ?? record };
  const reporter = new ProgressReporter(request, systemClock);
  return {
    sent,
    report: (state: Job) => reporter.report(state),
    finish: (state: Job) => reporter.finish(state),
  };
}

const job = (progress: Job["progress"], done = false): Job => ({
  jobId: "j",
  status: done ? "completed" : "processing",
  done,
  videoUrls: [],
  ...(progress !== undefined && { progress }),
});

test("no progress is reported to a client that sent no token", () => {
  for (const meta of [undefined, {}]) {
    const { sent, report } = reporting(meta);
    report(job({ total: 3, completed: 1 }));
    expect(sent).toEqual([]);
  }
});

test("progress always increases and stays within the total", () => {
  const count = fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined });
  const course = fc.array(
    fc.tuple(fc.record({ total: count, completed: count, failed: count }), fc.boolean()),
    { maxLength: 40 },
  );
  expect.hasAssertions();
  fc.assert(
    fc.property(course, (states) => {
      const reported: { progress: number; total: number }[] = [];
      const { report } = reporting({ progressToken: 1 }, async ({ params }) => {
        reported.push({
          progress: Number(params?.["progress"]),
          total: Number(params?.["total"] ?? Infinity),
        });
      });
      for (const [counts, done] of states) report(job(counts, done));
      const progress = reported.map((one) => one.progress);
      expect(progress).toEqual([...new Set(progress)].toSorted((a, b) => a - b));
      expect(reported.filter((one) => one.progress > one.total)).toEqual([]);
    }),
    { seed: 1 },
  );
});
