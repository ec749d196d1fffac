// Writes what a check has measured into a document.

import { readFile, writeFile } from "node:fs/promises";
import { cpus, type as system } from "node:os";
import { withPart } from "../../scripts/docs-parts.ts";

export const MACHINE = `Node.js ${process.versions.node}, ${system()}, ${cpus().length} cores`;
export const TODAY = new Date().toISOString().slice(0, 10);

/** Prints the text, and puts it between these marks of a document, which is named from the root. */
export async function report(document: string, mark: string, text: string): Promise<void> {
  process.stdout.write(`${text}\n`);
  const file = new URL(`../../${document}`, import.meta.url);
  await writeFile(file, withPart(await readFile(file, "utf8"), mark, text));
}
