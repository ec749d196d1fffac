// A small HTTP proxy on loopback that tunnels, or fails as a test wants. The scripted service is behind it.

import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { onTestFinished } from "vitest";
import { closeWith, listen } from "../fixtures/free-port.ts";

/** `tunnelTo`: tunnels to that loopback port instead. A number: refuses each CONNECT with that status. */
export type ProxyBehaviour = "tunnel" | { readonly tunnelTo: number } | "drop" | "reset" | "stall" | number;

/** Closed when the test is over. */
export async function proxyServer(behaviour: ProxyBehaviour) {
  const proxy = await startProxyServer(() => behaviour);
  onTestFinished(() => proxy.close());
  return proxy;
}

/** Calls `next` for each CONNECT. The caller closes it. */
export async function startProxyServer(next: () => ProxyBehaviour) {
  const asked: { readonly target: string; readonly authorization: string | undefined }[] = [];
  const sockets = new Set<Socket>();
  let received = "";
  const server = createServer((_, response) => response.writeHead(400).end());
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => {});
  });
  server.on("connect", ({ url = "", headers, rawHeaders }, socket, head) => {
    asked.push({ target: url, authorization: headers["proxy-authorization"] });
    received += `${url}\n${rawHeaders.join("\n")}\n${head.toString("latin1")}`;
    const behaviour = next();
    if (behaviour === "tunnel") tunnel(url, socket);
    else if (typeof behaviour === "object") tunnel(`127.0.0.1:${behaviour.tunnelTo}`, socket);
    else decline(behaviour, socket);
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    /** Each CONNECT with its target and its Proxy-Authorization. */
    asked,
    /** Every byte that was received outside of a tunnel. */
    received: () => received,
    connections: () => sockets.size,
    close: () => closeWith(server, sockets),
  };
}

function tunnel(authority: string, socket: Duplex): void {
  const [host = "", port] = authority.split(":");
  let stands = false;
  const target = connect(Number(port), host, () => {
    stands = true;
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    socket.pipe(target).pipe(socket);
  });
  target.on("error", () => (stands ? socket.destroy() : decline(502, socket)));
  socket.on("error", () => target.destroy()).on("close", () => target.destroy());
}

function decline(behaviour: Exclude<ProxyBehaviour, "tunnel" | object>, socket: Duplex): void {
  // Reading on shows when the other side closes.
  if (behaviour === "stall") socket.on("end", () => socket.end()).resume();
  else if (behaviour === "drop") socket.end();
  else if (behaviour === "reset") socket.destroy();
  else socket.end(`HTTP/1.1 ${behaviour} No\r\n\r\n`);
}
