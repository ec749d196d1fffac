// Answers one request: body, Host, key, rate limit, route, and the rate-limit headers on every answer.
// Knows no jobs.

import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { RateLimit } from "./rate-limit.ts";
import { ServiceError } from "./service-error.ts";

export interface RouteRequest {
  readonly incoming: IncomingMessage;
  readonly url: URL;
  /** The named groups of the route's path. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

export interface Route {
  readonly methods: readonly string[];
  readonly path: RegExp;
  handle(request: RouteRequest): Response | Promise<Response>;
}

const MAX_BYTES = 1_000_000;

/** A web page that rebinds its name to this computer would use the sandbox by that name. */
const LOOPBACK_HOST = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

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
function errorReply(error: unknown): Response {
  const bug = new ServiceError(500, "internal_error", "The sandbox failed to handle this request.");
  const refusal = error instanceof ServiceError ? error : bug;
  return Response.json(refusal.envelope(), refusal);
}

export async function send(response: ServerResponse, { status, headers, body }: Response): Promise<void> {
  response.writeHead(status, Object.fromEntries(headers));
  // If the client disconnects or the stream breaks, closing is all that is left: the headers are sent.
  await pipeline(body ?? [], response).catch(() => response.destroy());
}

/** `routes` are tried in order. Paths under /api need the key and count against the limit; others don't. */
export function createApp(routes: readonly Route[], apiKey: string, rateLimit: RateLimit) {
  async function answer(incoming: IncomingMessage, signal: AbortSignal): Promise<Response> {
    if (!LOOPBACK_HOST.test(incoming.headers.host ?? ""))
      throw new ServiceError(403, "wrong_host", "The sandbox answers under loopback names only.");
    const url = new URL(`http://sandbox${incoming.url ?? "/"}`);
    if (/^\/api(\/|$)/.test(url.pathname)) {
      checkKey(incoming.headers.authorization, apiKey);
      rateLimit.acquire();
    }
    for (const { methods, path, handle } of routes) {
      const match = methods.includes(incoming.method ?? "") ? path.exec(url.pathname) : null;
      if (match !== null) return handle({ incoming, url, parameters: { ...match.groups }, signal });
    }
    throw new ServiceError(404, "not_found", "No such path, or not with this method.");
  }

  return async (incoming: IncomingMessage, signal: AbortSignal): Promise<Response> => {
    const reply = await answer(incoming, signal).catch(errorReply);
    for (const [name, value] of Object.entries(rateLimit.headers())) reply.headers.set(name, value);
    return reply;
  };
}

function checkKey(authorization = "", apiKey: string): void {
  const [, key] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
  if (key === apiKey) return;
  const hint = `The sandbox takes one key only: send Authorization: Bearer ${apiKey}.`;
  const headers = { "WWW-Authenticate": "Bearer" };
  throw new ServiceError(401, "unauthorized", `This key is not valid. ${hint}`, headers);
}
