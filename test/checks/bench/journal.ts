// Measures what a long journal costs: to read it once after a start, and then for each call.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { table } from "../../../.config/docs-parts.ts";
import { jobHistories, ordersOf } from "../../../src/idempotency/history.ts";
import { openDisk } from "../../../src/idempotency/journal-files.ts";
import { PaidCalls } from "../../../src/idempotency/record-and-send.ts";
import { sameGenerations } from "../../../src/idempotency/same-request.ts";
import { makeFolder, removeFolder } from "../../fixtures/folder.ts";
import { jobIdOf } from "../../fixtures/soak-service.ts";
import { DAY_MS, NOON, openJournal, VIDEO } from "../../idempotency/open-journal.ts";
import { median } from "./sample.ts";

const CALLS = 51;
const LINE = "The sea holds salt from rocks that rain has worn. [waves on rocks] ";

/** A table of what it costs, by the journal's length. */
export async function benchJournal(): Promise<string> {
  const rows = [
    await measure(1, { days: 1 }),
    await measure(10_000, { days: 90 }),
    await measure(100_000, { days: 90 }),
    await measure(30_000, { days: 1, lines: 10 }),
  ];
  return table(["requests", "first look", "paid call", "what results say of it"], rows);
}

async function measure(count: number, { days, lines = 3 }: { days: number; lines?: number }) {
  const folder = makeFolder();
  try {
    const megabytes = (await writeJournal(folder, count, days, LINE.repeat(lines))) / 1e6;
    const { journal } = openJournal(openDisk(folder));
    const monotonicMs = () => performance.now();
    const calls = new PaidCalls({ journal, now: () => NOON, monotonicMs, sleep: (ms) => sleep(ms) });
    const firstMs = await timeOf(() => journal.entries());
    const paidMs: number[] = [];
    while (paidMs.length < CALLS) paidMs.push(await timeOf(() => pay(calls, `call ${paidMs.length}`)));
    const entries = await journal.entries();
    const ms = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
    return [
      `${count.toLocaleString("en")}, ${megabytes.toFixed(megabytes < 1 ? 3 : 0)} MB in ${days} ${days === 1 ? "file" : "files"}`,
      ms(firstMs),
      ms(median(paidMs)),
      ms(await timeOf(() => [jobHistories(entries), ordersOf(entries, NOON)])),
    ];
  } finally {
    removeFolder(folder);
  }
}

/** As a paid call, with a service that answers at once. */
async function pay(calls: PaidCalls, fingerprint: string): Promise<void> {
  const call = calls.begin(undefined);
  const look = await calls.look(call, (entries) => sameGenerations(entries, fingerprint));
  await calls.send(call, look, {
    intent: { ...VIDEO, fingerprint },
    request: async () => fingerprint,
    outcomeOf: () => ({ outcome: "done", jobId: fingerprint }),
  });
}

/** Writes generations that are done, evenly on the days before, and returns their bytes. */
async function writeJournal(folder: string, count: number, days: number, topic: string): Promise<number> {
  let bytes = 0;
  for (let day = 0; day < days; day += 1) {
    const atMs = NOON - day * DAY_MS;
    let text = "";
    for (let job = day; job < count; job += days) {
      const begun = { ...VIDEO, id: `${job}`, atMs, fingerprint: `${job}`, arguments: { topic } };
      const done = { ...begun, outcome: "done", endedAtMs: atMs, jobId: jobIdOf(job) };
      text += `\n${JSON.stringify(begun)}\n\n${JSON.stringify(done)}\n`;
    }
    await writeFile(join(folder, `journal-${new Date(atMs).toISOString().slice(0, 10)}.jsonl`), text);
    bytes += Buffer.byteLength(text);
  }
  return bytes;
}

async function timeOf(work: () => unknown): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}
