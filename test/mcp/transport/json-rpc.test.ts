import * as fc from "fast-check";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { createStdioTransport } from "../../../src/mcp/transport/stdio-transport.ts";
import {
  ticks,
  until,
  listen,
  open,
  request,
  notification,
  result,
  failure,
  cancelled,
  isDeepEqual,
  failOnUnhandledRejections,
} from "./wire.ts";
import type { OpenWire } from "./wire.ts";

failOnUnhandledRejections();

describe("lines from the client", () => {
  test("are delivered in order, and answers are written one a line", async () => {
    const { transport, say, received, heard } = await open();
    say(request(1), notification("notifications/initialized"), request("b"));
    await until(() => received.length === 3);

    await transport.send(result("b", { text: "one\ntwo" }));
    await transport.send(result(1));

    await until(() => heard().length === 2);
    expect(received).toEqual([request(1), notification("notifications/initialized"), request("b")]);
    expect(heard()).toEqual([result("b", { text: "one\ntwo" }), result(1)]);
  });

  test("may end in CRLF, begin with a byte order mark, be blank, and come byte by byte", async () => {
    const { sayBytes, received, heard } = await open();
    const bytes = Buffer.from(
      `\uFEFF${JSON.stringify(request("é🎬"))}\r\n\r\n  \t \n${JSON.stringify(request(2))}\n`,
    );

    for (const byte of bytes) sayBytes(Uint8Array.of(byte));

    await until(() => received.length === 2);
    expect(received).toEqual([request("é🎬"), request(2)]);
    expect(heard()).toEqual([]);
  });

  test.each([
    ["no JSON", "hello"],
    ["half a message", '{"jsonrpc":"2.0","id":1,'],
    ["a NUL byte", "\0"],
    ["a NUL byte in a message", '{"jsonrpc":"2.0",\0"id":1,"method":"ping"}'],
    [
      "invalid UTF-8",
      Buffer.from([...Buffer.from('{"jsonrpc":"2.0","id":1,"method":"p'), 0xff, ...Buffer.from('"}')]),
    ],
    ["a byte order mark in the middle", '\n\uFEFF{"jsonrpc":"2.0","id":1,"method":"ping"}'],
  ])("are answered -32700 without an id if they are %s, and the next is served", async (_, line) => {
    const { sayBytes, say, received, heard } = await open();

    sayBytes(line);
    sayBytes("\n");
    say(request(2));

    await until(() => received.length === 1 && heard().length === 1);
    expect(received).toEqual([request(2)]);
    expect(heard()).toEqual([failure(null, -32700)]);
  });

  test("longer than the limit are discarded to their end and answered -32700, and the next is served", async () => {
    const { sayBytes, say, received, heard } = await open({ maxLineBytes: 1000 });

    for (let turn = 0; turn < 50; turn += 1) sayBytes("x".repeat(100));
    sayBytes("\n");
    say(
      request(1, "ping", { pad: "x".repeat(900) }),
      request(2, "ping", { pad: "x".repeat(2000) }),
      request(3),
    );

    await until(() => received.length + heard().length === 4);
    expect(received.map((message) => "id" in message && message.id)).toEqual([1, 3]);
    expect(heard()).toEqual([failure(null, -32700), failure(null, -32700)]);
  });

  test("of 11 MB don't end the connection by default", async () => {
    const { sayBytes, say, received, heard } = await open();

    sayBytes(`"${"x".repeat(11 * 1024 * 1024)}"\n`);
    say(request(1));

    await until(() => received.length === 1);
    expect(heard()).toEqual([failure(null, -32700)]);
  });

  test.each<[string, unknown, string | number | null]>([
    ["a request without method", { jsonrpc: "2.0", id: 7 }, 7],
    [
      "a request with a string id and bad params",
      { jsonrpc: "2.0", id: "a", method: "ping", params: 5 },
      "a",
    ],
    ["no jsonrpc member", { id: 7, method: "ping" }, 7],
    ["a member that JSON-RPC does not know", { ...request(7), extra: true }, 7],
    ["a null id", { jsonrpc: "2.0", id: null, method: "ping" }, null],
    ["a fractional id", { jsonrpc: "2.0", id: 1.5, method: "ping" }, null],
    ["an object as id", { jsonrpc: "2.0", id: { a: 1 }, method: "ping" }, null],
    [
      "a notification with bad params",
      { jsonrpc: "2.0", method: "notifications/initialized", params: [] },
      null,
    ],
    ["an empty object", {}, null],
    ["a number", 5, null],
    ["null", null, null],
    ["a string", "ping", null],
  ])("that are JSON but no message are answered -32600 with the id they have: %s", async (_, value, id) => {
    const { say, received, heard } = await open();

    say(value, request(99));

    await until(() => received.length === 1);
    expect(received).toEqual([request(99)]);
    expect(heard()).toEqual([failure(id, -32600)]);
  });

  test("with an id too large to be sent back unchanged are answered without it", async () => {
    const { sayBytes, heard, received } = await open();

    sayBytes('{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}\n');
    sayBytes('{"jsonrpc":"2.0","id":1e999,"method":"ping"}\n');

    await until(() => heard().length === 2);
    expect(received).toEqual([]);
    expect(heard()).toEqual([failure(null, -32600), failure(null, -32600)]);
  });

  test.each<[string, unknown]>([
    ["an error with a null id", { jsonrpc: "2.0", id: null, error: { code: -32700, message: "x" } }],
    ["a result without id", { jsonrpc: "2.0", result: {} }],
    [
      "a result and an error at once",
      { jsonrpc: "2.0", id: 1, result: {}, error: { code: 1, message: "x" } },
    ],
    ["an error that is no object", { jsonrpc: "2.0", id: 1, error: "no" }],
    ["a result with a method", { ...request(1), result: {} }],
    ["a batch of them", [{ error: { code: -32600, message: "x" } }, { id: 1, result: 5 }]],
  ])(
    "that are responses and invalid are never answered, lest two peers talk for ever: %s",
    async (_, value) => {
      const { say, received, heard, errors } = await open();

      say(value, request(99));

      await until(() => received.length === 1);
      expect(heard()).toEqual([]);
      expect(errors).toHaveLength(1);
    },
  );

  test("between two such transports come to rest, whatever the first line was", async () => {
    const there = new PassThrough();
    const back = new PassThrough();
    const ours = createStdioTransport({ input: there, output: back });
    const theirs = createStdioTransport({ input: back, output: there });
    let lines = 0;
    const count = (chunk: Buffer) => (lines += chunk.toString().split("\n").length - 1);
    there.on("data", count);
    back.on("data", count);
    await ours.start();
    await theirs.start();

    there.write('garbage\n{"id":1}\n[]\n[{"error":1}]\n');

    // Four that were written, and an answer to each that can be answered.
    await until(() => lines >= 7);
    await ticks(20);
    expect(lines).toBe(7);
  });

  test("nested 100,000 deep neither crash nor silence the server", async () => {
    const { sayBytes, received, heard } = await open();
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;

    sayBytes(`${deep}\n`);
    sayBytes(`{"a":`.repeat(100_000) + "1" + "}".repeat(100_000) + "\n");
    sayBytes(`{"jsonrpc":"2.0","id":${deep},"method":"ping"}\n`);
    sayBytes(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"deep":${deep}}}\n`);
    sayBytes(`${JSON.stringify(request(2))}\n`);

    await until(() => received.length + heard().length === 5);
    expect(received.map((message) => "id" in message && message.id)).toEqual([1, 2]);
    expect(heard()).toEqual([failure(null, -32600), failure(null, -32600), failure(null, -32600)]);
  });

  test("with duplicate keys or __proto__ change nothing but themselves", async () => {
    const { sayBytes, received, heard } = await open();

    sayBytes('{"jsonrpc":"2.0","id":1,"id":2,"method":"ping","params":{"__proto__":{"polluted":1},"a":1}}\n');
    sayBytes('{"jsonrpc":"2.0","id":3,"method":"ping","__proto__":{"result":1}}\n');

    await until(() => received.length + heard().length === 2);
    expect(received[0]).toMatchObject({ id: 2, method: "ping" });
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });

  test("that make the receiver throw are reported, answered with an error, and the next is served", async () => {
    const { transport, say, received, heard, errors } = await open();
    listen(transport, {
      onmessage: (message) => {
        received.push(message);
        if (received.length < 3) throw new Error("receiver broke");
      },
    });

    say(request(1), notification("notifications/initialized"), request(2));

    await until(() => received.length === 3);
    expect(errors.map((error) => error.message)).toEqual(["receiver broke", "receiver broke"]);
    expect(heard()).toEqual([failure(1, -32603)]);
  });

  test("are shown to onInbound if they are valid, and what it gives is delivered", async () => {
    const seen: string[] = [];
    const { transport, say, sayBytes } = await open({
      onInbound(message) {
        seen.push(`in ${JSON.stringify(message)}`);
        return request(2);
      },
    });
    listen(transport, { onmessage: (message) => void seen.push(`sdk ${JSON.stringify(message)}`) });

    sayBytes("garbage\n");
    say(request(1));

    await until(() => seen.length === 2);
    expect(seen).toEqual([`in ${JSON.stringify(request(1))}`, `sdk ${JSON.stringify(request(2))}`]);
  });
});

describe("any mixture of lines, cut anywhere", () => {
  const line = fc.oneof(
    { weight: 4, arbitrary: fc.constant({ kind: "request" as const }) },
    fc.constantFrom(
      { kind: "unparsable" as const, bytes: Buffer.from("{") },
      { kind: "unparsable" as const, bytes: Buffer.from([0xff, 0xfe]) },
      { kind: "unparsable" as const, bytes: Buffer.from("\0\0") },
      { kind: "unparsable" as const, bytes: Buffer.alloc(5000, "[") },
      { kind: "invalid" as const, bytes: Buffer.from("[]") },
      { kind: "invalid" as const, bytes: Buffer.from("[1,2]") },
      { kind: "invalid" as const, bytes: Buffer.from('"é"') },
      { kind: "invalid" as const, bytes: Buffer.from('{"jsonrpc":"2.0","method":5}') },
      { kind: "silent" as const, bytes: Buffer.from(" \t") },
      { kind: "silent" as const, bytes: Buffer.from('{"jsonrpc":"2.0","error":5}') },
    ),
    fc.string({ unit: "grapheme" }).map((text) => ({
      kind: "unparsable" as const,
      bytes: Buffer.from(`~${text.replaceAll(/[\r\n]/g, "")}`),
    })),
  );

  test("delivers each request once and in order, answers each bad line once, and writes only JSON lines", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 40 }),
        fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 20 }),
        fc.constantFrom("\n", "\r\n"),
        fc.integer({ min: 1, max: 5 }),
        async (lines, sizes, newline, maxInFlight) => {
          const { transport, sayBytes, received, heard } = await open({ maxLineBytes: 4000, maxInFlight });
          listen(transport, {
            onmessage: (message) => {
              received.push(message);
              if (!("id" in message) || message.id === undefined) return;
              const answer = result(message.id);
              if (Number(message.id) % 2 === 0) void transport.send(answer);
              else setImmediate(() => void transport.send(answer));
            },
          });
          let ids = 0;
          const bytes = Buffer.concat(
            lines.flatMap((item) => {
              if (item.kind !== "request") return [item.bytes, Buffer.from(newline)];
              ids += 1;
              return [Buffer.from(JSON.stringify(request(ids, "ping", { name: "é🎬" })) + newline)];
            }),
          );
          const count = (kind: string) => lines.filter((item) => item.kind === kind).length;
          const expected = ids + count("unparsable") + count("invalid");

          for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
            const size = sizes[turn % sizes.length] ?? 1;
            sayBytes(bytes.subarray(at, at + size));
            at += size;
          }
          await until(() => heard().length >= expected);
          await ticks(2);

          const inOrder = Array.from({ length: ids }, (_, index) => index + 1);
          expect(received.map((message) => "id" in message && message.id)).toEqual(inOrder);
          const answers = heard();
          expect(answers.filter((answer) => isDeepEqual(answer, failure(null, -32700)))).toHaveLength(
            count("unparsable"),
          );
          expect(answers.filter((answer) => isDeepEqual(answer, failure(null, -32600)))).toHaveLength(
            count("invalid"),
          );
          for (const id of inOrder) {
            expect(answers.filter((answer) => isDeepEqual(answer, result(id)))).toHaveLength(1);
          }
          expect(answers).toHaveLength(expected);
        },
      ),
      { numRuns: 300 },
    );
  });
});

async function openWithBatches(): Promise<OpenWire> {
  const wire = await open();
  wire.transport.setProtocolVersion("2025-03-26");
  return wire;
}

describe("a batch", () => {
  test("is delivered member by member and answered by one array when all members are", async () => {
    const { transport, say, received, heard } = await openWithBatches();
    say([request(1), notification("notifications/initialized"), request("two")]);
    await until(() => received.length === 3);

    await transport.send(result("two", { n: 2 }));
    await ticks();
    expect(heard()).toEqual([]);
    await transport.send(notification("notifications/message", { level: "info", data: "x" }));
    await transport.send(result(1, { n: 1 }));

    await until(() => heard().length === 2);
    expect(received).toEqual([request(1), notification("notifications/initialized"), request("two")]);
    expect(heard()[1]).toEqual([result("two", { n: 2 }), result(1, { n: 1 })]);
  });

  test("is answered once even if its first member is answered at once", async () => {
    const { transport, say, heard } = await openWithBatches();
    listen(transport, {
      onmessage: (message) => {
        if ("id" in message && message.id !== undefined) void transport.send(result(message.id));
      },
    });

    say([request(1), request(2)]);

    await until(() => heard().length === 1);
    await ticks();
    expect(heard()).toEqual([[result(1), result(2)]]);
  });

  test("of notifications or responses only is not answered", async () => {
    const { say, received, heard } = await openWithBatches();

    say(
      [notification("notifications/initialized"), notification("notifications/roots/list_changed")],
      [result(1)],
    );

    await until(() => received.length === 3);
    await ticks();
    expect(heard()).toEqual([]);
  });

  test("has an error in its array for each invalid member that is no response", async () => {
    const { transport, say, received, heard } = await openWithBatches();
    say([{ id: 5 }, 1, [], { jsonrpc: "2.0", error: "bad" }, request(1)]);
    await until(() => received.length === 1);

    await transport.send(result(1));

    await until(() => heard().length === 1);
    expect(heard()).toEqual([[failure(5, -32600), failure(null, -32600), failure(null, -32600), result(1)]]);
  });

  test("must not hold initialize, which gets an error while the other members are served", async () => {
    const { transport, say, received, heard } = await openWithBatches();
    say([request(1, "initialize"), request(2)]);
    await until(() => received.length === 1);

    await transport.send(result(2));

    await until(() => heard().length === 1);
    expect(received).toEqual([request(2)]);
    expect(heard()).toEqual([[failure(1, -32600), result(2)]]);
  });

  test.each<[string, unknown[]]>([
    ["empty", []],
    ["longer than 100", Array.from({ length: 101 }, (_, id) => request(id))],
  ])("is refused by one error if it is %s", async (_, batch) => {
    const { say, received, heard } = await openWithBatches();

    say(batch);

    await until(() => heard().length === 1);
    expect(heard()).toEqual([failure(null, -32600)]);
    expect(received).toEqual([]);
  });

  test("does not wait for a cancelled member", async () => {
    const { transport, say, received, heard } = await openWithBatches();
    say([request(1), request(2)]);
    await until(() => received.length === 2);
    await transport.send(result(1));

    say(cancelled(2));

    await until(() => heard().length === 1);
    expect(heard()).toEqual([[result(1)]]);
  });

  test("of cancelled members only is not answered", async () => {
    const { say, heard, received } = await openWithBatches();

    say([request(1), request(2)], cancelled(1), cancelled(2), request(3));

    await until(() => received.length === 5);
    await ticks();
    expect(heard()).toEqual([]);
  });

  test.each([undefined, "2024-11-05", "2025-06-18", "2025-11-25"])(
    "is refused by one error on a connection of version %s",
    async (version) => {
      const { transport, say, received, heard } = await open();
      if (version !== undefined) transport.setProtocolVersion(version);

      say([request(1), request(2)], [], request(3));

      await until(() => received.length + heard().length === 3);
      expect(received).toEqual([request(3)]);
      expect(heard()).toEqual([failure(null, -32600), failure(null, -32600)]);
      expect(JSON.stringify(heard()[0])).toContain("2025-03-26 only");
    },
  );

  test("sent together with initialize waits for the version that it negotiates", async () => {
    const { transport, say, received, heard } = await open();
    say(request(0, "initialize"), [request(1)], request(2));
    await until(() => received.length === 1);
    await ticks();
    expect(received).toHaveLength(1);

    transport.setProtocolVersion("2025-03-26");
    await transport.send(result(0));

    await until(() => received.length === 3);
    await transport.send(result(1));
    await until(() => heard().length === 2);
    expect(received.slice(1)).toEqual([request(1), request(2)]);
    expect(heard()).toEqual([result(0), [result(1)]]);
  });
});
