// Measures the time from the start of a process to its list of tools, and its memory then.

import { readFile } from "node:fs/promises";
import { makeFolder, removeFolder } from "../../fixtures/folder.ts";
import { startRaw } from "../../fixtures/raw-server.ts";
import { compare, inTurns } from "./sample.ts";

const ROUNDS = 41;

interface Start {
  readonly ms: number;
  readonly megabytes: number;
}

/** Compares the built file to the minimal server. Each round but the first finds the code that was kept. */
export async function benchStart(node: string, sdkServer: string) {
  const home = makeFolder();
  try {
    const [base = [], ours = []] = await inTurns(ROUNDS, [
      () => start([node], home, sdkServer),
      () => start([node], home),
    ]);
    return {
      ms: compare(base, ours, ({ ms }) => ms),
      megabytes: compare(base, ours, ({ megabytes }) => megabytes),
    };
  } finally {
    removeFolder(home);
  }
}

/** Starts the built file unless another one is named. */
async function start(command: [string], home: string, file?: string): Promise<Start> {
  const startMs = performance.now();
  const server = startRaw({
    command,
    ...(file !== undefined && { file }),
    env: {
      HOME: home,
      FACELESS_STATE_DIR: "",
      FACELESS_API_KEY: "fl_example",
      FACELESS_BASE_URL: "https://videos.example.com",
    },
  });
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
