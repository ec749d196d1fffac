// `sandbox`: the sandbox service alone, for people who write other clients.

import { once } from "node:events";
import type { Given } from "../command-line.ts";
import { errnoOf } from "../errors.ts";
import { NO_FLAGS, readConfig } from "../config.ts";
import { startSandbox } from "../sandbox/sandbox.ts";
import type { Host } from "./host.ts";
import { TerminalUi } from "./terminal-ui.ts";

/** Serves until the process begins to end. Returns the exit code: 1 if the port is not available. */
export async function runSandbox({ port, webhook }: Given<"sandbox">, host: Host): Promise<number> {
  const [ui, failures] = [new TerminalUi(host), new TerminalUi({ ...host, output: host.errors })];
  const { sandboxSeconds: renderSeconds, warnings } = readConfig(host.env, NO_FLAGS, host.homeDir);
  for (const { variable, problem, fix } of warnings)
    failures.print(`faceless-video-mcp: ${variable} ${problem}. ${fix}.`);
  const onAttempt = (line: string) => ui.print(line);
  const hooks = webhook === undefined ? {} : { webhook: { url: webhook, onAttempt } };
  try {
    const { url, apiKey, webhookSecret, close } = await startSandbox({ port, renderSeconds, ...hooks });
    ui.print(`The sandbox service is at ${url} and takes the key ${apiKey}. Ctrl+C ends it.`);
    if (webhookSecret !== undefined)
      ui.print(
        `It delivers webhooks to ${webhook}, signed as in Standard Webhooks with the secret ${webhookSecret}`,
      );
    ui.printWhole(`Try: curl -s ${url}/api/v1/generate \\
  -H 'Authorization: Bearer ${apiKey}' \\
  -H 'Content-Type: application/json' \\
  -d '{"topic":"Rain salts the sea. [rain on rock]"}'`);
    if (!host.interrupted.aborted) await once(host.interrupted, "abort");
    await close();
    return 0;
  } catch (error) {
    const reason = errnoOf(error) ?? String(error);
    failures.print(`faceless-video-mcp: the sandbox can't listen on port ${port}: ${reason}`);
    return 1;
  }
}
