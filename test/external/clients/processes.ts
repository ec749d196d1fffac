// Programs that are started with a time limit, and what they leave behind. Linux only: it reads /proc.

import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

export interface Start {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Runs a program to its end and returns its output; after `limitMs` it is stopped. */
export function runToEnd({ command, args, cwd, env }: Start, limitMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    let output = "";
    const collect = (chunk: Buffer) => (output += chunk.toString("utf8"));
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    const timer = setTimeout(() => process.kill(-Number(child.pid), "SIGKILL"), limitMs);
    child.on("error", reject);
    // Not "close": what it leaves running may hold its output open.
    child.on("exit", () => {
      clearTimeout(timer);
      child.stdout.destroy();
      child.stderr.destroy();
      resolve(output);
    });
  });
}

export interface LeftProcess {
  readonly pid: number;
  readonly command: string;
}

/** VS Code takes four seconds on a busy machine. */
const LEAVING_MS = 10_000;

/** The processes with this HOME that are still there some time after their client has ended. */
export async function leftProcesses(home: string): Promise<LeftProcess[]> {
  const deadline = performance.now() + LEAVING_MS;
  let left = await processesOf(home);
  while (left.length > 0 && performance.now() < deadline) {
    // eslint-disable-next-line no-await-in-loop -- looks again until they are gone
    await pause(100);
    // eslint-disable-next-line no-await-in-loop
    left = await processesOf(home);
  }
  return left;
}

export function stop(left: readonly LeftProcess[]): void {
  for (const { pid } of left)
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
}

async function processesOf(home: string): Promise<LeftProcess[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const found = await Promise.all(
    pids.map(async (pid) => {
      // A process may end meanwhile.
      const [environment, command, status] = await Promise.all(
        ["environ", "cmdline", "stat"].map((file) =>
          readFile(`/proc/${pid}/${file}`, "utf8").catch(() => ""),
        ),
      );
      const isZombie = /\) Z /.test(status ?? "");
      const ours = environment?.split("\0").includes(`HOME=${home}`) === true && !isZombie;
      return ours ? [{ pid: Number(pid), command: command?.replaceAll("\0", " ").trim() ?? "" }] : [];
    }),
  );
  return found.flat();
}
