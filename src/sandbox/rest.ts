// The documented REST endpoints: what each reads from the request, and which operation of the studio it calls.
import { openApiDocument } from "./openapi.ts";
import { jsonReply } from "./reply.ts";
import { parseRequest, readJson } from "./request-body.ts";
import type { Route } from "./routes.ts";
import { generateRequestSchema, publishRequestSchema, videosRequestSchema } from "./schemas.ts";
import type { Studio } from "./studio.ts";

export function restRoutes(studio: Studio, url: string): readonly Route[] {
  return [
    {
      path: /^\/api\/v1\/generate$/,
      methods: {
        POST: async ({ incoming }) =>
          jsonReply(201, studio.generate(parseRequest(generateRequestSchema, await readJson(incoming)))),
      },
    },
    {
      path: /^\/api\/v1\/status\/([^/]+)$/,
      methods: { GET: ({ match }) => jsonReply(200, studio.status(match[1] ?? "")) },
    },
    {
      path: /^\/api\/v1\/publish$/,
      methods: {
        POST: async ({ incoming }) =>
          jsonReply(200, studio.publish(parseRequest(publishRequestSchema, await readJson(incoming)))),
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
          return jsonReply(200, studio.videos(parseRequest(videosRequestSchema, query)));
        },
      },
    },
    {
      path: /^\/api\/v1\/openapi\.json$/,
      methods: { GET: () => jsonReply(200, openApiDocument(url)) },
    },
  ];
}
