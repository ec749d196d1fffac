// Gives the SDK what it needs of its runtime, without the JSON Schema validator that it would bundle (300 kB): zod
// checks our input, and the answers of the service's MCP endpoint are read tolerantly.

import process from "node:process";

export { process };

/** Accepts every value: no code here relies on it. */
export class DefaultJsonSchemaValidator {
  getValidator() {
    return (data: unknown) => ({ valid: true, data, errorMessage: undefined });
  }
}

/** fetch() never fails because of CORS outside of a browser. */
export const CORS_IS_POSSIBLE = false;
