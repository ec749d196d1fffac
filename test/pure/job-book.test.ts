import { expect, test } from "vitest";
import { JobBook, type JournalFacts } from "../../src/jobs/job-book.ts";
import { createVirtualClock } from "../fixtures/virtual-clock.ts";

const NOW_MS = Date.UTC(2026, 10, 20);

/** A book with everything that it emits, and a journal with these orders. */
function setUp(...ordered: string[]) {
  const orders = ordered.map((jobId) => ({ jobId, atMs: NOW_MS - 60_000, arguments: { topic: jobId } }));
  const facts: JournalFacts = {
    orders,
    jobs: new Map(orders.map((order) => [order.jobId, { order, posts: [] }])),
  };
  const emitted: string[] = [];
  const journal: { facts: JournalFacts | undefined } = { facts };
  const book = new JobBook({
    clock: createVirtualClock(NOW_MS),
    log: { info() {} },
    async readJournal() {
      if (journal.facts === undefined) throw new Error("unreadable");
      return journal.facts;
    },
  });
  book.on("change", (jobId) => emitted.push(`change ${jobId}`));
  book.on("start", (jobId) => emitted.push(`start ${jobId}`));
  return { book, emitted, journal, recent: (limit = 10) => book.recent(limit).map(({ jobId }) => jobId) };
}

const listed = (...jobIds: string[]) => jobIds.map((jobId) => ({ jobId, status: "processing" }));

test("the most recent jobs are those started here, then the newest page's, then earlier processes'", async () => {
  const { book, emitted, recent } = setUp("older", "old", "listed 1");
  await book.restore();
  book.updateFromPage(listed("listed 1", "listed 2"), { isFirstPage: true });
  book.addStarted("new", { arguments: { topic: "Salt" } });
  book.updateFromPage(listed("page 2"), { isFirstPage: false });

  expect(recent()).toEqual(["new", "listed 1", "listed 2", "page 2", "old", "older"]);
  expect(recent(1)).toEqual(["new"]);
  expect(emitted).toEqual(["start new"]);
});

test("a job's posts are unknown while the journal can't be read", async () => {
  const { book, journal } = setUp("a");
  const { facts } = journal;
  journal.facts = undefined;

  expect(await book.readJournal()).toBeUndefined();
  expect(book.get("a").posts).toBeUndefined();
  await book.restore();
  journal.facts = facts;
  await book.restore();
  expect(book.get("a").posts).toEqual([]);
});

test("at most two thousand jobs are kept: the oldest are removed", () => {
  const { book, recent } = setUp();
  book.updateFromPage(listed(...Array.from({ length: 2_500 }, (_, index) => `j${index}`)), {
    isFirstPage: true,
  });
  book.addStarted("new", { arguments: { topic: "Salt" } });

  const jobs = recent(10_000);
  expect([jobs.length, jobs[0], jobs.at(-1)]).toEqual([2_000, "new", "j1998"]);
});

test("a journal that is slow to read hides no job that a request may have started", async () => {
  const clock = createVirtualClock(NOW_MS);
  const book = new JobBook({
    clock,
    log: { info() {} },
    async readJournal() {
      await clock.runFor(60_000);
      return { orders: [], jobs: new Map() };
    },
  });
  const videos = listed("a");
  book.updateFromPage(videos, { isFirstPage: true });

  expect(await book.possibleJobs(videos, 1_000)).toEqual(videos);
});
