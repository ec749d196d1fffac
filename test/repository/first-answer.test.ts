// What a client waits for at every start: the modules that are loaded before tools/list is answered.

import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const source = fileURLToPath(new URL("../../src", import.meta.url));
/** The file of the process, and what it loads for a server. */
const ROOTS = ["cli.ts", "commands/serve.ts"];
/** The build puts results in the place of such a file, and of all that it imports. */
const REPLACED = /^\/\/ .*The build replaces this file/;
/** A static import of more than types. */
const IMPORT = /^(?:import|export) (?!type )[^;]*?from "(\.[^"]+)";/gm;

/** Adds the file, below src, and what it imports. */
function follow(file: string, found: Set<string>): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  const text = readFileSync(join(source, file), "utf8");
  if (REPLACED.test(text)) return found;
  for (const [, path = ""] of text.matchAll(IMPORT))
    follow(relative(source, join(source, dirname(file), path)), found);
  return found;
}

test("only these modules are loaded before the first answer", async () => {
  const found = new Set<string>();
  for (const root of ROOTS) follow(root, found);

  await expect(`${[...found].sort().join("\n")}\n`).toMatchFileSnapshot("../contract/first-answer.txt");
});
