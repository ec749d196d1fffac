// Which handler answers a request: the first route whose path fits, then its method; else a 404 or a 405.
import type { IncomingMessage } from "node:http";
import type { Reply } from "./reply.ts";
import { ServiceError } from "./service-error.ts";

export interface RouteRequest {
  readonly incoming: IncomingMessage;
  readonly url: URL;
  readonly match: RegExpExecArray;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
}

export type Handler = (request: RouteRequest) => Reply | Promise<Reply>;

export interface Route {
  readonly path: RegExp;
  readonly methods: Readonly<Record<string, Handler>>;
}

export async function route(routes: readonly Route[], request: Omit<RouteRequest, "match">): Promise<Reply> {
  for (const { path, methods } of routes) {
    const match = path.exec(request.url.pathname);
    if (match === null) continue;
    const method = request.incoming.method ?? "";
    const handler = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (handler === undefined) {
      throw new ServiceError(405, "method_not_allowed", `This path doesn't take ${method}.`, {
        Allow: Object.keys(methods).join(", "),
      });
    }
    return handler({ ...request, match });
  }
  throw new ServiceError(404, "not_found", "No such path.");
}
