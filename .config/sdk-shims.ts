// What the SDK asks of its runtime, without the JSON Schema validator that it would bring along (300 kB): here zod checks what
// comes in, and what the service's MCP endpoint answers is read tolerantly.

import process from "node:process";

export { process };

/** Takes every value: nobody here leaves a check to it. */
export class DefaultJsonSchemaValidator {
  getValidator() {
    return (data: unknown) => ({ valid: true, data, errorMessage: undefined });
  }
}

/** fetch() can't fail for CORS outside of a browser. */
export const CORS_IS_POSSIBLE = false;
