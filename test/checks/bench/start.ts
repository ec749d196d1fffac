// Measures the time from the start of a process to its list of tools, and its memory then.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { makeFolder, removeFolder } from "../../fixtures/folder.ts";
import { type RawStart, startRaw } from "../../fixtures/raw-server.ts";
import { compare, inTurns } from "./sample.ts";

const ROUNDS = 41;
const ECHO = fileURLToPath(new URL("echo.mjs", import.meta.url));

interface Start {
  readonly ms: number;
  readonly megabytes: number;
}

/** Compares the built file to a minimal process with the same answers, also with Node 22's compile cache. */
export async function benchStart(node: string) {
  const cache = makeFolder();
  try {
    const [base = [], ours = [], cached = []] = await inTurns(ROUNDS, [
      () => start(node, { file: ECHO }),
      () => start(node),
      () => start(node, { env: { NODE_COMPILE_CACHE: cache } }),
    ]);
    return {
      ms: compare(base, ours, ({ ms }) => ms),
      cachedMs: compare(base, cached, ({ ms }) => ms),
      megabytes: compare(base, ours, ({ megabytes }) => megabytes),
    };
  } finally {
    removeFolder(cache);
  }
}

/** Starts the built file unless another one is named. */
async function start(
  node: string,
  { env = {}, ...file }: Pick<RawStart, "file" | "env"> = {},
): Promise<Start> {
  const startMs = performance.now();
  const bare = { HOME: process.env["HOME"], FACELESS_STATE_DIR: "off" };
  const server = startRaw({ command: [node], ...file, env: { ...bare, ...env } });
  await server.open("legacy");
  await server.ask("tools/list");
  const ms = performance.now() - startMs;
  const megabytes = await residentMegabytes(server.child.pid ?? 0);
  server.stdin.end();
  await server.ended;
  return { ms, megabytes };
}

/** Reads what Linux reports. */
async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
