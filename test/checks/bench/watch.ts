// npm run bench:watch: what watching costs and how soon an end is seen. Runs the real schedule, poller and rate limiter on a virtual
// clock, so that the figures do not depend on the machine.

import { DURATIONS, type JobEnd, type Random, seededRandom } from "../../fixtures/durations.ts";
import { createWorld, type Delays, delaysOf, measureManyJobs, type WorldOptions } from "./virtual-world.ts";
import { measureDeliveries } from "./webhook-delay.ts";

const JOBS = 2_000;
const MINUTE_MS = 60_000;
type Watching = Pick<WorldOptions, "fixedMs" | "webhooks">;
const WAYS: readonly (readonly [string, Watching])[] = [
  ["schedule", {}],
  ["schedule and webhooks", { webhooks: true }],
  ["fixed 2 s", { fixedMs: 2_000 }],
  ["fixed 5 s", { fixedMs: 5_000 }],
  ["fixed 10 s", { fixedMs: 10_000 }],
];

interface SingleJobFigures extends Delays {
  readonly polls: number;
  readonly reads: number;
}

async function measureSingleJobs(
  draw: (random: Random) => JobEnd,
  watching: Watching,
): Promise<SingleJobFigures> {
  const random = seededRandom(1);
  const seconds: number[] = [];
  let polls = 0;
  let reads = 0;
  for (let index = 0; index < JOBS; index++) {
    const world = createWorld({ random, limitPerMinute: 1_000, ...watching });
    const job = world.start(draw(random));
    world.store.on("change", () => {
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
for (const [name, watching] of WAYS) {
  const runs: SingleJobFigures[] = [];
  for (const draw of [DURATIONS.U, DURATIONS.LN, DURATIONS.MIX])
    runs.push(await measureSingleJobs(draw, watching));
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
for (const webhooks of [false, true]) {
  lines.push(
    "",
    row([
      webhooks ? "the same with webhooks" : "watched at once",
      "polls a minute",
      "polls a job",
      "mean / p95 delay s",
      "unseen",
      "429s",
    ]),
    row(["-", "-", "-", "-", "-", "-"]),
  );
  for (const count of [1, 2, 10, 30, 60, 100, 200]) {
    const figures = await measureManyJobs(count, { webhooks });
    const { pollsPerMinute, pollsPerJob, mean, p95, unseen, refused } = figures;
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
}
const { mean, p95, max, requestsPerJob } = await measureDeliveries();
lines.push(
  "",
  "Over real sockets, from the end of a sandbox render to the notification on stdout:",
  `mean ${mean.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms, slowest ${max.toFixed(0)} ms, ${requestsPerJob.toFixed(1)} polls a job`,
);
process.stdout.write(`${lines.join("\n")}\n`);
