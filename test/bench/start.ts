// npm run bench: how fast this server starts, how much it holds, what a call through it costs, how large it is. Ratios against
// a bare Node process in the same, interleaved run, since the machine is never quiet. Every process has PATH and HOME alone.

import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const env = { PATH: process.env["PATH"], HOME: process.env["HOME"] };
export const BUILT_FILE = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

const ECHO = `process.stdin.on("data", (chunk) => {
  for (const line of chunk.toString().split("\\n")) {
    if (line.trim() === "") continue;
    const { id } = JSON.parse(line);
    if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: {} }) + "\\n");
  }
});`;

const OPENING = [
  {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
  },
  { jsonrpc: "2.0", method: "notifications/initialized" },
  { jsonrpc: "2.0", id: 2, method: "tools/list" },
]
  .map((message) => `${JSON.stringify(message)}\n`)
  .join("");

export interface Start {
  readonly ms: number;
  readonly rssBytes: number;
  readonly toolsBytes: number;
}

/** From spawning to the answer to tools/list. */
export function startOnce(args: readonly string[]): Promise<Start> {
  return new Promise((resolve, reject) => {
    const begin = process.hrtime.bigint();
    const child = spawn(process.execPath, args, { env, stdio: ["pipe", "pipe", "ignore"] });
    let text = "";
    child.on("error", reject);
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
      const answer = text.split("\n").find((line) => /"id":2\b/.test(line));
      if (answer === undefined || !text.endsWith("\n")) return;
      const ms = Number(process.hrtime.bigint() - begin) / 1e6;
      const rssBytes = rssOf(child.pid ?? 0);
      child.kill("SIGKILL");
      resolve({ ms, rssBytes, toolsBytes: Buffer.byteLength(answer) });
    });
    child.stdin.write(OPENING);
  });
}

function rssOf(pid: number): number {
  if (process.platform !== "linux")
    return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)])) * 1024;
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

export interface StartFigures {
  readonly bareMs: number;
  readonly serverMs: number;
  readonly bareRss: number;
  readonly serverRss: number;
  readonly toolsBytes: number;
}

export async function benchStart(runs: number): Promise<StartFigures> {
  const bare: Start[] = [];
  const server: Start[] = [];
  for (let run = 0; run < runs; run++) {
    bare.push(await startOnce(["-e", ECHO]));
    server.push(await startOnce([BUILT_FILE]));
  }
  return {
    bareMs: median(bare.map(({ ms }) => ms)),
    serverMs: median(server.map(({ ms }) => ms)),
    bareRss: median(bare.map(({ rssBytes }) => rssBytes)),
    serverRss: median(server.map(({ rssBytes }) => rssBytes)),
    toolsBytes: server[0]?.toolsBytes ?? Number.NaN,
  };
}
