// The documented REST endpoints: reads each operation's input from the request.

import type { Account } from "./account.ts";
import type { Handler, Route, RouteRequest } from "./app.ts";
import { openApiDocument } from "./openapi-document.ts";
import { OPERATIONS } from "./operations.ts";
import { jsonReply } from "./reply.ts";
import { parseRequest, readJson } from "./request-body.ts";

export function restRoutes(account: Account, url: string): readonly Route[] {
  const routes = OPERATIONS.flatMap(({ endpoint, input, run }) => {
    if (endpoint === undefined) return [];
    const { method, path, status } = endpoint;
    const pattern = new RegExp(`^/api/v1${path.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
    const handler: Handler = async (request) => {
      const given = method === "GET" ? parametersOf(request) : await readJson(request.incoming);
      return jsonReply(status, run(account, parseRequest(input, given)));
    };
    return [{ methods: [method], path: pattern, handler }];
  });
  const document = () => jsonReply(200, openApiDocument(url));
  return [...routes, { methods: ["GET"], path: /^\/api\/v1\/openapi\.json$/, handler: document }];
}

/** The parameters of path and query. A number is written in digits. */
function parametersOf({ url, match }: RouteRequest): object {
  const query = Array.from(url.searchParams, ([name, text]): [string, string | number] => [
    name,
    /^\d+$/.test(text) ? Number(text) : text,
  ]);
  return { ...Object.fromEntries(query), ...match.groups };
}
