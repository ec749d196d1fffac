import type { Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Http, type HttpRequest } from "../../src/service/http.ts";
import { CERTIFICATE, trustCertificate } from "../faults/tools-under-test.ts";
import { until } from "../fixtures/until.ts";
import { faultServer } from "./fault-server.ts";

const ANSWER = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
/** The maximum that the pool opens. */
const CONNECTIONS = 32;

const TRUSTED = createSecureContext(CERTIFICATE);
let distrust = () => {};
beforeAll(() => {
  distrust = trustCertificate();
});
afterAll(() => distrust());

function http(origin: string): Http {
  const made = new Http(origin, {});
  onTestFinished(() => made.destroy());
  return made;
}

function get(url: string, extra: Partial<HttpRequest> = {}): HttpRequest {
  // Less than the 5 s after which undici gives up a connection.
  const deadlines = { deadlineMs: 3_000 };
  return { method: "GET", url: new URL("/path", url), headers: {}, ...deadlines, ...extra };
}

test("a TLS handshake that times out does not delay later requests", async () => {
  const server = await faultServer({
    secureContext: TRUSTED,
    accepted: (_, connection) => (connection <= CONNECTIONS ? "ignore" : undefined),
    requested: (socket) => void socket.write(ANSWER),
  });
  const client = http(server.url);
  await Promise.all(Array.from({ length: CONNECTIONS }, () => giveUp(client, server.url)));
  await until(() => server.accepted() === CONNECTIONS);

  expect((await client.send(get(server.url))).text).toBe("{}");
});

test("a TLS handshake that times out lets requests in flight finish", async () => {
  const asked: Socket[] = [];
  const server = await faultServer({
    secureContext: TRUSTED,
    accepted: (_, connection) => (connection === 2 ? "ignore" : undefined),
    requested: (socket) => void asked.push(socket),
  });
  const client = http(server.url);
  const before = client.send(get(server.url));
  await until(() => asked.length === 1);
  await giveUp(client, server.url, () => server.accepted() === 2);
  const after = client.send(get(server.url));
  await until(() => asked.length === 2);
  for (const socket of asked) socket.write(ANSWER);

  expect((await Promise.all([before, after])).map(({ text }) => text)).toEqual(["{}", "{}"]);
  expect(server.accepted()).toBe(3);
});

test("a destroyed pool closes connections left by a timed-out TLS handshake", async () => {
  const server = await faultServer({
    secureContext: TRUSTED,
    accepted: (_, connection) => (connection === 2 ? "ignore" : undefined),
  });
  const client = http(server.url);
  const before = client.send(get(server.url)).catch((error: unknown) => error);
  await until(() => server.received.length === 1);
  await giveUp(client, server.url, () => server.accepted() === 2);

  client.destroy();

  expect(await before).toMatchObject({ facts: { kind: "network", sent: true } });
});

/** Cancels a request once the condition is true, and waits for its end. */
async function giveUp(client: Http, url: string, condition: () => boolean = () => true): Promise<void> {
  const cancel = new AbortController();
  const sending = client.send(get(url, { signal: cancel.signal })).catch((error: unknown) => error);
  await until(condition);
  cancel.abort();
  expect(await sending).toMatchObject({ facts: { kind: "cancelled", sent: false } });
}
