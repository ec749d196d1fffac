// Reads the body of a request: size limit, JSON, schema. Every failure is a ServiceError.

import type { IncomingMessage } from "node:http";
import type { z } from "zod";
import { ServiceError } from "./service-error.ts";

const MAX_BYTES = 1_000_000;

/** The body, or a 413. Even then all of it is read: a client reads no answer while it is writing. */
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
  if (type !== "application/json") {
    throw new ServiceError(415, "unsupported_media_type", "The Content-Type must be application/json.");
  }
  const body = await readBody(incoming);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new ServiceError(400, "invalid_json", "The body isn't valid JSON.");
  }
}

/** The value as the schema parses it, or a 400 whose message begins with the name of the field. */
export function parseRequest<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ServiceError(400, "invalid_request", parsed.error.issues.map(describeIssue).join("; "));
}

function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => `${key}: unknown field`).join("; ");
  const field = issue.path.length > 0 ? issue.path.join(".") : "body";
  return `${field}: ${issue.message}`;
}
