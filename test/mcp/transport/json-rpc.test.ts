import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Line, LineReader } from "../../../src/mcp/transport/json-rpc.ts";
import { anyCharacter } from "../../fixtures/any-character.ts";

const TOO_LONG = { problem: "the line is longer than 10 bytes" };

function remaining(reader: LineReader): Line[] {
  const lines: Line[] = [];
  for (let line = reader.next(); line !== undefined; line = reader.next()) lines.push(line);
  return lines;
}

/** All lines of these chunks, read as soon as they arrive. */
function read(chunks: readonly (string | Uint8Array)[], maxLineBytes = 1000): Line[] {
  const reader = new LineReader(maxLineBytes);
  const lines = chunks.flatMap((chunk) => {
    reader.push(Buffer.from(chunk));
    return remaining(reader);
  });
  reader.end();
  return [...lines, ...remaining(reader)];
}

/** The bytes in chunks of these sizes, repeated. */
function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let from = 0, turn = 0; from < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    chunks.push(bytes.subarray(from, from + size));
    from += size;
  }
  return chunks;
}

const texts = (...lines: string[]): Line[] => lines.map((text) => ({ text }));

test("lines come in order, an unfinished one once it is complete or the input ends", () => {
  const reader = new LineReader(1000);
  reader.push(Buffer.from("one\ntwo\nthr"));
  expect(reader.next()).toEqual({ text: "one" });
  expect(reader.unreadBytes).toBe("two\nthr".length);
  reader.push(Buffer.from("ee\n\nfour"));

  expect(remaining(reader)).toEqual(texts("two", "three", ""));
  expect(reader.unreadBytes).toBe(0);
  reader.end();
  expect(remaining(reader)).toEqual(texts("four"));
});

test.each([[[1000]], [[1]], [[7, 3]]])(
  "a line may have exactly the limit; longer ones are discarded and reported (chunks of %j bytes)",
  (sizes) => {
    const bytes = Buffer.from(
      `${"a".repeat(10)}\n${"b".repeat(11)}\n${"c".repeat(50)}\nok\n${"d".repeat(11)}`,
    );
    expect(read(cut(bytes, sizes), 10)).toEqual([
      { text: "a".repeat(10) },
      TOO_LONG,
      TOO_LONG,
      { text: "ok" },
      TOO_LONG,
    ]);
  },
);

// Copying the line for each byte would take a minute and more: the runner's own time limit is the test.
test("a long line can come byte by byte", () => {
  const bytes = Buffer.from(`${"x".repeat(600_000)}\n`);

  const reader = new LineReader(bytes.length);
  for (let at = 0; at < bytes.length - 1; at += 1) {
    reader.push(bytes.subarray(at, at + 1));
    if (reader.next() !== undefined) throw new Error("The line is not complete.");
  }
  reader.push(bytes.subarray(-1));

  expect(reader.next()).toEqual({ text: bytes.toString("utf8", 0, bytes.length - 1) });
});

test("the same lines are found however the bytes are split", () => {
  const line = fc.string({ unit: anyCharacter, maxLength: 15 }).map((text) => text.replaceAll("\n", " "));
  fc.assert(
    fc.property(
      fc.array(line),
      fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }),
      (lines, sizes) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""));
        const expected = lines.map((text, index) =>
          Buffer.byteLength(text) > 30
            ? { problem: "the line is longer than 30 bytes" }
            : { text: index === 0 ? text.replace(/^\uFEFF/, "") : text },
        );
        expect(read(cut(bytes, sizes), 30)).toEqual(expected);
      },
    ),
    { seed: 1 },
  );
});
