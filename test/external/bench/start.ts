// Measures the time from the start of a process to its list of tools, and its memory then.

import { readFile } from "node:fs/promises";
import { makeFolder, removeFolder } from "../../fixtures/folder.ts";
import { type RawServer, type RawStart, startRaw } from "../../fixtures/raw-server.ts";
import { MEASURED, processorTime } from "./processor.ts";
import { inTurns } from "./sample.ts";

const ROUNDS = 41;

export const SETTINGS = {
  FACELESS_API_KEY: "fl_example_key",
  FACELESS_BASE_URL: "https://videos.test",
  FACELESS_STATE_DIR: "",
};

export type Start = Awaited<ReturnType<typeof measureStart>>;

/** One list of samples for each file, from turns. Each round but the first finds the code that was kept. */
export async function benchStart(node: string, files: readonly string[]): Promise<readonly Start[][]> {
  const home = makeFolder();
  const start = { command: [node], env: { ...SETTINGS, HOME: home } } as const;
  try {
    return await inTurns(
      ROUNDS,
      files.map((file) => () => measureStart({ ...start, file })),
    );
  } finally {
    removeFolder(home);
  }
}

/** The memory of a Node that waits for its input. */
export async function bareMegabytes(node: string): Promise<number> {
  const file = "process.stdin.resume(); console.log('ready')";
  const bare = startRaw({ command: [node], nodeArgs: ["--eval"], file });
  await new Promise<void>((resolve) => bare.onMessage(() => resolve()));
  const megabytes = await residentMegabytes(bare.child.pid ?? 0);
  bare.stdin.end();
  await bare.ended;
  return megabytes;
}

/** The processor's time until the tools are listed, and what a launch measures. */
async function measureStart(start: RawStart) {
  let processorMs = Number.NaN;
  const launched = await launch({ ...start, ...MEASURED }, async (server) => {
    processorMs = (await processorTime(server)).listed;
  });
  return { ...launched, processorMs };
}

/** Ends the server once it has listed its tools. */
export async function launch(
  start: RawStart,
  measure: (server: RawServer) => Promise<void> = async () => {},
) {
  const startMs = performance.now();
  const server = startRaw(start);
  await server.open("legacy");
  await server.ask("tools/list");
  const ms = performance.now() - startMs;
  const megabytes = await residentMegabytes(server.child.pid ?? 0);
  await measure(server);
  server.stdin.end();
  // Some servers go on after the end of their input.
  const killer = setTimeout(() => server.child.kill("SIGKILL"), 2_000);
  await server.ended;
  clearTimeout(killer);
  return { ms, megabytes };
}

/** Reads what Linux reports. */
async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
