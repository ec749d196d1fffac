// npm run bench:watch: what watching costs and how soon an end is seen. The real scheduler, watcher and allowance on a
// virtual clock; every figure is of simulated minutes, so the machine it runs on doesn't matter.

import { DURATIONS, type JobEnd, type Random, seededRandom } from "../fixtures/durations.ts";
import { createWorld } from "./virtual-world.ts";

const JOBS = Number(process.env["J"] ?? 2_000);
const MINUTE_MS = 60_000;
const SCHEDULES: readonly (readonly [string, number | undefined])[] = [
  ["schedule", undefined],
  ["fixed 2 s", 2_000],
  ["fixed 5 s", 5_000],
  ["fixed 10 s", 10_000],
];

interface Delays {
  readonly mean: number;
  readonly p95: number;
}

interface SingleRun extends Delays {
  readonly polls: number;
  readonly reads: number;
}

function delaysOf(seconds: readonly number[]): Delays {
  const sorted = seconds.toSorted((a, b) => a - b);
  const sum = sorted.reduce((total, value) => total + value, 0);
  return { mean: sum / sorted.length, p95: sorted[Math.floor(0.95 * sorted.length)] ?? Number.NaN };
}

async function oneJobAtATime(draw: (random: Random) => JobEnd, fixedMs?: number) {
  const random = seededRandom(1);
  const seconds: number[] = [];
  let polls = 0;
  let reads = 0;
  for (let index = 0; index < JOBS; index++) {
    const world = createWorld({
      random,
      limitPerMinute: 1_000,
      canPage: false,
      ...(fixedMs !== undefined && { fixedMs }),
    });
    const job = world.start(draw(random));
    world.store.changes.on(() => {
      if (world.store.get(job.jobId)?.job?.done !== true) return;
      seconds.push((world.clock.now() - job.endsMs) / 1000);
      // A client reads what it hears of. The final video is looked up then, in the list.
      void world.reader.readRecent(job.jobId, 5_000, { background: false });
    });
    await world.clock.runUntil(job.endsMs + MINUTE_MS);
    polls += world.counts.polls;
    reads += world.counts.reads;
  }
  return { polls: polls / JOBS, reads: reads / JOBS, ...delaysOf(seconds) };
}

async function manyJobs(count: number, canPage: boolean) {
  const random = seededRandom(count);
  const world = createWorld({ random, limitPerMinute: 60, canPage });
  const { clock } = world;
  const startMs = clock.now();
  const measureFromMs = startMs + 10 * MINUTE_MS;
  const endMs = startMs + 40 * MINUTE_MS;
  const ends = new Map<string, number>();
  const seconds: number[] = [];
  const startOne = () => {
    const job = world.start(DURATIONS.MIX(random));
    ends.set(job.jobId, job.endsMs);
  };
  world.store.changes.on((jobId) => {
    if (world.store.get(jobId)?.job?.done !== true) return;
    const endedMs = ends.get(jobId) ?? Number.NaN;
    ends.delete(jobId);
    // Another takes its place, so that as many are watched all the time.
    startOne();
    if (endedMs >= measureFromMs) seconds.push((clock.now() - endedMs) / 1000);
  });
  for (let index = 0; index < count; index++) clock.after((index / count) * 170_000, startOne);
  await clock.runUntil(measureFromMs);
  const before = { ...world.counts };
  await clock.runUntil(endMs);
  const unseen = [...ends.values()].filter(
    (endedMs) => endedMs < endMs - MINUTE_MS && endedMs >= measureFromMs,
  );
  return {
    pollsPerMinute: (world.counts.polls - before.polls) / 30,
    refused: world.counts.refused,
    unseen: unseen.length,
    ...delaysOf(seconds),
  };
}

function row(cells: readonly (string | number)[]): string {
  return `| ${cells.map((cell) => (typeof cell === "number" ? cell.toFixed(1) : cell)).join(" | ")} |`;
}

const lines: string[] = [];
lines.push(
  row(["one job", "requests a job U / LN / MIX", "mean delay s", "p95 delay s", "requests to read its end"]),
  row(["-", "-", "-", "-", "-"]),
);
for (const [name, fixedMs] of SCHEDULES) {
  const runs: SingleRun[] = [];
  for (const draw of [DURATIONS.U, DURATIONS.LN, DURATIONS.MIX])
    runs.push(await oneJobAtATime(draw, fixedMs));
  const join = (pick: (run: SingleRun) => number) => runs.map((run) => pick(run).toFixed(1)).join(" / ");
  lines.push(
    row([
      name,
      join((run) => run.polls),
      join((run) => run.mean),
      join((run) => run.p95),
      join((run) => run.reads),
    ]),
  );
}
lines.push("");
lines.push(
  row([
    "watched at once",
    "polls a minute",
    "mean / p95 delay s",
    "unseen",
    "429s",
    "with pages: polls a minute",
    "mean / p95 delay s",
    "unseen",
    "429s",
  ]),
  row(Array.from({ length: 9 }, () => "-")),
);
for (const count of process.env["N"]?.split(",").map(Number) ?? [1, 10, 30, 60, 100, 200, 1_000]) {
  const page = await manyJobs(count, false);
  const pages = page;
  const cells = (run: typeof page) => [
    run.pollsPerMinute,
    `${run.mean.toFixed(1)} / ${run.p95.toFixed(1)}`,
    String(run.unseen),
    String(run.refused),
  ];
  lines.push(row([String(count), ...cells(page), ...cells(pages)]));
}
process.stdout.write(`${lines.join("\n")}\n`);
