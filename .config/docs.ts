// npm run docs: writes the generated parts into the documents, server.json and the plugins. A test fails while they are out of date.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { llmsTxt, PARTS, withPart } from "./docs-parts.ts";
import { PLUGIN_FILES } from "./plugin-files.ts";
import { serverJson } from "./settings-forms.ts";

for (const [name, parts] of Object.entries(PARTS)) {
  const file = new URL(`../${name}`, import.meta.url);
  let text = await readFile(file, "utf8");
  for (const [mark, part] of Object.entries(parts)) text = withPart(text, mark, part);
  await writeFile(file, text);
}
await writeFile(new URL("../llms.txt", import.meta.url), llmsTxt());
await writeFile(new URL("../server.json", import.meta.url), serverJson());
for (const [name, text] of Object.entries(PLUGIN_FILES)) {
  const file = new URL(`../${name}`, import.meta.url);
  await mkdir(new URL(".", file), { recursive: true });
  await writeFile(file, text);
}
