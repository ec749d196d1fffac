// Hands lines to a stream one at a time, as it asks for them, and keeps the others: so a notification that a slow
// reader has not been sent yet can still be replaced by a later one. Knows nothing of JSON.

import type { Writable } from "node:stream";

export interface LineWriter {
  /** A line waiting under the same key is dropped in favour of this one. */
  write(line: string, key?: string): void;
  /** Waiting here or in the stream's own buffer. */
  unwrittenBytes(): number;
  /** Leaves what is waiting to the stream's own buffer and takes no more. */
  end(): void;
}

export function createLineWriter(output: Writable, onWritten: () => void): LineWriter {
  // In the order of leaving. A replaced line goes to the end: in its old place it would leave before an answer that
  // was made before the change it announces, and the reader would take that older state for the news.
  const waiting = new Map<string | symbol, { text: string; bytes: number }>();
  let waitingBytes = 0;
  let backedUp = false;

  function flush(): void {
    for (const [key, { text, bytes }] of waiting) {
      if (backedUp) return;
      waiting.delete(key);
      waitingBytes -= bytes;
      backedUp = !output.write(text, onWritten);
    }
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
      flush();
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
