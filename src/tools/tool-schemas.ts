// What tools/list shows of the tools. The build replaces this file with the finished JSON, so that the list is
// answered without making a schema or loading a tool.

import * as z from "zod";
import { TOOLS } from "./catalog.ts";
import type { Tool } from "./tool.ts";

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
// Not an interface: the SDK's type has an index signature.
export type ToolSchema = { type: "object"; properties: Record<string, { [name: string]: Json }> };

/** A JSON Schema of ours, as its readers see it. */
export interface Field {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: string | number;
  readonly description?: string;
  readonly items?: Field;
  readonly properties?: Readonly<Record<string, Field>>;
  readonly required?: readonly string[];
}

/** In the order in which every client sees them. The build keeps what is JSON. */
export const DECLARATIONS: readonly Omit<Tool, "input" | "output" | "coercions" | "run">[] = TOOLS;

/** The schemas as JSON Schema, by the tool's name. */
export const TOOL_SCHEMAS: Readonly<Record<string, Readonly<Record<"input" | "output", ToolSchema>>>> =
  Object.fromEntries(
    TOOLS.map(({ name, input, output }) => [
      name,
      { input: toJson(input(), "input"), output: toJson(output(), "output") },
    ]),
  );

function toJson(schema: z.ZodObject, io: "input" | "output"): ToolSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      // zod writes "anything" as {}, which schema checkers warn of; `true` says the same.
      if (typeof jsonSchema.additionalProperties === "object") jsonSchema.additionalProperties = true;
    },
  });
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- zod writes an object's schema
  return json as ToolSchema;
}
