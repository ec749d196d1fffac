// npm run docs: writes what is made from the code into the documents. A test tells when it has not been run.

import { readFile, writeFile } from "node:fs/promises";
import { llmsTxt, PARTS, withPart } from "./docs-parts.ts";

for (const [name, parts] of Object.entries(PARTS)) {
  const file = new URL(`../${name}`, import.meta.url);
  let text = await readFile(file, "utf8");
  for (const [mark, part] of Object.entries(parts)) text = withPart(text, mark, part);
  await writeFile(file, text);
}
await writeFile(new URL("../llms.txt", import.meta.url), llmsTxt());
