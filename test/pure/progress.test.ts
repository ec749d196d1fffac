import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Progress } from "../../src/mcp/progress.ts";
import type { Job } from "../../src/service/responses.ts";

type Request = ConstructorParameters<typeof Progress>[0];

const job = (progress: Job["progress"], done = false): Job => ({
  jobId: "j",
  status: done ? "completed" : "processing",
  done,
  videoUrls: [],
  ...(progress !== undefined && { progress }),
});

test("no progress is reported to a client that sent no token", () => {
  const sent: unknown[] = [];
  const notify: Request["notify"] = async (notification) => void sent.push(notification);
  for (const meta of [{}, { _meta: {} }]) void new Progress({ ...meta, notify }).notify(job({ total: 3 }));

  expect(sent).toEqual([]);
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
      const notify: Request["notify"] = async ({ params }) => {
        reported.push({
          progress: Number(params?.["progress"]),
          total: Number(params?.["total"] ?? Infinity),
        });
      };
      const progress = new Progress({ _meta: { progressToken: 1 }, notify });
      for (const [counts, done] of states) void progress.notify(job(counts, done));
      const steps = reported.map((one) => one.progress);
      expect(steps).toEqual([...new Set(steps)].toSorted((a, b) => a - b));
      expect(reported.filter((one) => one.progress > one.total)).toEqual([]);
    }),
    { seed: 1 },
  );
});
