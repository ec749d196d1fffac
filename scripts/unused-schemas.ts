// The SDK makes a schema for every type of the protocol as it loads, and registers all by name. It looks up
// one: with only that one registered, the bundler can leave out most of the others.

import type { Plugin } from "rolldown";

const SCHEMAS = /@modelcontextprotocol.core.dist/;
/** Makes JSON Schema of schemas. The build has made all that are needed. */
const JSON_SCHEMA = /zod.v4.core.(json-schema-processors|to-json-schema)\.js$/;
const EXPORT = /^export (?:function|const) (\w+)/gm;
const OWN = /^(?!.*node_modules).*\.ts$/;
const REGISTRY = /@modelcontextprotocol.(server|client).dist.src-/;
const REGISTER_ALL = /^(for \(const .* register\(.*;\n)+/m;
/** Ends before a line that is neither indented nor the end of one that is. */
const CONSTANT = /^const (\w+) = ([^]*?);\n(?![\t}\]])/gm;
/** Skips comments. */
const OTHER_LOOKUP = /^(?!\s*\*).*\b(isSpecType|specTypeSchemas)(?!\.Implementation\b)[.[]/m;

export const unusedSchemas: Plugin = {
  name: "unused-schemas",
  transform(code, id) {
    if (JSON_SCHEMA.test(id))
      return Array.from(code.matchAll(EXPORT), ([, name]) => `export const ${name} = () => undefined;`).join(
        "\n",
      );
    if (OWN.test(id) && /\btoJSONSchema\(/.test(code))
      throw new Error(`${id} makes a JSON Schema, which the built zod can't.`);
    if (OTHER_LOOKUP.test(code)) throw new Error(`${id} looks up a schema that would not be registered.`);
    // Making a schema has no other effect.
    if (SCHEMAS.test(id)) return code.replace(CONSTANT, "const $1 = /* @__PURE__ */ (() => $2)();\n");
    if (!REGISTRY.test(id)) return undefined;
    if (!REGISTER_ALL.test(code)) throw new Error(`${id} registers its schemas in another way.`);
    return code.replace(REGISTER_ALL, 'register("ImplementationSchema", ImplementationSchema);\n');
  },
};
