// The sandbox service alone, for developers of other clients.

import type { Sandbox } from "../sandbox/sandbox.ts";

/** Starts the sandbox and prints its address. Rejects if the port is not available. */
export async function runSandbox(
  port: number,
  renderSeconds: number,
  webhookUrl: string | undefined,
  print: (line: string) => void,
): Promise<Sandbox> {
  const { startSandbox } = await import("../sandbox/sandbox.ts");
  const sandbox = await startSandbox({
    port,
    renderSeconds,
    keepAlive: true,
    ...(webhookUrl !== undefined && { webhook: { url: webhookUrl, onAttempt: print } }),
  });
  print(`The sandbox service is at ${sandbox.url} and takes the key ${sandbox.apiKey}. Ctrl+C ends it.`);
  if (sandbox.webhookSecret !== undefined)
    print(
      `It delivers webhooks to ${webhookUrl}, signed as in Standard Webhooks with the secret ${sandbox.webhookSecret}`,
    );
  print(
    `Try: curl -s -H 'Authorization: Bearer ${sandbox.apiKey}' ${sandbox.url}/api/v1/generate -H 'Content-Type: application/json' -d '{"topic":"Why the sea is salty"}'`,
  );
  return sandbox;
}
