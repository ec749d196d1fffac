// Cuts a byte stream into lines of UTF-8, at a cost linear in the bytes received, however they were chunked.
// Keeps one line of at most `maxLineBytes` and what has not been read yet. Knows nothing of JSON or streams.

import { isUtf8 } from "node:buffer";

/** A line without its newline (it may end in a carriage return), or why it can't be read. */
export type Line = { readonly text: string } | { readonly problem: string };

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** A buffer that grew larger than this for one long line is dropped after it. */
const MAX_IDLE_BUFFER_BYTES = 256 * 1024;

export class LineReader {
  readonly #maxLineBytes: number;
  /** The received bytes are those from #lineStart to #end. */
  #buffer = Buffer.alloc(0);
  #lineStart = 0;
  /** There is no newline between #lineStart and here. */
  #searchedTo = 0;
  #end = 0;
  /** The beginning of this line was discarded because the line is too long. */
  #tooLong = false;
  #isFirstLine = true;
  #ended = false;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** Bytes that `next` has not looked at yet. */
  get unreadBytes(): number {
    return this.#end - this.#searchedTo;
  }

  push(chunk: Uint8Array): void {
    if (this.#end + chunk.length > this.#buffer.length) this.#makeSpace(chunk.length);
    this.#buffer.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /** No more bytes will come: what is left without a newline is the last line. */
  end(): void {
    this.#ended = true;
  }

  /** The next line, or undefined until more bytes have come. */
  next(): Line | undefined {
    const newline = this.#buffer.subarray(this.#searchedTo, this.#end).indexOf(NEWLINE);
    if (newline === -1 && !this.#ended) {
      this.#searchedTo = this.#end;
      if (this.#end - this.#lineStart > this.#maxLineBytes) this.#discardBeginning();
      return undefined;
    }
    const lineEnd = newline === -1 ? this.#end : this.#searchedTo + newline;
    if (newline === -1 && lineEnd === this.#lineStart && !this.#tooLong) return undefined;
    const line = this.#decode(this.#buffer.subarray(this.#lineStart, lineEnd));
    this.#lineStart = this.#searchedTo = newline === -1 ? lineEnd : lineEnd + 1;
    this.#tooLong = false;
    this.#isFirstLine = false;
    if (this.#lineStart === this.#end) this.#reset();
    return line;
  }

  #decode(bytes: Buffer): Line {
    if (this.#tooLong || bytes.length > this.#maxLineBytes) {
      return { problem: `the line is longer than ${this.#maxLineBytes} bytes` };
    }
    // A lenient decoder would replace the invalid bytes, and so change the message.
    if (!isUtf8(bytes)) return { problem: "the line is not UTF-8" };
    const marked = this.#isFirstLine && bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
    return { text: bytes.toString("utf8", marked ? BYTE_ORDER_MARK.length : 0) };
  }

  /** Moves the unfinished line to the front of the buffer, or of a larger one. */
  #makeSpace(chunkBytes: number): void {
    const needed = this.#end - this.#lineStart + chunkBytes;
    // Twice what is needed: otherwise one-byte chunks would copy the line once for each byte.
    const target = 2 * needed > this.#buffer.length ? Buffer.allocUnsafe(2 * needed) : this.#buffer;
    this.#buffer.copy(target, 0, this.#lineStart, this.#end);
    this.#buffer = target;
    this.#end -= this.#lineStart;
    this.#searchedTo -= this.#lineStart;
    this.#lineStart = 0;
  }

  #discardBeginning(): void {
    this.#tooLong = true;
    this.#reset();
  }

  #reset(): void {
    this.#lineStart = this.#searchedTo = this.#end = 0;
    if (this.#buffer.length > MAX_IDLE_BUFFER_BYTES) this.#buffer = Buffer.alloc(0);
  }
}
