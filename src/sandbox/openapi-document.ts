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
          responses: {
            "201": jsonResponse("The job was created", "Generation"),
            ...refusals(400, 401, 402, 413, 415, 429),
          },
        },
      },
      "/api/v1/status/{jobId}": {
        get: {
          operationId: "getVideoStatus",
          summary: "The status and clips of a job",
          parameters: [
            { name: "jobId", in: "path", required: true, schema: { type: "string", format: "uuid" } },
          ],
          responses: { "200": jsonResponse("The job", "JobStatus"), ...refusals(401, 404, 429) },
        },
      },
      "/api/v1/publish": {
        post: {
          operationId: "publishVideo",
          summary: "Publish a completed video to connected platforms",
          requestBody: jsonBody(publishRequestSchema),
          responses: {
            "200": jsonResponse("One result for each platform", "PublishResults"),
            ...refusals(400, 401, 404, 409, 413, 415, 429),
          },
        },
      },
      "/api/v1/videos": {
        get: {
          operationId: "listVideos",
          summary: "The account's videos, newest first",
          parameters: Object.entries(publishedSchema(videosRequestSchema).properties ?? {}).map(
            ([name, schema]) => ({ name, in: "query", required: false, schema }),
          ),
          responses: { "200": jsonResponse("One page", "VideoPage"), ...refusals(400, 401, 429) },
        },
      },
    },
    components: {
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", description: "fl_sandbox" },
      },
      headers: {
        "X-RateLimit-Limit": { schema: { type: "integer" }, description: "Requests allowed in a minute" },
        "X-RateLimit-Remaining": { schema: { type: "integer" }, description: "Requests left in this minute" },
        "X-RateLimit-Reset": {
          schema: { type: "integer" },
          description: "End of this minute, in epoch seconds",
        },
      },
      schemas: responseSchemas,
    },
  };
}

const string = { type: "string" };
const integer = { type: "integer", minimum: 0 };
const boolean = { type: "boolean" };
const uri = { type: "string", format: "uri" };
const status = { type: "string", enum: ["processing", "completed", "failed"] };

function object(properties: Record<string, object>, optional: readonly string[] = []): object {
  return {
    type: "object",
    properties,
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
  };
}

const responseSchemas = {
  Generation: object({ jobId: { type: "string", format: "uuid" }, status }),
  JobStatus: object(
    {
      status,
      videoUrls: { type: "array", items: uri },
      audioUrl: uri,
      progress: object({ total: integer, completed: integer, failed: integer }),
    },
    ["audioUrl"],
  ),
  PublishResults: object({
    results: {
      type: "array",
      items: object({ platform: string, ok: boolean, url: uri, error: string }, ["url", "error"]),
    },
  }),
  VideoPage: object({
    videos: {
      type: "array",
      items: object(
        {
          jobId: { type: "string", format: "uuid" },
          status,
          topic: string,
          createdAt: { type: "string", format: "date-time" },
          finalVideoUrl: uri,
        },
        ["finalVideoUrl"],
      ),
    },
    nextCursor: { type: ["string", "null"], format: "date-time" },
  }),
  Error: object({ error: object({ code: string, message: string }) }),
};

function publishedSchema(schema: z.ZodType): z.core.JSONSchema.BaseSchema {
  const { $schema: _, ...published } = z.toJSONSchema(schema, { io: "input" });
  return published;
}

function jsonBody(schema: z.ZodType): object {
  return { required: true, content: { "application/json": { schema: publishedSchema(schema) } } };
}

function jsonResponse(description: string, schema: keyof typeof responseSchemas): object {
  const headers = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];
  return {
    description,
    headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } },
  };
}

function refusals(...statuses: readonly number[]): Record<string, object> {
  return Object.fromEntries(statuses.map((code) => [String(code), jsonResponse("Refused", "Error")]));
}
