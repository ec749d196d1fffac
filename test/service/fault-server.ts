// A TCP server that fails at a chosen point of the exchange and records complete requests. The scripted one,
// on Node's HTTP server, can't break off a TLS handshake, answer with garbage, or see half a request.

import { createServer, type Socket } from "node:net";
import { type SecureContext, TLSSocket } from "node:tls";
import { onTestFinished } from "vitest";
import { closeWith, listen } from "../fixtures/free-port.ts";

/** What to do with a new connection and with a complete request. */
export interface Fault {
  /** Makes it a TLS server. */
  readonly secureContext?: SecureContext;
  /** Returns `ignore` if nothing else on this connection is to be answered. */
  readonly accepted?: (socket: Socket, connection: number) => unknown;
  readonly requested?: (socket: Socket, request: number, text: string) => void;
}

/** Closed when the test is over. */
export async function faultServer(fault: Fault) {
  const server = await startFaultServer(fault);
  onTestFinished(() => server.close());
  return server;
}

/** The caller closes it. */
export async function startFaultServer({ secureContext, accepted, requested }: Fault) {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer({ allowHalfOpen: true }, (plain) => {
    count++;
    sockets.add(plain);
    plain.on("close", () => sockets.delete(plain)).on("error", () => {});
    plain.on("end", () => plain.end());
    if (accepted?.(plain, count) === "ignore") {
      plain.resume();
      return;
    }
    const socket = secureContext === undefined ? plain : secured(plain, secureContext);
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      const complete = completeRequest(text);
      if (complete === undefined) return;
      received.push(complete);
      text = text.slice(complete.length);
      requested?.(socket, received.length, complete);
    });
  });
  const port = await listen(server);
  return {
    url: `${secureContext === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    /** The complete requests: request line, headers and body. */
    received,
    /** How many connections were accepted. */
    accepted: () => count,
    /** How many are open. */
    open: () => sockets.size,
    close: () => closeWith(server, sockets),
  };
}

function secured(plain: Socket, secureContext: SecureContext): Socket {
  const socket = new TLSSocket(plain, { isServer: true, secureContext });
  socket.on("error", () => {}).on("end", () => socket.end());
  // The reset is sent on the TCP connection.
  socket.resetAndDestroy = () => (plain.resetAndDestroy(), socket);
  return socket;
}

function completeRequest(text: string): string | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const length = Number(/^content-length: *(\d+)/im.exec(text.slice(0, end))?.[1] ?? 0);
  return text.length < end + 4 + length ? undefined : text.slice(0, end + 4 + length);
}
