import { Writable } from "node:stream";
import { expect, test } from "vitest";
import {
  cancelled,
  type Connection,
  connect,
  connectReader,
  error,
  notification,
  parseLines,
  request,
  requests,
  result,
  StalledOutput,
  turns,
  until,
} from "./connection.ts";

const MEGABYTE = 1024 * 1024;

test("messages are delivered in order, with any line ends and blank lines", async () => {
  const { input, received, sent } = await connectReader();

  input.write(`\uFEFF${JSON.stringify(request("é🎬"))}\r\n\r\n \t \n`);
  input.write(`${JSON.stringify(notification("notifications/initialized"))}\n`);

  await until(() => received.length === 2);
  expect(received).toEqual([request("é🎬"), notification("notifications/initialized")]);
  expect(sent()).toEqual([]);
});

const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
test.each<[string, string | Buffer, unknown]>([
  ["no JSON", "hello", error(null, -32700)],
  ["not UTF-8", Buffer.from([0x22, 0xff, 0x22]), error(null, -32700)],
  ["more than 4 MB of JSON", JSON.stringify(request(7, "x".repeat(4 * MEGABYTE))), error(null, -32700)],
  ["no JSON and more than 4 MB", "x".repeat(5 * MEGABYTE), error(null, -32700)],
  ["a batch", JSON.stringify([request(1), request(2)]), error(null, -32600)],
  ["nested 100,000 deep", deep, error(null, -32600)],
  ["a string", '"ping"', error(null, -32600)],
  ["a request without a method", '{"jsonrpc":"2.0","id":7}', error(7, -32600)],
  ["a request with a null id", '{"jsonrpc":"2.0","id":null,"method":"ping"}', error(null, -32600)],
  ["a request with a deep id", `{"jsonrpc":"2.0","id":${deep},"method":"ping"}`, error(null, -32600)],
  [
    "an id that JSON.parse rounds",
    '{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}',
    error(null, -32600),
  ],
])(
  "a line is answered with an error if it is %s, and the next request is served",
  async (_, line, answer) => {
    const { input, send, received, sent } = await connectReader();

    input.write(line);
    input.write("\n");
    send(request("next"));

    await until(() => received.length === 1 && sent().length > 0);
    expect(received).toEqual([request("next")]);
    expect(sent()).toEqual([answer]);
  },
);

test.each<[string, unknown]>([
  ["an error with a null id", { jsonrpc: "2.0", id: null, error: { code: -32700, message: "x" } }],
  ["a result without an id", { jsonrpc: "2.0", result: {} }],
  ["a result and an error", { ...result(1), error: { code: 1, message: "x" } }],
])("an invalid response is dropped, or two peers would send errors for ever: %s", async (_, value) => {
  const { send, received, sent, errors } = await connectReader();

  send(value, request("next"));

  await until(() => received.length === 1);
  expect(received).toEqual([request("next")]);
  expect(sent()).toEqual([]);
  expect(errors).toEqual(["Dropped an invalid response"]);
});

test("requests are answered with -32603 if the receiver fails", async () => {
  const { transport, send, sent, errors } = await connectReader();
  Object.assign(transport, {
    onmessage: () => {
      throw new Error("receiver failed");
    },
  });

  send(notification("notifications/initialized"), ...requests(1, 70));

  await until(() => sent().length === 70);
  expect(sent()).toEqual(Array.from({ length: 70 }, (_, index) => error(index + 1, -32603)));
  expect(new Set(errors)).toEqual(new Set(["receiver failed"]));
  expect(errors).toHaveLength(71);
});

test("a hook sees valid messages of its method, and what it returns is delivered", async () => {
  const seen: unknown[] = [];
  const inbound = (message: unknown) => {
    seen.push(message);
    return request("replaced");
  };
  const { input, send, received } = await connectReader({
    hooks: [{ "tools/call": { inbound } }],
  });

  input.write("garbage\n");
  send(request(1), notification("other"));

  await until(() => received.length === 2);
  expect(seen).toEqual([request(1)]);
  expect(received).toEqual([request("replaced"), notification("other")]);
});

