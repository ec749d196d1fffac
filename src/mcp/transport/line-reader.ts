// Cuts a byte stream into lines: at "\n", whatever the chunk boundaries, at a cost linear in the bytes received.
// Keeps at most one line and what was pushed but not asked for; knows nothing of JSON or streams.

import { isUtf8 } from "node:buffer";

/** `text` holds no newline but may end in "\r", which is white space to JSON. */
export type Line = { kind: "text"; text: string } | { kind: "too-long" } | { kind: "not-utf8" };

export interface LineReader {
  push(chunk: Buffer): void;
  /** No more bytes will come: what is left without a newline counts as the last line. */
  end(): void;
  /** The next complete line, or undefined until more bytes have come. */
  next(): Line | undefined;
  /** Bytes pushed that next() has not looked at yet. */
  unreadBytes(): number;
}

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const EMPTY = Buffer.alloc(0);
const KEPT_CAPACITY = 64 * 1024;

export function createLineReader({ maxLineBytes }: { maxLineBytes: number }): LineReader {
  let chunks: Buffer[] = [];
  let firstChunk = 0;
  let unread = 0;
  // The beginning of a line whose end has not come. It grows by doubling, so that one-byte chunks neither cost a
  // copy of the whole line each nor a Buffer object for each byte.
  let partial: Buffer = EMPTY;
  let partialBytes = 0;
  let tooLong = false;
  let ended = false;
  let atStart = true;

  function keep(part: Buffer): void {
    if (tooLong || part.length === 0) return;
    const needed = partialBytes + part.length;
    if (needed > maxLineBytes) {
      tooLong = true;
      partial = EMPTY;
      partialBytes = 0;
      return;
    }
    if (needed > partial.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, Math.min(partial.length * 2, maxLineBytes), 1024));
      partial.copy(grown, 0, 0, partialBytes);
      partial = grown;
    }
    part.copy(partial, partialBytes);
    partialBytes = needed;
  }

  function finish(lastPart: Buffer): Line {
    const whole = partialBytes === 0 && !tooLong && lastPart.length <= maxLineBytes;
    if (!whole) keep(lastPart);
    const bytes = whole ? lastPart : partial.subarray(0, partialBytes);
    const line: Line = tooLong ? { kind: "too-long" } : decode(bytes);
    atStart = false;
    tooLong = false;
    partialBytes = 0;
    if (partial.length > KEPT_CAPACITY) partial = EMPTY;
    return line;
  }

  function decode(bytes: Buffer): Line {
    const marked = atStart && bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
    // Checked first: a lenient decoder would put U+FFFD for the bad bytes and so change what was said.
    if (!isUtf8(bytes)) return { kind: "not-utf8" };
    return { kind: "text", text: bytes.toString("utf8", marked ? BYTE_ORDER_MARK.length : 0) };
  }

  return {
    push(chunk) {
      if (chunk.length === 0) return;
      chunks.push(chunk);
      unread += chunk.length;
    },
    end() {
      ended = true;
    },
    next() {
      for (let chunk = chunks[firstChunk]; chunk !== undefined; chunk = chunks[firstChunk]) {
        const newline = chunk.indexOf(NEWLINE);
        if (newline !== -1 && newline + 1 < chunk.length) {
          chunks[firstChunk] = chunk.subarray(newline + 1);
          unread -= newline + 1;
          return finish(chunk.subarray(0, newline));
        }
        // An index and not shift(), which moves all the others on each call.
        firstChunk += 1;
        unread -= chunk.length;
        if (firstChunk === chunks.length) {
          chunks = [];
          firstChunk = 0;
        }
        if (newline !== -1) return finish(chunk.subarray(0, newline));
        keep(chunk);
      }
      return ended && (partialBytes > 0 || tooLong) ? finish(EMPTY) : undefined;
    },
    unreadBytes: () => unread,
  };
}
