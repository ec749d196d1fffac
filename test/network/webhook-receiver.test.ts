// Real sockets, and senders of all kinds.

import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { receiveWebhooks } from "../../src/service/webhook-receiver.ts";
import { JOB_ID } from "../fixtures/constants.ts";

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
  const post = async (body: string | Uint8Array<ArrayBuffer>, path = "/") =>
    (await fetch(url + path, { method: "POST", body })).status;
  return { ...receiver, hints, url, post };
}

/** A connection that the test writes to. `closed` resolves when the receiver has closed it. */
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
  ["of the greatest size", JSON.stringify({ jobId: JOB_ID }).padEnd(16 * 1024)],
])("a delivery %s is a hint, on any path", async (_, body) => {
  const { post, hints } = await testReceiver();

  expect([await post(body), await post(body, "/hooks/faceless?x=1")]).toEqual([202, 202]);
  expect(hints).toEqual([JOB_ID, JOB_ID]);
});

test.each([
  ["names no job", JSON.stringify({ type: "render.completed", jobId: "42" })],
  ["is too large by a byte", JSON.stringify({ jobId: JOB_ID }).padEnd(16 * 1024 + 1)],
])("a delivery that %s is accepted and isn't a hint", async (_, body) => {
  const { post, hints } = await testReceiver();

  expect(await post(body)).toBe(202);
  expect(hints).toEqual([]);
});

test("rejects non-HTTP input and still accepts the next webhook", async () => {
  const { port, post, hints } = await testReceiver();
  const { socket, received, closed } = await open(port);
  socket.write("\u0016\u0003\u0001 a TLS handshake\r\n\r\n");
  await closed;

  expect(received()).toMatch(/^HTTP\/1\.1 400 /);
  await post(JSON.stringify(COMPLETED));
  expect(hints).toEqual([JOB_ID]);
});

test("closing cuts all connections and releases the port", async () => {
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
