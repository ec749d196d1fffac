// Measures the time from the start of a process to its list of tools, and its memory then.

import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fillCompiledCode } from "../fixtures/compiled-code.ts";
import { npmProgram } from "../fixtures/npm-tools.ts";
import { startRaw } from "../fixtures/raw-server.ts";
import { compare, inTurns } from "./sample.ts";

const ROUNDS = 41;
const ECHO = fileURLToPath(new URL("echo.mjs", import.meta.url));

export interface Start {
  readonly ms: number;
  /** Of the main thread: other load on the machine affects it less. */
  readonly cpuMs: number;
  readonly megabytes: number;
  /** Bytes of the answer to tools/list. */
  readonly bytes: number;
}

interface Process {
  /** Default: the one that runs the benchmark. */
  readonly node?: string;
  /** Default: the built file. */
  readonly file?: string;
  /** Default: no compiled code is kept. */
  readonly stateDir?: string;
}

/** The built file, and a minimal process that answers the same lines. */
export async function benchStart() {
  const turns = await inTurns(
    ROUNDS,
    () => start({ file: ECHO }),
    () => start({}),
  );
  return {
    ms: compare(turns, ({ ms }) => ms),
    megabytes: compare(turns, ({ megabytes }) => megabytes),
    listBytes: turns.ours[0]?.bytes ?? Number.NaN,
  };
}

/** On a Node that keeps compiled code: a start that finds it against the minimal process, and one that does not against one that keeps none. */
export async function benchCompileCache() {
  const node = await npmProgram("node", "node");
  const folder = await mkdtemp(join(tmpdir(), "faceless-bench-"));
  try {
    const warm = join(folder, "warm");
    await mkdir(warm);
    await fillCompiledCode(node, warm);
    let count = 0;
    const cold = () => join(folder, `cold-${(count += 1)}`);
    const warmTurns = await inTurns(
      ROUNDS,
      () => start({ node, file: ECHO }),
      () => start({ node, stateDir: warm }),
    );
    const coldTurns = await inTurns(
      ROUNDS,
      () => start({ node }),
      () => start({ node, stateDir: cold() }),
    );
    return { warm: compare(warmTurns, ({ cpuMs }) => cpuMs), cold: compare(coldTurns, ({ cpuMs }) => cpuMs) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function start({ node = process.execPath, file, stateDir = "off" }: Process): Promise<Start> {
  const startMs = performance.now();
  const env = { HOME: process.env["HOME"], FACELESS_STATE_DIR: stateDir };
  const server = startRaw({ command: [node], ...(file !== undefined && { file }), env });
  let bytes = 0;
  await server.open("legacy");
  server.stdout.on("data", (chunk: Buffer) => (bytes += chunk.length));
  await server.ask("tools/list");
  const ms = performance.now() - startMs;
  const cpuMs = await mainThreadCpuMs(server.child.pid ?? 0);
  const megabytes = await residentMegabytes(server.child.pid ?? 0);
  server.stdin.end();
  await server.ended;
  return { ms, cpuMs, megabytes, bytes };
}

/** As Linux reports it. */
async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** As Linux reports it. */
async function mainThreadCpuMs(pid: number): Promise<number> {
  const [nanoseconds] = (await readFile(`/proc/${pid}/task/${pid}/schedstat`, "utf8")).split(" ");
  return Number(nanoseconds) / 1e6;
}
