// An HTTP answer as plain data, and the one place that writes it to the socket. Knows no routes or jobs.

import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { envelope, ServiceError } from "./service-error.ts";

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>;
}

export function jsonReply(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  const body = Buffer.from(JSON.stringify(value));
  return {
    status,
    headers: {
      "Content-Type": "application/json; charset=utf-8",
      "Content-Length": String(body.length),
      ...headers,
    },
    body,
  };
}

/** The documented envelope of a ServiceError. Anything else thrown is a bug of the sandbox: a 500. */
export function errorReply(error: unknown): Reply {
  const refusal =
    error instanceof ServiceError
      ? error
      : new ServiceError(500, "internal_error", "The sandbox failed to handle this request.");
  return jsonReply(refusal.status, envelope(refusal), refusal.headers);
}

export async function send(response: ServerResponse, reply: Reply): Promise<void> {
  response.writeHead(reply.status, reply.headers);
  if (reply.body === undefined || reply.body instanceof Uint8Array) {
    response.end(reply.body);
    return;
  }
  try {
    await pipeline(reply.body, response);
  } catch {
    // The client disconnected or the stream broke. The headers are sent: closing is all that is left.
    response.destroy();
  }
}
