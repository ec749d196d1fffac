// Measures what a long journal costs: to read it once after a start, and then for each call.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { table } from "../../../scripts/markdown.ts";
import { systemClock } from "../../../src/clock.ts";
import { jobHistories, ordersOf } from "../../../src/idempotency/journal-facts.ts";
import { openPrivateFolder } from "../../../src/disk.ts";
import { GenerateOnce } from "../../../src/idempotency/generate-once.ts";
import { Guard } from "../../../src/idempotency/guard.ts";
import type { Order } from "../../../src/service/responses.ts";
import { Journal } from "../../../src/idempotency/journal.ts";
import { type Postgres, POSTGRES_SERVERS, startPostgres } from "../fixtures/postgres.ts";
import { makeFolder, removeFolder } from "../../fixtures/folder.ts";
import { DAY_MS, NOON, openDatabase, openJournal, VIDEO } from "../../fixtures/open-journal.ts";
import { median } from "./sample.ts";

const CALLS = 51;
const SIZES = [
  { count: 1, files: 1, characters: 200 },
  { count: 10_000, files: 90, characters: 200 },
  { count: 100_000, files: 90, characters: 200 },
  { count: 30_000, files: 1, characters: 700 },
];
const WORDS =
  "the tide comes in twice a day, and the moon pulls it; nobody's sure why — “honestly” — [a wide beach at dusk, soft light] It was Tuesday!".split(
    " ",
  );
type Size = (typeof SIZES)[number];

/** A table of the costs, by how much the journal holds. */
export async function benchJournal(): Promise<string> {
  const rows: string[][] = [];
  const add = (count: number, place: string, times: readonly number[]) =>
    rows.push([
      `${count.toLocaleString("en")} in ${place}`,
      ...times.map((ms) => `${ms.toFixed(ms < 10 ? 1 : 0)} ms`),
    ]);
  for (const size of SIZES) {
    const folder = makeFolder();
    await writeJournal(folder, size);
    const { journal } = openJournal(openPrivateFolder(folder));
    const times = await measure(journal).finally(() => removeFolder(folder));
    add(size.count, size.files === 1 ? "1 file" : `${size.files} files`, times);
  }
  const postgres = await startPostgres(POSTGRES_SERVERS[0]);
  try {
    for (const count of [1, 100_000]) {
      await fillTable(postgres, count);
      const store = openDatabase(postgres.url());
      const journal = new Journal({ store, clock: systemClock, redact: (line) => line, onUnwritable() {} });
      add(count, "Postgres", await measure(journal));
    }
  } finally {
    await postgres.close();
  }
  return table(["requests", "first look", "call with a doubt", "paid call", "reading it for results"], rows);
}

async function measure(journal: Journal): Promise<number[]> {
  const guard = new Guard({ journal, clock: { ...systemClock, now: () => NOON } });
  const service = {
    generate: async ({ topic }: Order) => ({ jobId: `job of ${topic}`, status: "processing" }),
    listVideos: async () => ({ videos: [] }),
  };
  const jobs = {
    hasFailed: () => false,
    addStarted() {},
    updateFromPage() {},
    possibleJobs: async () => [],
  };
  const tryReadJob = async () => undefined;
  const once = new GenerateOnce({ service, guard, journal, maxGenerations: undefined, tryReadJob, jobs });
  const firstMs = await timeOf(() => journal.entries());
  // Times the search of the whole journal that an order which looks like a mistake causes.
  const warnings = [{ finding: "", advice: "" }];
  const doubtedMs = await timeOf(() => once.run({ topic: "doubted" }, { warnings }).catch(() => {}));
  const paidMs: number[] = [];
  while (paidMs.length < CALLS) paidMs.push(await timeOf(() => once.run({ topic: `call ${paidMs.length}` })));
  const entries = await journal.entries();
  return [
    firstMs,
    doubtedMs,
    median(paidMs),
    await timeOf(async () => [await jobHistories(entries), ordersOf(entries)]),
  ];
}

/** Writes orders that are done, evenly on the days before. */
async function writeJournal(folder: string, { count, files, characters }: Size): Promise<void> {
  for (let day = 0; day < files; day += 1) {
    const atMs = NOON - day * DAY_MS;
    let text = "";
    for (let job = day; job < count; job += files) {
      const topic = topicOf(job, characters);
      const begun = { ...VIDEO, id: `${job}`, atMs, arguments: { topic } };
      const done = { ...begun, outcome: "done", jobId: `job ${job}` };
      text += `\n${JSON.stringify(begun)}\n\n${JSON.stringify(done)}\n`;
    }
    await writeFile(join(folder, `journal-${new Date(atMs).toISOString().slice(0, 10)}.jsonl`), text);
  }
}

/** A topic whose words come in another order for each job. */
function topicOf(job: number, characters: number): string {
  let text = `Fact ${job}:`;
  for (let word = job; text.length < characters; word = (word * 7 + 3) % 10_007)
    text += ` ${WORDS[word % WORDS.length]}`;
  return text;
}

/** Fills a database table with this many entries. */
async function fillTable(postgres: Postgres, count: number): Promise<void> {
  await postgres.sql("drop table if exists public.faceless_journal");
  await openDatabase(postgres.url()).append([""]);
  const begun = { ...VIDEO, id: "$", atMs: Date.now(), arguments: { topic: "x".repeat(200) } };
  const done = { ...begun, outcome: "done", jobId: "job $" };
  for (const line of [begun, done].map((entry) => JSON.stringify(entry)))
    await postgres.sql(
      `insert into public.faceless_journal (line) select replace('${line}', '$', i::text) from generate_series(1, ${count}) i`,
    );
}

async function timeOf(work: () => unknown): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}
