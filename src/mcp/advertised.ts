// The tools' schemas as JSON Schema, by the tool's name. The build puts the finished JSON in this file's place, so that a
// list of tools is answered without making a schema.

import * as z from "zod";
import { toolsFor } from "../tools/catalog.ts";

export interface AdvertisedSchemas {
  readonly input: Record<string, unknown>;
  readonly output: Record<string, unknown>;
}

export const ADVERTISED: Readonly<Record<string, AdvertisedSchemas>> = Object.fromEntries(
  toolsFor({ readOnly: false, noPublish: false }).map(({ name, input, output }) => [
    name,
    { input: toJson(input(), "input"), output: toJson(output(), "output") },
  ]),
);

function toJson(schema: z.ZodObject, io: "input" | "output"): Record<string, unknown> {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      // zod spells "anything" as {}, which says it in a way that checkers of schemas warn of.
      if (typeof jsonSchema.additionalProperties === "object") jsonSchema.additionalProperties = true;
    },
  });
  return json;
}
