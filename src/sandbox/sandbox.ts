// The embedded sandbox: the documented service on 127.0.0.1, to try the bridge with and to test it against.
// It is the other side of the wire and imports nothing of ours, so client and service can't share a mistake.

import { once } from "node:events";
import { createServer } from "node:http";
import { Account } from "./account.ts";
import { createApp, type Route, send } from "./app.ts";
import type { McpEndpoint } from "./mcp-endpoint.ts";
import { mediaRoute } from "./media.ts";
import { RateLimit } from "./rate-limit.ts";
import { restRoutes } from "./rest.ts";
import type { RenderEnd, WebhookOptions } from "./webhook-sender.ts";

export interface SandboxOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  readonly renderSeconds?: number;
  readonly credits?: number;
  readonly requestsPerMinute?: number;
  /** Epoch milliseconds. Jobs depend on this clock alone: only webhooks need timers. */
  readonly now?: () => number;
  readonly webhook?: WebhookOptions;
}

const API_KEY = "fl_sandbox";

/** Rejects with Node's error if the port is not available. */
export async function startSandbox(options: SandboxOptions = {}) {
  const { port = 0, renderSeconds = 20, credits = 25, requestsPerMinute = 120 } = options;
  const now = options.now ?? Date.now;
  const server = createServer();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  // The type also covers pipes, which have no port.
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : port}`;
  // The process may end while it runs.
  server.unref();
  server.on("connection", (socket) => socket.unref());

  const webhooks =
    options.webhook && new (await import("./webhook-sender.ts")).WebhookSender(options.webhook, now);
  const onStart = (end: RenderEnd) => void webhooks?.deliver(end);
  const account = new Account({ url, renderSeconds, credits, now, onStart });
  let mcp: Promise<McpEndpoint> | undefined;
  const mcpRoute: Route = {
    methods: ["POST", "GET", "DELETE"],
    path: /^\/api\/mcp$/,
    async handle(request) {
      mcp ??= import("./mcp-endpoint.ts").then(({ createMcpEndpoint }) => createMcpEndpoint(account));
      return (await mcp).answer(request);
    },
  };
  const routes = [...restRoutes(account, url), mcpRoute, mediaRoute(account)];
  const app = createApp(routes, API_KEY, new RateLimit(requestsPerMinute, now));

  server.on("request", (incoming, response) => {
    const disconnected = new AbortController();
    response.on("close", () => disconnected.abort());
    // Neither rejects.
    void app(incoming, disconnected.signal).then((reply) => send(response, reply));
  });

  return {
    /** http://127.0.0.1:PORT, without a trailing slash. */
    url,
    apiKey: API_KEY,
    /** Signs webhooks. Undefined without them. */
    webhookSecret: webhooks?.secret,
    /** Closes the server and all its connections at once. */
    async close() {
      webhooks?.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await (await mcp)?.close();
    },
  };
}
