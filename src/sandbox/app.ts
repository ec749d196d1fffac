// One request's way through the sandbox: key, allowance, route, and the rate-limit headers on whatever comes of it.
// Knows nothing of sockets being opened or closed.
import type { IncomingMessage } from "node:http";
import type { Allowance } from "./allowance.ts";
import { errorReply } from "./reply.ts";
import type { Reply } from "./reply.ts";
import { route } from "./routes.ts";
import type { Route } from "./routes.ts";
import { ServiceError } from "./service-error.ts";

export type App = (incoming: IncomingMessage, signal: AbortSignal) => Promise<Reply>;

const anonymous = "";

const noKey = new ServiceError(
  401,
  "unauthorized",
  "Send Authorization: Bearer with a key that begins with fl_.",
  { "WWW-Authenticate": "Bearer" },
);

export function createApp(routes: readonly Route[], allowance: Allowance): App {
  async function answer(incoming: IncomingMessage, key: string, signal: AbortSignal): Promise<Reply> {
    const target = `http://sandbox${incoming.url ?? "/"}`;
    if (!URL.canParse(target)) throw new ServiceError(404, "not_found", "No such path.");
    const url = new URL(target);
    if (/^\/api(\/|$)/.test(url.pathname)) {
      if (key === anonymous) throw noKey;
      allowance.take(key);
    }
    return route(routes, { incoming, url, signal });
  }

  return async (incoming, signal) => {
    const key = bearerKey(incoming.headers.authorization);
    const reply = await answer(incoming, key, signal).catch(errorReply);
    return { ...reply, headers: { ...reply.headers, ...allowance.headers(key) } };
  };
}

function bearerKey(authorization: string | undefined): string {
  const match = /^bearer +(\S+)$/i.exec(authorization ?? "");
  const key = match?.[1] ?? "";
  return key.startsWith("fl_") && key.length > "fl_".length ? key : anonymous;
}
