// Measures the time from the start of a process to its list of tools, and its memory then.

import { readFile } from "node:fs/promises";
import { makeFolder, removeFolder } from "../../fixtures/folder.ts";
import { type RawStart, startRaw } from "../../fixtures/raw-server.ts";
import { compare, inTurns } from "./sample.ts";

const ROUNDS = 41;

export const SETTINGS = {
  FACELESS_API_KEY: "fl_example_key",
  FACELESS_BASE_URL: "https://videos.test",
  FACELESS_STATE_DIR: "",
};

/** Compares the built file to the minimal server. Each round but the first finds the code that was kept. */
export async function benchStart(node: string, sdkServer: string) {
  const home = makeFolder();
  const start = { command: [node], env: { ...SETTINGS, HOME: home } } as const;
  try {
    const [base = [], ours = []] = await inTurns(ROUNDS, [
      () => launch({ ...start, file: sdkServer }),
      () => launch(start),
    ]);
    return {
      ms: compare(base, ours, ({ ms }) => ms),
      megabytes: compare(base, ours, ({ megabytes }) => megabytes),
    };
  } finally {
    removeFolder(home);
  }
}

/** Ends the server once it has listed its tools. */
export async function launch(start: RawStart) {
  const startMs = performance.now();
  const server = startRaw(start);
  await server.open("legacy");
  await server.ask("tools/list");
  const ms = performance.now() - startMs;
  const megabytes = await residentMegabytes(server.child.pid ?? 0);
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
