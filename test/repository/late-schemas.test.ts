// The build changes how the SDK makes its schemas. Both files run here, and must give each method the same schema.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import * as z from "zod";
import { makeSchemasLate } from "../../scripts/late-schemas.ts";
import { temporaryFolder } from "../fixtures/folder.ts";

const DIST = fileURLToPath(new URL(".", import.meta.resolve("@modelcontextprotocol/server")));
const FILE = readdirSync(DIST).find((name) => /^src-.*\.mjs$/.test(name)) ?? "";
const CODE = readFileSync(join(DIST, FILE), "utf8");
/** The SDK's functions that look up a schema by its method, and all methods that it names. */
const LOOKUPS = [...CODE.matchAll(/^function (get\w*Schema\w*)\(method\)/gm)].map(([, name = ""]) => name);
const METHODS = [...new Set(CODE.match(/(?<=^\t"?)[a-z]+(?:\/\w+)*(?="?: null,?$)/gm))];

type Lookups = Readonly<Record<string, (method: string) => z.ZodType | undefined>>;

/** Loads the file's text as a module that also exports its lookups. */
async function load(name: string, code: string): Promise<Lookups> {
  const path = join(temporaryFolder(), `${name}.mjs`);
  const anywhere = code
    .replace(/^\/\/# sourceMappingURL=.*$/m, "")
    .replace(/(?<= from ")[^"]+(?=";$)/gm, (specifier) =>
      specifier.startsWith(".") ? pathToFileURL(join(DIST, specifier)).href : resolveFromSdk(specifier),
    );
  writeFileSync(path, `${anywhere}\nexport const lookups = { ${LOOKUPS.join(", ")} };\n`);
  const { lookups } = await import(/* @vite-ignore */ pathToFileURL(path).href);
  return lookups;
}

function resolveFromSdk(specifier: string): string {
  return import.meta.resolve(specifier, pathToFileURL(join(DIST, FILE)).href);
}

const describe = (schema: z.ZodType | undefined) =>
  schema && z.toJSONSchema(schema, { unrepresentable: "any", io: "input" });

test("the build's late schemas are those of the SDK, for each method of each version", async () => {
  const [sdk, late] = [await load("sdk", CODE), await load("late", makeSchemasLate(FILE, CODE))];
  const pairs = LOOKUPS.flatMap((lookup) => METHODS.map((method) => [lookup, method] as const));
  const schemasOf = (lookups: Lookups) =>
    pairs.map(([lookup, method]) => [lookup, method, describe(lookups[lookup]?.(method))]);

  const own = schemasOf(sdk);
  expect(schemasOf(late)).toEqual(own);
  expect(own.filter(([, , schema]) => schema !== undefined).length).toBeGreaterThan(60);
});
