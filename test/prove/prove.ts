// npm run prove: every long proof, one after the other, and one table of their figures. The table and the commands also go into
// docs/PROOFS.md. Fails where a promise is not kept.

import { spawn } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { cpus, release, type as system } from "node:os";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { table } from "../../.config/docs-parts.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const RANDOM_RUNS = 10_000;
const FUZZ_LINES = 1_000_000;

interface Row {
  readonly proof: string;
  readonly promised: string;
  readonly figure: string;
  readonly met: boolean;
  readonly command: string;
}

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly seconds: number;
}

function run(command: string, env: Record<string, string> = {}): Promise<Ran> {
  const begin = Date.now();
  process.stderr.write(`… ${command}\n`);
  return new Promise((resolve, reject) => {
    const child = spawn("bash", ["-c", command], {
      cwd: root,
      env: { ...process.env, PATH: `${root}node_modules/.bin:${process.env["PATH"] ?? ""}`, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let stdout = "";
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, seconds: Math.round((Date.now() - begin) / 1000) }));
  });
}

const VITEST = "vitest run --config .config/vitest.config.ts";

async function faults(): Promise<Row[]> {
  const command = `PROVE_RUNS=${RANDOM_RUNS} ${VITEST} test/faults/random.test.ts --testTimeout 3600000`;
  const matrixCommand = `${VITEST} test/faults/matrix.test.ts`;
  const matrix = await run(matrixCommand);
  const cells = /(\d+) passed/.exec(matrix.stdout.split("Tests").at(-1) ?? "")?.[1] ?? "?";
  const random = await run(command);
  return [
    {
      proof: "a fault at each point × GET, POST × direct, proxy",
      promised: "verdict right, POST sent once, text clear",
      figure: `${cells} cells, ${matrix.seconds} s`,
      met: matrix.code === 0,
      command: matrixCommand,
    },
    {
      proof: "random faults, seeded",
      promised: "nothing sent twice, judged wrong or leaked",
      figure: `${RANDOM_RUNS} runs, ${random.seconds} s`,
      met: random.code === 0,
      command,
    },
  ];
}

async function fuzz(): Promise<Row[]> {
  const command = `PROVE_LINES=${FUZZ_LINES} ${VITEST} test/stdio-fuzz.test.ts --testTimeout 3600000`;
  const ran = await run(command);
  return [
    {
      proof: "hostile JSON-RPC lines",
      promised: "each id answered once, the server lives",
      figure: `${FUZZ_LINES} lines, ${ran.seconds} s`,
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
      worstMs: z.number(),
      limitMs: z.number(),
      met: z.boolean(),
    }),
  ),
});

async function exits(): Promise<Row[]> {
  const command = "tsx test/prove/exits.ts";
  const { rows } = exitsSchema.parse(JSON.parse((await run(command)).stdout));
  return [250, ...new Set(rows.map(({ limitMs }) => limitMs).filter((limit) => limit !== 250))].map(
    (limitMs) => {
      const these = rows.filter((row) => row.limitMs === limitMs);
      return {
        proof: `ends: ${[...new Set(these.map(({ state }) => state))].join(", ")}`,
        promised: `within ${limitMs} ms, exit 0, no stack, no orphan`,
        figure: `${these.length} cases, slowest median ${Math.max(...these.map(({ medianMs }) => medianMs))} ms, worst ${Math.max(...these.map(({ worstMs }) => worstMs))} ms`,
        met: these.every(({ met }) => met),
        command,
      };
    },
  );
}

const soakSchema = z.array(
  z.object({
    era: z.string(),
    met: z.boolean(),
    long: z.looseObject({
      calls: z.number(),
      cycles: z.number(),
      callsPerSecond: z.number(),
      heapGrowthMb: z.number(),
      handlesLeft: z.array(z.string()),
    }),
    stalled: z.looseObject({ rssGrowthMb: z.number(), answered: z.number(), requests: z.number() }),
  }),
);

async function soak(): Promise<Row[]> {
  const command = "tsx test/prove/soak.ts";
  return soakSchema.parse(JSON.parse((await run(command)).stdout)).map(({ era, met, long, stalled }) => ({
    proof: `soak, ${era} client`,
    promised: "heap ≤ +2 MB, no handle left; ≤ +20 MB with a stalled reader",
    figure: `${long.calls} calls (${Math.round(long.callsPerSecond)} a second), ${long.cycles} subscriptions: heap ${long.heapGrowthMb.toFixed(2)} MB, ${long.handlesLeft.length} handles; stalled ${stalled.rssGrowthMb.toFixed(1)} MB, ${stalled.answered} of ${stalled.requests} answered`,
    met,
    command,
  }));
}

