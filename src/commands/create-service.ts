// Makes the client of the service that the settings name, or of a sandbox in this process.

import type { Clock } from "../clock.ts";
import type { Config, ServiceConfig } from "../config.ts";
import { notConfiguredError, type Service, ServiceClient } from "../service/client.ts";
import { VERSION } from "../version.ts";

type WebhookPort = () => Promise<number | undefined>;

/** `webhookPort`: where this process takes the sandbox's webhooks. */
export function createService(
  config: Config,
  clock: Clock,
  webhookPort: WebhookPort = async () => undefined,
): Service {
  return new ServiceClient({
    async connect() {
      if (config.problems.length > 0) throw notConfiguredError(config.problems);
      return config.service ?? startSandboxService(config, webhookPort);
    },
    version: VERSION,
    clock,
    random: Math.random,
  });
}

/** It runs until the process ends. */
async function startSandboxService(
  { sandboxSeconds }: Config,
  webhookPort: WebhookPort,
): Promise<ServiceConfig> {
  const { startSandbox } = await import("../sandbox/sandbox.ts");
  const port = await webhookPort();
  const { apiKey, url } = await startSandbox({
    renderSeconds: sandboxSeconds,
    ...(port !== undefined && { webhook: { url: `http://127.0.0.1:${port}/` } }),
  });
  return { apiKey, baseUrl: new URL(url), proxies: {}, isSandbox: true };
}
