import { expect, onTestFinished, test } from "vitest";
import { createHttp } from "../../src/service/http.ts";
import { until } from "./bridge.ts";
import { faultServer } from "./fault-server.ts";

/** An answer that has begun and doesn't go on. */
async function openAnswer() {
  const server = await faultServer({
    requested: (socket) =>
      void socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n"),
  });
  const http = createHttp({ origin: server.url, proxies: {} });
  onTestFinished(() => http.destroy());
  const answer = await http.open({
    method: "GET",
    url: new URL("/path", server.url),
    headers: {},
    headersTimeoutMs: 5_000,
    deadlineMs: 60_000,
  });
  return { server, answer };
}

test("whoever waits for the rest of an answer hears that it was disposed of, and the connection ends", async () => {
  const { server, answer } = await openAnswer();
  const chunks = answer.chunks[Symbol.asyncIterator]();
  const first = await chunks.next();
  const rest = chunks.next();

  answer.dispose();

  expect(first.value).toEqual(Buffer.from("first"));
  await expect(rest).rejects.toMatchObject({ kind: "cancelled", sent: true, status: 200 });
  await until(() => server.open() === 0);
});

test("whoever stops reading an answer ends its connection", async () => {
  const { server, answer } = await openAnswer();

  for await (const _ of answer.chunks) break;

  await until(() => server.open() === 0);
  expect(server.received).toHaveLength(1);
});
