// code-server, which serves VS Code's own workbench to a browser, on loopback.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Start } from "../processes.ts";

export interface CodeServer {
  readonly url: string;
  /** As Ctrl+C does. Resolves when it has ended. */
  stop(): Promise<void>;
}

/** Resolves when it listens, on a free port. */
export async function startCodeServer(
  { command, args, cwd, env }: Start,
  signal: AbortSignal,
): Promise<CodeServer> {
  const address = ["--auth", "none", "--bind-addr", "127.0.0.1:0"];
  const child = spawn(command, [...address, ...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  signal.addEventListener("abort", () => child.kill("SIGKILL"));
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      output += `${line}\n`;
      const [, found] = /HTTP server listening on (http:\S+)/.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once("error", reject);
    void ended.then(() => reject(new Error(`code-server did not start: ${output}`)));
  });
  return {
    url,
    async stop() {
      child.kill("SIGTERM");
      await ended;
      // What it leaves running may hold its output open.
      child.stdout.destroy();
      child.stderr.destroy();
    },
  };
}
