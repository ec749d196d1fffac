// npm run docs: writes what is made from the code into the documents. A test tells when it has not been run.

import { readFile, writeFile } from "node:fs/promises";
import { llmsTxt, README_PARTS, withPart } from "./docs-parts.ts";

const readme = new URL("../README.md", import.meta.url);
let text = await readFile(readme, "utf8");
for (const [name, part] of Object.entries(README_PARTS)) text = withPart(text, name, part);
await writeFile(readme, text);
await writeFile(new URL("../llms.txt", import.meta.url), llmsTxt());
