// The documented REST endpoints and the OpenAPI document of them, made from the list of operations.

import type { Account } from "./account.ts";
import { readJson, type Route } from "./app.ts";
import { OPERATION_SCHEMAS } from "./operation-schemas.ts";
import { carryOut, OPERATIONS } from "./operations.ts";
import { ServiceError } from "./service-error.ts";

const KEY_HEADER = { name: "Idempotency-Key", in: "header", schema: { type: "string" } };
const ENDPOINTS = OPERATIONS.flatMap(({ endpoint, ...operation }) =>
  endpoint === undefined ? [] : [{ endpoint, ...operation }],
);

export function restRoutes(account: Account, url: string): readonly Route[] {
  // The first request with each Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-07), and its
  // reply. A refused request has done nothing, so its key stays free.
  const answered = new Map<string, { readonly request: string; readonly reply: Response }>();
  const routes = ENDPOINTS.map(({ endpoint: [method, path, status], ...operation }): Route => ({
    methods: [method],
    path: new RegExp(`^/api/v1${path.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`),
    async handle({ incoming, url: { searchParams }, parameters }) {
      const query = { ...Object.fromEntries(searchParams), ...parameters };
      const given = method === "GET" ? query : await readJson(incoming);
      const { "idempotency-key": key } = incoming.headers;
      const id = key && method === "POST" ? `${path} ${String(key)}` : "";
      const first = answered.get(id);
      if (first !== undefined && first.request !== JSON.stringify(given))
        throw new ServiceError(422, "key_reused", "This Idempotency-Key came with another request before.");
      const reply = first?.reply ?? Response.json(carryOut(operation, account, given), { status });
      if (id !== "") answered.set(id, { request: JSON.stringify(given), reply });
      return reply.clone();
    },
  }));
  const document = openApiDocument(url);
  const documentPath = /^\/api\/v1\/openapi\.json$/;
  return [...routes, { methods: ["GET"], path: documentPath, handle: () => Response.json(document) }];
}

function openApiDocument(url: string): object {
  return {
    openapi: "3.1.0",
    info: { title: "Faceless Video Generation Service (sandbox)", version: "1.0.0" },
    servers: [{ url }],
    security: [{ apiKey: [] }],
    paths: Object.fromEntries(ENDPOINTS.map(describePath)),
    components: {
      securitySchemes: { apiKey: { type: "http", scheme: "bearer", description: "fl_sandbox" } },
    },
  };
}

function describePath({ name, summary, endpoint: [method, path, status] }: (typeof ENDPOINTS)[number]) {
  const schema = OPERATION_SCHEMAS[name];
  const parameters = Object.entries(schema?.properties ?? {}).map(([parameter, type]) => {
    const isInPath = path.includes(`{${parameter}}`);
    return { name: parameter, in: isInPath ? "path" : "query", required: isInPath, schema: type };
  });
  const requestBody = { required: true, content: { "application/json": { schema } } };
  const operation = {
    operationId: name.replace(/_\w/g, (letter) => letter.charAt(1).toUpperCase()),
    summary,
    ...(method === "POST" ? { parameters: [KEY_HEADER], requestBody } : { parameters }),
    responses: { [status]: { description: "Done" }, default: { description: "The error envelope" } },
  };
  return [`/api/v1${path}`, { [method.toLowerCase()]: operation }] as const;
}
