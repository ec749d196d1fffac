// The embedded sandbox: the documented service on 127.0.0.1, for trying the bridge and for its tests.
// It is the other side of the wire and imports nothing of ours, so that client and service can't agree on a mistake.
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createAllowance } from "./allowance.ts";
import { createApp } from "./app.ts";
import type { McpEndpoint } from "./mcp-endpoint.ts";
import { createMedia } from "./media.ts";
import { errorReply, send } from "./reply.ts";
import { restRoutes } from "./rest.ts";
import type { Handler } from "./routes.ts";
import { createStudio } from "./studio.ts";
import type { Post } from "./studio.ts";

export interface SandboxOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  readonly renderSeconds?: number;
  readonly credits?: number;
  readonly requestsPerMinute?: number;
  /** Epoch milliseconds. The sandbox sets no timers: this clock alone moves its jobs. */
  readonly now?: () => number;
  /** Whether the open port keeps the program running. */
  readonly keepAlive?: boolean;
}

interface RequestRecord {
  readonly method: string;
  /** With the query, as it was sent. */
  readonly path: string;
  readonly status: number;
}

export interface Sandbox {
  /** http://127.0.0.1:PORT, without a trailing slash. */
  readonly url: string;
  readonly apiKey: string;
  /** The latest requests, oldest first. */
  requests(): readonly RequestRecord[];
  /** Every post that was made. */
  posts(): readonly Post[];
  /** Ends the server and every connection to it at once. */
  close(): Promise<void>;
}

const mostRecords = 1000;

/** Rejects with node's error where the port can't be had. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { port = 0, renderSeconds = 20, credits = 25, requestsPerMinute = 120, keepAlive = false } = options;
  const now = options.now ?? Date.now;
  const server = createServer();
  const url = `http://127.0.0.1:${await listen(server, port)}`;
  if (!keepAlive) {
    server.unref();
    server.on("connection", (socket) => socket.unref());
  }

  const studio = createStudio({ url, renderSeconds, credits, now });
  const media = createMedia(studio);
  const serveMedia: Handler = ({ incoming, url: { pathname } }) => media(incoming, pathname);
  let mcp: Promise<McpEndpoint> | undefined;
  const serveMcp: Handler = async (request) => {
    mcp ??= import("./mcp-endpoint.ts").then(({ createMcpEndpoint }) => createMcpEndpoint(studio));
    return (await mcp).answer(request);
  };
  const app = createApp(
    [
      ...restRoutes(studio, url),
      { path: /^\/api\/mcp$/, methods: { POST: serveMcp, GET: serveMcp, DELETE: serveMcp } },
      { path: /^\/media\//, methods: { GET: serveMedia, HEAD: serveMedia } },
    ],
    createAllowance(requestsPerMinute, now),
  );

  const records: RequestRecord[] = [];
  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const reply = await app(incoming, gone.signal);
    records.push({ method: incoming.method ?? "", path: incoming.url ?? "", status: reply.status });
    if (records.length > mostRecords) records.shift();
    await send(response, reply);
  }
  server.on("request", (incoming, response) => {
    handle(incoming, response).catch((error: unknown) => {
      if (!response.headersSent) void send(response, errorReply(error));
    });
  });

  return {
    url,
    apiKey: "fl_sandbox",
    requests: () => [...records],
    posts: () => studio.posts(),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await (await mcp)?.close();
    },
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      const address = server.address();
      // (The type also covers pipes, which have no port.)
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}
