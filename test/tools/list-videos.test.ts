import { expect, test } from "vitest";
import type { GenerationEntry } from "../../src/idempotency/journal.ts";
import { listVideos } from "../../src/tools/list-videos.ts";
import type { History } from "../../src/tools/tool.ts";
import { JOB_ID, OTHER_JOB_ID } from "../fixtures/constants.ts";
import { DAY_MS, errorOf, MINUTE_MS } from "../idempotency/computer.ts";
import { createHarness } from "./context.ts";

const order = (jobId: string | undefined, ageMs: number): GenerationEntry => ({
  id: `${jobId}`,
  atMs: -ageMs,
  operation: "generate",
  arguments: { topic: "Tides" },
  fingerprint: "same",
  jobId,
});
const knowing = (...orders: GenerationEntry[]): History => ({ jobs: new Map(), orders, nowMs: 0 });
const video = (jobId: string) => ({ jobId, status: "processing" });

function harness(page: object, history: History | "unreadable" = knowing()) {
  const queries: unknown[] = [];
  const listed = { videos: [], ...page };
  const { call } = createHarness(listVideos, {
    history: async () => (history === "unreadable" ? undefined : history),
    service: { listVideos: async (query) => (queries.push(query), listed) },
  });
  const summaryOf = async (args: object = {}) => String((await call(args))["summary"]);
  return { call, queries, summaryOf };
}

test("A limit in quotes is read, and one that is not advertised is refused", async () => {
  const { call, queries } = harness({});
  await call({ limit: "5", cursor: null });
  for (const args of [{ limit: 10_000 }, { limit: 0 }, { limit: 1.5 }, { page: 2 }])
    expect(await errorOf(call(args))).toMatchObject({ code: "invalid_input", outcome: "not_sent" });

  expect(queries).toEqual([{ limit: 5 }]);
});

test.each<[string, object, GenerationEntry[], RegExp]>([
  ["no job", {}, [], /^The service lists no videos\.$/],
  [
    "a job of the last ten minutes",
    {},
    [order(JOB_ID, 10 * MINUTE_MS - 1)],
    new RegExp(`Tides.* 9 minutes ago .*${JOB_ID}.* not list it yet`),
  ],
  ["an older job, which may be gone", {}, [order(JOB_ID, 10 * MINUTE_MS)], /no videos\.$/],
  [
    "a job that is listed",
    { videos: [video(JOB_ID.toUpperCase())] },
    [order(JOB_ID, 0)],
    /^1 video, newest first\.$/,
  ],
  [
    "an order without an answer",
    {},
    [order(undefined, DAY_MS - 1)],
    /order "Tides" 23 hours ago, and its answer was lost/,
  ],
  ["such an order of yesterday", {}, [order(undefined, DAY_MS)], /no videos\.$/],
  [
    "a job that is older than the page",
    { videos: [video(OTHER_JOB_ID)], nextCursor: "c" },
    [order(JOB_ID, 2_000), order(OTHER_JOB_ID, 1_000)],
    /newest first\.$/,
  ],
  [
    "a job that is newer than one on the page",
    { videos: [video(OTHER_JOB_ID)], nextCursor: "c" },
    [order(OTHER_JOB_ID, 2_000), order(JOB_ID, 1_000)],
    /not list it yet\.$/,
  ],
])("The list says of %s that this computer ordered what is not listed", async (_, page, orders, said) => {
  const { summaryOf } = harness(page, knowing(...orders));

  expect(await summaryOf()).toMatch(said);
  expect(await summaryOf({ cursor: "c" })).not.toMatch(/this computer/i);
});

test("An unreadable journal is named beside videos, whose posts it knows", async () => {
  const { summaryOf } = harness({ videos: [video(JOB_ID)] }, "unreadable");

  expect(await summaryOf()).toMatch(/^1 video, .* not known: this computer's journal can't be read\.$/);
});
