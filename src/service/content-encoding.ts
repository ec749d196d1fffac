// Undoes the compression of an answer that came compressed although none was asked for, as some gateways send it.
// Knows nothing of requests.

import { errnoOf } from "../errors.ts";
import { MAX_ANSWER_BYTES } from "./responses.ts";
import type { NetworkFailure } from "./transport-failure.ts";

/** Nobody compresses more often. */
const MAX_ENCODINGS = 3;

/** An answer that can't be decompressed. */
export class EncodingError extends Error {
  override readonly name = "EncodingError";
  readonly failure: NetworkFailure;

  constructor(reason: string, cause?: unknown) {
    super(reason, { cause });
    const fix =
      "Try again in a minute. If that fails too, a gateway in front of the service compresses wrongly: its operator has to correct it.";
    this.failure = { kind: "unreadable", reason, fix };
  }
}

/** The names of the encodings that the header `content-encoding` lists, in the order in which they were applied. */
export function encodingsOf(header: string | string[] | undefined, body: Buffer): readonly string[] {
  const named = String(header ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity");
  // Some proxies compress and drop the header. JSON begins with no such byte.
  return named.length === 0 && isGzip(body) ? ["gzip"] : named;
}

/** The body as it was before these encodings. Throws an EncodingError. */
export async function decode(body: Buffer, encodings: readonly string[]): Promise<Buffer> {
  const zlib = await import("node:zlib");
  const options = { maxOutputLength: MAX_ANSWER_BYTES };
  const decoders = new Map<string, (bytes: Buffer) => Buffer>([
    ["gzip", (bytes) => zlib.gunzipSync(bytes, options)],
    ["x-gzip", (bytes) => zlib.gunzipSync(bytes, options)],
    ["br", (bytes) => zlib.brotliDecompressSync(bytes, options)],
    // With zlib's header, as the standard says, or without, as some servers send it.
    ["deflate", (bytes) => (hasZlibHeader(bytes) ? zlib.inflateSync : zlib.inflateRawSync)(bytes, options)],
  ]);
  const decodeOnce = (bytes: Buffer, name: string): Buffer => {
    // An error may have no body at all.
    if (bytes.length === 0) return bytes;
    try {
      const decoder = decoders.get(name);
      if (decoder === undefined) throw new EncodingError("this server can't undo its compression");
      return decoder(bytes);
    } catch (error) {
      if (errnoOf(error) === "ERR_BUFFER_TOO_LARGE") throw new EncodingError("it is larger than 4 MB", error);
      // Some proxies decompress and leave the header, and some servers name a character set in it.
      if (looksPlain(bytes)) return bytes;
      throw error instanceof EncodingError ? error : new EncodingError("its compression is damaged", error);
    }
  };
  return encodings.slice(-MAX_ENCODINGS).reduceRight(decodeOnce, body);
}

function isGzip([first, second]: Buffer): boolean {
  return first === 0x1f && second === 0x8b;
}

function hasZlibHeader([first = 0, second = 0]: Buffer): boolean {
  return first % 16 === 8 && (first * 256 + second) % 31 === 0;
}

/** True for what begins as JSON or a page does. */
function looksPlain(bytes: Buffer): boolean {
  return /^\s*[[{"<]/.test(bytes.toString("latin1", 0, 100));
}
