// Receives the service's webhooks on a loopback port, as hints that a job may have news. Signatures are not
// documented, so anybody may send one: nothing in it is believed, logged or kept, and the job is read anew.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { z } from "zod";
import { jobIdFrom } from "../job.ts";

export type WebhookReceiver = Awaited<ReturnType<typeof receiveWebhooks>>;

const MAX_BYTES = 16 * 1024;
const MAX_CONNECTIONS = 50;
/** A connection has this long from its first byte to its last. */
const DEADLINE_MS = 5_000;

const deliverySchema = z.looseObject({ jobId: z.string().transform(jobIdFrom) });

/**
 * Opens a port on 127.0.0.1, or any free one for 0. `onHint` is called with the jobId that a delivery names,
 * which may be any text. Rejects with Node's error if the port is not available.
 */
export async function receiveWebhooks(options: { port: number; onHint: (jobId: string) => void }) {
  const { port, onHint } = options;
  const server = createServer((request, response) => {
    // One delivery per connection: a second one would have only what is left of the time.
    response.setHeader("Connection", "close");
    if (request.method === "POST") takeDelivery(request, response, onHint);
    else response.writeHead(405, { Allow: "POST" }).end();
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on("connection", endInTime);
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  // A connection that could not be accepted is the sender's to repeat.
  server.on("error", () => {});
  server.unref();
  const address = server.address();
  return {
    // The type also covers pipes, which have no port.
    port: typeof address === "object" && address !== null ? address.port : port,
    /** Closes the port and all its connections at once. */
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function takeDelivery(
  request: IncomingMessage,
  response: ServerResponse,
  onHint: (jobId: string) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MAX_BYTES) chunks.push(chunk);
  });
  request.on("end", () => {
    // Accepted whatever it says: the service would only send a refused one again.
    response.writeHead(202).end();
    const jobId = bytes <= MAX_BYTES ? readJobId(Buffer.concat(chunks)) : undefined;
    if (jobId !== undefined) onHint(jobId);
  });
  // The sender disconnected, or was cut off.
  request.on("error", () => {});
}

/** Cuts off senders that are slow, silent or never end. */
function endInTime(socket: Socket): void {
  socket.unref();
  const timer = setTimeout(() => socket.destroy(), DEADLINE_MS).unref();
  socket.on("close", () => clearTimeout(timer));
}

function readJobId(body: Buffer): string | undefined {
  try {
    return deliverySchema.safeParse(JSON.parse(body.toString("utf8"))).data?.jobId;
  } catch {
    return undefined;
  }
}
