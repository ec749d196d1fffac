// The document at /api/v1/openapi.json, built from the same schemas that validate the requests.

import { z } from "zod";
import { generateRequestSchema, publishRequestSchema, videosRequestSchema } from "./request-schemas.ts";

export function openApiDocument(url: string): object {
  return {
    openapi: "3.1.0",
    info: { title: "Faceless Video Generation Service (sandbox)", version: "1.0.0" },
    servers: [{ url }],
    security: [{ apiKey: [] }],
    paths: {
      "/api/v1/generate": {
        post: {
          operationId: "generateVideo",
          summary: "Start the generation of a video; costs one credit",
          requestBody: jsonBody(generateRequestSchema),
          responses: { "201": { description: "The job was created" }, default: REFUSED },
        },
      },
      "/api/v1/status/{jobId}": {
        get: {
          operationId: "getVideoStatus",
          summary: "The status and clips of a job",
          parameters: [
            { name: "jobId", in: "path", required: true, schema: { type: "string", format: "uuid" } },
          ],
          responses: { "200": { description: "The job" }, default: REFUSED },
        },
      },
      "/api/v1/publish": {
        post: {
          operationId: "publishVideo",
          summary: "Publish a completed video to connected platforms",
          requestBody: jsonBody(publishRequestSchema),
          responses: { "200": { description: "One result per platform" }, default: REFUSED },
        },
      },
      "/api/v1/videos": {
        get: {
          operationId: "listVideos",
          summary: "The account's videos, newest first",
          parameters: Object.entries(publishedSchema(videosRequestSchema).properties ?? {}).map(
            ([name, schema]) => ({ name, in: "query", required: false, schema }),
          ),
          responses: { "200": { description: "One page" }, default: REFUSED },
        },
      },
    },
    components: {
      securitySchemes: { apiKey: { type: "http", scheme: "bearer", description: "fl_sandbox" } },
    },
  };
}

const REFUSED = { description: "Refused, with the error envelope" };

function publishedSchema(schema: z.ZodType): z.core.JSONSchema.BaseSchema {
  const { $schema: _, ...published } = z.toJSONSchema(schema, { io: "input" });
  return published;
}

function jsonBody(schema: z.ZodType): object {
  return { required: true, content: { "application/json": { schema: publishedSchema(schema) } } };
}