test.each<[string, (connection: Connection) => void, unknown[]]>([
  ["delivered when it is ready", () => {}, [request(1)]],
  [
    "delivered though another one of its id is answered",
    ({ transport }) => void transport.send(result(1)),
    [request(1)],
  ],
  ["dropped if it was cancelled meanwhile", ({ send }) => send(cancelled(1)), [cancelled(1)]],
  ["dropped after stopReceiving", ({ transport }) => transport.stopReceiving(), []],
  ["dropped if the client has left", ({ transport }) => void transport.close(), []],
])("a request that is not ready holds up no other, and is %s", async (_, happen, last) => {
  let begin = () => {};
  const isReady = new Promise<void>((resolve) => (begin = resolve));
  const connection = await connectReader({ ready: () => isReady });
  connection.send(request(1), request("list", "tools/list"), notification("other"));
  await until(() => connection.received.length === 2);

  happen(connection);
  await turns();
  begin();
  await turns();

  expect(connection.received).toEqual([request("list", "tools/list"), notification("other"), ...last]);
});

test("after stopReceiving nothing is delivered, but delivered requests are still answered", async () => {
  const { transport, send, received, sent } = await connectReader();
  send(request(1));
  await until(() => received.length === 1);

  transport.stopReceiving();
  send(request(2));
  await turns();
  await transport.send(result(1));

  await until(() => sent().length === 1);
  expect(received).toEqual([request(1)]);
  expect(sent()).toEqual([result(1)]);
});

test("64 requests are in flight, and one more for each that is answered or cancelled", async () => {
  const { transport, send, received } = await connectReader();
  const sent = [...requests(1, 60), cancelled(5), ...requests(61, 70)];
  send(...sent);
  await until(() => received.length === 66);
  await turns();
  expect(received).toEqual(sent.slice(0, 66));

  await transport.send(result(10));
  await transport.send(result(10));

  await until(() => received.length === 67);
  await turns();
  expect(received).toEqual(sent.slice(0, 67));
});

test("a client that floods is not read far ahead, and loses nothing", async () => {
  const { transport, input, send, received } = await connectReader();
  const pad = "x".repeat(50_000);
  send(...requests(1, 200).map((message) => ({ ...message, params: { pad } })));
  await until(() => input.isPaused());
  expect(received).toHaveLength(64);

  for (let id = 1; id <= 200; id += 1) {
    await until(() => received.length >= id);
    await transport.send(result(id));
  }

  expect(received.map((message) => Reflect.get(message, "id"))).toEqual(
    Array.from({ length: 200 }, (_, id) => id + 1),
  );
});

test("any number of subscriptions may be open beside 64 requests", async () => {
  const { send, received } = await connectReader();

  for (let id = 1; id <= 70; id += 1) send(request(`s${id}`, "subscriptions/listen"));
  send(...requests(1, 65));

  await until(() => received.length === 134);
  await turns();
  expect(received.at(-1)).toEqual(request(64));
});

test("pings, notifications, answers and the end pass waiting requests", async () => {
  const { transport, input, send, received, closed } = await connectReader();
  const passing = [request("p", "ping"), notification("notifications/x"), result(500), cancelled(66)];

  send(...requests(1, 10_000), ...passing);
  await until(() => received.length === 67);
  await turns();
  expect(received).toEqual([...requests(1, 64), ...passing.slice(0, 3)]);

  for (const id of ["p", 1, 2, 3]) await transport.send(result(id));
  await until(() => received.length === 70);
  await turns();
  expect(received.slice(67)).toEqual([request(65), request(67), request(68)]);

  input.end();
  await until(closed);
});

test("a client that doesn't read is not served while 1 MB waits, and then gets every answer", async () => {
  const output = new StalledOutput();
  const { transport, input, send, received } = await connect(output);
  await transport.send(result(0, { pad: "x".repeat(MEGABYTE) }));

  send(request(1));
  input.write("bad\n".repeat(20_000));
  await until(() => input.isPaused());
  expect(received).toEqual([]);
  output.flow();

  await until(() => output.written.split("\n").length > 20_001);
  expect(parseLines(output.written)).toHaveLength(20_001);
  expect(received).toEqual([request(1)]);
});

test("each message is one line, written without waiting for the client", async () => {
  const output = new StalledOutput({ highWaterMark: 1 });
  const { transport } = await connect(output);

  await transport.send(result(1, { text: "one\ntwo" }));
  await transport.send(notification("notifications/resources/updated", { uri: "u:1" }));
  await transport.close();
  output.flow();

  await until(() => parseLines(output.written).length === 2);
  expect(parseLines(output.written)).toEqual([
    result(1, { text: "one\ntwo" }),
    notification("notifications/resources/updated", { uri: "u:1" }),
  ]);
});

