// Receives the service's webhooks on a loopback port, as hints that a job may have news. Signatures are not
// documented, so anybody may send one: nothing in it is believed, logged or kept, and the job is read again.

import { once } from "node:events";
import { createServer } from "node:http";
import { jobIdsIn } from "./job.ts";

export type WebhookReceiver = Awaited<ReturnType<typeof receiveWebhooks>>;

const MAX_BYTES = 16 * 1024;
const MAX_CONNECTIONS = 50;

/**
 * Opens a port on 127.0.0.1, or any free one for 0. `onHint` is called with each jobId that a delivery names.
 * Rejects with Node's error if the port is not available.
 */
export async function receiveWebhooks(options: { port: number; onHint: (jobId: string) => void }) {
  const { port, onHint } = options;
  const server = createServer((request, response) => {
    response.setHeader("Connection", "close");
    let body = Buffer.alloc(0);
    request.on("data", (chunk: Buffer) => {
      if (body.length <= MAX_BYTES) body = Buffer.concat([body, chunk]);
    });
    request.on("end", () => {
      // Accepted whatever it says: the service would only send a refused one again.
      response.writeHead(202).end();
      if (body.length <= MAX_BYTES) for (const jobId of jobIdsIn(body.toString())) onHint(jobId);
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
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
