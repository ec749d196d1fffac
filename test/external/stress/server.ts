// A server process with a client, without a test runner around it.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { BUILT_FILE } from "../../fixtures/clients.ts";

/** Ends a call that hangs; far above what one needs on a busy machine. */
const HANG_MS = 60_000;

export type Server = ReturnType<typeof createServer>;

/** `before`: a launcher or Node arguments, put before the built file. The process starts with `connect`. */
export function createServer(before: readonly string[], env: Readonly<Record<string, string>>) {
  const [command, ...args] = [...before, BUILT_FILE];
  const transport = new StdioClientTransport({
    command,
    args,
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stderr: "ignore",
  });
  const client = new Client({ name: "stress", version: "1" });
  return {
    connect: () => client.connect(transport, { timeout: HANG_MS }),
    async call(name: string, args: Readonly<Record<string, unknown>>, signal?: AbortSignal) {
      const options = { timeout: HANG_MS, ...(signal !== undefined && { signal }) };
      const called = client.callTool({ name, arguments: { ...args } }, undefined, options);
      return CallToolResultSchema.parse(await called);
    },
    close: () => client.close(),
    kill(): void {
      try {
        if (transport.pid !== null) process.kill(transport.pid, "SIGKILL");
      } catch {
        // It has ended already.
      }
    },
  };
}
