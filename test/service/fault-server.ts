// A TCP server that breaks off at a chosen point of the exchange, and counts what it saw before.

import { createServer, type Socket } from "node:net";
import { type SecureContext, TLSSocket } from "node:tls";
import { onTestFinished } from "vitest";

/** What to do with a connection as it is accepted, and with a request once it is there whole. */
export interface Fault {
  /** With this the server speaks TLS. */
  readonly secureContext?: SecureContext;
  /** `hold`: whatever else comes over this connection is read by nobody. */
  readonly accepted?: (socket: Socket, connection: number) => unknown;
  readonly requested?: (socket: Socket, request: number, text: string) => void;
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
export async function faultServer(fault: Fault): Promise<FaultServer> {
  const server = await startFaultServer(fault);
  onTestFinished(() => server.close());
  return server;
}

/** To be closed by the caller. */
export async function startFaultServer(
  fault: Fault,
): Promise<FaultServer & { readonly close: () => Promise<void> }> {
  const { secureContext, accepted, requested } = fault;
  const received: string[] = [];
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer({ allowHalfOpen: true }, (plain) => {
    count++;
    sockets.add(plain);
    plain.on("close", () => sockets.delete(plain)).on("error", () => {});
    plain.on("end", () => plain.end());
    if (accepted?.(plain, count) === "hold") {
      plain.resume();
      return;
    }
    const socket = secureContext === undefined ? plain : secured(plain, secureContext);
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      const whole = wholeRequest(text);
      if (whole === undefined) return;
      received.push(whole);
      text = text.slice(whole.length);
      requested?.(socket, received.length, whole);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The fault server has no port.");
  return {
    port: address.port,
    url: `${secureContext === undefined ? "http" : "https"}://127.0.0.1:${address.port}`,
    received,
    accepted: () => count,
    open: () => sockets.size,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function secured(plain: Socket, secureContext: SecureContext): Socket {
  const socket = new TLSSocket(plain, { isServer: true, secureContext });
  socket.on("error", () => {}).on("end", () => socket.end());
  // A reset is one of the connection below.
  socket.resetAndDestroy = () => (plain.resetAndDestroy(), socket);
  return socket;
}

function wholeRequest(text: string): string | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const length = Number(/^content-length: *(\d+)/im.exec(text.slice(0, end))?.[1] ?? 0);
  return text.length < end + 4 + length ? undefined : text.slice(0, end + 4 + length);
}
