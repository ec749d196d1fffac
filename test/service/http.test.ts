import type { Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createHttp, type Exchange, type Http } from "../../src/service/http.ts";
import { TransportFailure } from "../../src/service/transport-failure.ts";
import { type ScriptedAnswer, scriptedService, startScriptedService } from "../fixtures/scripted-service.ts";
import { until } from "./bridge.ts";
import { faultServer } from "./fault-server.ts";

function http(origin: string): Http {
  const made = createHttp({ origin, proxies: {} });
  onTestFinished(() => made.destroy());
  return made;
}

function exchange(method: "GET" | "POST", url: string, extra: Partial<Exchange> = {}): Exchange {
  return {
    method,
    url: new URL("/path", url),
    headers: {},
    ...(method === "POST" && { body: "{}" }),
    headersTimeoutMs: 30_000,
    deadlineMs: 10_000,
    ...extra,
  };
}

/** How an exchange failed: of what kind, whether it had left, at which status, why. */
async function failing(sending: Promise<unknown>) {
  const error = await sending.then(
    () => "nothing",
    (reason: unknown) => reason,
  );
  if (!(error instanceof TransportFailure)) throw new Error(`It failed with ${String(error)}`);
  const { kind, sent, status, reason } = error;
  return { kind, sent, reason, ...(status !== undefined && { status }) };
}

const ANSWER = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
const end = (socket: Socket) => void socket.end();
const reset = (socket: Socket) => void socket.resetAndDestroy();
const write = (text: string) => (socket: Socket) => void socket.end(text);

const LIMIT = 4 * 1024 * 1024;
const large = (bytes: number): ScriptedAnswer => ({ body: "x".repeat(bytes) });
const broken = (code: string) => ({
  kind: "network",
  sent: true,
  reason: `the connection was broken off (${code})`,
});

describe.each(["GET", "POST"] as const)("a %s that left is known to have left", (method) => {
  test.each([
    ["reset after the request", reset, broken("ECONNRESET")],
    ["closed after the request", end, broken("UND_ERR_SOCKET")],
    [
      "answered with something that is no HTTP",
      write("SSH-2.0-OpenSSH\r\n\r\n"),
      { kind: "network", sent: true, reason: "the answer is no HTTP" },
    ],
    [
      "answered with endless headers",
      write(`HTTP/1.1 200 OK\r\nx: ${"x".repeat(17_000)}\r\n\r\n`),
      { kind: "too_large", sent: true, reason: "the headers of the answer are larger than 16 kB" },
    ],
    [
      "answered with a body that is cut off",
      write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}"),
      { ...broken("UND_ERR_SOCKET"), status: 200 },
    ],
  ])("where it is %s", async (_, requested, expected) => {
    const server = await faultServer({ requested });

    expect(await failing(http(server.url).send(exchange(method, server.url)))).toEqual(expected);
    expect(server.received).toHaveLength(1);
  });

  test("where nobody answers in time", async () => {
    const server = await faultServer({});

    expect(await failing(http(server.url).send(exchange(method, server.url, { deadlineMs: 50 })))).toEqual({
      kind: "timeout",
      sent: true,
      reason: "no answer within 1 s",
    });
    await until(() => server.open() === 0);
  });

  test("where a kept connection turns out to be dead", async () => {
    const server = await faultServer({
      requested: (socket, request) => (request === 1 ? socket.write(ANSWER) : socket.resetAndDestroy()),
    });
    const client = http(server.url);
    await client.send(exchange(method, server.url));
    // undici takes the connection back a moment after the answer.
    await new Promise((resolve) => setImmediate(resolve));

    expect(await failing(client.send(exchange(method, server.url)))).toEqual(broken("ECONNRESET"));
    expect(server.accepted()).toBe(1);
  });
});

