// Answers one request: key, rate limit, route, and the rate-limit headers on every answer.
// Knows nothing of servers and sockets.

import type { IncomingMessage } from "node:http";
import type { RateLimit } from "./rate-limit.ts";
import { errorReply, type Reply } from "./reply.ts";
import { ServiceError } from "./service-error.ts";

export interface RouteRequest {
  readonly incoming: IncomingMessage;
  readonly url: URL;
  readonly match: RegExpExecArray;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

export type Handler = (request: RouteRequest) => Reply | Promise<Reply>;

export interface Route {
  readonly methods: readonly string[];
  readonly path: RegExp;
  readonly handler: Handler;
}

/** A web page that rebinds its name to this computer would use the sandbox by that name. */
const LOOPBACK_HOST = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;
const WRONG_HOST = new ServiceError(403, "wrong_host", "The sandbox answers under loopback names only.");
const NO_SUCH_PATH = new ServiceError(404, "not_found", "No such path, or not with this method.");

/** `routes` are tried in order. Paths under /api need the key and count against the limit; others don't. */
export function createApp(routes: readonly Route[], apiKey: string, rateLimit: RateLimit) {
  const wrongKey = new ServiceError(
    401,
    "unauthorized",
    `This key is not valid. The sandbox takes one key only: send Authorization: Bearer ${apiKey}.`,
    { "WWW-Authenticate": "Bearer" },
  );

  async function answer(incoming: IncomingMessage, signal: AbortSignal): Promise<Reply> {
    if (!LOOPBACK_HOST.test(incoming.headers.host ?? "")) throw WRONG_HOST;
    const target = `http://sandbox${incoming.url ?? "/"}`;
    if (!URL.canParse(target)) throw NO_SUCH_PATH;
    const url = new URL(target);
    if (/^\/api(\/|$)/.test(url.pathname)) {
      const [, key] = /^bearer +(\S+)$/i.exec(incoming.headers.authorization ?? "") ?? [];
      if (key !== apiKey) throw wrongKey;
      rateLimit.acquire();
    }
    for (const { methods, path, handler } of routes) {
      const match = methods.includes(incoming.method ?? "") ? path.exec(url.pathname) : null;
      if (match !== null) return handler({ incoming, url, match, signal });
    }
    throw NO_SUCH_PATH;
  }

  return async (incoming: IncomingMessage, signal: AbortSignal): Promise<Reply> => {
    const reply = await answer(incoming, signal).catch(errorReply);
    return { ...reply, headers: { ...reply.headers, ...rateLimit.headers() } };
  };
}
