// npm run docs: writes the generated parts into the documents, server.json and the plugins. With `-- check`,
// it writes nothing and finds what the documents say that is not so.

import { spawnSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { DOCUMENTS, findFaults } from "./docs-check.ts";
import { PARTS, withPart } from "./docs-parts.ts";
import { PLUGIN_FILES } from "./plugin-files.ts";
import { serverJson } from "./settings-forms.ts";

const FORMATTED = ["README.md", "server.json", "docs", ".agents", ".claude-plugin", ".cursor-plugin"];

if (process.argv[2] === "check") check();
else await write();

function check(): void {
  const faults = DOCUMENTS.flatMap((name) => findFaults(name).map((fault) => `${name}: ${fault}\n`));
  process.stdout.write(faults.join(""));
  process.exitCode = faults.length === 0 ? 0 : 1;
}

async function write(): Promise<void> {
  for (const [name, parts] of Object.entries(PARTS)) {
    const file = new URL(`../${name}`, import.meta.url);
    let text = await readFile(file, "utf8");
    for (const [mark, part] of Object.entries(parts)) text = withPart(text, mark, part);
    await writeFile(file, text);
  }
  await writeFile(new URL("../server.json", import.meta.url), serverJson());
  for (const [name, text] of Object.entries(PLUGIN_FILES)) {
    const file = new URL(`../${name}`, import.meta.url);
    await mkdir(new URL(".", file), { recursive: true });
    await writeFile(file, text);
  }
  process.exitCode = spawnSync("oxfmt", FORMATTED, { stdio: "inherit" }).status ?? 1;
}
