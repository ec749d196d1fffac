// Part of npm run release:pack. `tsx .config/release-files.ts FOLDER` takes the bundle in FOLDER and writes
// server.json with its hash, notes.md with what CHANGELOG.md says of this version, and npm-tag.

import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import manifest from "../package.json" with { type: "json" };
import server from "../server.json" with { type: "json" };

const BUNDLE = "faceless-video-mcp.mcpb";
const [folder] = z.tuple([z.string()]).parse(process.argv.slice(2));
const { version } = manifest;

const bundle = {
  registryType: "mcpb",
  identifier: `${server.repository.url}/releases/download/v${version}/${BUNDLE}`,
  version,
  fileSha256: createHash("sha256")
    .update(await readFile(join(folder, BUNDLE)))
    .digest("hex"),
  transport: { type: "stdio" },
};
const entry = { ...server, packages: [...server.packages, bundle] };
await writeFile(join(folder, "server.json"), `${JSON.stringify(entry, undefined, 2)}\n`);
const changelog = await readFile(new URL("../CHANGELOG.md", import.meta.url), "utf8");
await writeFile(join(folder, "notes.md"), notesOf(changelog));
// What `npm install faceless-video-mcp` takes must never be a pre-release.
await writeFile(join(folder, "npm-tag"), version.includes("-") ? "next" : "latest");

/** The text below the version's heading. A release without one fails. */
function notesOf(text: string): string {
  const sections = text.replace(/^\[[^\]]+\]: .*$/gm, "").split(/^## /m);
  const section = sections.find((candidate) => candidate.startsWith(`[${version}] - `));
  const notes = section?.split("\n").slice(1).join("\n").trim() ?? "";
  if (notes === "") throw new Error(`CHANGELOG.md says nothing of ${version}.`);
  return `${notes}\n`;
}
