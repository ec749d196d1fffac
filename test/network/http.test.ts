import dns from "node:dns";
import type { Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { Http, type HttpRequest } from "../../src/service/http.ts";
import { TransportFailure } from "../../src/service/transport-failure.ts";
import { CERTIFICATE, trustCertificate } from "./faults/tools-under-test.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";
import { until } from "../fixtures/until.ts";
import { faultServer } from "../fixtures/fault-server.ts";

function http(origin: string): Http {
  const made = new Http(origin, {});
  onTestFinished(() => made.destroy());
  return made;
}

function request(method: "GET" | "POST", url: string, extra: Partial<HttpRequest> = {}): HttpRequest {
  return {
    method,
    url: new URL("/path", url),
    headers: {},
    ...(method === "POST" && { body: "{}" }),
    deadlineMs: 10_000,
    ...extra,
  };
}

/** The failure of a request. */
async function failing(sending: Promise<unknown>) {
  const error = await sending.then(
    () => "nothing",
    (reason: unknown) => reason,
  );
  if (!(error instanceof TransportFailure)) throw new Error(`It failed with ${String(error)}`);
  const { kind, sent, status, reason } = error.facts;
  return { kind, sent, reason, ...(status !== undefined && { status }) };
}

const ANSWER = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
const LIMIT = 4 * 1024 * 1024;

let distrust = () => {};
beforeAll(() => {
  distrust = trustCertificate();
});
afterAll(() => distrust());

test("reads answers of 4 MB of UTF-8, one after another on one connection", async () => {
  // Some of its characters are split between two chunks.
  const body = "€".repeat(LIMIT / 3);
  const rest = await scriptedService({ "GET /path": { body } });
  const client = http(rest.url);

  for (let answer = 0; answer < 3; answer++) {
    expect((await client.send(request("GET", rest.url))).text === body).toBe(true);
    // undici returns the connection to its pool a moment after the answer.
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(rest.connections()).toBe(1);
});

test("sends a paid request on a connection of its own, as a kept one may be dead", async () => {
  const served = new Set<Socket>();
  const server = await faultServer({
    requested(socket) {
      if (served.has(socket)) return socket.resetAndDestroy();
      served.add(socket);
      return socket.write(ANSWER);
    },
  });
  const client = http(server.url);
  await client.send(request("GET", server.url));
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));

  const paid = await client.send(request("POST", server.url, { mayBegin: () => true }));

  expect(paid.text).toBe("{}");
});

test("refuses a request to another origin before any connection", async () => {
  const [ours, other] = [await scriptedService(), await scriptedService()];

  await expect(http(ours.url).send(request("GET", other.url))).rejects.toThrow(
    "A request must stay at the service's origin.",
  );
  expect(other.connections()).toBe(0);
});

test("never sends a POST that was cancelled while it was connecting", async () => {
  const server = await faultServer({ requested: (socket) => void socket.write(ANSWER) });
  const { port } = new URL(server.url);
  const url = `http://service.localhost:${port}`;
  const client = http(url);
  const cancel = new AbortController();
  const lookups: (() => void)[] = [];
  const lookup = vi.spyOn(dns, "lookup").mockImplementation((...args: unknown[]) => {
    const callback = args.at(-1);
    if (typeof callback === "function")
      lookups.push(() => callback(null, [{ address: "127.0.0.1", family: 4 }]));
  });
  onTestFinished(() => lookup.mockRestore());
  const post = failing(client.send(request("POST", url, { signal: cancel.signal, mayBegin: () => true })));
  await until(() => lookups.length === 1);

  cancel.abort();
  const get = client.send(request("GET", url));
  await until(() => lookups.length === 2);
  for (const answer of lookups) answer();

  expect(await post).toEqual({ kind: "cancelled", sent: false, reason: "cancelled by the caller" });
  expect((await get).text).toBe("{}");
  await until(() => server.accepted() === 2);
  expect(server.received.map((text) => text.slice(0, 4))).toEqual(["GET "]);
});

test("hanging TLS handshakes don't delay other requests", async () => {
  const server = await faultServer({
    secureContext: createSecureContext(CERTIFICATE),
    accepted: (_, connection) => (connection <= 40 ? "ignore" : undefined),
    requested: (socket) => void socket.write(ANSWER),
  });
  const client = http(server.url);
  const hanging = Array.from({ length: 40 }, () => failing(client.send(request("GET", server.url))));
  await until(() => server.accepted() === 40);

  expect((await client.send(request("GET", server.url))).text).toBe("{}");

  client.destroy();
  expect(await Promise.all(hanging)).toEqual(
    hanging.map(() => ({ kind: "network", sent: false, reason: "this server is shutting down" })),
  );
});
