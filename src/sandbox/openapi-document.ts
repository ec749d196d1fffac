// The document at /api/v1/openapi.json, built from the same schemas that validate the requests.

import { z } from "zod";
import { OPERATIONS } from "./operations.ts";

export function openApiDocument(url: string): object {
  const paths = OPERATIONS.flatMap(({ name, summary, input, endpoint }) => {
    if (endpoint === undefined) return [];
    const { method, path, status, answer } = endpoint;
    const { $schema: _, ...schema } = z.toJSONSchema(input, { io: "input" });
    const parameterOf = ([parameter, type]: [string, unknown]) => {
      const isInPath = path.includes(`{${parameter}}`);
      return { name: parameter, in: isInPath ? "path" : "query", required: isInPath, schema: type };
    };
    const request =
      method === "POST"
        ? { requestBody: { required: true, content: { "application/json": { schema } } } }
        : { parameters: Object.entries(schema.properties ?? {}).map(parameterOf) };
    const operation = {
      operationId: name.replace(/_\w/g, (letter) => letter.charAt(1).toUpperCase()),
      summary,
      ...request,
      responses: { [status]: { description: answer }, default: REFUSED },
    };
    return [[`/api/v1${path}`, { [method.toLowerCase()]: operation }] as const];
  });
  return {
    openapi: "3.1.0",
    info: { title: "Faceless Video Generation Service (sandbox)", version: "1.0.0" },
    servers: [{ url }],
    security: [{ apiKey: [] }],
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: { apiKey: { type: "http", scheme: "bearer", description: "fl_sandbox" } },
    },
  };
}

const REFUSED = { description: "Refused, with the error envelope" };
