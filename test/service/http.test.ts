import type { Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Http, type HttpRequest } from "../../src/service/http.ts";
import { TransportFailure } from "../../src/service/transport-failure.ts";
import { CERTIFICATE, trustCertificate } from "../faults/tools-under-test.ts";
import { type ScriptedAnswer, scriptedService } from "../fixtures/scripted-service.ts";
import { until } from "../fixtures/until.ts";
import { faultServer } from "./fault-server.ts";

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
    redact: (text) => text,
    ...(method === "POST" && { body: "{}" }),
    deadlineMs: 10_000,
    ...extra,
  };
}

/** How a request failed. */
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
/** The maximum that the pool opens. */
const CONNECTIONS = 32;

test("a POST whose header can't be written is known not to have been sent", async () => {
  const server = await faultServer({});
  const headers = { authorization: "Bearer a\r\nx-injected: b" };

  expect(await failing(http(server.url).send(request("POST", server.url, { headers })))).toEqual({
    kind: "network",
    sent: false,
    reason: "the connection failed (UND_ERR_INVALID_ARG)",
  });
  expect([server.received, server.accepted()]).toEqual([[], 0]);
});

test("an answer of 4 MB is read", async () => {
  const rest = await scriptedService({ "GET /path": { body: "x".repeat(LIMIT) } });

  expect((await http(rest.url).send(request("GET", rest.url))).text).toHaveLength(LIMIT);
});

