// The MCP server on stdio: makes the state that outlives connections and serves it.

import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Readable, Writable } from "node:stream";
import { systemClock } from "../jobs/clock.ts";
import { createJobReader } from "../jobs/job-reader.ts";
import { createSchedule } from "../jobs/schedule.ts";
import { createJobStore } from "../jobs/store.ts";
import { waitForEnd } from "../jobs/wait.ts";
import { createWatcher } from "../jobs/watcher.ts";
import { createLog, type Log } from "../log.ts";
import type { Application } from "../mcp/application.ts";
import { createServer } from "../mcp/server.ts";
import { createStdioTransport } from "../mcp/stdio.ts";
import { createSubscriptions } from "../mcp/subscriptions.ts";
import type { Service } from "../service/client.ts";
import { deferService, unconfiguredService } from "../service/deferred.ts";
import type { ServiceSettings, Settings } from "../settings.ts";
import { createRedact } from "../text.ts";
import { createGenerationLimit } from "../tools/generation-limit.ts";
import { VERSION } from "../version.ts";

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
  const application = createApplication(settings, service, log);
  for (const { variable, problem, remedy } of settings.problems)
    log.warn(`${variable} ${problem}. ${remedy}.`);
  const subscriptions = createSubscriptions(application);
  const { onInbound, onOutbound } = subscriptions;
  const transport = createStdioTransport({ input, output, outgoing: redact, onInbound, onOutbound });
  serveStdio(() => createServer(application, subscriptions), {
    transport,
    onerror: (error) => log.debug(`stdio: ${error.message}`),
  });
  const closed = transport.onclose;
  // eslint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's Transport has no other way
  transport.onclose = () => {
    closed?.();
    subscriptions.close();
    onClosed();
  };
  return () => {
    subscriptions.close();
    application.watcher.close();
    service.close();
  };
}

function createApplication(settings: Settings, service: Service, log: Log): Application {
  const clock = systemClock;
  const jobs = createJobStore(clock.now);
  const reader = createJobReader({ source: service, store: jobs, now: clock.now });
  const schedule = createSchedule({
    ...(settings.pollSeconds !== undefined && { fixedMs: settings.pollSeconds * 1000 }),
    random: Math.random,
  });
  const watcher = createWatcher({ source: service, reader, store: jobs, schedule, clock, log });
  return {
    version: VERSION,
    settings,
    service,
    jobs,
    reader,
    watcher,
    waitForEnd: (wait) => waitForEnd({ watcher, store: jobs, clock }, wait),
    generationLimit: createGenerationLimit(settings.maxGenerations),
    log,
  };
}

function serviceOf(settings: Settings): Service {
  const { service, problems, sandbox } = settings;
  if (problems.length > 0) return unconfiguredService(problems);
  if (sandbox) return deferService(() => startSandboxService(settings));
  if (service === undefined) throw new TypeError("Settings without a problem name a service.");
  return deferService(() => connectService(service, settings));
}

async function connectService(service: ServiceSettings, { pollSeconds }: Settings): Promise<Service> {
  const { createService } = await import("../service/client.ts");
  return createService({
    settings: service,
    version: VERSION,
    now: Date.now,
    random: Math.random,
    // Whoever sets the interval has it, unless the service itself names a limit.
    ...(pollSeconds !== undefined && { unknownPolls: Infinity }),
  });
}

async function startSandboxService(settings: Settings): Promise<Service> {
  const { startSandbox } = await import("../sandbox/sandbox.ts");
  const sandbox = await startSandbox({ renderSeconds: settings.sandboxSeconds });
  const { apiKey, url } = sandbox;
  const service = await connectService({ apiKey, baseUrl: new URL(url), proxies: {} }, settings);
  return {
    ...service,
    close() {
      service.close();
      void sandbox.close();
    },
  };
}
