// The MCP server on stdio. It answers what a client asks first by itself. All else waits for what answers
// calls, which loads once the tools are listed, or with the first message that needs it.

import type { McpServer, ProtocolEra } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Readable, Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Clock, systemClock } from "../clock.ts";
import type { Config } from "../config.ts";
import { openLog } from "../log.ts";
import { ConnectedClient } from "../mcp/connected-client.ts";
import { createServer } from "../mcp/server.ts";
import { type Hook, StdioTransport } from "../mcp/transport.ts";
import type { Calls } from "./serve-calls.ts";

/** The streams of the process, and a callback into it. */
export interface Streams {
  readonly input: Readable;
  readonly output: Writable;
  /** Whole lines for the log. */
  readonly writeLog: (line: string) => void;
  /** Called when the client has its list of tools, and calls can be answered. */
  readonly onListed?: () => void;
}

export type Server = ReturnType<typeof serve>;

/** Serves until the client leaves, then calls `onClosed`. */
export function serve(
  config: Config,
  { input, output, writeLog, onListed }: Streams,
  onClosed: () => void,
  clock: Clock = systemClock,
) {
  const { log, redact } = openLog(config, writeLog);
  for (const { variable, problem, fix } of config.problems) log.warn(`${variable} ${problem}. ${fix}.`);
  const client = new ConnectedClient();
  const servers: [McpServer, ProtocolEra][] = [];
  let calls: Calls | undefined;
  let opening: Promise<Calls> | undefined;
  const openCalls = () =>
    (opening ??= import("./serve-calls.ts").then(({ serveCalls }) => {
      calls = serveCalls({ config, clock, log, redact, writeLog, client });
      for (const [server, era] of servers) calls.attach(server, era);
      return calls;
    }));
  const hooks: Readonly<Record<string, Hook>> = {
    ...client.hooks,
    "tools/list": {
      // The answer is written first.
      answered: () => setImmediate(() => void openCalls().then(() => onListed?.())),
    },
  };
  const transport = new StdioTransport({
    input,
    output,
    redact,
    ready: async () => (await openCalls()).ready(),
    hookOf: (method) => hooks[method] ?? calls?.hooks[method],
  });
  const connect = (era: ProtocolEra) => {
    const server = createServer(config, era, client);
    servers.push([server, era]);
    calls?.attach(server, era);
    return server;
  };
  serveStdio(({ era }) => connect(era), {
    transport,
    onerror: (error) => log.debug(`stdio: ${error.message}`),
  });
  const closed = transport.onclose;
  // eslint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's Transport has no other way
  transport.onclose = () => {
    closed?.();
    onClosed();
  };
  return {
    /**
     * Stops polling and accepting requests. Resolves when no paid or public one is in flight any more, or
     * after `patienceMs`.
     */
    async end(patienceMs: number): Promise<void> {
      transport.stopReceiving();
      // If the modules could not be loaded, nothing was sent.
      const opened = await opening?.catch(() => undefined);
      await opened?.end(patienceMs);
      // The service's last answers still go to the client, which may still read.
      await nextTurn();
      await transport.close();
      opened?.disconnect();
    },
  };
}