test("an answer is decoded as UTF-8, split characters included", async () => {
  const bytes = Buffer.from("añ€😀");
  const rest = await scriptedService({
    "GET /path": async (_, { outgoing }) => {
      for (const byte of bytes) {
        outgoing.write(Uint8Array.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      outgoing.end();
    },
  });

  expect((await http(rest.url).send(request("GET", rest.url))).text).toBe("añ€😀");
});

const JSON_TEXT = '{"jobId":"a"}';
const GZIP = gzipSync(JSON_TEXT);
const answer = (headers: string, body: string | Uint8Array) =>
  Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\n${headers}\r\n\r\n`), Buffer.from(body)]);
const promised = (bytes: number, body: string | Uint8Array, encoding = "identity") =>
  answer(`content-length: ${bytes}\r\ncontent-encoding: ${encoding}`, body);

/** An answer behind which the connection breaks. */
async function broken(method: "GET" | "POST", bytes: Uint8Array) {
  const server = await faultServer({ requested: (socket) => void socket.end(bytes) });
  return http(server.url).send(request(method, server.url));
}

test.each([
  ["has a part of its length", promised(99, JSON_TEXT), JSON_TEXT],
  ["has no last chunk", answer("transfer-encoding: chunked", "2\r\n[]\r\n"), "[]"],
  ["is compressed and lacks its checksum", promised(99, GZIP.subarray(0, -8), "gzip"), JSON_TEXT],
])("an answer that is whole JSON is used though it %s", async (_, bytes, text) => {
  expect((await broken("POST", bytes)).text).toBe(text);
});

test.each([
  ["an object that is cut", promised(99, '{"jobId":"a"')],
  ["a number, which may go on", promised(99, "12")],
  ["compressed and cut", promised(99, GZIP.subarray(0, 20), "gzip")],
  ["whole, with more values than are read", promised(900_000, `[${"[],".repeat(250_000)}0]`)],
])("an answer that breaks off is not used if it is %s", async (_, bytes) => {
  expect(await failing(broken("GET", bytes))).toMatchObject({ sent: true, status: 200 });
});

test("A request to another origin is refused before any connection", async () => {
  const [ours, other] = [await scriptedService(), await scriptedService()];

  await expect(http(ours.url).send(request("GET", other.url))).rejects.toThrow(
    "A request must stay at the service's origin.",
  );
  expect(other.connections()).toBe(0);
});

test("A POST that is cancelled before it has a connection is never sent", async () => {
  const asked: Socket[] = [];
  const server = await faultServer({ requested: (socket) => void asked.push(socket) });
  const client = http(server.url);
  const filling = Array.from({ length: CONNECTIONS }, () => client.send(request("GET", server.url)));
  await until(() => asked.length === CONNECTIONS);
  const cancel = new AbortController();
  const waiting = failing(
    client.send(request("POST", server.url, { signal: cancel.signal, finishOnceSent: true })),
  );

  cancel.abort();
  const [last, ...others] = asked;
  for (const socket of others) socket.write(ANSWER);
  await Promise.any(filling);
  // Enough turns for idle connections to be used.
  const after = client.send(request("GET", server.url));
  await until(() => server.received.length > CONNECTIONS);
  asked.at(-1)?.write(ANSWER);
  await after;
  last?.write(ANSWER);
  await Promise.all(filling);

  expect(await waiting).toEqual({ kind: "cancelled", sent: false, reason: "cancelled by the caller" });
  expect(server.received.filter((text) => text.startsWith("POST"))).toEqual([]);
});

const BOMB = Buffer.alloc(4 * LIMIT);
const TEXT = JSON.stringify({ videos: ["añ€😀", "x".repeat(100_000)] });
const encoded = (encoding: string, body: Uint8Array): ScriptedAnswer => ({
  headers: { "content-encoding": encoding, "content-type": "application/json" },
  body,
});
test.each([
  ["gzip", gzipSync(TEXT)],
  ["GZIP", gzipSync(TEXT)],
  ["deflate", deflateSync(TEXT)],
  ["br", brotliCompressSync(TEXT)],
  ["identity", Buffer.from(TEXT)],
])("an answer in the encoding %j is read completely", async (encoding, body) => {
  const rest = await scriptedService({ "GET /path": encoded(encoding, body) });

  const { text } = await http(rest.url).send(request("GET", rest.url));

  expect(text).toBe(TEXT);
});

test.each([
  ["zstd", 'its encoding "zstd" is not supported'],
  ["gzip, br", 'its encoding "gzip, br" is not supported'],
])("an answer in the encoding %j is refused", async (encoding, reason) => {
  const rest = await scriptedService({ "GET /path": encoded(encoding, gzipSync(TEXT)) });
  const failure = { kind: "unreadable", sent: true, status: 200, reason };

  expect(await failing(http(rest.url).send(request("GET", rest.url)))).toEqual(failure);
});

test.each([
  ["gzip", gzipSync(TEXT).subarray(0, 90)],
  ["gzip", Buffer.from("no gzip at all")],
  ["br", Buffer.from("no brotli at all")],
])("an answer in damaged %s is refused", async (encoding, body) => {
  const rest = await scriptedService({ "GET /path": encoded(encoding, body) });

  expect(await failing(http(rest.url).send(request("GET", rest.url)))).toEqual({
    kind: "unreadable",
    sent: true,
    status: 200,
    reason: `its ${encoding} encoding is damaged`,
  });
});

test.each([
  ["gzip", gzipSync(BOMB)],
  ["deflate", deflateSync(BOMB)],
  ["br", brotliCompressSync(BOMB, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
])("an answer of 16 MB in %s is refused at 4 MB", async (encoding, body) => {
  const rest = await scriptedService({ "GET /path": encoded(encoding, body) });
  const failure = { kind: "unreadable", sent: true, status: 200, reason: "it is larger than 4 MB" };

  expect(await failing(http(rest.url).send(request("GET", rest.url)))).toEqual(failure);
});

const CHUNKED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
test.each([
  ["interim answers", "", "HTTP/1.1 103 Early Hints\r\n\r\n", "it comes in too many pieces"],
  ["chunks of one byte", CHUNKED, "1\r\nx\r\n", "it comes in too many pieces"],
  ["the reason of a status", "HTTP/1.1 200 ", "OK", "it is larger than 4 MB"],
  ["a chunk's extension", `${CHUNKED}1;`, "a", "it is larger than 4 MB"],
])("an answer that floods with %s is given up long before the deadline", async (_, start, piece, reason) => {
  const flood = piece.repeat(2 ** 20 / piece.length);
  const server = await faultServer({
    requested: (socket) => {
      socket.write(start);
      const write = () => void (socket.writable && socket.write(flood, () => setImmediate(write)));
      write();
    },
  });

  expect(await failing(http(server.url).send(request("GET", server.url)))).toMatchObject({
    kind: "unreadable",
    sent: true,
    reason,
  });
});

const TRUSTED = createSecureContext(CERTIFICATE);
let distrust = () => {};
beforeAll(() => {
  distrust = trustCertificate();
});
afterAll(() => distrust());

/** It has less than the 5 s after which undici gives up a connection. */
const connecting = (url: string, extra: Partial<HttpRequest> = {}) =>
  request("GET", url, { deadlineMs: 3_000, ...extra });

test("a TLS handshake that times out does not delay later requests", async () => {
  const server = await faultServer({
    secureContext: TRUSTED,
    accepted: (_, connection) => (connection <= CONNECTIONS ? "ignore" : undefined),
    requested: (socket) => void socket.write(ANSWER),
  });
  const client = http(server.url);
  await Promise.all(Array.from({ length: CONNECTIONS }, () => giveUp(client, server.url)));
  await until(() => server.accepted() === CONNECTIONS);

  expect((await client.send(connecting(server.url))).text).toBe("{}");
});

test("a TLS handshake that times out lets requests in flight finish", async () => {
  const asked: Socket[] = [];
  const server = await faultServer({
    secureContext: TRUSTED,
    accepted: (_, connection) => (connection === 2 ? "ignore" : undefined),
    requested: (socket) => void asked.push(socket),
  });
  const client = http(server.url);
  const before = client.send(connecting(server.url));
  await until(() => asked.length === 1);
  await giveUp(client, server.url, () => server.accepted() === 2);
  const after = client.send(connecting(server.url));
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
  const before = client.send(connecting(server.url)).catch((error: unknown) => error);
  await until(() => server.received.length === 1);
  await giveUp(client, server.url, () => server.accepted() === 2);

  client.destroy();

  expect(await before).toMatchObject({ facts: { kind: "network", sent: true } });
});

/** Cancels a request once the condition is true, and waits for its end. */
async function giveUp(client: Http, url: string, condition: () => boolean = () => true): Promise<void> {
  const cancel = new AbortController();
  const sending = client.send(connecting(url, { signal: cancel.signal })).catch((error: unknown) => error);
  await until(condition);
  cancel.abort();
  expect(await sending).toMatchObject({ facts: { kind: "cancelled", sent: false } });
}
