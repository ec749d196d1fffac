// npm run bench:watch: what watching costs and how soon an end is seen. Runs the real schedule, poller and rate limiter on a virtual
// clock, so that the figures do not depend on the machine.

import { DURATIONS, type JobEnd, type Random, seededRandom } from "../fixtures/durations.ts";
import { createWorld, type Delays, delaysOf, measureManyJobs } from "./virtual-world.ts";

const JOBS = 2_000;
const MINUTE_MS = 60_000;
const SCHEDULES: readonly (readonly [string, number | undefined])[] = [
  ["schedule", undefined],
  ["fixed 2 s", 2_000],
  ["fixed 5 s", 5_000],
  ["fixed 10 s", 10_000],
];

interface SingleJobFigures extends Delays {
  readonly polls: number;
  readonly reads: number;
}

async function measureSingleJobs(
  draw: (random: Random) => JobEnd,
  fixedMs?: number,
): Promise<SingleJobFigures> {
  const random = seededRandom(1);
  const seconds: number[] = [];
  let polls = 0;
  let reads = 0;
  for (let index = 0; index < JOBS; index++) {
    const world = createWorld({
      random,
      limitPerMinute: 1_000,
      ...(fixedMs !== undefined && { fixedMs }),
    });
    const job = world.start(draw(random));
    world.store.changes.on(() => {
      if (world.store.get(job.jobId)?.job?.done !== true) return;
      seconds.push((world.clock.now() - job.endsMs) / 1000);
      // A client reads the job after each update, which looks the final video up in the list.
      void world.reader.readRecent(job.jobId, 5_000, { background: false });
    });
    await world.clock.runUntil(job.endsMs + MINUTE_MS);
    polls += world.counts.polls;
    reads += world.counts.reads;
  }
  return { polls: polls / JOBS, reads: reads / JOBS, ...delaysOf(seconds) };
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
  const runs: SingleJobFigures[] = [];
  for (const draw of [DURATIONS.U, DURATIONS.LN, DURATIONS.MIX])
    runs.push(await measureSingleJobs(draw, fixedMs));
  const join = (pick: (run: SingleJobFigures) => number) =>
    runs.map((run) => pick(run).toFixed(1)).join(" / ");
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
lines.push(
  "",
  row(["watched at once", "polls a minute", "polls a job", "mean / p95 delay s", "unseen", "429s"]),
  row(["-", "-", "-", "-", "-", "-"]),
);
for (const count of [1, 2, 10, 30, 60, 100, 200, 1_000]) {
  const { pollsPerMinute, pollsPerJob, mean, p95, unseen, refused } = await measureManyJobs(count);
  lines.push(
    row([
      String(count),
      pollsPerMinute,
      pollsPerJob,
      `${mean.toFixed(1)} / ${p95.toFixed(1)}`,
      String(unseen),
      String(refused),
    ]),
  );
}
process.stdout.write(`${lines.join("\n")}\n`);
