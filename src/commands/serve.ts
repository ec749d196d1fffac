// The MCP server on stdio: makes the state that outlives connections and serves it.

import type { Readable, Writable } from "node:stream";
import { createJobStore } from "../jobs/store.ts";
import { createLog } from "../log.ts";
import { deferService, unconfiguredService } from "../service/deferred.ts";
import type { Service } from "../service/client.ts";
import type { Settings } from "../settings.ts";
import { createRedact } from "../text.ts";
import { createGenerationLimit } from "../tools/generation-limit.ts";
import { VERSION } from "../version.ts";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createServer } from "../mcp/server.ts";
import { createStdioTransport } from "../mcp/stdio.ts";

export interface Streams {
  readonly input: Readable;
  readonly output: Writable;
  /** Whole lines for the log. */
  readonly writeLog: (line: string) => void;
}

/** Serves until the client leaves, then calls `onClosed`. The returned function ends every connection at once. */
export function serve(
  settings: Settings,
  { input, output, writeLog }: Streams,
  onClosed: () => void,
): () => void {
  const redact = createRedact(settings.service?.apiKey);
  const log = createLog(settings.logLevel, redact, writeLog);
  const service = serviceOf(settings);
  const application = {
    version: VERSION,
    settings,
    service,
    jobs: createJobStore(),
    generationLimit: createGenerationLimit(settings.maxGenerations),
    log,
  };
  for (const { variable, problem, remedy } of settings.problems)
    log.warn(`${variable} ${problem}. ${remedy}.`);
  const transport = createStdioTransport({ input, output, outgoing: redact });
  serveStdio(() => createServer(application), {
    transport,
    onerror: (error) => log.debug(`stdio: ${error.message}`),
  });
  const closed = transport.onclose;
  // eslint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's Transport has no other way
  transport.onclose = () => {
    closed?.();
    onClosed();
  };
  return () => service.close();
}

function serviceOf(settings: Settings): Service {
  const { service, problems, sandbox } = settings;
  if (problems.length > 0) return unconfiguredService(problems);
  if (sandbox) return deferService(() => startSandboxService(settings));
  if (service === undefined) throw new TypeError("Settings without a problem name a service.");
  return deferService(async () => {
    const { createService } = await import("../service/client.ts");
    return createService({ settings: service, version: VERSION, now: Date.now, random: Math.random });
  });
}

async function startSandboxService({ sandboxSeconds }: Settings): Promise<Service> {
  const [{ startSandbox }, { createService }] = await Promise.all([
    import("../sandbox/sandbox.ts"),
    import("../service/client.ts"),
  ]);
  const sandbox = await startSandbox({ renderSeconds: sandboxSeconds });
  const service = createService({
    settings: { apiKey: sandbox.apiKey, baseUrl: new URL(sandbox.url), proxies: {} },
    version: VERSION,
    now: Date.now,
    random: Math.random,
  });
  return {
    ...service,
    close() {
      service.close();
      void sandbox.close();
    },
  };
}
