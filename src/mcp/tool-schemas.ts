// The tools' schemas as JSON Schema, by the tool's name. The build replaces this file with the finished JSON,
// so that a list of tools is answered without making a schema.

import * as z from "zod";
import { toolsFor } from "../tools/catalog.ts";

type JsonSchema = Record<string, unknown>;

export const TOOL_SCHEMAS: Readonly<Record<string, Readonly<Record<"input" | "output", JsonSchema>>>> =
  Object.fromEntries(
    toolsFor({ readOnly: false, noPublish: false }).map(({ name, input, output }) => [
      name,
      { input: toJson(input(), "input"), output: toJson(output(), "output") },
    ]),
  );

function toJson(schema: z.ZodObject, io: "input" | "output"): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      // zod writes "anything" as {}, which schema checkers warn of; `true` says the same.
      if (typeof jsonSchema.additionalProperties === "object") jsonSchema.additionalProperties = true;
    },
  });
  return json;
}
