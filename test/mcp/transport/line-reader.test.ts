import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createLineReader } from "../../../src/mcp/transport/line-reader.ts";
import type { Line, LineReader } from "../../../src/mcp/transport/line-reader.ts";

function drain(reader: LineReader): Line[] {
  const lines: Line[] = [];
  for (let line = reader.next(); line !== undefined; line = reader.next()) lines.push(line);
  return lines;
}

function read(chunks: (string | Uint8Array)[], maxLineBytes = 1000): Line[] {
  const reader = createLineReader({ maxLineBytes });
  const lines = chunks.flatMap((chunk) => {
    reader.push(Buffer.from(chunk));
    return drain(reader);
  });
  reader.end();
  return [...lines, ...drain(reader)];
}

function cut(bytes: Buffer, sizes: number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  for (let turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

const text = (value: string): Line => ({ kind: "text", text: value });

describe("the line reader", () => {
  test("gives the lines of one chunk in order, and an unfinished one only when it is finished", () => {
    const reader = createLineReader({ maxLineBytes: 1000 });
    reader.push(Buffer.from("one\ntwo\nthr"));

    expect(drain(reader)).toEqual([text("one"), text("two")]);
    reader.push(Buffer.from("ee\n"));
    expect(drain(reader)).toEqual([text("three")]);
  });

  test("gives one line at a time, so that its user can stop in the middle of a chunk", () => {
    const reader = createLineReader({ maxLineBytes: 1000 });
    reader.push(Buffer.from("one\ntwo\nthree\n"));

    expect(reader.next()).toEqual(text("one"));
    expect(reader.unreadBytes()).toBe("two\nthree\n".length);
    reader.push(Buffer.from("four\n"));
    expect(drain(reader)).toEqual([text("two"), text("three"), text("four")]);
    expect(reader.unreadBytes()).toBe(0);
  });

  test("keeps the carriage return of a CRLF line, which JSON takes for white space", () => {
    expect(read(["one\r\n\r\ntwo\r\n"])).toEqual([text("one\r"), text("\r"), text("two\r")]);
  });

  test("drops a byte order mark at the very start and nowhere else", () => {
    expect(read([Buffer.from([0xef]), Buffer.from([0xbb, 0xbf]), "one\n\uFEFFtwo\n"])).toEqual([
      text("one"),
      text("\uFEFFtwo"),
    ]);
  });

  test("decodes a character whose bytes came in different chunks", () => {
    expect(read(cut(Buffer.from("é🎬ü\n"), [1]))).toEqual([text("é🎬ü")]);
  });

  test("says so when a line is not UTF-8, and reads on", () => {
    expect(read([Buffer.from([0x22, 0xff, 0x22, 0x0a]), Buffer.from([0xc3, 0x0a]), "good\n"])).toEqual([
      { kind: "not-utf8" },
      { kind: "not-utf8" },
      text("good"),
    ]);
  });

  test("takes a line of exactly the limit and discards one of a byte more, in one chunk or many", () => {
    const bytes = Buffer.from(`${"a".repeat(10)}\n${"b".repeat(11)}\n${"c".repeat(50)}\nok\n`);
    const expected = [text("a".repeat(10)), { kind: "too-long" }, { kind: "too-long" }, text("ok")];

    expect(read([bytes], 10)).toEqual(expected);
    expect(read(cut(bytes, [1]), 10)).toEqual(expected);
    expect(read(cut(bytes, [7, 3]), 10)).toEqual(expected);
  });

  test("takes what is left without a newline at the end for the last line", () => {
    expect(read(["one\ntwo"])).toEqual([text("one"), text("two")]);
    expect(read(["one\n"])).toEqual([text("one")]);
    expect(read(["a".repeat(11)], 10)).toEqual([{ kind: "too-long" }]);
    expect(read([])).toEqual([]);
  });

  test("costs no more than a line's length for one-byte chunks", () => {
    const maxLineBytes = 4 * 1024 * 1024;
    const bytes = Buffer.from(`"${"x".repeat(maxLineBytes - 2)}"\n`);
    const reader = createLineReader({ maxLineBytes });
    const started = performance.now();

    for (let at = 0; at < bytes.length; at += 1) {
      reader.push(bytes.subarray(at, at + 1));
      if (at < bytes.length - 1) reader.next();
    }

    expect(reader.next()).toEqual(text(bytes.toString("utf8", 0, bytes.length - 1)));
    // Linear: about a second on a slow machine. Copying the line for each byte would take hours.
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test("finds the same lines however the bytes are cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "binary", maxLength: 30 }).map((line) => line.replaceAll("\n", " "))),
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }),
        (lines, sizes) => {
          const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
          expect(read(cut(bytes, sizes), 60)).toEqual(read([bytes], 60));
        },
      ),
    );
  });
});
