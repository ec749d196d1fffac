// Measures the time from the start of a process to its list of tools, and its memory then.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { startRaw } from "../../fixtures/raw-server.ts";
import { compare, inTurns } from "./sample.ts";

const ROUNDS = 41;
const ECHO = fileURLToPath(new URL("echo.mjs", import.meta.url));

export interface Start {
  readonly ms: number;
  readonly megabytes: number;
  /** Bytes of the answer to tools/list. */
  readonly bytes: number;
}

/** The built file, and a minimal process that answers the same lines. */
export async function benchStart() {
  const turns = await inTurns(
    ROUNDS,
    () => start(ECHO),
    () => start(),
  );
  return {
    ms: compare(turns, ({ ms }) => ms),
    megabytes: compare(turns, ({ megabytes }) => megabytes),
    listBytes: turns.ours[0]?.bytes ?? Number.NaN,
  };
}

/** Starts the built file unless another one is named. */
async function start(file?: string): Promise<Start> {
  const startMs = performance.now();
  const env = { HOME: process.env["HOME"], FACELESS_STATE_DIR: "off" };
  const server = startRaw({ command: [process.execPath], ...(file !== undefined && { file }), env });
  let bytes = 0;
  await server.open("legacy");
  server.stdout.on("data", (chunk: Buffer) => (bytes += chunk.length));
  await server.ask("tools/list");
  const ms = performance.now() - startMs;
  const megabytes = await residentMegabytes(server.child.pid ?? 0);
  server.stdin.end();
  await server.ended;
  return { ms, megabytes, bytes };
}

/** As Linux reports it. */
async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
