// Answers one request: Host, key, rate limit, route, and the rate-limit headers on every answer.
// Knows nothing of servers and sockets.

import type { IncomingMessage } from "node:http";
import { errorReply } from "./http-message.ts";
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

/** A web page that rebinds its name to this computer would use the sandbox by that name. */
const LOOPBACK_HOST = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

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
