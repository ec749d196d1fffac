// The documented REST endpoints, and the OpenAPI document that describes them, made from the list of operations.

import type { z } from "zod";
import type { Account } from "./account.ts";
import type { Route, RouteRequest } from "./app.ts";
import { readJson } from "./http-message.ts";
import { IdempotencyKeys } from "./idempotency-keys.ts";
import { OPERATION_SCHEMAS } from "./operation-schemas.ts";
import { type Endpoint, type Operation, OPERATIONS } from "./operations.ts";
import { ServiceError } from "./service-error.ts";

const KEY_HEADER = { name: "Idempotency-Key", in: "header", schema: { type: "string" } };
const ENDPOINTS = OPERATIONS.flatMap(({ endpoint, ...operation }) =>
  endpoint === undefined ? [] : [{ ...endpoint, ...operation }],
);

export function restRoutes(account: Account, url: string): readonly Route[] {
  const keys = new IdempotencyKeys();
  const routes = ENDPOINTS.map(({ method, path, status, input, run }): Route => ({
    methods: [method],
    path: new RegExp(`^/api/v1${path.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`),
    async handle(request) {
      const carryOut = (given: unknown) => Response.json(run(account, parse(input, given)), { status });
      if (method === "GET") return carryOut(parametersOf(request));
      const { "idempotency-key": key } = request.incoming.headers;
      return keys.answer(key && `${path} ${String(key)}`, () => readJson(request.incoming), carryOut);
    },
  }));
  const document = openApiDocument(url);
  const documentPath = /^\/api\/v1\/openapi\.json$/;
  return [...routes, { methods: ["GET"], path: documentPath, handle: () => Response.json(document) }];
}

/** The parameters of path and query. A number is written in digits. */
function parametersOf({ url, parameters }: RouteRequest): object {
  const query = Array.from(url.searchParams, ([name, text]): [string, string | number] => [
    name,
    /^\d+$/.test(text) ? Number(text) : text,
  ]);
  return { ...Object.fromEntries(query), ...parameters };
}

/** The value as the schema parses it, or a 400 whose message begins with the name of the field. */
function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ServiceError(400, "invalid_request", parsed.error.issues.map(describeIssue).join("; "));
}

function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => `${key}: unknown field`).join("; ");
  return `${issue.path.length > 0 ? issue.path.join(".") : "body"}: ${issue.message}`;
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

function describePath({ name, summary, method, path, status }: Endpoint & Operation) {
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
