// Reads a request's body, and writes an answer to the socket. Knows no routes or jobs.

import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { ServiceError } from "./service-error.ts";

const MAX_BYTES = 1_000_000;

/** Reads the body whole even if it is too large: a client reads no answer while it is writing. */
export async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // An IncomingMessage that has no encoding yields Buffers, though its type says any.
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= MAX_BYTES) chunks.push(chunk);
  }
  if (bytes > MAX_BYTES) throw new ServiceError(413, "payload_too_large", "The body is larger than 1 MB.");
  return Buffer.concat(chunks);
}

export async function readJson(incoming: IncomingMessage): Promise<unknown> {
  const type = incoming.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json")
    throw new ServiceError(415, "unsupported_media_type", "The Content-Type must be application/json.");
  const body = await readBody(incoming);
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new ServiceError(400, "invalid_json", "The body isn't valid JSON.");
  }
}

/** The documented envelope of a ServiceError. Anything else thrown is a bug of the sandbox: a 500. */
export function errorReply(error: unknown): Response {
  const bug = new ServiceError(500, "internal_error", "The sandbox failed to handle this request.");
  const refusal = error instanceof ServiceError ? error : bug;
  return Response.json(refusal.envelope(), refusal);
}

export async function send(response: ServerResponse, { status, headers, body }: Response): Promise<void> {
  response.writeHead(status, Object.fromEntries(headers));
  // If the client disconnects or the stream breaks, closing is all that is left: the headers are sent.
  await pipeline(body ?? [], response).catch(() => response.destroy());
}
