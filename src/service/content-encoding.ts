// Undoes the compression of an answer that came compressed although none was asked for, as some gateways send
// it. Knows nothing of requests.

import { errnoOf } from "../errors.ts";
import { MAX_ANSWER_BYTES } from "./responses.ts";
import { networkError } from "./transport-failure.ts";

/** Nobody compresses more often. */
const MAX_ENCODINGS = 3;

/** The encodings that the header `content-encoding` lists, in the order in which they were applied. */
export function encodingsOf(header: string | string[] | undefined, body: Buffer): readonly string[] {
  const names =
    header === undefined
      ? []
      : (String(header)
          .toLowerCase()
          .match(/[^,\s]+/g) ?? []);
  const named = names.filter((name) => name !== "identity");
  // Some proxies compress and drop the header. JSON begins with no such byte.
  return named.length === 0 && body[0] === 0x1f && body[1] === 0x8b ? ["gzip"] : named;
}

/** The body as it was before these encodings. Throws what explainNetworkError explains. */
export async function decode(body: Buffer, encodings: readonly string[]): Promise<Buffer> {
  const zlib = await import("node:zlib");
  const options = { maxOutputLength: MAX_ANSWER_BYTES };
  const decoders = new Map<string, (bytes: Buffer) => Buffer>([
    ["gzip", (bytes) => zlib.gunzipSync(bytes, options)],
    ["br", (bytes) => zlib.brotliDecompressSync(bytes, options)],
    // With zlib's header, as the standard says, or without, as some servers send it.
    ["deflate", (bytes) => (hasZlibHeader(bytes) ? zlib.inflateSync : zlib.inflateRawSync)(bytes, options)],
  ]);
  const decodeOnce = (bytes: Buffer, name: string): Buffer => {
    // An error may have no body at all.
    if (bytes.length === 0) return bytes;
    const decoder = decoders.get(name.replace(/^x-/, ""));
    try {
      if (decoder !== undefined) return decoder(bytes);
    } catch (error) {
      if (errnoOf(error) === "ERR_BUFFER_TOO_LARGE") throw error;
    }
    // Some proxies decompress and leave the header, and some servers name a character set in it.
    if (looksPlain(bytes)) return bytes;
    throw networkError(decoder === undefined ? "UNKNOWN_ENCODING" : "DAMAGED_ENCODING");
  };
  return encodings.slice(-MAX_ENCODINGS).reduceRight(decodeOnce, body);
}

function hasZlibHeader([first = 0, second = 0]: Buffer): boolean {
  return first % 16 === 8 && (first * 256 + second) % 31 === 0;
}

/** True for what begins as JSON or a page does. */
function looksPlain(bytes: Buffer): boolean {
  return /^\s*[[{"<]/.test(bytes.toString("latin1", 0, 100));
}