async function robustness(): Promise<Row[]> {
  const command = "tsx test/prove/stdio-table.ts";
  const { code, stdout } = await run(command);
  const { eof, sigterm, epipe } = z
    .looseObject({
      eof: z.looseObject({ ms: z.number() }),
      sigterm: z.looseObject({ ms: z.number() }),
      epipe: z.looseObject({ ms: z.number() }),
    })
    .parse(JSON.parse(stdout));
  return [
    {
      proof: "where other servers crash or say nothing",
      promised: "answers garbage and 11 MB lines, lives on; ends quietly",
      figure: `EOF ${eof.ms} ms, SIGTERM ${sigterm.ms} ms, EPIPE ${epipe.ms} ms`,
      met: code === 0,
      command,
    },
  ];
}

const deadlineSchema = z.looseObject({
  rows: z.array(z.looseObject({ tool: z.string(), seconds: z.number(), outcome: z.string() })),
  met: z.boolean(),
});

async function deadline(): Promise<Row[]> {
  const command = "tsx test/prove/deadline.ts";
  const { rows: calls, met } = deadlineSchema.parse(JSON.parse((await run(command)).stdout));
  return [
    {
      proof: "calls to a service that never answers",
      promised: "each ends within 45 s and says what is known",
      figure: calls
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
const LEAST_SCORE = 90;

/** Stryker needs a newer Node than the one that is the least for this package. */
async function mutants(): Promise<Row[]> {
  const command =
    "npx -y -p node@22 -- node node_modules/@stryker-mutator/core/bin/stryker.js run .config/stryker.config.json";
  const report = `${root}.stryker-tmp/mutation.json`;
  await rm(report, { force: true });
  const { seconds } = await run(command);
  const { files } = mutantsSchema.parse(JSON.parse(await readFile(report, "utf8")));
  return Object.entries(files).map(([file, { mutants: all }]) => {
    const count = (...statuses: string[]) => all.filter(({ status }) => statuses.includes(status)).length;
    const found = count("Killed", "Timeout");
    const score = (100 * found) / (found + count("Survived", "NoCoverage"));
    return {
      proof: `mutants of ${file}`,
      promised: `tests find ${LEAST_SCORE} % or more`,
      figure: `${score.toFixed(1)} % of ${found + count("Survived", "NoCoverage")}; all rooms ${seconds} s`,
      met: score >= LEAST_SCORE,
      command,
    };
  });
}

/** A step that can't be measured must not take the figures of the others with it. */
const brokenOff =
  (name: string) =>
  (error: unknown): Row[] => [
    {
      proof: name,
      promised: "runs to its end",
      figure: String(error),
      met: false,
      command: `npm run prove -- ${name}`,
    },
  ];

const STEPS = { faults, fuzz, exits, soak, robustness, deadline, mutants };
const asked = process.argv.slice(2);
const rows: Row[] = [];
for (const [name, step] of Object.entries(STEPS))
  if (asked.length === 0 || asked.includes(name)) rows.push(...(await step().catch(brokenOff(name))));

const text = table(
  ["proof", "promised", "measured", "met"],
  rows.map(({ proof, promised, figure, met }) => [proof, promised, figure, met ? "yes" : "**no**"]),
);
process.stdout.write(`${text}\n`);
if (asked.length === 0) {
  const commands = [...new Set(rows.map(({ command }) => command))]
    .map((command) => `- \`${command}\``)
    .join("\n");
  const machine = `Node.js ${process.versions.node}, ${system()} ${release()}, ${cpus().length} cores`;
  await writeFile(
    `${root}docs/PROOFS.md`,
    `# Proofs\n\nThe last run of \`npm run prove\` (${new Date().toISOString().slice(0, 10)}, ${machine}). \`npm test\` runs shorter forms of the same.\n\n${text}\n\nThe commands, each of which runs alone:\n\n${commands}\n`,
  );
}
process.exitCode = rows.every(({ met }) => met) ? 0 : 1;
