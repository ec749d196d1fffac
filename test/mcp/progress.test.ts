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

test.each([0, "", "token"])(
  "progress is reported with counts and words under the token %j",
  (progressToken) => {
    const { sent, report } = reporting({ progressToken });
    report(job({ total: 3, completed: 1, failed: 1 }));
    expect(sent).toEqual([
      {
        method: "notifications/progress",
        params: { progressToken, progress: 2, total: 4, message: "1 of 3 clips, 1 failed" },
      },
    ]);
  },
);

test("no progress is reported to a client that sent no token", () => {
  for (const meta of [undefined, {}]) {
    const { sent, report } = reporting(meta);
    report(job({ total: 3, completed: 1 }));
    expect(sent).toEqual([]);
  }
});

test("the end of a job is reported once, as the last step, before the result", async () => {
  const { sent, report, finish } = reporting({ progressToken: 1 });
  for (let change = 0; change < 200; change++) report(job({ total: 2, completed: 2 }));
  const ended = job({ total: 2, completed: 2 }, true);
  report(ended);
  await finish(ended);

  expect(sent[0]).toMatchObject({ params: { progress: 2, total: 3 } });
  expect(sent.at(-1)).toMatchObject({ params: { progress: 3, total: 3, message: "Ready: 0 clips" } });
  expect(JSON.stringify(sent.slice(0, -1))).not.toContain("Ready");
});

test("a wait ends all the same for a client that has disconnected", async () => {
  const { report, finish } = reporting({ progressToken: 1 }, () => Promise.reject(new Error("gone")));
  report(job({ total: 2, completed: 1 }));

  await expect(finish(job({ total: 2, completed: 2 }, true))).resolves.toBeUndefined();
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
