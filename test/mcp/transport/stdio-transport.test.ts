import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { PassThrough, Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import {
  ticks,
  until,
  parseLines,
  over,
  listen,
  open,
  openStalled,
  request,
  notification,
  result,
  failure,
  cancelled,
  updated,
  names,
  failOnUnhandledRejections,
} from "./wire.ts";
import type { OpenWire } from "./wire.ts";

failOnUnhandledRejections();

function many(from: number, to: number): JSONRPCMessage[] {
  return Array.from({ length: to - from + 1 }, (_, index) => request(from + index));
}

/** As long as work takes that waits for nothing outside. */
async function later(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
}

describe("the input", () => {
  test("is taken only up to 64 requests in flight, and on as they are answered", async () => {
    const { transport, sayBytes, received } = await open();

    sayBytes(
      many(1, 70)
        .map((message) => `${JSON.stringify(message)}\n`)
        .join(""),
    );
    await until(() => received.length >= 64);
    await ticks();
    expect(received).toHaveLength(64);

    await transport.send(result(10));
    await until(() => received.length === 65);
    await ticks();
    expect(names(received).slice(-1)).toEqual([65]);

    for (let id = 1; id <= 20; id += 1) await transport.send(result(id));
    await until(() => received.length === 70);
    expect(names(received)).toEqual(names(many(1, 70)));
  });

  test("is paused when it is far ahead of what is taken, and nothing is lost", async () => {
    const { transport, input, say, received } = await open({ maxInFlight: 1 });
    const pad = "x".repeat(20_000);
    for (let id = 1; id <= 30; id += 1) say(request(id, "ping", { pad }));
    await until(() => input.isPaused());
    expect(received).toHaveLength(1);

    for (let id = 1; id <= 30; id += 1) {
      await until(() => received.length === id);
      await transport.send(result(id));
    }

    expect(names(received)).toEqual(names(many(1, 30)));
    expect(input.isPaused()).toBe(false);
  });

  test("has room again when a request is cancelled, which the SDK does not answer", async () => {
    const { say, received } = await open({ maxInFlight: 2 });

    say(request(1), cancelled(1), request(2), cancelled(2), request(3), request(4), request(5));

    await until(() => received.length === 6);
    await ticks();
    expect(names(received).filter((id) => typeof id === "number")).toEqual([1, 2, 3, 4]);
  });

  test("counts two requests of one id as two", async () => {
    const { transport, say, received } = await open({ maxInFlight: 2 });
    say(request(1), request(1), request(2));
    await until(() => received.length === 2);
    await ticks();
    expect(received).toHaveLength(2);

    await transport.send(result(1));
    await until(() => received.length === 3);
    await transport.send(result(1));
    say(request(3), request(4));

    await until(() => received.length === 4);
    await ticks();
    expect(names(received)).toEqual([1, 1, 2, 3]);
  });

  test("has room again when a request is answered, though the answer is not written yet", async () => {
    const { transport, say, received } = await openStalled({ maxInFlight: 1 });
    say(request(1), request(2));
    await until(() => received.length === 1);

    await transport.send(result(1));

    await until(() => received.length === 2);
    expect(names(received)).toEqual([1, 2]);
  });

  test("is delivered one message after the other, whatever the receiver does meanwhile", async () => {
    const { transport, input, say } = await open();
    const events: string[] = [];
    listen(transport, {
      onmessage(message) {
        events.push(`begin ${JSON.stringify(names([message]))}`);
        if (events.length === 1) input.emit("data", Buffer.from(`${JSON.stringify(request(2))}\n`));
        events.push(`end ${JSON.stringify(names([message]))}`);
      },
    });

    say(request(1));

    await until(() => events.length === 4);
    expect(events).toEqual(["begin [1]", "end [1]", "begin [2]", "end [2]"]);
  });

  test("is not held back by an answer that nobody asked for, or two answers to one request", async () => {
    const { transport, say, received } = await open({ maxInFlight: 1 });
    await transport.send(result(77));
    say(request(1), request(2), request(3));
    await until(() => received.length === 1);

    await transport.send(result(1));
    await transport.send(result(1));

    await until(() => received.length === 2);
    await ticks();
    expect(names(received)).toEqual([1, 2]);
  });

  test("does not count a subscription that is acknowledged and has no answer until it ends", async () => {
    const { transport, say, received } = await open({ maxInFlight: 1 });

    say(request("s", "subscriptions/listen"), request(1));
    await until(() => received.length === 1);
    await transport.send(
      notification("notifications/subscriptions/acknowledged", {
        _meta: { "io.modelcontextprotocol/subscriptionId": "s" },
      }),
    );

    await until(() => received.length === 2);
    expect(names(received)).toEqual(["s", 1]);
  });

  test("is taken past the limit while the server waits for the client's answer, and held back again after it", async () => {
    const { transport, say, received } = await open({ maxInFlight: 1 });
    say(request(1));
    await until(() => received.length === 1);
    await transport.send(request(500, "elicitation/create"));

    say(request(2), result(500), request(3));

    await until(() => received.length === 3);
    await ticks();
    expect(received).toEqual([request(1), request(2), result(500)]);
  });

  test("is held back again when the server gives up waiting for the client's answer", async () => {
    const { transport, say, received } = await open({ maxInFlight: 1 });
    say(request(1));
    await until(() => received.length === 1);
    await transport.send(request(500, "elicitation/create"));
    await transport.send(cancelled(500));

    say(request(2));

    await ticks();
    expect(names(received)).toEqual([1]);
  });

  test("is held back while more than the limit is unwritten, in the queue or the stream, and goes on after", async () => {
    const { transport, output, say, received } = await openStalled({
      maxUnwrittenBytes: 1000,
      highWaterMark: 500,
    });
    for (let id = 1; id <= 3; id += 1) await transport.send(result(id, { pad: "x".repeat(400) }));

    say(request(1));
    await ticks();
    expect(received).toEqual([]);

    output.step();
    await until(() => received.length === 1);
    expect(received).toEqual([request(1)]);
  });

  test("goes on after one large write to a stream that asks for no pause", async () => {
    const { transport, output, say, received } = await openStalled({
      maxUnwrittenBytes: 100,
      highWaterMark: 10_000,
    });
    await transport.send(result(1, { pad: "x".repeat(400) }));
    say(request(1));
    await ticks();
    expect(received).toEqual([]);

    output.flow();

    await until(() => received.length === 1);
  });

  test("of bad lines is held back too if nobody reads the answers", async () => {
    const { output, sayBytes, say, received, input } = await openStalled({ maxUnwrittenBytes: 10_000 });
    for (let turn = 0; turn < 100; turn += 1) sayBytes("bad\n".repeat(500));
    say(request(1));
    await until(() => input.isPaused());
    expect(received).toEqual([]);

    output.flow();

    await until(() => received.length === 1 && output.writableLength === 0);
    await ticks();
    expect(parseLines(output.written)).toHaveLength(50_000);
  });
});

describe("the output", () => {
  test("gets a line at once, and those that come in the same turn together", async () => {
    const { transport, output, heard } = await open();
    const chunks: string[] = [];
    output.on("data", (chunk: Buffer) => void chunks.push(chunk.toString()));
    const lines = [1, 2, 3].map((id) => `${JSON.stringify(result(id))}\n`);

    for (let id = 1; id <= 3; id += 1) await transport.send(result(id));

    await until(() => heard().length === 3);
    expect(chunks).toEqual([lines[0], `${lines[1]}${lines[2]}`]);
  });

  test("gets one line at a time while the reader stalls, and loses none", async () => {
    const { transport, output } = await openStalled({ highWaterMark: 10 });
    for (let id = 1; id <= 5; id += 1) await transport.send(result(id));
    await ticks();
    const one = JSON.stringify(result(1)).length + 1;
    expect(output.writableLength).toBe(one);

    output.flow();

    await until(() => parseLines(output.written).length === 5);
    expect(parseLines(output.written)).toEqual([1, 2, 3, 4, 5].map((id) => result(id)));
  });

  test("gets only the latest of the updates of one resource that wait, behind what was said before", async () => {
    const { transport, output } = await openStalled({ highWaterMark: 10 });
    await transport.send(result(0));
    const listChanged = notification("notifications/resources/list_changed");
    const progress = notification("notifications/progress", { progressToken: 1, progress: 1 });
    const said = [
      updated("faceless://jobs/a"),
      listChanged,
      updated("faceless://jobs/b"),
      progress,
      result(1, { state: "old" }),
      updated("faceless://jobs/a"),
      listChanged,
      progress,
    ];
    for (const message of said) await transport.send(message);

    output.flow();

    await until(() => output.writableLength === 0);
    await ticks();
    expect(parseLines(output.written)).toEqual([
      result(0),
      updated("faceless://jobs/b"),
      progress,
      result(1, { state: "old" }),
      updated("faceless://jobs/a"),
      listChanged,
      progress,
    ]);
  });

  test("gets an update for each subscription, and for each resource", async () => {
    const { transport, output } = await openStalled({ highWaterMark: 10 });
    await transport.send(result(0));
    const said = [updated("u:1", "s1"), updated("u:1", "s2"), updated("u:2", "s1"), updated("u:1")];
    for (const message of said) await transport.send(message);

    output.flow();

    await until(() => output.writableLength === 0);
    await ticks();
    expect(parseLines(output.written)).toEqual([result(0), ...said]);
  });

  test("gets every update while the reader keeps up", async () => {
    const { transport, heard } = await open();

    for (let turn = 0; turn < 3; turn += 1) {
      await transport.send(updated("u:1"));
      await ticks(1);
    }

    expect(heard()).toEqual([updated("u:1"), updated("u:1"), updated("u:1")]);
  });

  test("of 100,000 updates to a reader that stalls stays as small as one", async () => {
    const { transport, output, say, received } = await openStalled({ highWaterMark: 10 });
    for (let turn = 0; turn < 100_000; turn += 1) await transport.send(updated(`u:${turn % 10}`));

    say(request(1));
    await until(() => received.length === 1);
    output.flow();

    await until(() => output.writableLength === 0);
    await ticks();
    expect(parseLines(output.written)).toHaveLength(11);
  });

  test("passes the last look, batch answers and errors included", async () => {
    const { transport, say, sayBytes, received, heard } = await open({
      outgoing: (json) => json.replaceAll("fl_secret", "[redacted]"),
    });
    transport.setProtocolVersion("2025-03-26");
    sayBytes('{"id":"fl_secret"}\n');
    say([request(1)]);
    await until(() => received.length === 1);

    await transport.send(result(1, { key: "fl_secret" }));
    await transport.send(notification("notifications/message", { data: "fl_secret" }));

    await until(() => heard().length === 3);
    expect(heard()).toEqual([
      failure("[redacted]", -32600),
      [result(1, { key: "[redacted]" })],
      notification("notifications/message", { data: "[redacted]" }),
    ]);
  });

  test("gets an error in place of an answer that can't be written, and the notification's sender is told", async () => {
    const { transport, say, received, heard, errors } = await open({ maxInFlight: 1 });
    let deep: unknown[] = [];
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    say(request(1), request(2));
    await until(() => received.length === 1);

    await transport.send(result(1, { deep }));
    await expect(transport.send(notification("notifications/message", { deep }))).rejects.toThrow(RangeError);

    await until(() => received.length === 2);
    expect(heard()).toEqual([failure(1, -32603)]);
    expect(errors).toHaveLength(2);
  });

  test("is what onOutbound makes of it", async () => {
    const { transport, heard } = await open({ onOutbound: () => result(2) });

    await transport.send(result(1));

    await until(() => heard().length === 1);
    expect(heard()).toEqual([result(2)]);
  });

  test("is shown to onOutbound before it is written, and a throw there stops nothing", async () => {
    const seen: JSONRPCMessage[] = [];
    const { transport, heard, errors } = await open({
      onOutbound(message) {
        seen.push(message);
        throw new Error("onlooker broke");
      },
    });

    await transport.send(result(1));

    await until(() => heard().length === 1);
    expect(seen).toEqual([result(1)]);
    expect(errors.map((error) => error.message)).toEqual(["onlooker broke"]);
  });
});

describe("the connection", () => {
  test("ends when the input ends, after what came is delivered and what can be answered at once is answered", async () => {
    const { transport, input, say, received, heard, closings } = await open({ maxInFlight: 2 });
    listen(transport, {
      onmessage(message) {
        received.push(message);
        if ("id" in message && message.id !== undefined) {
          const answer = result(message.id);
          void later().then(() => transport.send(answer));
        }
      },
    });

    say(request(1), request(2), request(3), request(4));
    input.end(JSON.stringify(request(5)));

    await until(() => closings() > 0);
    await ticks();
    expect(received).toEqual([1, 2, 3, 4, 5].map((id) => request(id)));
    expect(heard()).toEqual([1, 2, 3, 4, 5].map((id) => result(id)));
    expect(closings()).toBe(1);
  });

  test("takes a last line without a newline", async () => {
    const { input, received, closings } = await open();

    input.end(JSON.stringify(request(1)));

    await until(() => closings() > 0);
    expect(received).toEqual([request(1)]);
  });

  test("takes all that came before the input ended, as the limits let it", async () => {
    const { transport, input, say, received, heard, closings } = await open({ maxInFlight: 1 });
    listen(transport, {
      onmessage(message) {
        received.push(message);
        if ("id" in message) queueMicrotask(() => void transport.send(result(message.id ?? 0)));
      },
    });

    say(request(1), request(2), request(3));
    input.end();

    await until(() => closings() === 1);
    await ticks();
    expect(heard()).toEqual([result(1), result(2), result(3)]);
  });

  test("ends when the input ends though the limits hold messages back, which are dropped", async () => {
    const { transport, input, say, received, closings } = await openStalled({ maxUnwrittenBytes: 10 });
    await transport.send(result(0));
    say(request(1), request(2), request(3));
    await ticks();

    input.end();

    await until(() => closings() === 1);
    await ticks();
    expect(received).toEqual([]);
  });

  test("takes no more when told so, and still sends the answers to what it has taken", async () => {
    const { transport, input, say, received, heard, closings } = await open();
    say(request(1));
    await until(() => received.length === 1);

    transport.takeNoMore();
    say(request(2));
    await ticks();
    await transport.send(result(1));
    input.end();

    await until(() => closings() === 1);
    expect(received).toEqual([request(1)]);
    expect(heard()).toEqual([result(1)]);
  });

  test.each<[string, (wire: OpenWire) => void, number]>([
    ["the input is destroyed", ({ input }) => void input.destroy(), 0],
    ["the input fails", ({ input }) => void input.destroy(new Error("EIO")), 1],
    ["the output fails", ({ output }) => void output.destroy(new Error("EPIPE")), 1],
    ["the output closes", ({ output }) => void output.destroy(), 0],
    ["it is closed", ({ transport }) => void transport.close(), 0],
  ])("ends once and quietly when %s", async (_, end, reported) => {
    const wire = await open();
    const { transport, input, output, received, errors, closings } = wire;

    end(wire);
    await until(() => closings() > 0);
    await transport.close();
    output.emit("error", new Error("ERR_STREAM_DESTROYED"));
    input.emit("error", new Error("late"));
    input.emit("end");
    input.emit("data", Buffer.from(`${JSON.stringify(request(1))}\n`));
    await ticks();

    expect(closings()).toBe(1);
    expect(errors).toHaveLength(reported);
    expect(received).toEqual([]);
    await expect(transport.send(result(1))).rejects.toThrow("The connection is closed");
  });

  test("ends when a write fails, with lines waiting behind it", async () => {
    const output = new Writable({
      highWaterMark: 1,
      write: (_chunk, _encoding, done) => void setImmediate(() => done(new Error("EPIPE"))),
    });
    const { transport, closings, errors } = over(output);
    await transport.start();

    await Promise.all([1, 2, 3].map((id) => transport.send(result(id))));

    await until(() => closings() === 1);
    expect(errors.map((error) => error.message)).toEqual(["EPIPE"]);
  });

  test("leaves what waits for a slow reader to the stream when it is closed", async () => {
    const { transport, output } = await openStalled({ highWaterMark: 10 });
    for (let id = 1; id <= 3; id += 1) await transport.send(result(id));

    await transport.close();
    output.flow();

    await until(() => parseLines(output.written).length === 3);
    expect(parseLines(output.written)).toEqual([1, 2, 3].map((id) => result(id)));
  });

  test.each<[string, (input: PassThrough, output: PassThrough) => void]>([
    ["the input was destroyed", (input) => void input.destroy()],
    ["the output was destroyed", (_input, output) => void output.destroy()],
    ["the output was ended", (_input, output) => void output.end()],
  ])("ends at once when %s before the start", async (_, end) => {
    const { transport, input, output, closings } = over(new PassThrough());
    end(input, output);
    await ticks();

    await transport.start();

    await until(() => closings() > 0);
    await ticks();
    expect(closings()).toBe(1);
  });

  test("starts only once", async () => {
    const { transport } = await open();

    await expect(transport.start()).rejects.toThrow("started before");
  });

  test("outlives handlers of its own that throw", async () => {
    const { transport, sayBytes, closings, heard } = await open();
    const counted = transport.onclose;
    listen(transport, {
      onerror() {
        throw new Error("onerror broke");
      },
      onclose() {
        counted?.();
        throw new Error("onclose broke");
      },
    });

    sayBytes('{"error":1}\nbad\n');
    await until(() => heard().length === 1);
    await transport.close();

    expect(closings()).toBe(1);
  });
});