test("the messages of one turn of the event loop go out in one write", async () => {
  const writes: number[] = [];
  const output = new Writable({
    write: (_chunk, _encoding, done) => done(void writes.push(1)),
    writev: (chunks, done) => done(void writes.push(chunks.length)),
  });
  const { transport } = await connect(output);

  await Promise.all([1, 2, 3].map((id) => transport.send(result(id))));
  await turns();
  await transport.send(result(4));
  await turns();

  expect(writes).toEqual([3, 1]);
});

test("messages are transformed before they are written, errors of the transport included", async () => {
  const { transport, input, sent } = await connectReader({
    transformOutgoing: (json) => json.replaceAll("fl_example", "[redacted]"),
  });
  input.write('{"id":"fl_example"}\n');

  await transport.send(result(1, { key: "fl_example" }));
  await transport.send(notification("notifications/message", { data: "fl_example" }));

  await until(() => sent().length === 3);
  expect(sent()).toContainEqual(error("[redacted]", -32600));
  expect(JSON.stringify(sent())).not.toContain("fl_example");
});

test("a message that can't be serialised is an error for the client or the sender", async () => {
  const { transport, sent } = await connectReader();

  await transport.send(result(1, { number: 1n }));
  await expect(transport.send(notification("notifications/message", { number: 1n }))).rejects.toThrow(
    TypeError,
  );

  await until(() => sent().length === 1);
  expect(sent()).toEqual([error(1, -32603)]);
});

test("a hook sees the server's messages and answers of its method, and may fail", async () => {
  const seen: unknown[] = [];
  const answered = (id: unknown) => {
    seen.push(id);
    throw new Error("hook failed");
  };
  const outbound = (message: unknown) => void seen.push(message);
  const { transport, send, sent, errors, received } = await connectReader({
    hooks: [{ "tools/call": { answered } }, { "notifications/x": { outbound } }],
  });
  send(request(1));
  await until(() => received.length === 1);

  await transport.send(notification("notifications/x"));
  await transport.send(result(1));
  await transport.send(result(1));

  await until(() => sent().length === 3);
  expect(seen).toEqual([notification("notifications/x"), 1]);
  expect(errors).toEqual(["hook failed"]);
});

test("the connection ends with the input, after the immediate answers", async () => {
  const { transport, input, send, sent, closed } = await connectReader();
  Object.assign(transport, {
    onmessage: ({ id }: { id: number }) => {
      if (id !== 7) void Promise.resolve().then(() => transport.send(result(id)));
    },
  });

  send(...requests(1, 100));
  input.end(JSON.stringify(request(101)));

  await until(closed);
  await turns();
  const answered = requests(1, 101).filter((message) => Reflect.get(message, "id") !== 7);
  expect(sent()).toEqual(answered.map((message) => result(Reflect.get(message, "id"))));
});

test("the connection ends with the input, though the client doesn't read", async () => {
  const { transport, input, send, received, closed } = await connect(new StalledOutput());
  await transport.send(result(0, { pad: "x".repeat(2 * MEGABYTE) }));
  send(request(1));

  input.end();

  await until(closed);
  expect(received).toEqual([]);
});

type Connected = Awaited<ReturnType<typeof connectReader>>;
test.each<[string, (connection: Connected) => unknown, string[]]>([
  ["the input is destroyed", ({ input }) => input.destroy(), []],
  ["the input fails", ({ input }) => input.destroy(new Error("EIO")), ["EIO"]],
  ["a write fails", ({ output }) => output.destroy(new Error("EPIPE")), ["EPIPE"]],
  ["it is closed", ({ transport }) => transport.close(), []],
])(
  "the connection ends once and without an error when %s, whatever happens later",
  async (_, end, expected) => {
    const connection = await connectReader();
    const { transport, input, output, received, errors, closed } = connection;

    end(connection);
    await until(closed);
    await transport.close();
    output.emit("error", new Error("late"));
    input.emit("error", new Error("late"));
    input.emit("end");
    input.emit("data", Buffer.from(`${JSON.stringify(request(1))}\n`));
    await turns();

    expect(closed()).toBe(true);
    expect(errors).toEqual(expected);
    expect(received).toEqual([]);
    await expect(transport.send(result(1))).rejects.toThrow("The connection is closed");
  },
);
