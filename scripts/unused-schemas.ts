// The SDK makes a schema for every type of the protocol as it loads, and registers all by name. It looks up
// one: with only that one registered, the bundler can leave out most of the others.

import type { Plugin } from "rolldown";

const SCHEMAS = /@modelcontextprotocol.core.dist/;
const REGISTRY = /@modelcontextprotocol.(server|client).dist.src-/;
const REGISTER_ALL = /^(for \(const .* register\(.*;\n)+/m;
/** Skips comments. */
const OTHER_LOOKUP = /^(?!\s*\*).*\b(isSpecType|specTypeSchemas)(?!\.Implementation\b)[.[]/m;

export const unusedSchemas: Plugin = {
  name: "unused-schemas",
  transform(code, id) {
    if (OTHER_LOOKUP.test(code)) throw new Error(`${id} looks up a schema that would not be registered.`);
    // Making a schema has no other effect.
    if (SCHEMAS.test(id)) return code.replace(/(?<=[\s([{,])(z|\w+Schema)\.\w+\(/g, "/* @__PURE__ */ $&");
    if (!REGISTRY.test(id)) return undefined;
    if (!REGISTER_ALL.test(code)) throw new Error(`${id} registers its schemas in another way.`);
    return code.replace(REGISTER_ALL, 'register("ImplementationSchema", ImplementationSchema);\n');
  },
};
