// Run by the release workflow after `npm run bundle`: `tsx .config/release-files.ts FOLDER BUNDLE`. Writes
// server.json with the bundle and its hash, and notes.md with what CHANGELOG.md says of this version.

import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import * as z from "zod";
import manifest from "../package.json" with { type: "json" };
import server from "../server.json" with { type: "json" };

const [folder, bundle] = z.tuple([z.string(), z.string()]).parse(process.argv.slice(2));
const { version } = manifest;

await writeFile(join(folder, "server.json"), `${JSON.stringify(await withBundle(bundle), undefined, 2)}\n`);
const changelog = await readFile(new URL("../CHANGELOG.md", import.meta.url), "utf8");
await writeFile(join(folder, "notes.md"), notesOf(changelog));

async function withBundle(file: string) {
  const fileSha256 = createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
  const identifier = `${server.repository.url}/releases/download/v${version}/${basename(file)}`;
  const transport = { type: "stdio" };
  const ofBundle = { registryType: "mcpb", identifier, version, fileSha256, transport };
  return { ...server, packages: [...server.packages, ofBundle] };
}

/** The text below the version's heading. A release without one fails. */
function notesOf(text: string): string {
  const sections = text.replace(/^\[[^\]]+\]: .*$/gm, "").split(/^## /m);
  const section = sections.find((candidate) => candidate.startsWith(`[${version}] - `));
  const notes = section?.split("\n").slice(1).join("\n").trim() ?? "";
  if (notes === "") throw new Error(`CHANGELOG.md says nothing of ${version}.`);
  return `${notes}\n`;
}
