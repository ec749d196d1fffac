import { expect, test } from "vitest";
import { z } from "zod";
import { testSandbox } from "./fixture.ts";

const documentSchema = z.looseObject({
  openapi: z.string(),
  servers: z.unknown(),
  paths: z.record(z.string(), z.record(z.string(), z.looseObject({ parameters: z.unknown().optional() }))),
});

test("the OpenAPI document describes all endpoints and how to page", async () => {
  const sandbox = await testSandbox();

  const { status, body } = await sandbox.get("/api/v1/openapi.json");

  const { openapi, servers, paths } = documentSchema.parse(body);
  expect({
    status,
    openapi,
    servers,
    operations: Object.entries(paths).flatMap(([path, item]) => Object.keys(item).map((m) => `${m} ${path}`)),
  }).toEqual({
    status: 200,
    openapi: "3.1.0",
    servers: [{ url: sandbox.url }],
    operations: expect.arrayContaining([
      "post /api/v1/generate",
      "get /api/v1/status/{jobId}",
      "post /api/v1/publish",
      "get /api/v1/videos",
    ]),
  });
  expect(JSON.stringify(paths)).not.toContain("listConnectedPlatforms");
  expect(paths["/api/v1/videos"]?.["get"]?.parameters).toEqual([
    {
      name: "limit",
      in: "query",
      required: false,
      schema: { type: "integer", minimum: 1, maximum: 100, default: 20 },
    },
    {
      name: "cursor",
      in: "query",
      required: false,
      schema: expect.objectContaining({ type: "string", format: "date-time" }),
    },
  ]);
});
