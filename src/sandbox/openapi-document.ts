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
          responses: { "201": jsonResponse("The job was created", "Generation"), default: REFUSED },
        },
      },
      "/api/v1/status/{jobId}": {
        get: {
          operationId: "getVideoStatus",
          summary: "The status and clips of a job",
          parameters: [
            { name: "jobId", in: "path", required: true, schema: { type: "string", format: "uuid" } },
          ],
          responses: { "200": jsonResponse("The job", "JobStatus"), default: REFUSED },
        },
      },
      "/api/v1/publish": {
        post: {
          operationId: "publishVideo",
          summary: "Publish a completed video to connected platforms",
          requestBody: jsonBody(publishRequestSchema),
          responses: { "200": jsonResponse("One result per platform", "PublishResults"), default: REFUSED },
        },
      },
      "/api/v1/videos": {
        get: {
          operationId: "listVideos",
          summary: "The account's videos, newest first",
          parameters: Object.entries(publishedSchema(videosRequestSchema).properties ?? {}).map(
            ([name, schema]) => ({ name, in: "query", required: false, schema }),
          ),
          responses: { "200": jsonResponse("One page", "VideoPage"), default: REFUSED },
        },
      },
    },
    components: {
      securitySchemes: { apiKey: { type: "http", scheme: "bearer", description: "fl_sandbox" } },
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
  return {
    description,
    content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } },
  };
}

const REFUSED = jsonResponse("Refused", "Error");
