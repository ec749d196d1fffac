// A TCP server that breaks off at a chosen point of the exchange, and counts what it saw before.

import { createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** What to do with a connection as it is accepted, and with a request once it is there whole. */
export interface Fault {
  readonly accepted?: (socket: Socket, connection: number) => void;
  readonly requested?: (socket: Socket, request: number) => void;
}

export interface FaultServer {
  readonly port: number;
  readonly url: string;
  /** Request lines, each with the headers and body behind it, as they arrived whole. */
  readonly received: readonly string[];
  /** How many connections were accepted. */
  accepted(): number;
  /** How many are open. */
  open(): number;
}

/** Closed when the test is over. */
export async function faultServer({ accepted, requested }: Fault): Promise<FaultServer> {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    count++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => {});
    socket.on("end", () => socket.end());
    accepted?.(socket, count);
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      const whole = wholeRequest(text);
      if (whole === undefined) return;
      received.push(whole);
      text = text.slice(whole.length);
      requested?.(socket, received.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  );
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The fault server has no port.");
  return {
    port: address.port,
    url: `http://127.0.0.1:${address.port}`,
    received,
    accepted: () => count,
    open: () => sockets.size,
  };
}

function wholeRequest(text: string): string | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const length = Number(/^content-length: *(\d+)/im.exec(text.slice(0, end))?.[1] ?? 0);
  return text.length < end + 4 + length ? undefined : text.slice(0, end + 4 + length);
}