describe.each(["GET", "POST"] as const)("a %s that never left is known never to have left", (method) => {
  test("where nobody listens", async () => {
    const gone = await startScriptedService();
    await gone.close();

    expect(await failing(http(gone.url).send(exchange(method, gone.url)))).toEqual({
      kind: "network",
      sent: false,
      reason: "connection refused (ECONNREFUSED)",
    });
  });

  test("where the name leads nowhere", async () => {
    const url = "http://nowhere.invalid";

    expect(await failing(http(url).send(exchange(method, url)))).toMatchObject({
      kind: "network",
      sent: false,
    });
  });

  test("where a header can't be written, of which nothing is", async () => {
    const server = await faultServer({});
    const headers = { authorization: "Bearer a\r\nx-injected: b" };

    expect(await failing(http(server.url).send(exchange(method, server.url, { headers })))).toEqual({
      kind: "network",
      sent: false,
      reason: "the connection failed (UND_ERR_INVALID_ARG)",
    });
    expect([server.received, server.accepted()]).toEqual([[], 0]);
  });

  test("where the service speaks no TLS", async () => {
    const server = await faultServer({ accepted: write("HTTP/1.1 400 Bad Request\r\n\r\n") });
    const url = server.url.replace("http:", "https:");

    expect(await failing(http(url).send(exchange(method, url)))).toEqual({
      kind: "network",
      sent: false,
      reason: expect.stringMatching(/^TLS failed \(ERR_SSL_/),
    });
  });

  test.each([
    ["resets", reset],
    ["ends", end],
  ])("where the service %s the TLS handshake", async (_, requested) => {
    const server = await faultServer({ accepted: (socket) => socket.once("data", () => requested(socket)) });
    const url = server.url.replace("http:", "https:");

    expect(await failing(http(url).send(exchange(method, url)))).toEqual({
      kind: "network",
      sent: false,
      reason: "the connection was broken off (ECONNRESET)",
    });
  });

  test.each([
    ["deadline", "timeout"],
    ["cancellation", "cancelled"],
  ])("where a %s comes before the connection stands, and nothing is sent later", async (cause, kind) => {
    // A TLS handshake that nobody answers: request() of undici is deaf to its signal until then.
    const server = await faultServer({});
    const url = server.url.replace("http:", "https:");
    const withdraw = new AbortController();
    const extra = cause === "deadline" ? { deadlineMs: 50 } : { signal: withdraw.signal, seenThrough: true };

    const sending = failing(http(url).send(exchange(method, url, extra)));
    await until(() => server.accepted() === 1);
    withdraw.abort();

    expect(await sending).toMatchObject({ kind, sent: false });
    expect(server.received).toEqual([]);
  });
});

describe("an answer", () => {
  test("of 4 MB is read", async () => {
    const rest = await scriptedService({ "GET /path": large(LIMIT) });

    expect((await http(rest.url).send(exchange("GET", rest.url))).text).toHaveLength(LIMIT);
  });

  test("of more is not, whatever its status", async () => {
    const rest = await scriptedService({
      "GET /path": [large(LIMIT + 1), { ...large(LIMIT + 1), status: 500 }],
    });
    const client = http(rest.url);
    const failure = { kind: "too_large", sent: true, reason: "the answer is larger than 4 MB" };

    expect(await failing(client.send(exchange("GET", rest.url)))).toEqual({ ...failure, status: 200 });
    expect(await failing(client.send(exchange("GET", rest.url)))).toEqual({ ...failure, status: 500 });
  });

  test("is decoded as UTF-8, split characters included", async () => {
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

    expect((await http(rest.url).send(exchange("GET", rest.url))).text).toBe("añ€😀");
  });

  test("to a cancelled exchange that had to be seen through comes all the same", async () => {
    const withdraw = new AbortController();
    const rest = await scriptedService({ "POST /path": () => (withdraw.abort(), { body: "done" }) });
    const extra = { signal: withdraw.signal, seenThrough: true };

    expect((await http(rest.url).send(exchange("POST", rest.url, extra))).text).toBe("done");
  });
});

test("A request to another origin is refused before any connection", async () => {
  const [ours, other] = [await scriptedService(), await scriptedService()];

  await expect(http(ours.url).send(exchange("GET", other.url))).rejects.toThrow(
    "A request must stay at the service's origin.",
  );
  expect(other.connections()).toBe(0);
});
