// The documented REST endpoints: what each reads from the request, and which account operation it calls.

import type { Account } from "./account.ts";
import type { Route } from "./app.ts";
import { openApiDocument } from "./openapi-document.ts";
import { jsonReply } from "./reply.ts";
import { parseRequest, readJson } from "./request-body.ts";
import { generateRequestSchema, publishRequestSchema, videosRequestSchema } from "./request-schemas.ts";

export function restRoutes(account: Account, url: string): readonly Route[] {
  return [
    {
      path: /^\/api\/v1\/generate$/,
      methods: {
        POST: async ({ incoming }) =>
          jsonReply(201, account.generate(parseRequest(generateRequestSchema, await readJson(incoming)))),
      },
    },
    {
      path: /^\/api\/v1\/status\/([^/]+)$/,
      methods: { GET: ({ match }) => jsonReply(200, account.status(match[1] ?? "")) },
    },
    {
      path: /^\/api\/v1\/publish$/,
      methods: {
        POST: async ({ incoming }) =>
          jsonReply(200, account.publish(parseRequest(publishRequestSchema, await readJson(incoming)))),
      },
    },
    {
      path: /^\/api\/v1\/videos$/,
      methods: {
        GET: ({ url: { searchParams } }) => {
          const limit = searchParams.get("limit");
          const cursor = searchParams.get("cursor");
          const query = {
            ...(limit !== null && { limit: /^\d+$/.test(limit) ? Number(limit) : limit }),
            ...(cursor !== null && { cursor }),
          };
          return jsonReply(200, account.videos(parseRequest(videosRequestSchema, query)));
        },
      },
    },
    {
      path: /^\/api\/v1\/openapi\.json$/,
      methods: { GET: () => jsonReply(200, openApiDocument(url)) },
    },
  ];
}
