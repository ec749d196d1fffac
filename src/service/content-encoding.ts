// Undoes the compression of an answer that came compressed although none was asked for, as some gateways send
// it. Knows nothing of requests.

import { errnoOf } from "../errors.ts";
import { MAX_ANSWER_BYTES } from "./responses.ts";
import { networkError } from "./transport-failure.ts";

/** The compression of a body, which itself tells: some proxies drop the header, or leave it on plain text. */
export function encodingsOf(header: string | string[] | undefined, body: Buffer): readonly string[] {
  if (body[0] === 0x1f && body[1] === 0x8b) return ["gzip"];
  const isPlain = body.length === 0 || /^\s*[[{"<]/.test(body.toString("latin1", 0, 100));
  const names =
    String(header ?? "")
      .toLowerCase()
      .match(/[^,\s]+/g) ?? [];
  return isPlain ? [] : names.filter((name) => name !== "identity");
}

/** The body as it was before this compression. Throws what explainNetworkError explains. */
export async function decode(body: Buffer, encodings: readonly string[]): Promise<Buffer> {
  const zlib = await import("node:zlib");
  const options = { maxOutputLength: MAX_ANSWER_BYTES };
  try {
    const isBrotli = encodings.join() === "br";
    return isBrotli ? zlib.brotliDecompressSync(body, options) : zlib.gunzipSync(body, options);
  } catch (error) {
    throw errnoOf(error) === "ERR_BUFFER_TOO_LARGE" ? error : networkError("BAD_ENCODING");
  }
}
