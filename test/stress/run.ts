// npm run prove: runs all stress tests one after the other, prints a table of figures for each and writes it to docs/STRESS.md with its
// command. `npm run prove -- fuzz twice` runs some of them. Fails if a promise is not kept. Each command of a random test has its
// seed and replays it.

import { spawn } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { cpus, release, type as system } from "node:os";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { table, withPart } from "../../.config/docs-parts.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const RANDOM_RUNS = 10_000;
const FUZZ_LINES = 1_000_000;
const TWICE_ROUNDS = 200;

interface Row {
  readonly test: string;
  readonly promised: string;
  readonly measured: string;
  readonly met: boolean;
  readonly command: string;
}

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly seconds: number;
}

function run(command: string): Promise<Ran> {
  const startMs = performance.now();
  process.stderr.write(`… ${command}\n`);
  return new Promise((resolve, reject) => {
    const child = spawn("bash", ["-c", command], {
      cwd: root,
      env: { ...process.env, PATH: `${root}node_modules/.bin:${process.env["PATH"] ?? ""}` },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let stdout = "";
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code !== 0) process.stderr.write(stdout);
      resolve({ code, stdout, seconds: Math.round((performance.now() - startMs) / 1000) });
    });
  });
}

const VITEST = "vitest run --config .config/vitest.config.ts";
const NO_TIMEOUT = "--testTimeout 3600000";

function seed(): number {
  return Math.floor(Math.random() * 1_000_000_000);
}

async function faults(): Promise<Row[]> {
  const command = `PROVE_RUNS=${RANDOM_RUNS} PROVE_SEED=${seed()} ${VITEST} test/faults/random.test.ts ${NO_TIMEOUT}`;
  const matrixCommand = `${VITEST} test/faults/matrix.test.ts`;
  const matrix = await run(matrixCommand);
  const cases = /(\d+) passed/.exec(matrix.stdout.split("Tests").at(-1) ?? "")?.[1] ?? "?";
  const random = await run(command);
  return [
    {
      test: "a fault at each point × GET, POST × direct, proxy",
      promised: "right outcome, POST sent once, clear text",
      measured: `${cases} cases, ${matrix.seconds} s`,
      met: matrix.code === 0,
      command: matrixCommand,
    },
    {
      test: "random faults",
      promised: "nothing sent twice, no wrong outcome, no key shown",
      measured: `${RANDOM_RUNS} runs, ${random.seconds} s`,
      met: random.code === 0,
      command,
    },
  ];
}

async function fuzz(): Promise<Row[]> {
  const command = `LINES=${FUZZ_LINES} SEED=${seed()} ${VITEST} test/e2e/stdio-fuzz.test.ts ${NO_TIMEOUT}`;
  const ran = await run(command);
  return [
    {
      test: "hostile JSON-RPC lines",
      promised: "each id answered once, the server keeps running",
      measured: `${FUZZ_LINES} lines, ${ran.seconds} s`,
      met: ran.code === 0,
      command,
    },
  ];
}

const exitsSchema = z.object({
  rows: z.array(
    z.looseObject({
      state: z.string(),
      medianMs: z.number(),
      maxMs: z.number(),
      limitMs: z.number(),
      met: z.boolean(),
    }),
  ),
});

async function exits(): Promise<Row[]> {
  const command = "tsx test/stress/exits.ts";
  const { rows } = exitsSchema.parse(JSON.parse((await run(command)).stdout));
  return [250, 2_000].map((limitMs) => {
    const cases = rows.filter((row) => row.limitMs === limitMs);
    const slowestMs = Math.max(...cases.map(({ medianMs }) => medianMs));
    const maxMs = Math.max(...cases.map((one) => one.maxMs));
    return {
      test: `end of the process: ${[...new Set(cases.map(({ state }) => state))].join(", ")}`,
      promised: `within ${limitMs} ms, exit 0, no stack trace, no orphan`,
      measured: `${cases.length} cases, slowest median ${slowestMs} ms, slowest of all ${maxMs} ms`,
      met: cases.every(({ met }) => met),
      command,
    };
  });
}

const soakSchema = z.array(
  z.object({
    protocol: z.string(),
    met: z.boolean(),
    long: z.looseObject({
      calls: z.number(),
      cycles: z.number(),
      callsPerSecond: z.number(),
      heapGrowthMb: z.number(),
      handlesLeft: z.array(z.string()),
    }),
    stalled: z.looseObject({ rssGrowthMb: z.number(), answered: z.number(), requests: z.number() }),
    flooded: z.looseObject({ rssGrowthMb: z.number(), calls: z.number() }),
  }),
);

