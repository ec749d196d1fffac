// Part of npm run release:pack. `tsx scripts/release-files.ts FOLDER` takes the bundle in FOLDER and writes
// server.json with its hash, notes.md with what CHANGELOG.md says of this version, npm-tag, and the extension
// of Gemini CLI, which looks for an archive of each platform.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";

const BUNDLE = "faceless-video-mcp.mcpb";
const PLUGIN = fileURLToPath(new URL("../docs/plugin", import.meta.url));
const serverSchema = z.looseObject({
  version: z.string(),
  repository: z.looseObject({ url: z.string() }),
  packages: z.array(z.unknown()),
});

const [folder] = z.tuple([z.string()]).parse(process.argv.slice(2));
const server = serverSchema.parse(JSON.parse(readFileSync("server.json", "utf8")));
const { version } = server;
const bundle = {
  registryType: "mcpb",
  identifier: `${server.repository.url}/releases/download/v${version}/${BUNDLE}`,
  version,
  fileSha256: createHash("sha256")
    .update(readFileSync(join(folder, BUNDLE)))
    .digest("hex"),
  transport: { type: "stdio" },
};
write("server.json", JSON.stringify({ ...server, packages: [...server.packages, bundle] }, undefined, 2));
write("notes.md", notesOf(readFileSync("CHANGELOG.md", "utf8")));
// A plain `npm install faceless-video-mcp` must never take a pre-release.
write("npm-tag", version.includes("-") ? "next" : "latest");
packExtension();

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), `${text}\n`);
}

/** The text below the version's heading. A release without one fails. */
function notesOf(text: string): string {
  const sections = text.replace(/^\[[^\]]+\]: .*$/gm, "").split(/^## /m);
  const section = sections.find((candidate) => candidate.startsWith(`[${version}] - `));
  const notes = section?.split("\n").slice(1).join("\n").trim() ?? "";
  if (notes === "") throw new Error(`CHANGELOG.md says nothing of ${version}.`);
  return unwrap(notes);
}

/** GitHub shows a release's notes with each line break, so a paragraph or item gets one line. */
function unwrap(text: string): string {
  return text.replace(/(?<=\S)\n *(?=[^\s#*-])/g, " ");
}

function packExtension(): void {
  const [archive = "", ...others] = ["linux", "darwin", "win32"].map((platform) =>
    join(folder, `${platform}.faceless-video.tar.gz`),
  );
  const { status } = spawnSync("tar", ["-czf", archive, "-C", PLUGIN, "gemini-extension.json", "skills"], {
    stdio: "inherit",
  });
  if (status !== 0) throw new Error("tar can't pack the extension.");
  for (const other of others) copyFileSync(archive, other);
}
