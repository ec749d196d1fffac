// The inputs of the operations as JSON Schema. The build replaces this file with the finished JSON, and
// leaves out the part of zod that makes it.

import { z } from "zod";
import { OPERATIONS } from "./operations.ts";

/** By the operation's name. */
export const OPERATION_SCHEMAS: Readonly<Record<string, z.core.JSONSchema.BaseSchema>> = Object.fromEntries(
  OPERATIONS.map(({ name, input }) => {
    const { $schema: _, ...schema } = z.toJSONSchema(input, { io: "input" });
    return [name, schema];
  }),
);
