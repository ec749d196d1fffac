// The sandbox service alone, for developers of other clients.

import type { Sandbox } from "../sandbox/sandbox.ts";

export interface SandboxCommand {
  readonly port: number;
  readonly renderSeconds: number;
  readonly print: (line: string) => void;
}

/** Starts the sandbox and prints its address. Rejects if the port is not available. */
export async function runSandbox({ port, renderSeconds, print }: SandboxCommand): Promise<Sandbox> {
  const { startSandbox } = await import("../sandbox/sandbox.ts");
  const sandbox = await startSandbox({ port, renderSeconds, keepAlive: true });
  print(`The sandbox service is at ${sandbox.url} and takes the key ${sandbox.apiKey}. Ctrl+C ends it.`);
  print(
    `Try: curl -s -H 'Authorization: Bearer ${sandbox.apiKey}' ${sandbox.url}/api/v1/generate -H 'Content-Type: application/json' -d '{"topic":"Why the sea is salty"}'`,
  );
  return sandbox;
}