async function soak(): Promise<Row[]> {
  const command = "tsx test/stress/soak.ts";
  return soakSchema
    .parse(JSON.parse((await run(command)).stdout))
    .map(({ protocol, met, long, stalled, flooded }) => ({
      test: `long use, ${protocol} client`,
      promised: "heap ≤ +2 MB, no handle left; ≤ +20 MB for a client that stalls or floods",
      measured: `${long.calls} calls (${Math.round(long.callsPerSecond)} per second), ${long.cycles} subscriptions: heap ${long.heapGrowthMb.toFixed(2)} MB, ${long.handlesLeft.length} handles; stalled ${stalled.rssGrowthMb.toFixed(1)} MB, ${stalled.answered} of ${stalled.requests} answered; flood of ${flooded.calls} calls ${flooded.rssGrowthMb.toFixed(1)} MB`,
      met,
      command,
    }));
}

const twiceSchema = z.object({ rounds: z.number(), failed: z.number() });

async function twice(): Promise<Row[]> {
  const command = `SEED=${seed()} tsx test/stress/never-twice.ts ${TWICE_ROUNDS}`;
  const ran = await run(command);
  const { rounds, failed } = twiceSchema.parse(JSON.parse(ran.stdout));
  return [
    {
      test: "two processes with lost answers, kill -9 and clock jumps",
      promised: "the service receives no request twice that was not confirmed with a code",
      measured: `${rounds} rounds, ${failed} failed, ${ran.seconds} s`,
      met: ran.code === 0,
      command,
    },
  ];
}

const deadlineSchema = z.looseObject({
  rows: z.array(z.looseObject({ tool: z.string(), seconds: z.number(), outcome: z.string() })),
  met: z.boolean(),
});

async function deadline(): Promise<Row[]> {
  const command = "tsx test/stress/deadline.ts";
  const { rows: calls, met } = deadlineSchema.parse(JSON.parse((await run(command)).stdout));
  return [
    {
      test: "calls to a service that never answers",
      promised: "each ends within 45 s and reports the outcome",
      measured: calls
        .map(({ tool, seconds, outcome }) => `${tool} ${seconds.toFixed(0)} s, ${outcome}`)
        .join("; "),
      met,
      command,
    },
  ];
}

const mutantsSchema = z.object({
  files: z.record(z.string(), z.object({ mutants: z.array(z.object({ status: z.string() })) })),
});
const MIN_SCORE = 90;

async function mutants(): Promise<Row[]> {
  const command = "stryker run .config/stryker.config.json";
  const report = `${root}.stryker-tmp/mutation.json`;
  await rm(report, { force: true });
  const { seconds } = await run(command);
  const { files } = mutantsSchema.parse(JSON.parse(await readFile(report, "utf8")));
  return Object.entries(files).map(([file, { mutants: all }]) => {
    const count = (...statuses: string[]) => all.filter(({ status }) => statuses.includes(status)).length;
    const found = count("Killed", "Timeout");
    const score = (100 * found) / (found + count("Survived", "NoCoverage"));
    return {
      test: `mutants of ${file}`,
      promised: `tests find ${MIN_SCORE} % or more`,
      measured: `${score.toFixed(1)} % of ${found + count("Survived", "NoCoverage")}; all modules ${seconds} s`,
      met: score >= MIN_SCORE,
      command,
    };
  });
}

/** One test that fails to run must not cost the figures of the others. */
const notRun =
  (name: string) =>
  (error: unknown): Row[] => [
    {
      test: name,
      promised: "runs to its end",
      measured: String(error),
      met: false,
      command: `npm run prove -- ${name}`,
    },
  ];

const TESTS = { faults, fuzz, twice, exits, soak, deadline, mutants };
const document = new URL("../../docs/STRESS.md", import.meta.url);
const machine = `Node.js ${process.versions.node}, ${system()} ${release()}, ${cpus().length} cores`;
const asked = process.argv.slice(2);
for (const [name, test] of Object.entries(TESTS)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const rows = await test().catch(notRun(name));
  const text = table(
    ["test", "promised", "measured", "met"],
    rows.map(({ test: what, promised, measured, met }) => [what, promised, measured, met ? "yes" : "**no**"]),
  );
  process.stdout.write(`${text}\n`);
  if (rows.some(({ met }) => !met)) process.exitCode = 1;
  const commands = [...new Set(rows.map(({ command }) => `\`${command}\``))].join(", ");
  const when = new Date().toISOString().slice(0, 10);
  const part = `${text}\n\nMeasured on ${when}, ${machine}, by ${commands}.`;
  await writeFile(document, withPart(await readFile(document, "utf8"), name, part));
}
