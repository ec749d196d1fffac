// Hands lines to a stream as it asks for them, the first at once and what comes in the same turn of the event loop together,
// and keeps the others: so a notification that a slow reader has not been sent yet can still be replaced by a later one.
// Knows nothing of JSON.

import type { Writable } from "node:stream";

export interface LineWriter {
  /** A line waiting under the same key is dropped in favour of this one. */
  write(line: string, key?: string): void;
  /** Waiting here or in the stream's own buffer. */
  unwrittenBytes(): number;
  /** Leaves what is waiting to the stream's own buffer and takes no more. */
  end(): void;
}

/** Each write costs a system call here and another at the reader; past this size they no longer count. */
const MOST_TOGETHER_BYTES = 16 * 1024;

export function createLineWriter(output: Writable, onWritten: () => void): LineWriter {
  // In the order of leaving. A replaced line goes to the end: in its old place it would leave before an answer that
  // was made before the change it announces, and the reader would take that older state for the news.
  const waiting = new Map<string | symbol, { text: string; bytes: number }>();
  let waitingBytes = 0;
  let backedUp = false;
  let collecting = false;

  function flush(): void {
    while (!backedUp && waiting.size > 0) backedUp = !output.write(takeTogether(), onWritten);
  }

  function takeTogether(): string {
    let together = "";
    let togetherBytes = 0;
    for (const [key, { text, bytes }] of waiting) {
      if (togetherBytes > 0 && togetherBytes + bytes > MOST_TOGETHER_BYTES) break;
      waiting.delete(key);
      together += text;
      togetherBytes += bytes;
    }
    waitingBytes -= togetherBytes;
    return together;
  }

  function drained(): void {
    backedUp = false;
    flush();
  }
  output.on("drain", drained);

  return {
    write(line, sharedKey) {
      const key = sharedKey ?? Symbol("line");
      const text = `${line}\n`;
      const bytes = Buffer.byteLength(text);
      waitingBytes += bytes - (waiting.get(key)?.bytes ?? 0);
      waiting.delete(key);
      waiting.set(key, { text, bytes });
      if (collecting || backedUp) return;
      flush();
      collecting = true;
      setImmediate(() => {
        collecting = false;
        flush();
      });
    },
    unwrittenBytes: () => waitingBytes + output.writableLength,
    end() {
      output.off("drain", drained);
      if (output.writable) for (const { text } of waiting.values()) output.write(text);
      waiting.clear();
      waitingBytes = 0;
    },
  };
}
