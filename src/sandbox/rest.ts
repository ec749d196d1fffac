// The documented REST endpoints: what each reads from the request, and which operation of the account it calls.

import { setTimeout as sleep } from "node:timers/promises";
import type { Account } from "./account.ts";
import type { Route } from "./app.ts";
import { openApiDocument } from "./openapi-document.ts";
import { jsonReply } from "./reply.ts";
import { parseRequest, readJson } from "./request-body.ts";
import { generateRequestSchema, publishRequestSchema, videosRequestSchema } from "./request-schemas.ts";

/** What the real service may do and the sandbox does not by itself, for tests of clients. */
export interface Behaviour {
  /** The video list and the results of publish hold documented fields alone: no topic, no time, no link of a post. */
  readonly documentedFieldsOnly?: boolean;
  /** Milliseconds from carrying out a paid or public request to its answer. */
  readonly answerDelayMs?: number;
  /** The HTTP status of an answer of publish, which holds its results all the same. */
  readonly publishStatus?: number;
}

export function restRoutes(
  account: Account,
  url: string,
  { documentedFieldsOnly = false, answerDelayMs = 0, publishStatus = 200 }: Behaviour = {},
): readonly Route[] {
  const answerLate = async (status: number, body: object) => {
    await sleep(answerDelayMs, undefined, { ref: false });
    return jsonReply(status, body);
  };
  return [
    {
      path: /^\/api\/v1\/generate$/,
      methods: {
        POST: async ({ incoming }) =>
          answerLate(201, account.generate(parseRequest(generateRequestSchema, await readJson(incoming)))),
      },
    },
    {
      path: /^\/api\/v1\/status\/([^/]+)$/,
      methods: { GET: ({ match }) => jsonReply(200, account.status(match[1] ?? "")) },
    },
    {
      path: /^\/api\/v1\/publish$/,
      methods: {
        POST: async ({ incoming }) => {
          const { results } = account.publish(parseRequest(publishRequestSchema, await readJson(incoming)));
          const documented = results.map(({ platform, ok }) => ({ platform, ok }));
          return answerLate(publishStatus, { results: documentedFieldsOnly ? documented : results });
        },
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
          const { videos, nextCursor } = account.videos(parseRequest(videosRequestSchema, query));
          const documented = videos.map(({ jobId, status, finalVideoUrl }) => ({
            jobId,
            status,
            finalVideoUrl,
          }));
          return jsonReply(200, { videos: documentedFieldsOnly ? documented : videos, nextCursor });
        },
      },
    },
    {
      path: /^\/api\/v1\/openapi\.json$/,
      methods: { GET: () => jsonReply(200, openApiDocument(url)) },
    },
  ];
}
