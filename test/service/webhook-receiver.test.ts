// Real sockets, and senders of all kinds.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { receiveWebhooks } from "../../src/service/webhook-receiver.ts";
import { JOB_ID } from "../fixtures/constants.ts";
import { until } from "../fixtures/until.ts";

const COMPLETED = {
  type: "render.completed",
  jobId: JOB_ID,
  videoUrl: "https://cdn.example/final.mp4",
  durationSeconds: 30,
  deliveredAt: "2026-11-21T12:00:00.000Z",
};

async function testReceiver() {
  const hints: string[] = [];
  const receiver = await receiveWebhooks({ port: 0, onHint: (jobId) => hints.push(jobId) });
  onTestFinished(() => receiver.close());
  const url = `http://127.0.0.1:${receiver.port}`;
  const post = async (body: string | Uint8Array | ReadableStream, path = "/") =>
    (await fetch(url + path, { method: "POST", body, duplex: "half" })).status;
  return { ...receiver, hints, url, post };
}

/** Lets the test decide when the receiver's time for a connection is over. */
function holdDeadlines() {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
}

/** A connection on which the test writes what it likes. `closed` resolves when the receiver has closed it. */
async function open(port: number) {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  const closed = new Promise<void>((over) => void socket.on("close", () => over()));
  // One that is cut while it writes sees a reset.
  socket.on("error", () => {});
  await once(socket, "connect");
  return { socket, received: () => text, closed };
}

test.each([
  ["as documented", JSON.stringify(COMPLETED)],
  ["that writes the id in capitals", JSON.stringify({ jobId: JOB_ID.toUpperCase() })],
  ["of a failed render", JSON.stringify({ type: "render.failed", jobId: JOB_ID })],
  ["of the greatest size", JSON.stringify({ jobId: JOB_ID }).padEnd(16 * 1024)],
])("a delivery %s is a hint, on any path", async (_, body) => {
  const { post, hints } = await testReceiver();

  expect([await post(body), await post(body, "/hooks/faceless?x=1")]).toEqual([202, 202]);
  expect(hints).toEqual([JOB_ID, JOB_ID]);
});

test.each([
  ["is empty", ""],
  ["is no JSON", "jobId=aaaaaaaa"],
  ["is no object", JSON.stringify([JOB_ID])],
  ["names no job", JSON.stringify({ type: "render.completed", data: { jobId: JOB_ID } })],
  ["names a job that is no text", JSON.stringify({ jobId: { toString: 1 } })],
  ["is nested as deep as it can be", `{"a":${"[".repeat(8_000)}${"]".repeat(8_000)}}`],
  ["is no UTF-8", new Uint8Array([0x7b, 0xff, 0xfe, 0x00])],
  ["is too large by a byte", JSON.stringify({ jobId: JOB_ID }).padEnd(16 * 1024 + 1)],
  [
    "becomes too large after all that matters",
    ReadableStream.from([Buffer.from(JSON.stringify(COMPLETED)), Buffer.alloc(16 * 1024, " ")]),
  ],
])("a delivery that %s is accepted and is no hint", async (_, body) => {
  const { post, hints } = await testReceiver();

  expect(await post(body)).toBe(202);
  expect(hints).toEqual([]);
});

test.each(["GET", "PUT"])("a delivery by %s is refused", async (method) => {
  const { url, hints } = await testReceiver();
  const body = method === "PUT" ? JSON.stringify(COMPLETED) : null;
  const { status, headers } = await fetch(url, { method, body });

  expect({ status, allow: headers.get("allow") }).toEqual({ status: 405, allow: "POST" });
  expect(hints).toEqual([]);
});

test("what is no HTTP is refused, and the next delivery is a hint", async () => {
  const { port, post, hints } = await testReceiver();
  const { socket, received, closed } = await open(port);
  socket.write("\u0016\u0003\u0001 a TLS handshake\r\n\r\n");
  await closed;

  expect(received()).toMatch(/^HTTP\/1\.1 400 /);
  await post(JSON.stringify(COMPLETED));
  expect(hints).toEqual([JOB_ID]);
});

test("silent, slow and endless senders are cut after 5 s", async () => {
  holdDeadlines();
  const { port, post, hints } = await testReceiver();
  const head = "POST / HTTP/1.1\r\nHost: a\r\n";
  const senders: readonly (readonly [string, (socket: Socket) => void])[] = [
    ["silent", () => {}],
    ["stops in the headers", (socket) => socket.write(head)],
    ["stops in the body", (socket) => socket.write(`${head}Content-Length: 100\r\n\r\n{"jobId":`)],
    [
      "a byte now and then",
      (socket) => {
        socket.write(`${head}Content-Length: 1000\r\n\r\n`);
        const timer = setInterval(() => socket.write(" "), 100);
        socket.on("close", () => clearInterval(timer));
      },
    ],
    [
      "endless",
      (socket) => {
        socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
        const flood = () => {
          while (socket.writable && socket.write(`4000\r\n${"x".repeat(0x4000)}\r\n`));
        };
        socket.on("drain", flood);
        flood();
      },
    ],
  ];
  const connections = await Promise.all(
    senders.map(async ([, act]) => {
      const connection = await open(port);
      act(connection.socket);
      return connection;
    }),
  );
  await post("");
  vi.advanceTimersByTime(4_999);
  await post("");
  expect(connections.filter(({ socket }) => socket.closed)).toEqual([]);

  vi.advanceTimersByTime(1);
  await Promise.all(connections.map(({ closed }) => closed));
  expect(connections.map(({ received }) => received())).toEqual(senders.map(() => ""));
  expect(hints).toEqual([]);
});

test("no more than 50 connections are open at a time", async () => {
  holdDeadlines();
  const { port, post, hints } = await testReceiver();
  const connections = await Promise.all(Array.from({ length: 50 }, () => open(port)));
  const oneMore = await open(port);
  await oneMore.closed;
  expect(connections.filter(({ socket }) => socket.closed)).toEqual([]);

  for (const { socket } of connections) socket.destroy();
  await until(() => connections.every(({ socket }) => socket.closed));
  let status: number | undefined;
  // The receiver learns of their end a moment later.
  while (status !== 202) status = await post(JSON.stringify(COMPLETED)).catch(() => undefined);
  expect(hints).toEqual([JOB_ID]);
});

test("closing cuts all connections and releases the port", async () => {
  holdDeadlines();
  const { port, post, close, hints } = await testReceiver();
  const { socket, closed } = await open(port);
  socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n");
  // Once this is answered, the one before has arrived too.
  await post("");
  close();
  await closed;

  const next = await receiveWebhooks({ port, onHint: () => {} });
  next.close();
  expect(hints).toEqual([]);
});

test("only the loopback interface is listened on", async () => {
  const { port } = await testReceiver();

  await expect(fetch(`http://[::1]:${port}`, { method: "POST" })).rejects.toThrow("fetch failed");
  await expect(fetch(`http://127.0.0.2:${port}`, { method: "POST" })).rejects.toThrow("fetch failed");
});
